"""Find what differs between two sides and may explain different verdicts."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

from jrh import JrhError, Json, RunReport, Task
from jrh.text import count_noun
from jrh.values import ComponentUsed

from jrh_measuring.comparing.results import Cause, Matching
from jrh_measuring.comparing.sides import Side

SCALE: Final = ": scale"
"""How `what` of a cause ends that names the scales of both sides."""
_LONG: Final = 120
_CASES: Final = ("stage", "perturber", "validator", "data source")
"""Roles that produce the cases; all judges of a run share them."""


def causes(first: Side, second: Side) -> tuple[Cause, ...]:
    """Return the differences, closest to the verdict first: judge, model, answering model, task, cases.

    Imported records name no components, so only what both say about their tasks is compared.
    """
    if first.run.imported or second.run.imported:
        return tuple(_tasks(*_tasks_of(first.run.report, second.run.report), stated=True))
    return tuple(_causes(first, second))


def _causes(first: Side, second: Side) -> Iterator[Cause]:
    reports = first.run.report, second.run.report
    judges = [_component(side.run.report, "judge", side.name.judge) for side in (first, second)]
    yield from _differences("judge", _name_both(first.name.judge, second.name.judge), *judges)
    for role in ("model", "parser"):
        # Named by the judge's options: another judge of the same run may use another model.
        sides = zip(reports, judges, strict=True)
        (before, name_before), (after, name_after) = (_part(role, report, judge) for report, judge in sides)
        if before is not None or after is not None:
            yield from _differences(role, _name_both(name_before, name_after), before, after)
    used = [judge_parts(side.run.report.components, side.name.judge) for side in (first, second)]
    further = [{part.name: part for part in parts[1:] if part.name != parts[0].options.get("model")} for parts in used]
    for name in [name for name in further[0] if name in further[1]]:
        yield from _differences("model", name, *(parts[name] for parts in further))
    answering = [", ".join(side.name.served or ()) for side in (first, second)]
    if all(answering) and answering[0] != answering[1]:
        yield Cause(kind="answered by", what="model", before=answering[0], after=answering[1])
    if first.name.simulated or second.name.simulated:
        yield from _seeds_of_names(first, second)
    if first.run is second.run:
        return
    yield from _tasks(*_tasks_of(*reports))
    for role in _CASES:
        yield from _of_role(role, reports)
    for what, kind in (("version", "jrh"), ("seed", "seed")):
        old, new = (str(getattr(report, what)) for report in reports)
        if old != new:
            yield Cause(kind=kind, what=what, before=old, after=new)


def _of_role(role: str, reports: tuple[RunReport, RunReport]) -> Iterator[Cause]:
    used = [component for report in reports for component in report.components if component.role == role]
    for name in dict.fromkeys(component.name for component in used):
        both = [_component(report, role, name) for report in reports]
        yield from _differences(role, name, *both)
        (before, old), (after, new) = (_part("model", *part) for part in zip(reports, both, strict=True))
        # One name may be two models, each of its suite; where the names differ, that is the difference.
        if old == new:
            yield from _differences("model", old, before, after)


def _seeds_of_names(first: Side, second: Side) -> Iterator[Cause]:
    """Yield the names that enter the seeds of simulated judges; a task is named after its suite by default."""
    tasks = [", ".join(summary.task.name for summary in side.run.report.tasks) for side in (first, second)]
    names = (("judge", first.name.judge, second.name.judge), ("task", *tasks))
    for kind, old, new in names:
        if old != new:
            yield Cause(kind=kind, what="name, part of a simulated judge's seed", before=old, after=new)


class NotComparableError(JrhError):
    """Report two sides that share nothing that could be compared."""

    exit_code = 3


def check_comparable(first: Side, second: Side, matching: Matching) -> None:
    """Refuse runs of other data or another scale: their numbers would be paired by place alone.

    Raises:
        NotComparableError: No scale or text is the same.
    """
    before, after = _tasks_of(first.run.report, second.run.report)
    scales = [(before[name].scale.labels, after[name].scale.labels) for name in before if name in after]
    if scales and not matching.labels and all(set(old).isdisjoint(new) for old, new in scales):
        old, new = (", ".join(labels) for labels in scales[0])
        what = f"the scales have no label in common ({_short(old, new)[0]}; {_short(old, new)[1]})"
    elif matching.other_items and not matching.case_count:
        what = f"all {count_noun(matching.other_items, 'item')} with the same id have another text"
    else:
        return
    authors = [cause for cause in causes(first, second) if cause.kind == "stage"]
    changed = "".join(f"; {cause.what}: {cause.before} -> {cause.after}" for cause in authors[:2])
    todo = "of the same items on the same scale" if not authors else f"with the same `{authors[0].what.split(':')[0]}:`"
    raise NotComparableError(
        f"'{first.run.path}' and '{second.run.path}' cannot be compared: {what}{changed}\nCompare runs {todo}."
    )


def fingerprint(report: RunReport, name: str) -> list[Json]:
    """Return what gives a judge's verdicts: judge, models and parser with their versions, code and options."""
    parts = judge_parts(report.components, name, ("model", "parser"))
    return [[part.role, part.component, part.version, part.digest, dict(part.options)] for part in parts]


def judge_parts(
    components: Iterable[ComponentUsed], name: str, roles: Collection[str] = ("model",)
) -> tuple[ComponentUsed, ...]:
    """Return a judge, then the components that its options name; empty where the run does not record it.

    Whatever the option is called: a cascade names further models, and a defence one that looks first.
    """
    components = tuple(components)
    judge = [part for part in components if (part.role, part.name) == ("judge", name)][:1]
    values = [value for part in judge for value in part.options.values()]
    named = [each for value in values for each in (value if isinstance(value, list | tuple) else [value])]
    return (*judge, *(part for part in components if part.role in roles and part.name in named))


def _name_both(first: str, second: str) -> str:
    return first if first == second else f"{first} / {second}"


def _component(report: RunReport, role: str, name: str) -> ComponentUsed | None:
    return next((part for part in report.components if (part.role, part.name) == (role, name)), None)


def _part(role: str, report: RunReport, judge: ComponentUsed | None) -> tuple[ComponentUsed | None, str]:
    name = judge.options.get(role) if judge is not None else None
    return (_component(report, role, name), name) if isinstance(name, str) else (None, "none")


def _differences(kind: str, name: str, before: ComponentUsed | None, after: ComponentUsed | None) -> Iterator[Cause]:
    """Yield differences in a component's version, code and options, or just its name if it is a different component."""
    if before is None or after is None:
        if before is not after:
            present = [component.component if component else "not there" for component in (before, after)]
            yield Cause(kind=kind, what=name, before=present[0], after=present[1])
        return
    if before.component != after.component:
        yield Cause(kind=kind, what=f"{name}: component", before=before.component, after=after.component)
        return
    if before.version != after.version:
        yield Cause(kind=kind, what=f"{name}: version", before=before.version, after=after.version)
    # The same release with edited code; an empty digest is that of an installed release.
    if before.digest != after.digest:
        codes = [part.digest[:8] or "installed release" for part in (before, after)]
        yield Cause(kind=kind, what=f"{name}: code", before=codes[0], after=codes[1])
    for option in dict.fromkeys((*before.options, *after.options)):
        old, new = before.options.get(option), after.options.get(option)
        if old != new:
            shown = _short(_text(old), _text(new))
            yield Cause(kind=kind, what=f"{name}: {option}", before=shown[0], after=shown[1])


def _text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _short(old: str, new: str) -> tuple[str, str]:
    """Shorten two long texts to where they begin to differ."""
    if max(len(old), len(new)) <= _LONG:
        return old, new
    start = next((place for place, (x, y) in enumerate(zip(old, new, strict=False)) if x != y), min(len(old), len(new)))
    # A quarter of the room shows what comes before, for context.
    begin = max(0, start - _LONG // 4)
    cut = [("…" if begin else "") + text[begin : begin + _LONG] for text in (old, new)]
    return cut[0], cut[1]


def _tasks_of(first: RunReport, second: RunReport) -> tuple[Mapping[str, Task], Mapping[str, Task]]:
    """Return the tasks of both by name; if each has only one task, they match whatever their names."""
    before, after = ({summary.task.name: summary.task for summary in report.tasks} for report in (first, second))
    # A task that was renamed between two runs is still the one task of both.
    if len(before) == len(after) == 1:
        after = dict(zip(before, after.values(), strict=True))
    return before, after


def _tasks(mine: Mapping[str, Task], theirs: Mapping[str, Task], *, stated: bool = False) -> Iterator[Cause]:
    """Yield differences between the tasks; `stated` skips what only one of them specifies."""
    for name, task in mine.items():
        if name not in theirs:
            continue
        for what in ("instruction", "rubric"):
            old, new = getattr(task, what), getattr(theirs[name], what)
            # Imported records need not say how a task was worded.
            if old != new and not (stated and not (old and new)):
                cut = _short(old, new)
                yield Cause(kind="task", what=f"{name}: {what}", before=cut[0], after=cut[1])
    yield from _scales(mine, theirs)


def _scales(mine: Mapping[str, Task], theirs: Mapping[str, Task]) -> Iterator[Cause]:
    for name, task in mine.items():
        scales = [", ".join(task_of_side.scale.labels) for task_of_side in (task, theirs.get(name, task))]
        if scales[0] != scales[1]:
            yield Cause(kind="task", what=f"{name}{SCALE}", before=scales[0], after=scales[1])
