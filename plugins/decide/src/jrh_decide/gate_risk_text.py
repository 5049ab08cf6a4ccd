"""Write the answer of `jrh gate-risk` for a terminal and as JSON."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from jrh.text import clean_text, count_noun
from jrh_measuring import format_counts, plain_table, terminal_text

from jrh_decide.gate_risk import Chance, Design, GateRisk

_CASES: Final = 5
_MOSTLY: Final = 0.5
_LEAST: Final = 0.005
"""A smaller share would be rounded to none."""
_EXITS: Final = {0: "green", 1: "red: a rule fails", 3: "red: verdicts missing", 5: "red: a rule is undecided"}


def risk_text(found: GateRisk, runs: Sequence[Path]) -> str:
    """Return the sentence, the two answers, what would help, the cases behind it, and what it rests on."""
    return terminal_text(_parts(found, runs))


def first_sentence(found: GateRisk) -> str:
    """Return the answer in two sentences: both mistakes on the same items, and what brings them under the target."""
    same = found.same
    risks = (
        f"Red {_of_hundred(same.red.value)} nights in 100 with nothing changed; a real loss of {100 * found.loss:g} "
        f"points stays green {_of_hundred(same.missed.value)} in 100."
    )
    under = f"under {100 * found.target:g}"
    if max(same.red.value, same.missed.value) <= found.target:
        return f"{risks} Both are {under}."
    if same.reasons["failed"] > _MOSTLY:
        return f"{risks} This red is not chance: the judge misses the pass mark."
    if same.reasons["missing"] > _MOSTLY:
        return f"{risks} This red is not chance: more verdicts are missing than the gate allows."
    ways = list(_ways(found))
    if not ways:
        return f"{risks} No number of items or repeats that was tried brings both {under}."
    return f"{risks} {' or '.join(ways)} would bring both {under}."


def _ways(found: GateRisk) -> Iterator[str]:
    """Yield what brings both mistakes under the target: one thing alone where it does, else the least of several."""
    unit = _unit(found)
    now = [each for each in found.designs if each.clusters == found.clusters and each.times == 1]
    for each in now:
        if each.mark is not None:
            yield f"A pass mark of {each.mark:g}"
    within = [each for each in found.designs if max(each.red, each.missed) <= found.target]
    more = [each for each in within if each.times == 1 and each.clusters > found.clusters]
    again = [each for each in within if each.times > 1 and each.clusters == found.clusters]
    if more:
        yield count_noun(more[0].clusters, unit)
    if again:
        yield f"{again[0].times} times as many repeats"
    if not more and not again and not any(each.mark is not None for each in now):
        marked = sorted(
            (each for each in found.designs if each.mark is not None), key=lambda each: each.clusters * each.times
        )
        if marked:
            least = marked[0]
            repeats = f" with {least.times} times as many repeats" if least.times > 1 else ""
            yield f"{count_noun(least.clusters, unit)}{repeats} and a pass mark of {least.mark:g}"


def _unit(found: GateRisk) -> str:
    return "item" if found.clusters == found.items else "cluster"


def _of_hundred(share: float) -> str:
    return f"{100 * share:.0f}" if share == 0 or share >= _LEAST else "under 1"


def _interval(chance: Chance) -> str:
    return f"{100 * chance.value:.0f} [{100 * chance.low:.0f}, {100 * chance.high:.0f}]"


def _parts(found: GateRisk, runs: Sequence[Path]) -> Iterator[Any]:
    yield first_sentence(found)
    yield ""
    loss = f"green after a loss of {100 * found.loss:g} points"
    rows = []
    for name, answer in (("the same items again", found.same), ("fresh items", found.fresh)):
        reasons = (f"{100 * share:.0f}" for share in answer.reasons.values())
        rows.append((name, _interval(answer.red), *reasons, _interval(answer.missed)))
    yield plain_table(("of 100 nights", "red, nothing changed", "failed", "undecided", "missing", loss), rows)
    yield ""
    nights = max((each.nights for each in found.designs), default=0)
    basis = f"in 100 nights, of at most {nights:,} simulated; target {100 * found.target:g}"
    yield f"What would help (rule {clean_text(found.moved)}; {basis}):"
    columns = (f"{_unit(found)}s", "repeats", "red", "green after the loss", "pass mark for both")
    yield plain_table(columns, map(_design_cells, found.designs))
    if found.questions:
        yield ""
        total = sum(each.unrest for each in found.questions)
        yield f"{count_noun(len(found.questions), 'question')} with repeats that differ; the least stable:"
        unstable = []
        for each in found.questions[:_CASES]:
            cells = (each.item, each.judge, each.test, each.right or "-", format_counts(each.verdicts))
            unstable.append((*(clean_text(cell, 60) for cell in cells), f"{100 * each.unrest / total:.0f}%"))
        yield plain_table(("item", "judge", "test", "right", "verdicts", "share of the noise"), unstable)
    yield ""
    yield from _basis(found)
    yield f"Next: {_next_step(found, runs)}"


def _design_cells(each: Design) -> Iterator[str]:
    yield f"{each.clusters:,}"
    yield f"x{each.times}"
    yield f"{100 * each.red:.0f}"
    yield f"{100 * each.missed:.0f}"
    yield "none" if each.mark is None else f"{each.mark:g}"


def _basis(found: GateRisk) -> Iterator[str]:
    shared = f" in {count_noun(found.clusters, 'cluster')}" if found.clusters < found.items else ""
    missing = sum(found.missing.values())
    gone = f"{missing} without a verdict ({format_counts(found.missing)})" if missing else "none missing"
    simulated = f" Simulated judges: {', '.join(map(clean_text, found.simulated))}." if found.simulated else ""
    yield (
        f"Rests on {count_noun(found.verdicts, 'verdict')} of {count_noun(found.items, 'item')}{shared} in "
        f"{count_noun(found.runs - found.ignored, 'run')} of {clean_text(found.suite)}, {gone}; "
        f"{found.same.red.nights} simulated nights each.{simulated}"
    )
    yield from found.notes
    if found.ignored:
        yield (
            f"{count_noun(found.ignored, 'run')} left out: every verdict is that of an earlier run, so its replies may "
            "come from the cache. Pass --no-cache to ask again."
        )
    yield f"Tonight's exit code is {found.tonight} ({_EXITS.get(found.tonight, 'red')}). Brackets: 95% intervals."
    yield "In planted worlds, 9 in 10 of the brackets for fresh items held the truth: read them as 90% intervals."
    yield "Fresh items are drawn like these, by cluster; a loss takes right verdicts away for good, in every test."


def _next_step(found: GateRisk, runs: Sequence[Path]) -> str:
    command = shlex.join(["jrh", "gate-risk", *map(str, runs)])
    now = next((each for each in found.designs if each.clusters == found.clusters and each.times == 1), None)
    if found.same.reasons["missing"] > _MOSTLY:
        return (
            f"see why they are missing: jrh view {shlex.quote(str(runs[0]))}; `allow_missing` of the gate lets some be."
        )
    if found.same.reasons["failed"] > _MOSTLY:
        return f"look at the cases that fail: jrh view {shlex.quote(str(runs[0]))}"
    if max(found.same.red.value, found.same.missed.value) <= found.target:
        return "keep the gate as it is, and ask again when the suite changes."
    if now is not None and now.mark is not None:
        return f"set the pass mark of '{clean_text(found.moved)}' to {now.mark:g} in the suite and run it again."
    if not any(_ways(found)):
        larger = f"{clean_text(command, 400)} --loss {min(2 * found.loss, 0.5):g}"
        return f"choose a pass mark further from what the judge reaches, or a loss that is easier to see: {larger}"
    return f"add items or repeats to the suite, run it, and ask again: {clean_text(command, 400)}"
