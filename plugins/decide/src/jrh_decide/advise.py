"""The next best spending on a run: what items, repeats, labels and conditions would each buy, at which cost.

How many items decide a claim is what the rules of the report say; nothing is tested or planned a second time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil
from pathlib import Path
from typing import Final

from attrs import frozen
from jrh import JrhError, Measure, RunReport, open_report
from jrh.plugins import Role
from jrh.text import count_noun
from jrh.values import Severity, TaskSummary
from jrh_measuring import is_estimable, items_in_all, measures_by_role
from jrh_stats import design_effect

from jrh_decide.card import MEASURED, MISSING, NOT_RUN, ONE_PERSON, TWO_PEOPLE, card_lines
from jrh_decide.decisions import UNFINISHED

ITEMS: Final = "items"
REPEATS: Final = "repeats"
LABELS: Final = "labels"
CONDITIONS: Final = "conditions"
_MOST_REPEATS: Final = 20
_NOTHING: Final = 0.99
"""A width above this share of today's is no gain."""
_HALF: Final = 0.25
"""Half the width of an interval takes a quarter of the variance."""


@frozen(kw_only=True)
class Spending:
    """One way to go on, and what it buys."""

    kind: str
    """`items`, `repeats`, `labels` or `conditions`."""
    task: str
    add: str
    """What to add, in words."""
    buys: str
    claims: int = 0
    """Open claims that it decides, each with 80% power at the effect that the rule names."""
    calls: int | None
    """Further calls of all judges, as many a verdict as the run sent; None: unknown."""
    cost: float | None
    """US dollars at the prices of the run; None: unknown, as what people take for their labels."""


@frozen(kw_only=True)
class Advised:
    """The answer of `jrh advise`."""

    best: Spending | None
    """Most claims per dollar, or per call where a price is unknown; without an open claim, what was not run."""
    open: int
    """Claims that the run leaves open."""
    hopeless: int
    """Those of them that no number of items up to 2,000 decides."""
    spendings: tuple[Spending, ...]
    """Those of items by number, then repeats, labels and conditions, task by task."""
    simulated: tuple[str, ...]
    notes: tuple[str, ...]


@frozen(kw_only=True)
class _Prices:
    """What one item of a task and one verdict on it cost, of all judges."""

    verdicts: float
    calls: float
    """Per verdict: a cascade asks several times for one."""
    dollars: float | None

    @classmethod
    def of(cls, report: RunReport, summary: TaskSummary) -> _Prices:
        lines = [line for line in report.costs if line.task == summary.task.name]
        known = bool(lines) and not any(line.unknown for line in lines)
        trials = sum(line.trials for line in lines)
        sent = sum(line.replies for line in report.spending if (line.role, line.task) == ("judge", summary.task.name))
        return cls(
            verdicts=trials / max(summary.items, 1),
            calls=max(sent / max(trials, 1), 1.0),
            dollars=sum(line.cost for line in lines) / trials if known and trials else None,
        )

    def of_verdicts(self, more: float) -> dict[str, int | float | None]:
        cost = None if self.dollars is None or not more else ceil(more) * self.dollars
        return {"calls": ceil(more * self.calls), "cost": cost}


def advise(run: Path, *, plugins: Sequence[str] = ()) -> Advised:
    """Return what further items, repeats, labels and conditions would buy.

    Raises:
        JrhError: there is no such run, or it has no verdict.
    """
    with open_report(run, measure=True, plugins=plugins) as report:
        if not len(report.records):
            raise JrhError(f"'{run}' has no verdict yet; run its suite first")
        needs = {summary.task.name: list(_needs(report, summary)) for summary in report.tasks}
        spendings = tuple(
            spending
            for summary in report.tasks
            for spending in _spendings(report, summary, [each for each in needs[summary.task.name] if each])
        )
        everything = [each for some in needs.values() for each in some]
        return Advised(
            best=_best(spendings), open=len(everything), hopeless=everything.count(None), spendings=spendings,
            simulated=tuple(sorted(report.simulated)), notes=(*[UNFINISHED] * report.incomplete, *report.warnings),
        )  # fmt: skip


def _needs(report: RunReport, summary: TaskSummary) -> Iterator[float | None]:
    """Yield for every open claim how many times today's items decide it; None: no number that a rule advises does."""
    measures = {(each.name, each.judge, each.task, each.test, *each.cell.items()): each for each in report.measures}
    for finding in report.findings:
        if finding.severity is Severity.INCONCLUSIVE and finding.task == summary.task.name:
            for basis in finding.basis:
                measure = measures.get((basis.name, basis.judge, basis.task, basis.test, *basis.cell.items()))
                most, now = items_in_all(basis.decide), 0 if measure is None else measure.n_clusters or measure.n_items
                yield most / now if most is not None and now else None


def _spendings(report: RunReport, summary: TaskSummary, needs: Sequence[float]) -> Iterator[Spending]:
    prices, task = _Prices.of(report, summary), summary.task.name
    steps = sorted(set(needs))
    # The fewest items that decide a claim, those that decide half, and those that decide all that can be decided.
    for times in dict.fromkeys(steps[at] for at in (0, len(steps) // 2, -1) if steps):
        decided = sum(need <= times for need in needs)
        yield _more_items(summary, prices, times, f"decides {count_noun(decided, 'open claim')}", decided)
    yield _more_items(summary, prices, 4.0, "halves every interval", sum(need <= 4.0 for need in needs))  # noqa: PLR2004
    yield from _repeats(report, summary, prices)
    if summary.labelled < summary.items:
        left = summary.items - summary.labelled
        width = (summary.labelled / summary.items) ** 0.5
        gain = f"narrows intervals of agreement to {width:.0%} of their width" if width else "measures agreement"
        yield Spending(kind=LABELS, task=task, add=count_noun(left, "label"), buys=gain, calls=0, cost=None)
    missing: dict[str, dict[str, None]] = {}
    for judge in report.judges:
        lines = list(card_lines(report, judge, summary.task))
        # A judge without a verdict has no card: what it lacks is verdicts.
        judged = any(line.status == MEASURED for line in lines if line.what != MISSING)
        for line in lines:
            if judged and line.status == NOT_RUN:
                missing.setdefault(line.why, {})[line.what] = None
    for why, whats in missing.items():
        # People are no calls. Anything else is asked at least once more of every item and judge.
        by_people = why in (ONE_PERSON, TWO_PEOPLE)
        asked = 0 if by_people else summary.items * len(report.judges)
        yield Spending(
            kind=LABELS if by_people else CONDITIONS, task=task, add=why,
            buys=f"measures {' and '.join(whats)}: not run so far",
            **prices.of_verdicts(asked),  # type: ignore[arg-type]
        )  # fmt: skip


def _more_items(summary: TaskSummary, prices: _Prices, times: float, buys: str, claims: int) -> Spending:
    more = max(ceil(summary.items * times) - summary.items, 1)
    return Spending(
        kind=ITEMS, task=summary.task.name, add=count_noun(more, "item"), buys=buys, claims=claims,
        **prices.of_verdicts(more * prices.verdicts),  # type: ignore[arg-type]
    )  # fmt: skip


def _repeats(report: RunReport, summary: TaskSummary, prices: _Prices) -> Iterator[Spending]:
    """Yield what repeats do for the widest interval of agreement, by the design effect of repeats of an item."""
    found = [
        (agreement, noise)
        for agreement in _reference(report, summary, Role.AGREEMENT)
        for noise in _reference(report, summary, Role.NOISE)
        if agreement.judge == noise.judge and agreement.unit == "proportion" and agreement.n_items
    ]
    if not found:
        return
    agreement, noise = max(
        found, key=lambda pair: pair[0].interval.high - pair[0].interval.low if pair[0].interval else 0
    )
    now, right = max(round(agreement.n_trials / agreement.n_items), 1), agreement.estimate or 0.0
    spread = 2 * right * (1 - right)
    # Of two repeats one is right and the other wrong at most as often as their verdicts differ.
    alike = min(max(1 - (noise.estimate or 0.0) / spread, 0.0), 1.0) if spread else 1.0
    variance = {times: design_effect(times, alike) / times for times in range(now, _MOST_REPEATS + 1)}
    halving = next((times for times, each in variance.items() if each <= _HALF * variance[now]), None)
    times = halving or min(2 * now, _MOST_REPEATS)
    width = (variance[times] / variance[now]) ** 0.5
    whose = f"agreement of judge '{agreement.judge}'"
    gain = f"leaves {whose} as wide as it is" if width > _NOTHING else f"narrows {whose} to {width:.0%} of its width"
    yield Spending(
        kind=REPEATS, task=summary.task.name, add=f"{times} repeats of an original instead of {now}", buys=gain,
        **prices.of_verdicts(summary.items * len(report.judges) * (times - now)),  # type: ignore[arg-type]
    )  # fmt: skip


def _reference(report: RunReport, summary: TaskSummary, role: Role) -> Iterator[Measure]:
    names = measures_by_role()[role.value]
    for measure in report.measures:
        place = (measure.task, measure.test) == (summary.task.name, report.tests[0])
        if measure.name in names and place and not measure.cell and is_estimable(measure):
            yield measure


def _best(spendings: Sequence[Spending]) -> Spending | None:
    deciding = [each for each in spendings if each.claims]
    known = all(each.cost for each in deciding)
    if deciding:
        return max(deciding, key=lambda each: each.claims / ((each.cost if known else each.calls) or 1))
    return next((each for each in spendings if each.kind == CONDITIONS), spendings[0] if spendings else None)
