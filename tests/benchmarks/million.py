"""Measure made-up records with all default metrics of all shipped plugins; print what it took as JSON.

Started by `statistics.py`.
"""

from __future__ import annotations

import json
import resource
import sys
import time

import jrh_metrics.plugin
import jrh_order.plugin
import jrh_prompts.plugin
import numpy as np
from jrh import MetricContext, MetricSpec, RecordTable, Scale, Task
from jrh.values import Categorical
from jrh_testing import build
from numpy.typing import NDArray

JUDGES = ("one", "two", "three", "four")
TESTS = ("reference", "format", "paraphrase", "verbosity", "stochastic")
TEMPLATES = ("", "plain", "terse")
"""Those of the test `verbosity`, which is also one of prompt templates; the others use the judge's own."""
TRIALS = 10
"""Trials of each item by each judge: two of every test."""
LABELS = 5


def table(records: int) -> RecordTable:
    """Make judges that repeat the gold level most of the time, on an ordinal scale, with 2 % missing verdicts."""
    generator = np.random.default_rng(0)
    row = np.arange(records)
    trial, judge = row % TRIALS, (row // TRIALS) % len(JUDGES)
    item = row // (TRIALS * len(JUDGES))
    test, within = trial // 2, trial % 2
    gold = generator.integers(0, LABELS, item.max() + 1)[item]
    moved = np.where(generator.random(records) < 0.2, generator.integers(-1, 2, records), 0)
    verdict = np.clip(gold + moved, 0, LABELS - 1)
    missing = generator.random(records) < 0.02
    levels = tuple(str(level + 1) for level in range(LABELS))
    repeats = np.isin(test, (0, 4))
    variant = np.where(repeats, 0, within + 1)
    case = (item * len(TESTS) + test) * 3 + variant
    return RecordTable(
        {
            "task": _text(np.zeros(records), ("essays",)),
            "judge": _text(judge, JUDGES),
            "test": _text(test, TESTS),
            "variant": _text(variant, ("", "a", "b")),
            "item_id": _text(item, tuple(f"item-{number}" for number in range(int(item.max()) + 1))),
            "case_id": _text(case, tuple(f"case-{number}" for number in range(int(case.max()) + 1))),
            "template": _text(np.where(test == TESTS.index("verbosity"), variant, 0), TEMPLATES),
            "stratum": _text(item % 4, ("north", "east", "south", "west")),
            "expectation": _text(np.where(test == 0, 1, 0), ("same", "equals")),
            "status": _text(missing, ("ok", "unparsable")),
            "presented": _text(np.where(missing, -1, verdict), levels),
            "canonical": _text(np.where(missing, -1, verdict), levels),
            "gold": _text(gold, levels),
            "expected": _text(np.where(test == 0, gold, -1), levels),
        },
        {
            "repeat": np.where(repeats, within, 0).astype(np.float64),
            "strength": np.broadcast_to(np.float64(0), records),
            "simulated": np.broadcast_to(np.float64(1), records),
        },
    )


def _text(codes: NDArray[np.generic], names: tuple[str, ...]) -> Categorical:
    """Code a column in as few bytes as a table that was read has."""
    return Categorical(codes.astype(np.min_scalar_type(-len(names) - 1)), names)


def _gigabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2


def main(records: int) -> None:
    """Measure and print."""
    made = table(records)
    alone = _gigabytes()
    task = Task(name="essays", scale=Scale.of_levels(1, LABELS))
    context = MetricContext(tasks={"essays": task})
    took: dict[str, float] = {}
    measures, processor = 0, time.process_time()
    for plugin in (jrh_metrics.plugin, jrh_prompts.plugin, jrh_order.plugin):
        for spec in plugin.jrh_metrics():
            if spec.default:
                start = time.perf_counter()
                metric = build(plugin, spec.name, task=task, role=MetricSpec)
                measures += len(list(metric.measure(made, context)))
                took[f"{plugin.__name__.split('.')[0]}/{spec.name}"] = time.perf_counter() - start
    for name, seconds in sorted(took.items(), key=lambda pair: -pair[1]):
        print(f"{seconds:7.2f} s  {name}")
    found = {
        "records": records,
        "metrics": len(took),
        "measures": measures,
        "seconds": sum(took.values()),
        "processor_seconds": time.process_time() - processor,
        "gigabytes": _gigabytes(),
        "table_gigabytes": alone,
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main(int(sys.argv[1]))
