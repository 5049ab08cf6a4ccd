"""How well `jrh gate-risk` keeps its promises: predicted probabilities against those of planted judges.

A judge has 60 items, two verdicts each, and the rule `gold-accuracy >= 0.75`, whose limit is met from about 0.87 on.
Each item has a right or a wrong verdict for good, and each call changes it with the probability `noise`. With clusters,
four items share most of their luck. `python -m tests.studies.gate_risk [--studies 4] [--seed 1]` prints a line per
world: the mean predicted probability, the mean true one, and the share of studies whose printed interval (in whole
percent) holds the true one, for a red gate with nothing changed and a green one after a loss of 5 points. True ones are
shares of 100 nights.

Nothing was tuned to these worlds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np
from attrs import field, frozen
from jrh import Measure, MetricContext, RecordTable, RunReport, Scale, Task
from jrh.running import RunState
from jrh.values import TaskSummary
from jrh_decide.gate_risk import Answer, Ending, Gate, answer_of, simulate
from jrh_decide.resampling import Nights
from jrh_measuring import load_flags, load_metrics, parse_rule
from jrh_measuring.gating.checking import Terms
from numpy.typing import NDArray

from tests.studies.command import print_study

ITEMS, REPEATS, LOSS, NIGHTS, TRUE_NIGHTS = 60, 2, 0.05, 60, 100
TASK: Final = Task(name="t", scale=Scale.of_labels("Y", "N"))
RULE: Final = parse_rule("gold-accuracy >= 0.75")
Rights = NDArray[np.float64]
"""The chance of a right verdict of every item."""


@frozen(kw_only=True)
class World:
    """Judges of one kind."""

    rate: float
    noise: float
    shared: int = 1
    """Items of a cluster."""

    def items(self, random: np.random.Generator) -> Rights:
        """Draw items: right or wrong for good, and changed by chance."""
        steady = min((self.rate - self.noise) / (1 - 2 * self.noise), 0.999)
        groups = ITEMS // self.shared
        luck = np.full(groups, steady) if self.shared == 1 else random.beta(2 * steady, 2 * (1 - steady), groups)
        right = random.random(ITEMS) < np.repeat(luck, self.shared)
        return np.where(right, 1 - self.noise, self.noise)

    def lose(self, rights: Rights, random: np.random.Generator) -> Rights:
        """Make right items wrong until the mean chance has fallen by the loss."""
        worse, open_loss = rights.copy(), LOSS * ITEMS
        for item in random.permutation(np.flatnonzero(rights > 0.5)):
            taken = min(open_loss, 1 - 2 * self.noise)
            worse[item] -= taken
            open_loss -= taken
        return worse

    def ask(self, rights: Rights, random: np.random.Generator) -> RecordTable:
        """Let the judge answer every item."""
        items, repeats = np.repeat(np.arange(ITEMS), REPEATS), np.tile(np.arange(REPEATS), ITEMS)
        gold = np.where(items % 2 == 0, "Y", "N")
        right = random.random(len(items)) < rights[items]
        given = np.where(right, gold, np.where(gold == "Y", "N", "Y"))
        constant = {"task": "t", "judge": "j", "test": "reference", "status": "ok", "variant": "", "family": ""}
        return RecordTable.from_columns({
            **{name: [value] * len(items) for name, value in constant.items()},
            "case_id": [f"c{item}" for item in items],
            "item_id": [f"i{item}" for item in items],
            "cluster": [f"k{item // self.shared}" for item in items],
            "gold": gold.tolist(),
            "canonical": given.tolist(),
            "repeat": repeats.tolist(),
            "simulated": [0] * len(items),
        })  # fmt: skip


@frozen(kw_only=True)
class CachedGate(Gate):
    """A gate that decides equal counts once: only how many verdicts of each cluster are right matters."""

    known: dict[tuple[int, ...], Ending] = field(factory=dict)

    def end(self, records: RecordTable) -> Ending:
        """Check records, or return what is known of others with the same counts."""
        right = np.array([a == b for a, b in zip(records.text("gold"), records.text("canonical"), strict=True)])
        codes = records.codes("cluster")
        key = tuple(np.bincount(np.bincount(codes, weights=right).astype(np.int64)).tolist())
        if key not in self.known:
            self.known[key] = super().end(records)
        return self.known[key]


def make_gate(records: RecordTable) -> CachedGate:
    """Return the gate of a run with these records."""
    (metric,) = load_metrics(("gold-accuracy",)).values()

    def measuring(table: RecordTable | None, errors: Sequence[float]) -> Mapping[float, tuple[Measure, ...]]:
        assert table is not None
        return {
            error: tuple(metric.measure(table, MetricContext(tasks={"t": TASK}, level=1 - 2 * error, one_sided=True)))
            for error in errors
        }

    report = RunReport(
        suite="s", run_id="r", version="0", seed=1, level=0.95, judges=("j",), simulated=frozenset(),
        tests=("reference",), measures=(), planned=len(records), missing_records=0, records=records, flags=load_flags(),
        tasks=(TaskSummary(task=TASK, items=ITEMS, labelled=ITEMS, gold={}),),
    )  # fmt: skip
    state = RunState(suite="s", imported=True)
    return CachedGate(state=state, report=report, terms=Terms(rules=(RULE,)), measuring=measuring)


def study(world: World, gate: CachedGate, random: np.random.Generator) -> tuple[Answer, Answer, float, float]:
    """Predict from one run; return the answers for the same and fresh items, and the truth for the same ones."""
    rights = world.items(random)
    own = world.ask(rights, random)
    nights = Nights(own, len(own), MetricContext(tasks={"t": TASK}))
    endings = simulate(gate, nights, LOSS, NIGHTS, random)
    same, fresh = (answer_of(endings[items, "same"], endings[items, "loss"]) for items in ("same", "fresh"))
    worse = world.lose(rights, random)
    red = np.mean([gate.end(world.ask(rights, random)).code != 0 for _ in range(TRUE_NIGHTS)])
    missed = np.mean([gate.end(world.ask(worse, random)).code == 0 for _ in range(TRUE_NIGHTS)])
    return same, fresh, float(red), float(missed)


def lines(studies: int, seed: int) -> Iterator[str]:
    """Yield a line per world."""
    yield "rate noise shared | same: red said true held, green said true held | fresh: red said true held, green ..."
    random = np.random.default_rng(seed)
    for shared in (1, 4):
        for rate in (0.89, 0.85, 0.80):
            for noise in (0.0, 0.05, 0.1):
                world = World(rate=rate, noise=noise, shared=shared)
                gate = make_gate(world.ask(world.items(random), random))
                found = [study(world, gate, random) for _ in range(studies)]
                fresh = [world.items(random) for _ in range(TRUE_NIGHTS)]
                red = np.mean([gate.end(world.ask(rights, random)).code != 0 for rights in fresh])
                green = np.mean([gate.end(world.ask(world.lose(rights, random), random)).code == 0 for rights in fresh])
                cells = [f"{rate:.2f} {noise:.2f} {shared}"]
                for answers in (
                    [(same.red, true) for same, _, true, _ in found],
                    [(same.missed, true) for same, _, _, true in found],
                    [(each.red, float(red)) for _, each, _, _ in found],
                    [(each.missed, float(green)) for _, each, _, _ in found],
                ):
                    said = np.mean([chance.value for chance, _ in answers])
                    truth = np.mean([true for _, true in answers])
                    held = np.mean([round(chance.low, 2) <= true <= round(chance.high, 2) for chance, true in answers])
                    cells.append(f"{said:.2f} {truth:.2f} {held:.2f}")
                yield " | ".join(cells)


if __name__ == "__main__":
    print_study("gate_risk", lines, studies=4, about="jrh gate-risk")
