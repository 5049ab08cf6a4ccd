"""The variants that a suite's metrics name: a run that makes no case of one is refused before a judge is asked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

from jrh import JrhError
from jrh.document.positions import did_you_mean
from jrh.plugins import Stage, StageOutcome
from jrh.running import StageWork

VariantsOfTest = Callable[[str], Collection[str] | None]
"""Test -> the variants of its cases; None: not known yet."""


def check_variants(metrics: Iterable[Any], made: VariantsOfTest) -> None:
    """Refuse metrics whose options name (`named_variants`) what no case is of.

    Args:
        metrics: of the suite, resolved.
        made: returns the variants of a test's cases.

    Raises:
        JrhError: a test, or a variant of it, has no case.
    """
    for side in _named(metrics):
        test, _, variant = side.partition("[")
        known = made(test)
        if known is None or (variant[:-1] in known if variant else known):
            continue
        if not known:
            raise JrhError(f"test '{test}', which a metric names, has no case")
        wrong = f"test '{test}' makes no case of the variant '{variant[:-1]}', which a metric names"
        raise JrhError(f"{wrong}\n{did_you_mean(variant[:-1], known)}It makes: {', '.join(sorted(known))}.")


def _named(metrics: Iterable[Any]) -> list[str]:
    # Options of other plugins need not have the method.
    methods = (getattr(metric.options, "named_variants", None) for metric in metrics)
    return list(dict.fromkeys(side for method in methods if method is not None for side in method()))


class NamedVariants(Stage):
    """Looks whether the variants that metrics name have cases: some are known once a model has written them."""

    def applies(self, work: StageWork) -> bool:
        """Return whether a metric names one; judges wait for all cases then."""
        return bool(_named(work.builder.resolved.metrics))

    async def run(self, work: StageWork) -> StageOutcome:
        """Refuse the run if one has no case."""

        def made(test: str) -> set[str]:
            return {case.condition.variant for task in work.tasks for case in work.store.cases.iterate(task, test)}

        check_variants(work.builder.resolved.metrics, made)
        return StageOutcome()
