"""Put the gate's findings into words, the same in every output."""

from __future__ import annotations

import math
from collections.abc import Iterator

from jrh import Measure
from jrh.text import clean_text, count_noun
from jrh.values import Finding
from jrh_measuring import format_basis, format_counts, format_number, is_proportion, served_note
from jrh_measuring.gating import checking
from jrh_measuring.gating.checking import Answered, Checked
from jrh_measuring.gating.deciding import Decision, Outcome, Place, usable_interval

_DIGITS = 4
_SENTENCE = 2000


def number(value: float, measure: Measure) -> str:
    """Write an estimate or a limit of a measure with at most four decimals."""
    return format_number(value, _DIGITS, proportion=is_proportion(measure), nonzero=True, trimmed=True)


def share(value: float) -> str:
    """Write a share as a percentage."""
    return f"{100 * value:.4g}%"


def estimate_and_limits(decision: Decision) -> str:
    """Write the estimate with the limits that decided, `0.93, limits 0.88 and 0.96`; else with its own interval."""
    measure, ends = decision.measure, decision.ends
    if measure is None or measure.estimate is None or not math.isfinite(measure.estimate):
        return "not estimable"
    value = number(measure.estimate, measure)
    if ends is not None:
        low, high = (number(end, measure) for end in ends)
        return f"{value}, limits {low} and {high}"
    interval = usable_interval(measure)
    return f"{value} [{number(interval.low, measure)}, {number(interval.high, measure)}]" if interval else value


def terms_of_decision(checked: Checked) -> tuple[str, ...]:
    """Say how often a rule is decided by mistake, one sentence each; nothing without decisions."""
    if checked.error is None or not checked.decisions:
        return ()
    rate = share(checked.error)
    shared = any(decision.limits is not None and decision.limits.places > 1 for decision in checked.decisions)
    places = ", shared by all its places (Bonferroni)" if shared else ""
    chance = f"with a probability of at most {rate}, and fails by mistake with at most {rate}"
    sentences = [f"A rule holds by mistake {chance}{places}"]
    if checked.look.number > 1:
        sentences.append(
            f"This is look {checked.look.number} at the growing data of this run, so it has "
            f"{share(checked.look.share)} of the error rate of {share((1 - (checked.level or 0)) / 2)}"
        )
    if checked.look.unrecorded:
        sentences.append(
            f"This look could not be recorded, so the next one will not count it: {clean_text(checked.look.unrecorded)}"
        )
    if served := served_note(checked.served, checked.judges):
        sentences.append(served.removesuffix("."))
    return tuple(sentences)


def cells(decision: Decision, checked: Checked) -> tuple[str, ...]:
    """Write rule, judge, place, result and sizes of a decision, the row of a table after its outcome."""
    place = decision.place
    name, text = judge(place.judge, checked), clean_text(decision.rule.text)
    return text, name, where(place, checked), result(decision), sizes(decision.measure)


def sizes(measure: Measure | None) -> str:
    """Write what the estimate rests on: `30 items, 2 verdicts missing`."""
    return "" if measure is None else format_basis(measure)


def judge(name: str, checked: Checked) -> str:
    """Write a judge's name, marked if it is simulated."""
    if not name:
        return "all judges"
    # Wherever a simulated judge is named, so that made-up numbers are never taken for a model's.
    return f"{clean_text(name, 100)} (simulated)" if name in checked.simulated else clean_text(name, 100)


def where(place: Place | Answered, checked: Checked) -> str:
    """Write the test, with the task where the run has several."""
    # The only task of a run says nothing.
    several = len({answered.task for answered in checked.answered}) > 1
    parts = (place.task if several else "", place.test)
    return ", ".join(clean_text(part, 100) for part in parts if part)


def silence(answered: Answered) -> str:
    """Write how many verdicts are missing at a place."""
    missing = sum(answered.missing.values())
    return f"{missing} of {answered.trials} verdicts are missing ({format_counts(answered.missing)})"


def result(decision: Decision) -> str:
    """Write the estimate with its limits, why it is undecided, or why there is none."""
    measure = decision.measure
    # Without an interval there are no limits either, and the reason says why.
    if measure is None or usable_interval(measure) is None:
        return clean_text(decision.reason)
    why = f": {clean_text(decision.reason)}" if decision.outcome is Outcome.UNDECIDED else ""
    return f"{estimate_and_limits(decision)}{why}"


def conclusion(checked: Checked) -> str:
    """Write the conclusion of the gate in one line."""
    counts = checked.counts
    named = [
        f"{counts[outcome]} {words[counts[outcome] != 1]}"
        for outcome, words in {
            Outcome.HOLDS: ("check holds", "checks hold"),
            Outcome.FAILS: ("check fails", "checks fail"),
            Outcome.UNDECIDED: ("check is undecided", "checks are undecided"),
        }.items()
        if counts[outcome]
    ]
    return f"{', '.join(named) or 'nothing was checked'}; exit code {checked.exit_code}: {_meaning(checked)}"


def write_outcome(checked: Checked) -> str:
    """Write how the gate ended, with how many of its rules failed, or hold."""
    rules = checked.rules
    failed = sum(outcome is Outcome.FAILS for outcome in rules.values())
    holding = sum(outcome is Outcome.HOLDS for outcome in rules.values())
    of_rules = f"of {count_noun(len(rules), 'rule')}"
    if failed:
        return f"failed, {failed} {of_rules}"
    if checked.ended:
        return "not decided, the run is not finished"
    if checked.silent:
        return "not decided, verdicts are missing"
    return f"{'passed' if holding == len(rules) else Outcome.UNDECIDED.value}, {holding} {of_rules} met"


def write_headline(checked: Checked) -> str:
    """Write the result of the gate for the top of a report: how it ended, what decided it, and what to do."""
    causes = "; ".join(_causes(checked))
    return f"Gate: {write_outcome(checked)}{f' ({causes})' if causes else ''}. {_next_step(checked)}"


def _causes(checked: Checked) -> Iterator[str]:
    """Yield what decided: the first place at which a rule does not hold, and the first with too few verdicts."""
    worst = Outcome.FAILS if checked.counts[Outcome.FAILS] else Outcome.UNDECIDED
    decided = [decision for decision in checked.decisions if decision.outcome is worst]
    if decided:
        text, name, place, value, _ = cells(decided[0], checked)
        more = f", and {count_noun(len(decided) - 1, 'more place')}" if len(decided) > 1 else ""
        yield f"{text}: {name} on {place}: {value}{more}"
    for silent in checked.silent[:1]:
        yield f"{judge(silent.judge, checked)} on {where(silent, checked)}: {silence(silent)}"


def _next_step(checked: Checked) -> str:
    if checked.counts[Outcome.FAILS]:
        return "Look at the cases that fail, change the judge, and run the suite again."
    if checked.silent:
        return "Run the suite again, or accept it with `allow_missing` of the gate."
    if checked.counts[Outcome.UNDECIDED]:
        return "Add items to the data and run the suite again."
    return "The rules of the suite need nothing more."


def _meaning(checked: Checked) -> str:
    # In the order of the exit codes, whose first match decides.
    lacks = clean_text(checked.unfinished) if checked.ended else ""
    if not lacks and checked.silent:
        lacks = f"more than {share(checked.terms.allow_missing)} of the verdicts are missing"
    if checked.counts[Outcome.FAILS]:
        return f"a rule fails{f'; besides, {lacks}' if lacks else ''}"
    if lacks:
        return lacks
    if checked.counts[Outcome.UNDECIDED]:
        counted = {checking.FAILS: "counted as failing", checking.HOLDS: "let pass"}
        return f"a rule is undecided{f', {counted[code]}' if (code := checked.exit_code) in counted else ''}"
    return "all rules hold"


def write_finding(finding: Finding, checked: Checked) -> str:
    """Write a finding of the run in one line, the same in every output."""
    about = judge(finding.judge, checked) if finding.judge else "data"
    return f"{finding.severity.value}: {about} on {clean_text(finding.task)}: {clean_text(finding.sentence, _SENTENCE)}"
