"""Answer for each judge whether it agrees with people well enough."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import Final

from attrs import evolve, frozen
from jrh import REFERENCE, Measure, Status
from jrh.text import clean_text, count_noun
from jrh.values import LENGTH, Finding
from jrh_measuring import (
    CONSTANT_GOLD,
    commonest,
    format_counts,
    format_figure,
    format_items,
    format_number,
    state_p,
    unsure,
)
from jrh_stats import binomial_limits, items_for_proportion

from jrh_import.checking.measurement import Checked
from jrh_import.covariates import covariate_name

RIGHT: Final = "gold-accuracy"
AGREEMENT: Final = "gold-agreement"
HEADLINES: Final = ("constant-verdicts", "below-chance", "no-agreement", AGREEMENT, "trivial-accuracy")
"""Kinds of the findings about agreement; the first that there is begins the answer."""
MISSING: Final = "missing-verdicts"
BLANK: Final = "blank"
_DIGITS: Final = 2
_COEFFICIENTS: Final = {
    "gold-kappa": "kappa",
    "adjacent-accuracy": "within one level",
    "bias": "bias in levels",
}
"""Agreement beyond chance, and what else tells on ordinal scales how far apart verdicts are."""


@frozen(kw_only=True)
class Answer:
    """What the table says about one judge."""

    judge: str
    agreement: Measure
    coefficients: tuple[tuple[str, Measure], ...]
    """Agreement beyond chance, and on ordinal scales what else tells how far apart verdicts are, by name."""
    missing: Measure
    needed: int | None
    """Items for an interval within the target half-width; None without an estimate."""
    enough: bool | None
    """Whether the agreement is at least what was asked for; None: undecided, or nothing was asked."""
    sentence: str
    findings: tuple[Finding, ...]
    """What else the measures say, the worst first."""
    covariates: tuple[str, ...] = ()
    """One sentence per covariate asked for that no finding is about."""


def answers_of(checked: Checked) -> tuple[Answer, ...]:
    """Answer for every judge, in the order asked."""
    return tuple(_answer(checked, judge) for judge in checked.request.judges)


def _answer(checked: Checked, judge: str) -> Answer:
    measures = {measure.name: measure for measure in checked.report.measures if _is_whole(measure, judge)}
    agreement = measures[RIGHT]
    ordered = any(summary.task.scale.ordered for summary in checked.report.tasks)
    names = _COEFFICIENTS | ({"gold-kappa": "quadratic kappa"} if ordered else {})
    coefficients = tuple((name, measures[measure]) for measure, name in names.items() if measure in measures)
    enough = None if _doubts(checked, agreement) else _enough(agreement, checked.request.at_least)
    return Answer(
        judge=judge,
        agreement=agreement,
        coefficients=coefficients,
        missing=measures["missing"],
        needed=_items_needed(agreement, checked.request.within),
        enough=enough,
        sentence=_sentence(checked, judge, agreement, enough),
        findings=tuple(
            _with_blanks(finding, checked, measures["missing"])
            for finding in checked.report.findings
            if finding.judge == judge and finding.kind != AGREEMENT
        ),
        covariates=tuple(open_covariates(checked, judge)),
    )


def _with_blanks(finding: Finding, checked: Checked, missing: Measure) -> Finding:
    """Return a finding that calls blank cells blank; a record has no status of its own for them."""
    if finding.kind != MISSING:
        return finding
    texts = [row[finding.judge].strip() for row in checked.table.rows]
    unreadable = missing.missing.get(Status.UNPARSABLE.value, 0)
    blank = min(sum(not text for text in texts), unreadable)
    reasons = {**missing.missing, BLANK: blank, Status.UNPARSABLE.value: unreadable - blank}
    # The finding was written from the records; only its list of reasons changes.
    before, after = (f"({format_counts(counts)})" for counts in (missing.missing, reasons))
    return evolve(
        finding,
        statement=finding.statement.replace(before, after),
        sentence=finding.sentence.replace(before, after),
    )


def _is_whole(measure: Measure, judge: str) -> bool:
    return measure.judge == judge and measure.test in ("", REFERENCE) and not measure.cell


def _enough(agreement: Measure, at_least: float | None) -> bool | None:
    """Tell whether the agreement is enough: not if the missing verdicts could overturn it, whatever their reason."""
    interval = agreement.interval
    if at_least is None or interval is None or _is_open(agreement, at_least):
        return None
    if interval.low >= at_least:
        return True
    # Between the two the data do not decide.
    return False if interval.high < at_least else None


def _doubts(checked: Checked, agreement: Measure) -> tuple[str, ...]:
    """Return the flags that forbid an answer: those that forbid a gate's decision, and one gold label only."""
    # Of a single gold label any judge that always gives it is right.
    single = (CONSTANT_GOLD,) if CONSTANT_GOLD in agreement.flags else ()
    return (*single, *unsure(agreement, checked.report.flags))


def _is_open(agreement: Measure, at_least: float) -> bool:
    """Tell whether the missing verdicts alone decide on which side of what was asked for the agreement lies."""
    bounds = agreement.bounds
    return bounds is not None and bounds[0] < at_least <= bounds[1]


def _items_needed(agreement: Measure, within: float) -> int | None:
    """Return the items for which the interval would be within ± `within`.

    The exact interval of independent items, times the design effect of this table: the squared ratio of its half-width
    to that of as many independent items.
    """
    # More items narrow the interval of the verdicts that are there.
    interval, items = agreement.observed or agreement.interval, agreement.n_items
    # No estimate, no variance to plan with.
    if agreement.estimate is None or interval is None or not items:
        return None
    low, high = binomial_limits(agreement.estimate * items, items, alpha=(1 - interval.level) / 2)
    effect = ((interval.high - interval.low) / (high - low)) ** 2
    return ceil(items_for_proportion(within, agreement.estimate, level=interval.level) * effect)


def _sentence(checked: Checked, judge: str, agreement: Measure, enough: bool | None) -> str:
    name = clean_text(judge, 60)
    if agreement.estimate is None:
        start = "" if checked.request.at_least is None else "Undecided: "
        return f"{start}{name}: no answer; {agreement.note or 'no item has a verdict and a label'}."
    sizes = f"n = {_size(agreement)}{_bounds(agreement)}{_usual(checked)}"
    text = f"{name}{_headline(checked, judge)} rate of agreement {format_figure(agreement, _DIGITS)} ({sizes})"
    if checked.request.at_least is None:
        return f"{text}."
    bar = format_number(checked.request.at_least, _DIGITS)
    start = {True: "Yes", False: "No", None: "Undecided"}[enough]
    end = {True: f"at least {bar}", False: f"below {bar}", None: f"its interval includes {bar}"}[enough]
    if doubts := _doubts(checked, agreement):
        why = {CONSTANT_GOLD: "people give one label only"}.get(doubts[0], f"its interval may be wrong ({doubts[0]})")
        end = f"not decided, because {why}"
    elif enough and _is_constant(checked, judge):
        start, end = "Yes by the rate alone", f"{end}, which that label reaches by itself"
    elif _is_open(agreement, checked.request.at_least):
        end = f"the missing verdicts could put it below or above {bar}"
    return f"{start}: {text}; {end}."


def _is_constant(checked: Checked, judge: str) -> bool:
    return any((finding.judge, finding.kind) == (judge, HEADLINES[0]) for finding in checked.report.findings)


def _bounds(agreement: Measure) -> str:
    """Say between which rates the agreement lies if the missing verdicts are all wrong, or all right."""
    if agreement.bounds is None or agreement.bounds[0] == agreement.bounds[1]:
        return ""
    low, high = (format_number(end, _DIGITS) for end in agreement.bounds)
    return f"; between {low} and {high} whatever the missing verdicts were"


def _size(agreement: Measure) -> str:
    items = format_items(agreement)
    repeated = agreement.n_trials != agreement.n_items
    return f"{items}, {count_noun(agreement.n_trials, 'verdict')}" if repeated else items


def _headline(checked: Checked, judge: str) -> str:
    """Say what the finding about agreement says, in terms of people."""
    said = {finding.kind: finding for finding in checked.report.findings if finding.judge == judge}
    finding = next((said[kind] for kind in HEADLINES if kind in said), None)
    if finding is None:
        return ":"
    # The statements are short for sentences about a judge.
    verb = {"Not": " is", "Accuracy": ":"}.get(finding.statement.split()[0], "")
    statement = f"{verb} {finding.statement[:1].lower()}{finding.statement[1:]}".replace("the gold labels", "people")
    basis = finding.basis[0]
    # In parentheses follow the accuracy and its comparisons, which the answer gives with their sizes.
    figure = " ".join(part for part in (basis.value, basis.interval, basis.aside.partition("(")[0].strip()) if part)
    figures = "" if basis.name == RIGHT or not figure else f": {figure}"
    needed = f" ({finding.decide})" if finding.decide else ""
    return f"{statement}{figures}{needed};"


def _usual(checked: Checked) -> str:
    """Say how often the most common label of people alone would agree."""
    (summary,) = checked.report.tasks
    usual = commonest(summary)
    # On an ordinal scale the share of exact levels is not what decides.
    if usual is None or usual[1] == 1.0 or summary.task.scale.ordered:
        return ""
    return f"; always '{clean_text(usual[0], 40)}': {format_number(usual[1], _DIGITS)}"


EFFECT: Final = "covariate-effect"
"""Measure of what a covariate does to verdicts at equal label, and the kind of the findings about it."""
_NAME: Final = 40


def open_covariates(checked: Checked, judge: str) -> Iterator[str]:
    """Yield one sentence per covariate asked for that no finding about the judge is about, with the interval."""
    covered = {
        basis.cell.get("covariate")
        for finding in checked.report.findings
        if (finding.judge, finding.kind) == (judge, EFFECT)
        for basis in finding.basis
    }
    for column in checked.request.covariates:
        name = covariate_name(column, checked.table)
        if name not in covered:
            yield _open_sentence(checked, judge, name, column)


def _open_sentence(checked: Checked, judge: str, name: str, column: str) -> str:
    of_judge = [measure for measure in checked.report.measures if measure.judge == judge]
    measures = [measure for measure in of_judge if measure.cell.get("covariate") == name]
    effects = [measure for measure in measures if measure.name == EFFECT and measure.estimate is not None]
    shown = f"'{clean_text(column, _NAME)}'"
    shown = f"the length of {shown}" if name == LENGTH and column != LENGTH else shown
    if not effects:
        why = next((measure.note for measure in measures if measure.note), "too few verdicts, or a single value")
        return f"Effect of {shown} at equal gold not estimable: {why}"
    # Rounded, so that equal effects of opposite sign give the same answer on every machine.
    largest = max(effects, key=lambda each: (round(abs(each.estimate or 0.0), 9), each.estimate or 0.0))
    p = next((measure for measure in measures if measure.name == f"{EFFECT}-p" and measure.estimate is not None), None)
    tested = "" if p is None else f", {state_p(p.estimate)}"
    figure = f"{_effect_figure(largest)}{tested} ({format_items(largest)})"
    return f"Effect of {shown} at equal gold neither shown nor ruled out: {figure}; an association"


def _effect_figure(effect: Measure) -> str:
    """Write the effect with its interval, its unit, and the level it is about."""
    levels = " levels" if effect.unit == "difference in levels" else ""
    level = effect.cell.get("level")
    per = " per standard deviation" if level is None else f" with '{clean_text(level, _NAME)}'"
    return f"{format_figure(effect, _DIGITS)}{levels}{per}"
