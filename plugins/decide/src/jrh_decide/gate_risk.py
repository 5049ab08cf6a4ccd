"""How often a gate is wrong: red although nothing changed, and green although the judge has become worse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
from attrs import Factory, evolve, frozen
from jrh import JrhError, Measure, MetricContext, RecordTable, RunReport, open_report
from jrh.running import RunState, run_state
from jrh_measuring import GateOptions, Look, one_sided_measuring, parse_rule, served_note
from jrh_measuring.gating.checking import FAILS, HOLDS, INCOMPLETE, Checked, Terms, check
from jrh_measuring.gating.deciding import Outcome, decide
from jrh_stats import binomial_limits

from jrh_decide.resampling import Nights, Picks, Question, Random, join_runs

_NIGHTS: Final = 5
"""Nights of one draw of what the run leaves open: how much each question wavers, and which items there might be."""
_DESIGNS: Final = ((1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (4, 1), (4, 2), (8, 1))
"""Multiples of the items and of the repeats of the run that are tried."""
_FIRST_LOOK: Final = 20
"""Nights after which a design that is far from the target is given up."""
_MARKS: Final = 0.005
_ROUNDING: Final = 1e-9
_MOST_ROWS: Final = 50_000
"""Records of a night in the search; a larger one is left out."""
LOSS: Final = "loss"
SAME: Final = "same"
Measuring = Callable[[RecordTable | None, Sequence[float]], Mapping[float, tuple[Measure, ...]]]


@frozen(kw_only=True)
class Chance:
    """A probability that was estimated from simulated nights."""

    value: float
    low: float
    high: float
    nights: int

    @classmethod
    def of(cls, counts: Sequence[int], each: int) -> Chance:
        """Estimate from counts of studies with `each` nights; the interval is for what the run leaves open.

        The studies differ by more than nights do by chance: what is left over is the variance of the probability. The
        interval is the exact one of as many nights as have that variance.
        """
        shares = np.array(counts) / each
        value, nights = float(shares.mean()), len(counts) * each
        within = float((shares * (1 - shares)).mean()) / max(each - 1, 1)
        between = max(float(shares.var(ddof=1)) - within, 0.0) + float(shares.var(ddof=1)) / len(counts)
        worth = min(nights, max(value * (1 - value) / between - 1, 1.0)) if between > 0 else nights
        low, high = binomial_limits(value * worth, worth, alpha=0.025)
        return cls(value=value, low=low, high=high, nights=nights)


@frozen(kw_only=True)
class Answer:
    """How a gate ends over many nights, on the same items or on fresh ones."""

    red: Chance
    """With nothing changed."""
    reasons: Mapping[str, float]
    """Reason -> share of nights with nothing changed that are red for it."""
    missed: Chance
    """Green although the judge is worse."""


@frozen(kw_only=True)
class Design:
    """A number of items and repeats, and what they bring."""

    clusters: int
    times: int
    """How often every question is asked, in multiples of the run."""
    red: float
    missed: float
    mark: float | None
    """The pass mark that brings both under the target; None: none does."""
    nights: int


@frozen(kw_only=True)
class GateRisk:
    """The answer of `jrh gate-risk`."""

    suite: str
    rules: tuple[str, ...]
    runs: int
    ignored: int
    """Runs with the verdicts of another."""
    clusters: int
    items: int
    verdicts: int
    """Verdicts of all runs."""
    missing: Mapping[str, int]
    tonight: int
    """Exit code of the gate for the first run."""
    loss: float
    target: float
    same: Answer
    fresh: Answer
    moved: str
    """The rule whose mark is searched for: the one that is most often not met."""
    designs: tuple[Design, ...]
    questions: tuple[Question, ...]
    simulated: tuple[str, ...] = ()
    notes: tuple[str, ...] = Factory(tuple)


@frozen(kw_only=True)
class Ending:
    """How a gate ended one night."""

    code: int
    checked: Checked

    @property
    def reason(self) -> str:
        """Return why the night is red; empty if it is green."""
        if self.code == HOLDS:
            return ""
        outcomes = self.checked.counts
        if self.code == INCOMPLETE:
            return "missing"
        return "failed" if outcomes[Outcome.FAILS] else "undecided"


@frozen(kw_only=True)
class Gate:
    """A gate that can be put to any records."""

    state: RunState
    report: RunReport
    terms: Terms
    measuring: Measuring

    def end(self, records: RecordTable) -> Ending:
        """Check records as `jrh gate` checks a run that it has not looked at before."""
        measured = cache(lambda error: self.measuring(records, [error])[error])
        base = (1 - self.report.level) / 2 * Look().share
        report = evolve(self.report, records=records, measures=measured(base), findings=(), missing_records=0)
        checked = check(self.state, report, self.terms, Look(), lambda errors: {at: measured(at) for at in errors})
        return Ending(code=checked.exit_code, checked=checked)

    def code_at(self, ending: Ending, rule: str, mark: float) -> int:
        """Return the exit code that the same records have with another pass mark of a rule."""
        checked = ending.checked
        moved = tuple(
            decide(evolve(each.rule, threshold=mark), each.measure, each.limits, self.report.flags)
            if each.rule.text == rule and each.measure is not None
            else each
            for each in checked.decisions
        )
        return evolve(checked, decisions=moved).exit_code


def find_gate_risk(
    runs: Sequence[Path],
    *,
    rules: Sequence[str] = (),
    loss: float = 0.05,
    target: float = 0.05,
    nights: int = 300,
    seed: int = 1,
    plugins: Sequence[str] = (),
) -> GateRisk:
    """Simulate nights of a gate from the verdicts of stored runs of one suite; asks no model.

    Args:
        runs: the run whose gate it is, and others of the same suite.
        rules: rules instead of those of the suite.
        loss: share of verdicts that a worse judge gets wrong in addition.
        target: the largest probability wanted of both mistakes.
        nights: simulated nights of each answer.
        seed: of the simulation.
        plugins: plugins to load, as `--plugins`.

    Raises:
        JrhError: no rules, an unfinished run, no repeats, or a rule that cannot be simulated.
    """
    # As a run that has come to its end: its own end may be that its gate is red.
    state = evolve(run_state(runs[0]), imported=True)
    terms = _terms(state, rules)
    reports = [_open(run, plugins) for run in runs]
    report, tables = reports[0], [each.records for each in reports]
    for run, other in zip(runs, reports, strict=True):
        if other.suite != report.suite:
            raise JrhError(f"'{run}' is a run of '{other.suite}' and not of '{report.suite}'; pass runs of one suite")
        if _questions(other).isdisjoint(_questions(report)):
            raise JrhError(
                f"'{run}' asks none of the questions of '{runs[0]}'; pass runs of the same items and judges, and join "
                "the parts of a run with `jrh merge`"
            )
    records, ignored = join_runs(tables)
    context = MetricContext(tasks={summary.task.name: summary.task for summary in report.tasks})
    try:
        verdicts = Nights(records, len(tables[0]), context)
    except JrhError as error:
        raise JrhError(_ask_again(runs, str(error))) from error
    names = {rule.measure for rule in terms.rules}
    with one_sided_measuring(runs[0], plugins, names) as measuring:
        gate = Gate(state=state, report=report, terms=terms, measuring=measuring)
        tonight = _check_simulated(gate, tables[0], verdicts)
        random = np.random.default_rng(seed)
        endings = simulate(gate, verdicts, loss, nights, random)
        moved = _weakest_rule([night for nights in endings["same", SAME] for night in nights], terms)
        designs = tuple(_search(gate, verdicts, loss, target, moved, nights // 2, random))
    missing = Counter(name for name in tables[0].text("status") if name and name != "ok")
    return GateRisk(
        suite=report.suite, rules=tuple(rule.text for rule in terms.rules), runs=len(runs), ignored=ignored,
        clusters=verdicts.n_clusters, items=len(tables[0].counts("item_id")),
        verdicts=int(verdicts.counts[verdicts.weight > 0].sum()), missing=dict(missing), tonight=tonight, loss=loss,
        target=target, same=answer_of(endings["same", SAME], endings["same", LOSS]),
        fresh=answer_of(endings["fresh", SAME], endings["fresh", LOSS]), moved=moved, designs=designs,
        questions=tuple(verdicts.restless_questions()), simulated=tuple(sorted(report.simulated)),
        notes=tuple(filter(None, [served_note(report.served, report.judges)])),
    )  # fmt: skip


def _questions(report: RunReport) -> set[tuple[str | None, str | None]]:
    return set(zip(report.records.text("case_id"), report.records.text("judge"), strict=True))


def _open(run: Path, plugins: Sequence[str]) -> RunReport:
    with open_report(run, measure=True, plugins=plugins) as report:
        if report.incomplete or not len(report.records):
            raise JrhError(f"the run in '{run}' is not finished; run the suite again to complete it")
        return report


def _terms(state: RunState, rules: Sequence[str]) -> Terms:
    section = state.sections.get("gate") or {}
    gate = GateOptions(**{**section, "rules": tuple(rules) or tuple(section.get("rules", ()))})
    if not gate.rules:
        raise JrhError(
            'no rules to check; pass --rule "gold-accuracy >= 0.8", or write `gate: {rules: [...]}` in the suite'
        )
    parsed = tuple(parse_rule(rule) for rule in gate.rules)
    return Terms(rules=parsed, allow_missing=gate.allow_missing, undecided=gate.undecided)


def _ask_again(runs: Sequence[Path], why: str) -> str:
    return (
        f"{why}: one run without repeats does not show how much its verdicts waver.\n"
        f"Ask again: `jrh run SUITE --run-dir {runs[0]}-again --no-cache`, then "
        f"`jrh gate-risk {runs[0]} {runs[0]}-again`; or write `reference: {{repeats: 3}}` in the suite."
    )


def _check_simulated(gate: Gate, own: RecordTable, verdicts: Nights) -> int:
    """Return tonight's exit code; refuse rules whose measure needs more than verdicts, which is all that is drawn."""
    tonight, again = gate.end(own), gate.end(verdicts.observed())
    for before, after in zip(tonight.checked.decisions, again.checked.decisions, strict=True):
        measured, drawn = (each.measure.estimate if each.measure else None for each in (before, after))
        if (measured is None) is not (drawn is None) or abs((measured or 0.0) - (drawn or 0.0)) > _ROUNDING:
            raise JrhError(
                f"rule '{before.rule.text}' cannot be simulated: its measure reads more than verdicts, such as "
                "probabilities or scores"
            )
    return tonight.code


def simulate(
    gate: Gate, verdicts: Nights, loss: float, nights: int, random: Random
) -> Mapping[tuple[str, str], list[list[Ending]]]:
    """Return the nights of every study, for the same and for fresh items, without and with the loss."""
    found: dict[tuple[str, str], list[list[Ending]]] = {
        (items, judge): [] for items in ("same", "fresh") for judge in (SAME, LOSS)
    }
    everything = np.arange(verdicts.n_clusters)
    for _ in range(-(-nights // _NIGHTS)):
        chances = verdicts.draw_chances(random)
        # What other items there might be is known from these alone: the items of a study are drawn twice.
        others = random.choice(everything, len(everything))
        for judge, of_judge in ((SAME, chances), (LOSS, verdicts.lose(chances, loss, random))):
            same = [gate.end(verdicts.night(of_judge, everything, 1, random)) for _ in range(_NIGHTS)]
            fresh = [
                gate.end(verdicts.night(of_judge, random.choice(others, len(others)), 1, random))
                for _ in range(_NIGHTS)
            ]
            found["same", judge].append(same)
            found["fresh", judge].append(fresh)
    return found


def answer_of(unchanged: list[list[Ending]], worse: list[list[Ending]]) -> Answer:
    """Summarise the nights of every study."""
    each = len(unchanged[0])
    reasons = Counter(night.reason for nights in unchanged for night in nights)
    total = sum(reasons.values())
    return Answer(
        red=Chance.of([sum(night.code != HOLDS for night in nights) for nights in unchanged], each),
        reasons={name: reasons[name] / total for name in ("failed", "undecided", "missing")},
        missed=Chance.of([sum(night.code == HOLDS for night in nights) for nights in worse], each),
    )


def _weakest_rule(nights: Sequence[Ending], terms: Terms) -> str:
    """Return the rule that most nights do not meet, the first one where all do."""
    unmet = Counter(
        text
        for night in nights
        for text, outcome in night.checked.rules.items()
        if outcome is not Outcome.HOLDS and night.code in (FAILS, terms.undecided)
    )
    return unmet.most_common(1)[0][0] if unmet else terms.rules[0].text


def _search(
    gate: Gate, verdicts: Nights, loss: float, target: float, rule: str, nights: int, random: Random
) -> Iterator[Design]:
    """Yield what numbers of items and repeats bring, with the pass mark that serves best."""
    threshold = next(each.threshold for each in gate.terms.rules if each.text == rule)
    percent = next((each.measure for each in gate.end(verdicts.observed()).checked.decisions if each.measure), None)
    share = percent is not None and percent.unit == "proportion"
    marks = [round(mark, 4) for mark in np.arange(_MARKS, 1, _MARKS)] if share else [threshold]
    present = np.arange(verdicts.n_clusters)
    rows = verdicts.weight.sum()
    for size, times in _DESIGNS:
        if rows * size * times > _MOST_ROWS:
            continue
        found: dict[str, list[Ending]] = {SAME: [], LOSS: []}
        for night in range(nights):
            chances = verdicts.draw_chances(random)
            # The items there are, and more like them.
            picks: Picks = np.concatenate([present, random.choice(present, (size - 1) * len(present))])
            for judge, of_judge in ((SAME, chances), (LOSS, verdicts.lose(chances, loss, random))):
                found[judge].append(gate.end(verdicts.night(of_judge, picks, times, random)))
            if night == _FIRST_LOOK and _best_mark(gate, found, rule, marks)[1] > 4 * target:
                break
        # A mark is chosen on half of the nights and has to serve on the others, too: the best of many looks too good.
        halves = [{judge: endings[half::2] for judge, endings in found.items()} for half in (0, 1)]
        mark, mistake = _best_mark(gate, halves[0], rule, marks)
        mistake = max(mistake, *_mistakes(gate, halves[1], rule, mark))
        yield Design(
            clusters=size * len(present),
            times=times,
            red=float(np.mean([night.code != HOLDS for night in found[SAME]])),
            missed=float(np.mean([night.code == HOLDS for night in found[LOSS]])),
            mark=mark if mistake <= target else None,
            nights=len(found[SAME]),
        )


def _mistakes(gate: Gate, found: Mapping[str, list[Ending]], rule: str, mark: float) -> tuple[float, float]:
    """Return the shares of nights that are red with nothing changed, and green after the loss, with a pass mark."""
    red = np.mean([gate.code_at(night, rule, mark) != HOLDS for night in found[SAME]])
    missed = np.mean([gate.code_at(night, rule, mark) == HOLDS for night in found[LOSS]])
    return float(red), float(missed)


def _best_mark(gate: Gate, found: Mapping[str, list[Ending]], rule: str, marks: Sequence[float]) -> tuple[float, float]:
    """Return the pass mark with the smallest larger one of both mistakes, and how often that is made."""
    # Both shares change one way with the mark: the best one is where they cross.
    low, high = 0, len(marks) - 1
    upwards = next(each.operator.upwards for each in gate.terms.rules if each.text == rule)
    while high - low > 1:
        middle = (low + high) // 2
        red, missed = _mistakes(gate, found, rule, marks[middle])
        low, high = (middle, high) if (missed > red) is upwards else (low, middle)
    mistake, best = min((max(_mistakes(gate, found, rule, mark)), mark) for mark in (marks[low], marks[high]))
    return best, mistake
