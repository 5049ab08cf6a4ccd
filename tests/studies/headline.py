"""How often a page says that a judge agrees with gold, and how often it says so of one that does not.

Judges are right with a planted probability on each item, else they answer any other label (on 5 levels: a neighbouring
one). Null judges answer at random, with the shares of the gold labels, or always the commonest one. Each of `tests`
perturbed tests adds the two hypotheses of a change (`accuracy-change`, `excess-disagreement`) with uniform p-values
instead of records: the family has the size that it has on a page, at a hundredth of the time.

The weights of the hypotheses were chosen for what they leave to the other claims of the golden reports, not from these
worlds. That of wrong verdicts far off on 5 levels (`wild`) led to the permutation test: the interval of quadratic kappa
held 0 for the best judges. The null worlds were used for nothing.

    python -m tests.studies.headline [--studies 1000] [--seed 1] [--null]
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np
from attrs import evolve, frozen
from jrh import REFERENCE, Interval, Measure, MetricContext, RunReport, Scale, Task
from jrh.plugins import Metric
from jrh.plugins.loading import load_plugins
from jrh.values import TaskSummary
from jrh_measuring import findings_of, load_flags, load_metrics
from jrh_selftest.world import Codes, build_records

METRICS = ("gold-accuracy", "gold-kappa")
HEADLINES = ("trivial-accuracy", "gold-agreement")
INSTALLED = load_plugins(("jrh-metrics", "jrh-measuring")).plugins
"""Rules of other plugins find none of their measures on these pages."""
FLAGS = load_flags()
PAGES = ((1, 1), (4, 6))
"""Judges and tests."""


@frozen(kw_only=True)
class World:
    """Judges of one kind on drawn items."""

    items: int
    accuracy: float | None = None
    """None: a judge that answers at random, with the shares of the gold labels."""
    shares: tuple[float, ...] = (0.5, 0.5)
    constant: bool = False
    copies: int = 1
    """Items of a cluster: gold and verdict of its first item are those of all."""
    missing: float = 0.0
    wild: bool = False
    """Wrong verdicts are any other label, not a neighbouring one."""

    @property
    def task(self) -> Task:
        """Return the task."""
        ordinal = len(self.shares) > 2
        return Task(name="world", scale=Scale.of_levels(1, len(self.shares)) if ordinal else Scale.of_labels("Y", "N"))

    def draw(self, generator: np.random.Generator, judges: int) -> tuple[Codes, Codes]:
        """Draw gold labels, shape (items,), and verdicts, shape (judges, items)."""
        labels, groups = len(self.shares), self.items // self.copies
        gold = generator.choice(labels, size=groups, p=self.shares)
        if self.constant:
            verdicts = np.full((judges, groups), int(np.argmax(self.shares)))
        elif self.accuracy is None:
            verdicts = generator.choice(labels, size=(judges, groups), p=self.shares)
        else:
            step = generator.choice([-1, 1], size=(judges, groups))
            step = np.where((gold + step < 0) | (gold + step >= labels), -step, step)
            if self.wild:
                step = generator.integers(1, labels, size=(judges, groups))
                step = np.where(gold + step >= labels, step - labels, step)
            verdicts = gold + step * (generator.random((judges, groups)) >= self.accuracy)
        verdicts = np.repeat(verdicts, self.copies, axis=1)
        verdicts = np.where(generator.random(verdicts.shape) < self.missing, -1, verdicts)
        return np.repeat(gold, self.copies), verdicts


def findings_in(
    world: World, metrics: Mapping[str, Metric], generator: np.random.Generator, pages: tuple[tuple[int, int], ...]
) -> Iterator[list[Counter[str]]]:
    """Yield for every page what is said of each of its judges, as counts of `kind:severity`."""
    most = max(judges for judges, _ in pages)
    gold, verdicts = world.draw(generator, most)
    judge, item = (part.reshape(-1) for part in np.indices(verdicts.shape))
    names = tuple(f"judge-{number}" for number in range(most))
    zero = np.zeros(len(item), dtype=np.int64)
    columns = {"judge": judge, "item": item, "repeat": zero, "test": zero, "answer": verdicts.reshape(-1)}
    records = build_records(
        world.task, columns | {"gold": gold[item]}, judges=names, tests=(REFERENCE,), items=world.items,
        copies=world.copies,
    )  # fmt: skip
    context = MetricContext(tasks={"world": world.task}, level=0.95, resamples=200, seed=0)
    measures = [part for name in METRICS for part in metrics[name].measure(records, context)]
    counts = dict(zip(world.task.scale.labels, np.bincount(gold, minlength=len(world.shares)).tolist(), strict=True))
    summary = TaskSummary(task=world.task, items=world.items, labelled=world.items, gold=counts)
    for judges, tests in pages:
        shown = names[:judges]
        report = RunReport(
            flags=FLAGS, suite="study", run_id="study", version="", seed=0, level=0.95, tasks=(summary,),
            judges=shown, simulated=frozenset(), tests=(REFERENCE, *(f"test-{n}" for n in range(tests))),
            measures=(*(m for m in measures if m.judge in shown), *_changes(shown, tests, world, generator)),
            planned=len(records), missing_records=0, records=records,
        )  # fmt: skip
        said = findings_of(report, plugins=INSTALLED)
        yield [Counter(f"{f.kind}:{f.severity.value}" for f in said if f.judge == name) for name in shown]


def _changes(judges: tuple[str, ...], tests: int, world: World, generator: np.random.Generator) -> Iterator[Measure]:
    """Yield measures of changes that are none: they only widen the family."""
    plain = Measure(
        name="accuracy-change", judge="", task="world", estimate=0.0, interval=Interval(low=-0.1, high=0.1),
        unit="difference", n_trials=world.items, n_items=world.items, n_clusters=world.items // world.copies,
    )  # fmt: skip
    for judge in judges:
        for test in range(tests):
            for name in ("accuracy-change", "excess-disagreement"):
                change = evolve(plain, name=name, judge=judge, test=f"test-{test}")
                yield change
                yield evolve(
                    change, name=f"{name}-p", unit="p-value", interval=None, estimate=float(generator.random())
                )


EVEN, SKEWED = (0.5, 0.5), (0.7, 0.3)
FIVE, HILL = (0.2,) * 5, (0.05, 0.2, 0.5, 0.2, 0.05)


def judged_worlds() -> Iterator[World]:
    """Yield judges that agree with gold."""
    for shares in (EVEN, SKEWED, FIVE):
        for items in (30, 60, 120):
            for accuracy in (0.6, 0.68, 0.8, 0.88):
                yield World(items=items, accuracy=accuracy, shares=shares)
    for items in (30, 60, 120):
        for accuracy in (0.6, 0.8, 0.95):
            yield World(items=items, accuracy=accuracy, shares=FIVE, wild=True)


def null_worlds() -> Iterator[World]:
    """Yield judges that do not."""
    for shares in (EVEN, SKEWED, (0.9, 0.1), FIVE, HILL):
        for items in (30, 60, 120):
            yield World(items=items, shares=shares)
            yield World(items=items, shares=shares, constant=True)
    for shares in (SKEWED, FIVE):
        yield World(items=60, shares=shares, copies=5)
        yield World(items=60, shares=shares, missing=0.1)


def main() -> None:
    """Print one line per world and page: the share of pages, or of judges, of which each sentence is said."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--null", action="store_true")
    given = parser.parse_args()
    metrics = load_metrics()
    for number, world in enumerate(null_worlds() if given.null else judged_worlds()):
        generator = np.random.default_rng((given.seed, number))
        said: list[Counter[str]] = [Counter() for _ in PAGES]
        for _ in range(given.studies):
            for place, judges in enumerate(findings_in(world, metrics, generator, PAGES)):
                if given.null:  # one false claim on a page is enough
                    said[place].update({kind for judge in judges for kind in judge})
                    said[place]["any"] += any(f"{kind}:good" in judge for judge in judges for kind in HEADLINES)
                else:
                    said[place].update(kind for judge in judges for kind in judge)
                    said[place]["any"] += sum(any(f"{kind}:good" in judge for kind in HEADLINES) for judge in judges)
        for (judges, tests), counts in zip(PAGES, said, strict=True):
            of = given.studies * (1 if given.null else judges)
            told = [kind for kind in sorted(counts) if kind == "any" or kind.split(":")[0] in _TOLD]
            shares = "  ".join(f"{kind} {counts[kind] / of:.3f}" for kind in told)
            what = "constant" if world.constant else "random" if world.accuracy is None else f"{world.accuracy:.2f}"
            extra = f" copies {world.copies}" * (world.copies > 1) + f" missing {world.missing}" * (world.missing > 0)
            extra += " wild" * world.wild
            name = f"{what} n={world.items} {'/'.join(f'{s:g}' for s in world.shares)}{extra}"
            print(f"{name:40} {judges}x{tests}  {shares}", flush=True)


_TOLD = (*HEADLINES, "constant-verdicts", "no-agreement", "below-chance")

if __name__ == "__main__":
    main()
