"""Select the measures to which a rule applies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Final

from jrh import REFERENCE, Measure, RunReport, SuiteError
from jrh.running import why_no_cases

from jrh_measuring import CHANGE_DUE, EVERY_TEST, GateRule, meant_by
from jrh_measuring.gating.deciding import Decision, Outcome, Place, decide
from jrh_measuring.gating.rule_limits import LimitTable

_ON_REQUEST: Final = (
    "A suite asks for others with `metrics: {add: [METRIC, {METRIC: {also: [MEASURE]}}]}`: see docs/measures.md."
)
_BREAKDOWN: Final = "Breakdowns are made on request, such as `metrics: {add: [{as-expected: {by: [stratum]}}]}`."


def unique(rules: Iterable[GateRule]) -> tuple[GateRule, ...]:
    """Return the rules, each once."""
    return tuple({rule.text: rule for rule in rules}.values())


def places(rule: GateRule, report: RunReport) -> int:
    """Count the places at which a rule is decided: the family that shares its error rate of failing.

    A judge that was asked but lacks the measure counts as well: what was asked decides, not what was answered.
    """
    measures = _measures(rule, report)
    return len(measures) + sum(1 for _ in _judges_without_measure(rule, report, measures))


def decisions(
    rules: Iterable[GateRule], report: RunReport, limits: LimitTable, *, complete: bool
) -> tuple[Decision, ...]:
    """Decide every rule wherever it applies, in the order of the rules, tasks, judges and tests.

    A rule without a judge applies to every judge, one without a test to the reference condition. One about every test
    (`*`), or without a test about a measure that is not of the reference, leaves out the tests in which the measure is
    no merit (flag `change-due`) and those without a trial that could count. A judge that was asked and for which the
    measure is not there is undecided, and so is a test that made no case.

    Args:
        rules: the rules; duplicates count once.
        report: the run.
        limits: the limits of its measures.
        complete: the run came to its end; otherwise what is not there may still come.

    Raises:
        SuiteError: with every rule that names what the run does not have.
        JrhError: a threshold that its measure cannot reach.
    """
    wanted = unique(rules)
    # All mistakes at once. An unfinished run may still get what a rule names.
    problems = [problem for rule in wanted for problem in mistakes(rule, report)] if complete else []
    if problems:
        raise SuiteError(problems)
    return tuple(decision for rule in wanted for decision in _of_rule(rule, report, limits))


def mistakes(rule: GateRule, report: RunReport) -> list[str]:
    """Return a message per name in the rule that the run does not have, or one that it lacks the measure there."""
    found = _measures(rule, report)
    # Records but no such measure at this place: the rule is a mistake, not a gap.
    nowhere = not found and not any(_tests_without_cases(rule, report, found)) and _has_records(rule, report)
    return [*_unknown(rule, report)] or ([_nowhere(rule, report)] if nowhere else [])


def _of_rule(rule: GateRule, report: RunReport, limits: LimitTable) -> Iterator[Decision]:
    measures = _measures(rule, report)
    absent = [*_judges_without_measure(rule, report, measures), *_tests_without_cases(rule, report, measures)]
    if not measures and not absent:
        yield _without(rule, Place(judge=rule.judge or "", task=rule.task or "", test=rule.named_test or ""))
    order = {judge: position for position, judge in enumerate(report.judges)}
    shared = places(rule, report)
    placed = [decide(rule, measure, limits.limits(measure, shared), report.flags) for measure in measures] + absent
    yield from sorted(placed, key=lambda decision: order.get(decision.place.judge, len(order)))


def _measures(rule: GateRule, report: RunReport) -> list[Measure]:
    """Return the measures a rule is about.

    Without a test it is about the reference condition, and about every test where the measure compares tests with it.
    Of every test only those count that have trials to measure. Accuracy against gold labels has none where every case
    changes the label: such a rule could never hold in a suite with label flips. Which trials can count follows from the
    cases, not from verdicts: where verdicts are missing, the measure stays.
    """
    measures = [measure for measure in report.measures if _is_about(rule, measure)]
    of_reference = [measure for measure in measures if measure.test == REFERENCE]
    if rule.test is None and of_reference:
        return of_reference
    counted = [measure for measure in measures if measure.n_trials or measure.missing or measure.estimate is not None]
    return counted if rule.named_test is None and counted else measures


def _is_about(rule: GateRule, measure: Measure) -> bool:
    # Agreeing is no merit where a change is due: only a rule that names the test asks for it.
    if rule.named_test is None and CHANGE_DUE in measure.flags:
        return False
    names = (rule.named_test, measure.test), (rule.judge, measure.judge), (rule.task, measure.task)
    same = rule.measure == measure.name and dict(rule.cell) == dict(measure.cell)
    return same and all(chosen in (None, name) for chosen, name in names)


def _judges_without_measure(rule: GateRule, report: RunReport, found: list[Measure]) -> Iterator[Decision]:
    """Yield the judges that lack the measure at a place where other judges have it."""
    if rule.cell or any(not measure.judge for measure in found):
        return
    measured = {(measure.task, measure.test, measure.judge) for measure in found}
    places = dict.fromkeys((measure.task, measure.test) for measure in found)
    for (task, test, judge), _ in report.records.split("task", "test", "judge"):
        if (task, test) in places and (task, test, judge) not in measured and rule.judge in (None, judge):
            yield _without(rule, Place(judge=judge, task=task, test=test))


def _tests_without_cases(rule: GateRule, report: RunReport, found: list[Measure]) -> Iterator[Decision]:
    """Yield the tests that made no case where the rule would have applied.

    A rule that names the test applies to it. One about every test applies to all that have the measure; what a test
    without cases would have is unknown, so it applies unless the measure belongs to whole tasks, or the suite allows an
    empty test. It is not enough to look at the other tests: there may be none.
    """
    others = {""} if rule.test == EVERY_TEST else {"", REFERENCE}
    of_tests = not found or any(measure.test not in others for measure in found)
    for line in report.attrition:
        why = why_no_cases(line) if line.applies and rule.task in (None, line.task) else ""
        due = of_tests and not line.allow_empty if rule.named_test is None else rule.test == line.test
        if why and due:
            place = Place(judge=rule.judge or "", task=line.task, test=line.test)
            yield Decision(rule=rule, place=place, measure=None, outcome=Outcome.UNDECIDED, reason=why)


def _without(rule: GateRule, place: Place) -> Decision:
    return Decision(
        rule=rule, place=place, measure=None, outcome=Outcome.UNDECIDED, reason="the run does not have this measure"
    )


def _has_records(rule: GateRule, report: RunReport) -> bool:
    """Return whether there is any record at the rule's place."""
    rows = report.records
    for column, name in {"test": rule.named_test, "judge": rule.judge, "task": rule.task}.items():
        rows = rows if name is None or not len(rows) else rows.where(rows.equals(column, name))
    return len(rows) > 0


def _unknown(rule: GateRule, report: RunReport) -> Iterator[str]:
    """Yield a message per name in the rule that the run does not have."""
    named = [measure for measure in report.measures if measure.name == rule.measure]
    empty = [line for line in report.attrition if line.applies and why_no_cases(line)]
    # Only an empty test could have a measure that no other test has.
    hidden = any(line.test == rule.test if rule.named_test is not None else not line.allow_empty for line in empty)
    if not named and len(report.records) and not hidden:
        message = _no_such(rule, "measure", rule.measure, {measure.name for measure in report.measures})
        meant = meant_by(rule.measure)  # loads every plugin: only once a rule is known to be wrong
        ambiguous = f"rule '{rule.text}': there is no measure '{rule.measure}': {meant}"
        yield ambiguous if meant else f"{message} {_ON_REQUEST}"
    known = {
        "test": (rule.named_test, [*report.tests, *(measure.test for measure in named)]),
        "judge": (rule.judge, report.judges),
        "task": (rule.task, [summary.task.name for summary in report.tasks]),
    }
    for what, (name, names) in known.items():
        if name is not None and name not in names:
            yield _no_such(rule, what, name, names)
    for factor, level in rule.cell.items():
        levels = [measure.cell[factor] for measure in named if factor in measure.cell]
        if named and level not in levels:
            factors = dict.fromkeys(factor for measure in named for factor in measure.cell)
            kind = f"{factor} of '{rule.measure}'" if levels else "selector"
            message = _no_such(rule, kind, level if levels else factor, levels or ["test", "judge", "task", *factors])
            yield message if levels else f"{message} {_BREAKDOWN}"


def _no_such(rule: GateRule, what: str, name: str, known: Iterable[str]) -> str:
    names = sorted(set(known) - {""})
    close = get_close_matches(name, names, n=1)
    hint = f"Did you mean '{close[0]}'? " if close else ""
    return f"rule '{rule.text}': the run has no {what} '{name}'\n{hint}Available: {', '.join(names) or 'none'}."


def _nowhere(rule: GateRule, report: RunReport) -> str:
    """Return an error text that says where the run has the measure."""
    named = [measure for measure in report.measures if measure.name == rule.measure]
    tests = list(dict.fromkeys(measure.test or "(no test)" for measure in named if not measure.cell))
    cells = list(dict.fromkeys(", ".join(measure.cell) for measure in named if measure.cell))
    where = f"for the tests {', '.join(tests)}" if tests else "not for any whole test"
    by = f", and by {'; by '.join(cells)}" if cells else ""
    return f"rule '{rule.text}': the run does not have this measure there\nIt has '{rule.measure}' {where}{by}."
