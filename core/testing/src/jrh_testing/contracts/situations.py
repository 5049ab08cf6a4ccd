"""The situations in which every measure carries the same flags, whatever metric it comes from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from typing import Final

from attrs import evolve, frozen
from jrh.values.items import Task
from jrh.values.measures import Measure
from jrh.values.verdicts import Record, Status

OFF_SCALE: Final = "no label of any scale"
_OTHER_STATUSES: Final = frozenset(status.value for status in Status if status is not Status.OFF_SCALE)
_NOT_ESTIMABLE: Final = frozenset({"one-item", "degenerate", "empty", "all-missing"})


@frozen(kw_only=True)
class Situation:
    """One way in which records can tell little."""

    name: str
    change: Callable[[Sequence[Record], Task], list[Record]]
    """Bring some records into the situation."""
    faults: Callable[[Measure, Set[str]], Iterator[str]]
    """Say what is wrong with a measure of such records; the names are those of measures about missing verdicts."""


def without_verdict(record: Record) -> Record:
    """Return the record as if the judge had not answered in time."""
    return evolve(record, status=Status.TIMEOUT, presented=None, canonical=None, probability=None, rationale="")


def _one_item(records: Sequence[Record], task: Task) -> list[Record]:  # noqa: ARG001
    return [record for record in records if record.item_id == records[0].item_id]


def _nothing(records: Sequence[Record], task: Task) -> list[Record]:  # noqa: ARG001
    return []


def _all_missing(records: Sequence[Record], task: Task) -> list[Record]:  # noqa: ARG001
    return [without_verdict(record) for record in records]


def _constant(records: Sequence[Record], task: Task) -> list[Record]:
    label = task.scale.labels[0]
    return [evolve(record, status=Status.OK, presented=label, canonical=label) for record in records]


def _off_scale(records: Sequence[Record], task: Task) -> list[Record]:  # noqa: ARG001
    return [evolve(record, status=Status.OK, presented=OFF_SCALE, canonical=OFF_SCALE) for record in records]


def _of_one_item(measure: Measure, about_missing: Set[str]) -> Iterator[str]:  # noqa: ARG001
    if measure.n_items and "few-items" not in measure.flags:
        yield "rests on one item and has no flag 'few-items'"
    if measure.unit == "coefficient" and measure.estimate is not None:
        yield f"estimates {measure.estimate} from one item, between which a coefficient is"
    if measure.unit == "coefficient" and measure.n_items and not _NOT_ESTIMABLE.intersection(measure.flags):
        yield f"has none of the flags {', '.join(sorted(_NOT_ESTIMABLE))}"


def _of_nothing(measure: Measure, about_missing: Set[str]) -> Iterator[str]:  # noqa: ARG001
    if measure.estimate is not None or measure.interval is not None:
        yield "has an estimate"
    if not measure.flags and not measure.note:
        yield "says neither in a flag nor in its note why there is no estimate"


def _of_missing(measure: Measure, about_missing: Set[str]) -> Iterator[str]:
    if measure.name in about_missing:
        return
    if measure.estimate is not None or measure.n_trials:
        yield "rests on trials without a verdict; see `about_missing`"
    elif measure.missing and "all-missing" not in measure.flags:
        yield "has no flag 'all-missing'"


def _of_off_scale(measure: Measure, about_missing: Set[str]) -> Iterator[str]:
    yield from _of_missing(measure, about_missing)
    if _OTHER_STATUSES.intersection(measure.missing):
        yield f"counts {dict(measure.missing)} where all verdicts are off the scale"


def _of_constant(measure: Measure, about_missing: Set[str]) -> Iterator[str]:  # noqa: ARG001
    if measure.n_trials > 1 and "constant-verdicts" not in measure.flags:
        yield "has no flag 'constant-verdicts'"


SITUATIONS: Final = (
    Situation(name="one item", change=_one_item, faults=_of_one_item),
    Situation(name="no item", change=_nothing, faults=_of_nothing),
    Situation(name="all verdicts missing", change=_all_missing, faults=_of_missing),
    Situation(name="all verdicts the same", change=_constant, faults=_of_constant),
    Situation(name="all verdicts off the scale", change=_off_scale, faults=_of_off_scale),
)
