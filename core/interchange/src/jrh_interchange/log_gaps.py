"""What cannot be measured from imported records, and which column to log for it: one table of rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from attrs import frozen
from jrh.plugins.protocols import MetricContext
from jrh.values.cases import REFERENCE
from jrh.values.items import Task
from jrh.values.records import RecordTable
from jrh.values.scales import ScaleKind
from jrh.values.verdicts import Record
from jrh_measuring.trials import read_trials

Rows: TypeAlias = Sequence[Record]
_TWO: Final = 2


@frozen
class Gap:
    """A column that a log lacks, or that holds one value only."""

    column: str
    """The target of an import file."""
    absent: Callable[[Rows], bool]
    sentence: str
    """What cannot be measured, then what to log."""
    unless: Callable[[Sequence[Task], Rows], bool] = lambda _, __: False
    """A second look at rows without the column: whether they tell all the same."""


def unmeasured(tasks: Sequence[Task], records: Rows) -> tuple[str, ...]:
    """Say what cannot be measured from some records: two sentences each, the most important first."""
    pairs = {task.name for task in tasks if task.scale.kind is ScaleKind.PAIRWISE}
    paired = [record for record in records if record.task in pairs]
    return (
        *(gap.sentence for gap in GAPS if gap.absent(records) and not gap.unless(tasks, records)),
        *(gap.sentence for gap in PAIRED_GAPS if paired and gap.absent(paired)),
    )


def _lacks(column: str) -> Callable[[Rows], bool]:
    return lambda rows: all(getattr(row, column) in (None, "") for row in rows)


def _few(column: str) -> Callable[[Rows], bool]:
    return lambda rows: len({getattr(row, column) for row in rows}) < _TWO


def _never_repeated(rows: Rows) -> bool:
    return len({(row.case_id, row.judge) for row in rows}) == len(rows)


def _no_groups(rows: Rows) -> bool:
    return all(row.group == row.item_id for row in rows)


def _only_reference(rows: Rows) -> bool:
    return all(row.test == REFERENCE for row in rows)


def _no_reference(rows: Rows) -> bool:
    return all(row.test != REFERENCE for row in rows)


def _asked_again(tasks: Sequence[Task], rows: Rows) -> bool:
    """Tell whether some rows of a test ask the unchanged question: the report shows them as the reference condition."""
    context = MetricContext(tasks={task.name: task for task in tasks})
    return bool(read_trials(RecordTable.from_records(rows), context).reference.any())


def _partly_ordered(rows: Rows) -> bool:
    stated = {row.test for row in rows if row.option_order}
    return any(not row.option_order and row.test in stated for row in rows)


GAPS: Final = (
    Gap(
        "gold",
        _lacks("gold"),
        "No gold labels: agreement with people cannot be measured. Log their label in a column `gold`.",
    ),
    Gap(
        "repeat",
        _never_repeated,
        "No repeats: rerun noise cannot be measured. Ask twice and number the calls in a column `repeat`.",
    ),
    Gap(
        "test",
        _only_reference,
        "Only the unchanged question: robustness to changes cannot be measured. "
        "Log what was changed in a column `test`.",
    ),
    Gap(
        "test",
        _no_reference,
        "No reference condition: there is no unchanged verdict to compare with. "
        "Log those verdicts with the test `reference`.",
        unless=_asked_again,
    ),
    Gap(
        "template",
        _few("template"),
        "One prompt template: sensitivity to wording cannot be measured. Log its name in a column `template`.",
    ),
    Gap(
        "judge",
        _few("judge"),
        "One judge: agreement between judges cannot be measured. Log their names in a column `judge`.",
    ),
    Gap(
        "probability",
        _lacks("probability"),
        "No probabilities: calibration cannot be measured. "
        "Log the judge's probability of its label in a column `probability`.",
    ),
    Gap(
        "rationale",
        _lacks("rationale"),
        "No rationales: verdicts that contradict their reasons cannot be found. "
        "Log the reasons in a column `rationale`.",
    ),
    Gap(
        "covariates",
        _lacks("covariates"),
        "No lengths or authors: a preference for long responses, or for an author, cannot be measured. "
        "Name their columns under `covariates`.",
    ),
    Gap(
        "cost",
        _lacks("cost"),
        "No cost: the price of a verdict is unknown. Log US dollars per call in a column `cost`.",
    ),
    Gap(
        "group",
        _no_groups,
        "No groups: items from one source count as independent. Log the source in a column `group`; "
        "without it, intervals may be too narrow.",
    ),
    Gap(
        "stratum",
        _few("stratum"),
        "No strata: differences between subgroups cannot be measured. Log the subgroup in a column `stratum`.",
    ),
)
"""The rules that hold for every task, what matters most first."""
PAIRED_GAPS: Final = (
    Gap(
        "option_order",
        _lacks("option_order"),
        "No option order: position bias and swap consistency cannot be measured. "
        "Log the order shown, AB or BA, in a column `option_order`.",
    ),
    Gap(
        "option_order",
        lambda rows: _few("option_order")(rows) and not _lacks("option_order")(rows),
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
    own = {task.name: task.scale.own_order for task in tasks}
    for level, name in _LEVELS.items():
        seen: dict[tuple[str, str, str], set[str]] = {}
        for row in records:
            if row.test == REFERENCE:
                text = _text(getattr(row, level)) or (own.get(row.task, "") if level == "option_order" else "")
                seen.setdefault((row.task, row.judge, row.item_id), set()).add(text)
        several = sorted({text for texts in seen.values() if len(texts) > 1 for text in texts})
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
