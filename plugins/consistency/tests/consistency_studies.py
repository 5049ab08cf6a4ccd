"""Many studies at once: every judge of one table is a study of its own, with qualities and defects that are known."""

from __future__ import annotations

from itertools import combinations, permutations

import jrh_consistency.plugin
import numpy as np
from jrh import MetricContext, Mode, RecordTable, Scale, Task
from jrh_testing import build, findings_about

RANKS = [">".join(order) for order in permutations("ABC")]
TASKS = {
    "scores": Task(name="scores", scale=Scale.of_levels(1, 9)),
    "pairs": Task(name="pairs", scale=Scale.of_pairs(tie="TIE"), mode=Mode.PAIRWISE),
    "best": Task(name="best", scale=Scale.of_pairs(options=3), mode=Mode.PAIRWISE),
    "order": Task(name="order", scale=Scale.of_labels(*RANKS)),
}
CONTEXT = MetricContext(tasks=TASKS, resamples=200, seed=1)


class World:
    """Responses with a quality; verdicts follow it but for what is planted."""

    def __init__(self, seed, studies=200, requests=30, responses=5):
        self.random = np.random.default_rng(seed)
        self.studies, self.requests, self.responses = studies, requests, responses
        self.quality = self.random.normal(size=(studies, requests, responses))
        self.columns = {
            name: []
            for name in ("task", "judge", "item_id", "group", "test", "variant", "option_order", "repeat", "canonical")
        }

    def captured(self, rate):
        """Return a mask of whole requests, shape (studies, requests)."""
        return self.random.random((self.studies, self.requests)) < rate

    def circle(self, rate):
        """Return a function of a pair: who wins, where captured requests follow a circle."""
        inside, place = self.captured(rate), self.random.random(self.quality.shape)

        def wins(one, other):
            around = (place[..., other] - place[..., one]) % 1 < 0.5
            return np.where(inside, around, self.quality[..., one] > self.quality[..., other])

        return wins

    def add(self, task, item, verdicts, *, repeat, variant=""):
        """Add one verdict per study and request; None is a missing one."""
        size = self.studies * self.requests
        study, request = (axis.ravel() for axis in np.indices((self.studies, self.requests)))
        self.columns["task"] += [task] * size
        self.columns["judge"] += [f"j{number:03d}" for number in study]
        self.columns["item_id"] += [f"q{number:02d}::{item}" for number in request]
        self.columns["group"] += [f"q{number:02d}" for number in request]
        self.columns["test"] += ["option-order" if variant else "reference"] * size
        self.columns["variant"] += [variant] * size
        self.columns["option_order"] += [variant] * size
        self.columns["repeat"] += [float(repeat)] * size
        self.columns["canonical"] += list(np.asarray(verdicts, dtype=object).ravel())

    def pairs(self, wins, *, noise=0.0, position=0.0, scale=0.0, crossed=True):
        """Ask about every pair: twice, and once in the other order.

        Args:
            wins: tells who is better.
            noise: share of verdicts that are turned.
            position: share of pairs on which the first option wins, in either order.
            scale: the nearer the qualities, the noisier: the error has this logistic spread.
            crossed: whether the other order is asked.
        """
        for one, other in combinations(range(self.responses), 2):
            right = wins(one, other)
            gap = np.abs(self.quality[..., one] - self.quality[..., other])
            error = noise if not scale else 1 / (1 + np.exp(gap / scale))
            first = self.random.random(right.shape) < position
            for repeat, variant in ((0, ""), (1, ""), (0, "BA"))[: 3 if crossed else 2]:
                said = np.where(self.random.random(right.shape) < error, ~right, right)
                said = np.where(first, variant != "BA", said)
                self.add("pairs", f"{one}|{other}", np.where(said, "A", "B"), repeat=repeat, variant=variant)
        return self

    def levels(self, *, noise=0.0, contrary=0.0, steps=9):
        """Score every response twice; noise is added to the quality."""
        turned = np.where(self.captured(contrary), -1, 1)[..., None] * self.quality
        for repeat in range(2):
            seen = turned + noise * self.random.normal(size=turned.shape)
            level = np.clip(np.round((seen + 2) / 4 * (steps - 1)) + 1, 1, steps).astype(int)
            for place in range(self.responses):
                self.add("scores", str(place), level[..., place].astype(str), repeat=repeat)
        return self

    def lists(self, task, *, noise=0.0, contrary=0.0):
        """Ask twice about the first three responses: for the best, or for the order."""
        turned = np.where(self.captured(contrary), -1, 1)[..., None] * self.quality[..., :3]
        for repeat in range(2):
            seen = turned + noise * self.random.normal(size=turned.shape)
            order = np.array(list("ABC"))[np.argsort(-seen, axis=-1)]
            said = order[..., 0] if task == "best" else np.apply_along_axis(">".join, -1, order)
            self.add(task, "0|1|2", said, repeat=repeat)
        return self

    def records(self):
        size = len(self.columns["task"])
        expectation = ["same" if variant else "equals" for variant in self.columns["variant"]]
        status = ["ok" if label is not None else "timeout" for label in self.columns["canonical"]]
        return RecordTable.from_columns(
            {**self.columns, "expectation": expectation, "status": status, "expected": [None] * size}
        )

    def better(self, one, other):
        return self.quality[..., one] > self.quality[..., other]


def measured(records, metric):
    return list(build(jrh_consistency.plugin, metric).measure(records, CONTEXT))


def claims(world, metric, kind):
    """Return the share of studies with a finding of a kind, each judge decided as if it were the only one."""
    found = findings_about(measured(world.records(), metric), *TASKS.values(), plugin=jrh_consistency.plugin)
    assert len(found) == world.studies
    return float(np.mean([any(each.kind == kind for each in findings) for findings in found.values()]))
