"""What the measures show, in one finding per judge and task, or two tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from attrs import evolve, frozen
from jrh import Measure
from jrh.text import counted
from jrh_measuring import FINDING, Cell, MeasureBuilder
from jrh_stats import Estimate

from jrh_consistency.preferences import Judged

_FEW_CYCLES: Final = 0.05
"""A judge whose cycles are shown to be rarer is called transitive."""
_ONE_ORDER: Final = "Options were shown in one order only, so position bias may be the cause: add `option-order`."
_EVEN: Final = 0.5
_LEAST: Final = 0.02
"""A smaller excess is not called a defect, however sure it is."""
_HIGH: Final = 0.9
"""Two ways of asking that are shown to agree on more of the decided pairs are called consistent."""


@frozen(kw_only=True, eq=False)
class Told:
    """The measures of one judge and task, or two tasks."""

    judged: Judged
    other: Judged | None = None
    cell: Cell | None = None
    measures: Mapping[str, Measure]
    claim: Estimate
    """The excess, with the interval that claims rest on."""
    size: int
    """Triples or pairs."""
    missing: int

    @property
    def claimed(self) -> bool:
        """Return whether more is shown than noise explains."""
        value, low = self.claim.value, self.claim.low
        return value is not None and low is not None and low > 0 and value >= _LEAST


def claim_builder(builder: MeasureBuilder, claims: int) -> MeasureBuilder:
    """Return a builder whose intervals hold for all judges and tasks of the metric at once (Bonferroni)."""
    return builder.at(1 - (1 - builder.context.level) / max(claims, 1))


def told_cycles(builder: MeasureBuilder, found: Sequence[Told]) -> Iterator[Measure]:
    """Yield a finding per judge and task."""
    for each in found:
        if each.size:
            yield _finding(builder, "transitivity-finding", each, each.measures["cycle-share"], *_cycles(each))


def _cycles(each: Told) -> tuple[str, str, str]:
    share, noise, chance = (each.measures[name] for name in ("cycle-share", "cycle-noise", "cycle-chance"))
    known = noise.estimate is not None
    most = f"noise explains at most {_percent(noise.estimate)}" if known else "the noise is unknown without repeats"
    figure = (
        f"{_figure(share)} of triples are cycles; {most}, and coin tosses give {_percent(chance.estimate)} "
        f"({_sizes(each, 'triple', share)})."
    )
    if each.claimed:
        rest = (
            ""
            if each.judged.crossed
            else " Options were shown in one order only, so position bias may be the cause: add `option-order`."
        )
        return "preference-cycles", "bad", f"Preferences run in circles more often than noise explains: {figure}{rest}"
    interval = share.interval
    if interval is not None and interval.high <= _FEW_CYCLES:
        return "transitive", "good", f"Preferences are transitive: {figure}"
    if interval is not None and interval.high <= (chance.estimate or 0.0):
        return "cycles-as-noise", "info", f"Preferences have fewer cycles than coin tosses would have: {figure}"
    return (
        "cycles-undecided",
        "inconclusive",
        f"Preferences are not shown to have fewer cycles than coin tosses would have: {figure}",
    )


def told_agreement(builder: MeasureBuilder, name: str, found: Sequence[Told]) -> Iterator[Measure]:
    """Yield a finding per judge and two tasks."""
    for each in found:
        if each.size:
            yield _finding(builder, f"{name}-finding", each, each.measures[""], *_agreement(name, each))


def _agreement(name: str, each: Told) -> tuple[str, str, str]:
    share, conflict, tie = (each.measures[part] for part in ("", "-conflict", "-tie"))
    assert each.other is not None
    ways = f"{each.other.kind.value.capitalize()} ('{each.other.cell.task}') and {each.judged.kind.value}"
    if share.estimate is None:
        return f"{name}-undecided", "inconclusive", f"{ways}: no pair is decided by both ({_sizes(each, 'pair', tie)})."
    ties = f"; one alone is a tie in {_percent(tie.estimate)} of pairs" if tie.estimate else ""
    figure = f"on {_figure(share)} of the pairs that both decide{ties} ({_sizes(each, 'pair', share)})"
    if each.claimed:
        explained = max((conflict.estimate or 0.0) - (each.claim.value or 0.0), 0.0)
        note = (
            f"{ways} contradict each other more often than noise explains: they agree {figure}. They contradict each "
            f"other in {_percent(conflict.estimate)} of pairs; noise explains at most {_percent(explained)}."
        )
        return f"{name}-conflict", "bad", note
    low = 0.0 if share.interval is None else share.interval.low
    if low >= _HIGH:
        return f"{name}-agree", "good", f"{ways} agree {figure}."
    kind, severity = (f"{name}-partly", "info") if low > _EVEN else (f"{name}-undecided", "inconclusive")
    return kind, severity, f"{ways} agree {figure}; no conflict beyond noise is shown."


def joined(
    builder: MeasureBuilder,
    name: str,
    first: Judged,
    second: Judged,
    cell: Cell,
    found: Estimate,
    *,
    unit: str = "proportion",
    note: str = "",
    flags: tuple[str, ...] = (),
) -> Measure:
    """Put a measure of two tasks together: clusters and flags are those of the second, trials those of both.

    Each task names its clusters by its own items, so that the clusters of both would count every request twice.
    """
    measured = builder.measure(
        name, cell, found, rows=second.cell.rows, usable=second.usable, unit=unit, note=note, flags=flags
    )
    missing = Counter(measured.missing)
    missing.update(builder.missing(first.cell.rows, first.usable))
    return evolve(
        measured,
        n_trials=measured.n_trials + len(first.usable),
        n_items=measured.n_items + builder.items(first.usable),
        missing=dict(sorted(missing.items())),
    )


def _finding(
    builder: MeasureBuilder, name: str, each: Told, shown: Measure, kind: str, severity: str, note: str
) -> Measure:
    whole = each.cell or each.judged.cell
    cell, found = whole.part({**whole.levels, "finding": kind, "severity": severity}), Estimate(value=shown.estimate)
    if each.other is not None:
        return joined(builder, name, each.other, each.judged, cell, found, flags=(FINDING,), note=note)
    rows = each.judged.cell.rows
    return builder.measure(name, cell, found, rows=rows, usable=each.judged.usable, flags=(FINDING,), note=note)


def _figure(measure: Measure) -> str:
    interval = measure.interval
    ends = f" [{_percent(interval.low)}, {_percent(interval.high)}]" if interval is not None else ""
    return f"{_percent(measure.estimate)}{ends}"


def _percent(share: float | None) -> str:
    return "an unknown share" if share is None else f"{100 * share:.1f}%"


def _sizes(each: Told, what: str, shown: Measure) -> str:
    missing = f", {each.missing:,} more without a verdict" if each.missing else ""
    return f"n = {counted(shown.n_clusters, 'request')}, {counted(each.size, what)}{missing}"
