"""Which model every judge asks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from jrh.suite.resolved import ResolvedSuite
from jrh.values.items import Item
from jrh.values.same_family import same_families


def judge_models(resolved: ResolvedSuite) -> Mapping[str, str]:
    """Return the name of the model that each judge asks, as its provider knows it; judges without one are left out."""
    found = {}
    for judge in resolved.judges:
        asked = [name for name in judge.models if name in resolved.models]
        names = [str(getattr(resolved.models[name].options, "model", name)) for name in asked]
        if names:
            found[judge.use.name] = names[0]
    return found


def shared_families(resolved: ResolvedSuite, items: Mapping[str, Sequence[Item]]) -> Iterator[str]:
    """Yield a sentence per task and judge that shares a family with gold labels, or with authors of the responses."""
    models = judge_models(resolved)
    for task, some in items.items():
        for each in same_families(some, models):
            yield f"Task '{task}', judge '{each.judge}': {each.sentence}"
