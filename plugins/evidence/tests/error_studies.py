"""Many studies of the error curve at once: every judge of one table is a study with a planted rate of noticing."""

from __future__ import annotations

import jrh_evidence.plugin
import numpy as np
from attrs import evolve
from jrh import Item, MetricContext, Mode, RecordTable
from jrh_testing import build, findings_about, sample_task

DOSES = np.array([1.0, 2.0, 4.0, 8.0])
LABELS = np.array(["YES", "NO"])


def curve(threshold, slope=2.0, lapse=0.05):
    """Return the share noticed at every dose by the typical item."""
    from scipy.special import expit

    return (1 - lapse) * expit(slope * (np.log2(DOSES) - np.log2(threshold)))


def studies(shares, items, *, number=200, noise=0.0, kinds=1, spread=0.0, seed=0):
    """Make the records of studies: items come in pairs of one cluster, whose log odds share a normal part."""
    from scipy.special import expit, logit

    random = np.random.default_rng(seed)
    shape = (number, items, kinds, len(DOSES))
    odds = logit(np.clip(shares, 1e-9, 1 - 1e-9)) + np.zeros(shape)
    odds += spread * np.repeat(random.standard_normal((number, -(-items // 2), 1, 1)), 2, axis=1)[:, :items]
    noticed = random.random(shape) < expit(odds)

    def asked(right):
        return np.where(random.random(right.shape) < noise, ~right, right).astype(int)

    parts = [("reference", "", 0.0, n, asked(np.zeros((number, items), dtype=bool))) for n in range(2)]
    parts += [
        ("errors", f"kind-{kind}*{dose:g}", dose, 0, asked(noticed[:, :, kind, at]))
        for kind in range(kinds)
        for at, dose in enumerate(DOSES)
    ]
    study, item = (axis.ravel() for axis in np.indices((number, items)))
    columns: dict[str, list] = {}
    for test, variant, dose, repeat, verdicts in parts:
        size = len(study)
        made = {
            "task": ["t"] * size,
            "test": [test] * size,
            "family": [test] * size,
            "variant": [variant] * size,
            "strength": [dose] * size,
            "judge": [f"j{each:03d}" for each in study],
            "item_id": [str(each) for each in item],
            "group": [str(each // 2) for each in item],
            "repeat": [float(repeat)] * size,
            "gold": ["YES"] * size,
            "expectation": ["equals" if test == "reference" else "changes"] * size,
            "status": ["ok"] * size,
            "canonical": LABELS[verdicts.ravel()].tolist(),
        }
        for name, values in made.items():
            columns.setdefault(name, []).extend(values)
    return RecordTable.from_columns(columns)


def told(records, items, resamples=99):
    """Return the kinds of findings of every study."""
    task = evolve(sample_task(Mode.POINTWISE), name="t")
    made = tuple(Item(id=str(n), fields={"request": "?", "response": "x"}, group=str(n // 2)) for n in range(items))
    context = MetricContext(tasks={"t": task}, items={"t": made}, resamples=resamples, seed=1)
    measures = build(jrh_evidence.plugin, "error-curve").measure(records, context)
    found = findings_about(measures, task, plugin=jrh_evidence.plugin)
    return [[finding.kind for finding in findings] for findings in found.values()]


def share(found, kind):
    """Return the share of the studies with a finding of a kind."""
    return sum(kind in each for each in found) / len(found)
