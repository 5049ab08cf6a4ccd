"""Find what differs between two sides and may explain different verdicts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from jrh import Json, RunReport, Task
from jrh.values import ComponentUsed

from jrh_compare.results import Cause
from jrh_compare.sides import Side

LOOKED_AT: Final = 200
"""Maximum replies per side whose fingerprints are read."""
_LONG: Final = 120
_CASES: Final = ("perturber", "validator", "data source")
"""Roles that produce the cases; all judges of a run share them."""


def causes(first: Side, second: Side) -> tuple[Cause, ...]:
    """Return the differences, closest to the verdict first: judge, model, answering model, task, cases.

    Options and versions come from the runs' records, fingerprints from at most 200 replies per side. Imported records
    have neither, so only what both say about their tasks is compared.
    """
    if first.run.imported or second.run.imported:
        return tuple(_tasks(*_tasks_of(first.run.report, second.run.report), stated=True))
    return tuple(_causes(first, second))


def _causes(first: Side, second: Side) -> Iterator[Cause]:
    one, two = first.run.report, second.run.report
    mine, theirs = _component(one, "judge", first.name.judge), _component(two, "judge", second.name.judge)
    yield from _changed("judge", _named(first.name.judge, second.name.judge), mine, theirs)
    yield from _parts(("model", "parser"), (one, mine), (two, theirs))
    yield from _fingerprints(first, second)
    if first.run is second.run:
        return
    yield from _tasks(*_tasks_of(one, two))
    for role in _CASES:
        names = dict.fromkeys(each.name for report in (one, two) for each in report.components if each.role == role)
        for name in names:
            yield from _changed(role, name, _component(one, role, name), _component(two, role, name))
    for what in ("version", "seed"):
        before, after = str(getattr(one, what)), str(getattr(two, what))
        if before != after:
            yield Cause(kind="jrh" if what == "version" else "seed", what=what, before=before, after=after)


def _named(one: str, two: str) -> str:
    return one if one == two else f"{one} / {two}"


def _component(report: RunReport, role: str, name: str) -> ComponentUsed | None:
    return next((each for each in report.components if (each.role, each.name) == (role, name)), None)


def _parts(
    roles: Sequence[str], one: tuple[RunReport, ComponentUsed | None], two: tuple[RunReport, ComponentUsed | None]
) -> Iterator[Cause]:
    """Yield differences in the models and parsers that the judges' options name."""
    for role in roles:
        (before, name_before), (after, name_after) = (_part(role, *side) for side in (one, two))
        if before is not None or after is not None:
            yield from _changed(role, _named(name_before, name_after), before, after)


def _part(role: str, report: RunReport, judge: ComponentUsed | None) -> tuple[ComponentUsed | None, str]:
    name = judge.options.get(role) if judge is not None else None
    return (_component(report, role, name), name) if isinstance(name, str) else (None, "none")


def _changed(kind: str, name: str, before: ComponentUsed | None, after: ComponentUsed | None) -> Iterator[Cause]:
    """Yield differences in a component's version, code and options, or just its name if it is a different component."""
    if before is None or after is None:
        if before is not after:
            present = [each.component if each else "not there" for each in (before, after)]
            yield Cause(kind=kind, what=name, before=present[0], after=present[1])
        return
    if before.component != after.component:
        yield Cause(kind=kind, what=f"{name}: component", before=before.component, after=after.component)
        return
    if before.version != after.version:
        yield Cause(kind=kind, what=f"{name}: version", before=before.version, after=after.version)
    if before.digest != after.digest:
        codes = [each.digest[:8] or "installed release" for each in (before, after)]
        yield Cause(kind=kind, what=f"{name}: code", before=codes[0], after=codes[1])
    for option, old_value, new_value in _options(before.options, after.options):
        yield Cause(kind=kind, what=f"{name}: {option}", before=old_value, after=new_value)


def _options(before: Mapping[str, Json], after: Mapping[str, Json]) -> Iterator[tuple[str, str, str]]:
    for option in dict.fromkeys((*before, *after)):
        old, new = before.get(option), after.get(option)
        if old != new:
            yield option, *_short(_text(old), _text(new))


def _text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _short(old: str, new: str) -> tuple[str, str]:
    """Shorten two long texts to where they begin to differ."""
    if max(len(old), len(new)) <= _LONG:
        return old, new
    start = next(
        (place for place, (one, two) in enumerate(zip(old, new, strict=False)) if one != two), min(len(old), len(new))
    )
    begin = max(0, start - _LONG // 4)
    cut = [("…" if begin else "") + text[begin : begin + _LONG] for text in (old, new)]
    return cut[0], cut[1]


def _fingerprints(first: Side, second: Side) -> Iterator[Cause]:
    before, after = _answering(first), _answering(second)
    if before and after and before != after:
        yield Cause(kind="answered by", what="model", before=", ".join(before), after=", ".join(after))


def _answering(side: Side) -> list[str]:
    """Return the models that answered, from a sample of replies spread evenly over the plan."""
    records = side.records
    ids = [trial for trial in records.text("trial_id") if trial] if len(records) else []
    some = ids[:: max(1, -(-len(ids) // LOOKED_AT))]
    replies = side.run.report.evidence.replies(some)
    return sorted({reply.fingerprint for reply in replies.values() if reply.fingerprint})


def _tasks_of(one: RunReport, two: RunReport) -> tuple[Mapping[str, Task], Mapping[str, Task]]:
    """Return the tasks of both by name; if each has only one task, they match whatever their names."""
    mine, theirs = ({summary.task.name: summary.task for summary in report.tasks} for report in (one, two))
    if len(mine) == len(theirs) == 1:
        theirs = dict(zip(mine, theirs.values(), strict=True))
    return mine, theirs


def _tasks(mine: Mapping[str, Task], theirs: Mapping[str, Task], *, stated: bool = False) -> Iterator[Cause]:
    """Yield differences between the tasks; `stated` skips what only one of them specifies."""
    for name, task in mine.items():
        if name not in theirs:
            continue
        for what in ("instruction", "rubric"):
            old, new = getattr(task, what), getattr(theirs[name], what)
            if old != new and not (stated and not (old and new)):
                cut = _short(old, new)
                yield Cause(kind="task", what=f"{name}: {what}", before=cut[0], after=cut[1])
    yield from _scales(mine, theirs)


def _scales(mine: Mapping[str, Task], theirs: Mapping[str, Task]) -> Iterator[Cause]:
    for name, task in mine.items():
        scales = [", ".join(each.scale.labels) for each in (task, theirs.get(name, task))]
        if scales[0] != scales[1]:
            yield Cause(kind="task", what=f"{name}: scale", before=scales[0], after=scales[1])
