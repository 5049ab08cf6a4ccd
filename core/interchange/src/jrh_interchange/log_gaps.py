"""What cannot be measured from imported records, and which column to log for it: one table of rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from attrs import frozen
from jrh import REFERENCE, MetricContext, Record, RecordTable, ScaleKind, Task
from jrh_measuring import read_trials

Rows: TypeAlias = Sequence[Record]


@frozen
class Gap:
    """A column that a log lacks, or that holds one value only."""

    column: str
    """The target of an import file."""
    absent: Callable[[str, Rows], bool]
    sentence: str
    """What cannot be measured, then what to log."""
    unless: Callable[[Sequence[Task], Rows], bool] = lambda _, __: False
    """A second look at rows without the column: whether they tell all the same."""

    @classmethod
    def of(cls, column: str, absent: Callable[[str, Rows], bool], lost: str, what: str) -> Gap:
        """Return a gap that logging something in the column closes."""
        return cls(column, absent, f"{lost}. Log {what} in a column `{column}`.")


def measurement_gaps(tasks: Sequence[Task], records: Rows) -> tuple[str, ...]:
    """Say what cannot be measured from some records: two sentences each, the most important first."""
    pairs = {task.name for task in tasks if task.scale.kind is ScaleKind.PAIRWISE}
    paired = [record for record in records if record.task in pairs]
    return (
        *(gap.sentence for gap in GAPS if gap.absent(gap.column, records) and not gap.unless(tasks, records)),
        *(gap.sentence for gap in PAIRED_GAPS if paired and gap.absent(gap.column, paired)),
    )


def _lacks(column: str, rows: Rows) -> bool:
    return all(getattr(row, column) in (None, "") for row in rows)


def _few(column: str, rows: Rows) -> bool:
    return len({getattr(row, column) for row in rows}) <= 1


def _has_references(tasks: Sequence[Task], rows: Rows) -> bool:
    """Tell whether some rows of a test ask the unchanged question: the report shows them as the reference condition."""
    context = MetricContext(tasks={task.name: task for task in tasks})
    return bool(read_trials(RecordTable.from_records(rows), context).reference.any())


def _partly_ordered(_: str, rows: Rows) -> bool:
    stated = {row.test for row in rows if row.option_order}
    return any(not row.option_order and row.test in stated for row in rows)


GAPS: Final = (
    Gap.of("gold", _lacks, "No gold labels: agreement with people cannot be measured", "their label"),
    Gap(
        "repeat",
        # By the questions, not by the column: a column full of zeros measures no noise either.
        lambda _, rows: len({(row.case_id, row.judge) for row in rows}) == len(rows),
        "No repeats: rerun noise cannot be measured. Ask twice and number the calls in a column `repeat`.",
    ),
    Gap.of(
        "test",
        lambda _, rows: all(row.test == REFERENCE for row in rows),
        "Only the unchanged question: robustness to changes cannot be measured",
        "what was changed",
    ),
    Gap(
        "test",
        lambda _, rows: all(row.test != REFERENCE for row in rows),
        "No reference condition: there is no unchanged verdict to compare with. "
        "Log those verdicts with the test `reference`.",
        # Some logs name a test for every row and still ask the unchanged question in one of them.
        unless=_has_references,
    ),
    Gap.of("template", _few, "One prompt template: sensitivity to wording cannot be measured", "its name"),
    Gap.of("judge", _few, "One judge: agreement between judges cannot be measured", "their names"),
    Gap.of(
        "probability",
        _lacks,
        "No probabilities: calibration cannot be measured",
        "the judge's probability of its label",
    ),
    Gap.of(
        "rationale",
        _lacks,
        "No rationales: verdicts that contradict their reasons cannot be found",
        "the reasons",
    ),
    Gap(
        "covariates",
        _lacks,
        "No lengths or authors: a preference for long responses, or for an author, cannot be measured. "
        "Name their columns under `covariates`.",
    ),
    Gap.of("cost", _lacks, "No cost: the price of a verdict is unknown", "US dollars per call"),
    Gap(
        "group",
        # `imported_record` puts the item here where the log has no group.
        lambda _, rows: all(row.group == row.item_id for row in rows),
        "No groups: items from one source count as independent. Log the source in a column `group`; "
        "without it, intervals may be too narrow.",
    ),
    Gap.of("stratum", _few, "No strata: differences between subgroups cannot be measured", "the subgroup"),
)
"""The rules that hold for every task, what matters most first."""
PAIRED_GAPS: Final = (
    Gap.of(
        "option_order",
        _lacks,
        "No option order: position bias and swap consistency cannot be measured",
        "the order shown, AB or BA,",
    ),
    Gap(
        "option_order",
        lambda column, rows: _few(column, rows) and not _lacks(column, rows),
        "One option order: position bias and swap consistency cannot be measured. "
        "Ask in both orders and log each in the column `option_order`.",
    ),
    Gap(
        "option_order",
        _partly_ordered,
        "Some rows have no option order: they count as shown in the item's own order. "
        "Fill the column `option_order` where the options were swapped.",
    ),
)
"""The rules for pairwise tasks."""


_LEVELS: Final[Mapping[str, str]] = {
    "template": "templates",
    "option_order": "option orders",
    "polarity": "polarities",
    "strength": "strengths",
    "temperature": "temperatures",
    "language": "languages",
}
_SHOWN: Final = 4


def several_references(tasks: Sequence[Task], records: Sequence[Record]) -> Iterator[str]:
    """Yield a note for every level that varies between reference rows of one judge and item."""
    own_orders = {task.name: task.scale.own_order for task in tasks}
    for level, name in _LEVELS.items():
        texts_by_item: dict[tuple[str, str, str], set[str]] = {}
        for row in records:
            if row.test == REFERENCE:
                # No option order is the own order: the two are one level, not two.
                text = _text(getattr(row, level)) or (own_orders.get(row.task, "") if level == "option_order" else "")
                texts_by_item.setdefault((row.task, row.judge, row.item_id), set()).add(text)
        several = sorted({text for texts in texts_by_item.values() if len(texts) > 1 for text in texts})
        if several:
            shown = ", ".join(text or "none" for text in several[:_SHOWN])
            more = ", ..." if len(several) > _SHOWN else ""
            yield (
                f"The reference rows of an item hold several {name} ({shown}{more}). Reruns are counted within each. A "
                "verdict is compared with the reference rows nearest to its own condition. To measure what changes "
                "between them, assign all but one to a test."
            )


def _text(value: object) -> str:
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
