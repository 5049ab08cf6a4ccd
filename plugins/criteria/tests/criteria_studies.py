"""Many studies at once: every judge of one table is a study of its own, with planted rates that are known."""

from __future__ import annotations

import jrh_criteria.plugin
import numpy as np
from jrh import Item, MetricContext, RecordTable, Scale, ScaleKind, Task
from jrh.values import Criteria, Criterion, JudgedCriterion
from jrh_testing import build, findings_about

RUBRIC = tuple(Criterion(id=name, text=f"Says {name}.") for name in ("a", "b", "c", "d"))
LABELS = np.array(["met", "unmet", "n/a"])
TASK = Task(
    name="t",
    scale=Scale(kind=ScaleKind.LABELS, labels=tuple(LABELS), positive="met"),
    criteria=Criteria(name="t", entries=RUBRIC, per_call=0, not_applicable="n/a"),
)


def context(responses):
    items = tuple(
        Item(
            id=f"{number}#{each.id}",
            fields={},
            group=str(number),
            criterion=JudgedCriterion(criterion=each, of=str(number)),
        )
        for number in range(responses)
        for each in RUBRIC
    )
    return MetricContext(tasks={"t": TASK}, items={"t": items}, resamples=200, seed=1)


def table(gold, reference, changed, *, family, variant, expectation):
    """Make records of studies x responses x criteria; `reference` has repeats in front, `changed` is asked once."""
    studies, responses, criteria = gold.shape[-3:] if gold.ndim == 3 else (changed.shape[0], *gold.shape)
    gold = np.broadcast_to(gold, (studies, responses, criteria))
    study, response, criterion = (axis.ravel() for axis in np.indices((studies, responses, criteria)))
    parts = [("reference", "", "", number, verdicts) for number, verdicts in enumerate(reference)]
    parts.append(("changed", family, variant, 0, changed))
    names = np.array([f"j{number:03d}" for number in range(studies)])
    ids = np.array([[f"{number}#{each.id}" for each in RUBRIC] for number in range(responses)])
    columns = {name: [] for name in ("task", "test", "family", "variant", "judge", "item_id", "group", "repeat")}
    columns |= {name: [] for name in ("gold", "expectation", "status", "canonical")}
    for test, of, kind, repeat, verdicts in parts:
        size = len(study)
        made = {
            "task": ["t"] * size,
            "test": [test] * size,
            "family": [of or "reference"] * size,
            "variant": [kind] * size,
            "judge": names[study].tolist(),
            "item_id": ids[response, criterion].tolist(),
            "group": response.astype(str).tolist(),
            "repeat": [float(repeat)] * size,
            "gold": LABELS[gold.ravel()].tolist(),
            "expectation": [expectation if of else "equals"] * size,
            "status": ["ok"] * size,
            "canonical": LABELS[verdicts.ravel()].tolist(),
        }
        for name, values in made.items():
            columns[name] += values
    return RecordTable.from_columns(columns)


def alarms(metric, records, responses, name, options=None):
    """Return the share of the studies with a finding of a name."""
    built = build(jrh_criteria.plugin, metric, options=options or {})
    measures = built.measure(records, context(responses))
    told = findings_about(measures, *context(responses).tasks.values(), plugin=jrh_criteria.plugin)
    return sum(name in {each.kind for each in found} for found in told.values()) / len(records.categories("judge"))


class World:
    """Verdicts that are right but for rerun noise; what a condition moves comes in whole responses at a given share."""

    def __init__(self, seed, studies=200, responses=40, noise=0.05):
        self.random = np.random.default_rng(seed)
        self.shape = (studies, responses, len(RUBRIC))
        self.noise = noise
        self.gold = self.random.integers(0, 2, self.shape)

    def asked(self, right):
        """Return verdicts with fresh noise."""
        return np.where(self.random.random(self.shape) < self.noise, 1 - right, right)

    def chosen(self, rate, together=0.5):
        """Return a mask of the rate; that share of it comes in whole responses, so that clusters matter."""
        whole = np.broadcast_to(self.random.random(self.shape[:2])[..., None] < rate, self.shape)
        alone = self.random.random(self.shape) < rate
        return np.where(self.random.random(self.shape[:2])[..., None] < together, whole, alone)

    def moved(self, rate):
        """Return what a condition makes of the right verdicts that moves a share of them."""
        return np.where(self.chosen(rate), 1 - self.gold, self.gold)

    def records(self, changed, *, family, variant, expectation="same"):
        reference = [self.asked(self.gold), self.asked(self.gold)]
        return table(self.gold, reference, changed, family=family, variant=variant, expectation=expectation)
