"""What changed in a suite's components since the run directory was written, and what that costs; one line each."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from attrs import field, frozen

from jrh.document.convert import from_text, to_text
from jrh.errors import JrhError
from jrh.hashing import canonical_json, content_id
from jrh.plugins.component_identity import SourceKind, read_source
from jrh.plugins.specs import PerturberSpec
from jrh.running.identity import identity
from jrh.running.schedule import judge_ids, trial_id
from jrh.store.run_store import ALIKE, SEED, SHARD, Store
from jrh.suite.resolved import Resolved, ResolvedSuite, parts_of
from jrh.text.display import count_noun
from jrh.values.json_values import Json

_COMPONENTS: Final = "components"
"""Meta key of the components that the run directory was made with."""
_ASKED: Final = "will be asked again"
_SHOWN: Final = 3
"""Changed files named in one line."""
_KEPT: Final[Mapping[str, str]] = {
    "judge": "the report shows verdicts of the old code; run the suite again to ask the new code",
    "perturber": "the report shows cases made by the old code; run the suite again to make new ones",
    "validator": "the report shows drafts validated by the old code; run the suite again to use the new code",
    "metric": "its measures are computed with the new code",
}
_STORED: Final = "its stored measures come from the old code; run the suite again to use the new code"


@frozen(kw_only=True)
class SourceState:
    """A source as a run directory remembers it."""

    kind: str
    written: tuple[str, ...]
    base: str
    """Relative to the run directory."""
    files: Mapping[str, str]


@frozen(kw_only=True)
class ComponentState:
    """A component as a run directory remembers it."""

    role: str
    name: str
    test: str = ""
    """The test it belongs to; empty for judges and metrics."""
    tasks: tuple[str, ...] = ()
    """The tasks of the test; two tests of one name have different ones."""
    place: int = 0
    """Its place in the test: a chain may have the same component twice."""
    made_of: Mapping[str, Json] = field(factory=dict)
    sources: tuple[SourceState, ...] = ()

    @property
    def key(self) -> tuple[object, ...]:
        """Return what tells it from the others."""
        return self.role, self.test, self.tasks, self.place, self.name


def components(suite: ResolvedSuite, run_dir: Path) -> tuple[ComponentState, ...]:
    """Describe the components whose work a run stores: those of tests, judges, metrics."""
    everywhere = tuple(use.task.name for use in suite.suite.tasks)
    states = []
    for test in suite.tests:
        tasks = test.use.tasks or everywhere
        for place, part in enumerate(test.components):
            role = "perturber" if isinstance(part.entry.spec, PerturberSpec) else "validator"
            states.append(_state(role, part, suite, run_dir, test=test.use.name, tasks=tasks, place=place))
    others = (("judge", suite.judges), ("metric", suite.metrics))
    return (*states, *(_state(role, part, suite, run_dir) for role, parts in others for part in parts))


def _alike_in_parts(suite: ResolvedSuite, run_dir: Path) -> dict[str, str]:
    """Return ids of what the parts of a run have in common, by name: a part with another one asks other questions."""
    ids = {"the reference": content_id(suite.suite.reference_repeats)}
    ids |= {f"task '{use.task.name}'": content_id(to_text(use.task)) for use in suite.suite.tasks}
    for component in components(suite, run_dir):
        # Metrics run on the merged records: parts may differ in them and still ask the same questions.
        if component.role != "metric":
            what = f"test '{component.test}'" if component.test else f"judge '{component.name}'"
            ids[what] = content_id(ids.get(what, ""), dict(component.made_of))
    return ids


def note_part(store: Store, resolved: ResolvedSuite) -> None:
    """Note which part of the run the store holds; refuse to mix parts."""
    current, earlier = str(resolved.shard or ""), store.meta(SHARD)
    if earlier is not None and earlier != current:
        known = f"shard {earlier}" if earlier else "a run without --shard"
        raise JrhError(f"run directory '{store.path.parent}' holds {known}; choose another with --run-dir")
    # Only parts are compared, when they are merged.
    alike = canonical_json(_alike_in_parts(resolved, store.path.parent)) if current else ""
    for key, value in ((SHARD, current), (SEED, str(resolved.suite.seed)), (ALIKE, alike)):
        store.set_meta(key, value)


def _state(role: str, resolved: Resolved[Any], suite: ResolvedSuite, run_dir: Path, **place: Any) -> ComponentState:
    made_of = json.loads(canonical_json(identity(resolved, suite)))  # as the store gives it back
    return ComponentState(
        role=role,
        name=resolved.use.name,
        made_of=made_of,
        sources=tuple(
            SourceState(
                kind=source.kind.value,
                written=source.written,
                # Relative, so that a project can be moved together with its runs.
                base=Path(os.path.relpath(source.base.absolute(), run_dir.absolute())).as_posix(),
                files=source.files,
            )
            for part in (resolved, *parts_of([resolved]))
            for source in part.sources
        ),
        **place,
    )


def note_components(store: Store, current: Iterable[ComponentState], roles: Collection[str]) -> None:
    """Remember the components of these roles: what they made is stored. Others stay as they are remembered."""
    noted = (*read_components(store), *(component for component in current if component.role in roles))
    store.set_meta(_COMPONENTS, to_text(tuple({component.key: component for component in noted}.values())))


def read_components(store: Store) -> tuple[ComponentState, ...]:
    """Return the components that the run directory was made with."""
    text = store.meta(_COMPONENTS)
    return from_text(tuple[ComponentState, ...], text) if text else ()


def changes(
    store: Store, suite: ResolvedSuite, items_ids: Mapping[str, str], run_dir: Path, now: Iterable[ComponentState] = ()
) -> tuple[str, ...]:
    """Say of every component that is not the one of the last run what changed and what is done again.

    `now` are the components, described here where they are not given: that takes as long as measuring a few of them.
    """
    before = {component.key: component for component in read_components(store)}
    sentences = []
    for current in now or components(suite, run_dir):
        stored = before.get(current.key)
        if stored is not None and stored.made_of != current.made_of:
            cost = _cost(store, suite, items_ids, current)
            if current.role == "judge" and cost.endswith(_ASKED) and current.made_of["models"]:
                # The replies of a model are stored by what it was asked: only a changed question is paid for.
                same = stored.made_of.get("models") == current.made_of["models"]
                cost += "; stored replies to the same prompts are used" if same else ""
            sentences += [(current, f"changed: {cost} ({_what(stored, current)})")] if cost else []
    return tuple(_change_sentences(sentences))


def _change_sentences(sentences: Iterable[tuple[ComponentState, str]]) -> Iterator[str]:
    """Say the same of several components once: an edit of one package changes everything in it."""
    alike: dict[tuple[str, str], list[str]] = {}
    for known, what in sentences:
        alike.setdefault((known.role, what), []).append(known.name)
    for (role, what), names in alike.items():
        more = len(names) - 1
        same = f". The same holds for {more} other {role}{'' if more == 1 else 's'}" if more else ""
        yield f"{role} '{names[0]}' {what}{same}"


def _cost(store: Store, suite: ResolvedSuite, items_ids: Mapping[str, str], current: ComponentState) -> str:
    """Return what is done again because of a change; empty where nothing was done before."""
    if current.role == "metric":
        return "its measures are computed again" if store.measures.digest() else ""
    if current.role == "judge":
        return _verdicts(store, suite, items_ids, current)
    drafts = sum(line.drafts for task in current.tasks for line in store.cases.count_drafts(task, current.test))
    # The progress line counts items, of which each test makes one draft or several.
    items = sum(store.cases.count_items(task, current.test) for task in current.tasks)
    return f"{count_noun(drafts, 'draft')} of {count_noun(items, 'item')} will be made again" if drafts else ""


def _verdicts(store: Store, suite: ResolvedSuite, items_ids: Mapping[str, str], current: ComponentState) -> str:
    judge_id = next(identifier for judge, identifier in judge_ids(suite, items_ids) if judge.use.name == current.name)
    known = again = 0
    for trials in store.trials.of_judge(current.name):
        # Trials that failed are asked again in any case: no cost of the change.
        lasting = store.trials.final_trials([trial.trial_id for trial in trials])
        # The id of a trial holds that of its judge: what the changed judge was asked already has a record under such an
        # id.
        done = [trial_id(trial.case_id, judge_id, trial.repeat) for trial in trials if trial.trial_id in lasting]
        known += len(done)
        again += len(done) - len(store.trials.final_trials(done))
    if known and not again:
        return f"its {count_noun(known, 'verdict')} are stored from an earlier run"
    return f"{count_noun(again, 'verdict')} {_ASKED}" if again else ""


def _what(stored: ComponentState, current: ComponentState) -> str:
    """Name what differs: files, options, version, models, parts."""
    named = []
    files = _file_differences((source.files for source in stored.sources), (source.files for source in current.sources))
    if files:
        named.append(f"code: {files}")
    old, new = stored.made_of, current.made_of
    if old.get("version") != new.get("version"):
        named.append(f"version {old.get('version')} -> {new.get('version')}")
    if old.get("component") != new.get("component"):
        named.append(f"{old.get('component')} -> {new.get('component')}")
    options = _option_differences(old.get("options"), new.get("options"))
    if options:
        named.append(f"options: {', '.join(options)}")
    if old.get("models") != new.get("models"):
        named.append("model")
    # A changed file of a part has been named with the files.
    if old.get("parts") != new.get("parts") and not files:
        named.append("parser or validator it uses")
    return "; ".join(named) or "code"


def _option_differences(old: object, new: object) -> list[str]:
    if not isinstance(old, Mapping) or not isinstance(new, Mapping):
        return []
    return [str(key) for key in {**old, **new} if old.get(key) != new.get(key)]


def _file_differences(stored: Iterable[Mapping[str, str]], current: Iterable[Mapping[str, str]]) -> str:
    old = {name: digest for files in stored for name, digest in files.items()}
    new = {name: digest for files in current for name, digest in files.items()}
    names = [name for name in sorted({**old, **new}) if old.get(name) != new.get(name)]
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def source_changes(store: Store, run_dir: Path, *, measured: bool = True) -> Iterator[str]:
    """Say whose code is another one than the run was made with; silent about code that is not on this machine.

    `measured` says that the measures are computed again, not read as they were stored.
    """
    sentences = []
    for known in read_components(store):
        files = [changed for source in known.sources if (changed := _source_differences(source, run_dir))]
        if files:
            consequence = _STORED if known.role == "metric" and not measured else _KEPT[known.role]
            sentences.append((known, f"has changed since the run ({', '.join(files)}): {consequence}"))
    return _change_sentences(sentences)


def _source_differences(source: SourceState, run_dir: Path) -> str:
    try:
        current = read_source(SourceKind(source.kind), source.written, Path(os.path.normpath(run_dir / source.base)))
    # Source that is not on this machine, or not any more, cannot be compared.
    except JrhError:
        return ""
    return _file_differences([source.files], [current.files]) if current.files else ""
