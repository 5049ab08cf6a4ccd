"""Five copies of every item are no further evidence: no measure's interval is narrower than that of the items."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jrh_metrics.plugin
import numpy as np
import pytest
from jrh import Measure, Scale

COPIES = 5
ITEMS = 40
RESAMPLES = 200
NARROWEST = 0.95
"""A design effect that is estimated from copies may differ a little from the 1 of single items."""
LEVELS = Scale.of_levels(1, 4)
LABELS = Scale.of_labels("YES", "NO")
METRICS = [spec.name for spec in jrh_metrics.plugin.jrh_metrics()]
IGNORE_CLUSTERS = {"compat-jrh": "ignores clusters", "compat-judgesense": "same cluster"}
Measures = Callable[..., list[Measure]]


def asked(scale: Scale, *, unlabelled: bool) -> Iterator[dict[str, Any]]:
    """Ask four judges twice per condition on items of a difficulty of their own."""
    generator = np.random.default_rng(11)
    labels = scale.labels
    for item in range(ITEMS):
        truth, ease = int(generator.integers(len(labels))), float(generator.uniform(0.4, 0.95))
        gold = None if unlabelled and item % 2 else labels[truth]
        for judge in "abcd":
            for test, variant in (("reference", ""), ("t", "v"), ("t", "w"), ("u", "x")):
                for repeat in range(2):
                    right = generator.random() < ease - 0.1 * (test == "t")
                    said = labels[truth if right else int(generator.integers(len(labels)))]
                    yield {
                        "test": test,
                        "variant": variant,
                        "item_id": f"{item:03}",
                        "judge": judge,
                        "repeat": repeat,
                        "gold": gold,
                        "canonical": None if generator.random() < 0.02 else said,
                        "probability": round(float(generator.uniform(0.3, 1.0)), 3),
                        "expectation": None if test == "reference" else "same",
                        "case_id": f"{test}/{item:03}/{variant}",
                        "cluster": f"{item:03}",
                    }


def copied(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        row | {"item_id": f"{row['item_id']}-{copy}", "case_id": f"{row['case_id']}/{copy}"}
        for row in rows
        for copy in range(COPIES)
    ]


def by_place(found: list[Measure]) -> dict[tuple[Any, ...], Measure]:
    return {(one.name, one.judge, one.test, *sorted(one.cell.items())): one for one in found}


def reviews(path: Path, rows: list[dict[str, Any]], reviewed: Callable[[str], bool | None]) -> Path:
    """Write the decisions on the cases of the test `t`, one for all copies of a case."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(("case_id", "valid"))
        for case in sorted({row["case_id"] for row in rows if row["test"] == "t"}):
            decision = reviewed(case.split("/")[1])
            if decision is not None:
                table.writerow((case, "yes" if decision else "no"))
    return path


def options(metric: str, rows: list[dict[str, Any]], path: Path) -> dict[str, Any] | None:
    if metric != "perturbation-validity":
        return None
    return {"reviews": reviews(path, rows, lambda item: None if int(item) % 3 == 0 else int(item) % 5 != 0)}


@pytest.mark.parametrize(
    ("scale", "unlabelled"),
    [(LABELS, False), (LABELS, True), (LEVELS, False)],
    ids=["labels", "half labelled", "levels"],
)
@pytest.mark.parametrize("metric", METRICS)
def test_no_interval_is_narrower_than_that_of_single_items(
    metric: str, scale: Scale, unlabelled: bool, measures: Measures, tmp_path: Path
) -> None:
    # Components of incomplete designs take seconds: a few items will do.
    items = 12 if metric == "generalizability" else ITEMS
    rows = [row for row in asked(scale, unlabelled=unlabelled) if int(row["item_id"]) < items]
    alone = by_place(measures(metric, rows, scale, options(metric, rows, tmp_path / "one.csv")))
    many = copied(rows)
    found = by_place(measures(metric, many, scale, options(metric, many, tmp_path / "many.csv")))
    assert found.keys() == alone.keys()
    if metric in IGNORE_CLUSTERS:
        assert all(IGNORE_CLUSTERS[metric] in one.note for one in found.values() if one.estimate is not None)
        return
    for place, one in found.items():
        other = alone[place]
        if one.unit == "p-value" and one.estimate is not None and other.estimate is not None:
            known = min(other.estimate, 0.5)  # an adjusted p-value of 1 may be cut
            error = (known * (1 - known) / RESAMPLES) ** 0.5
            # Four errors of the resampling, twice where the p-value is adjusted for two tests.
            assert one.estimate >= other.estimate - 8 * error - 0.01, place
        if one.interval is None or other.interval is None:
            continue
        widths = [each.interval.high - each.interval.low for each in (one, other) if each.interval is not None]
        # The design effect of pairs of errors is at least 1. Where the two answers to an item differ more than items do
        # it would be less: alone, items have a wider interval than their variance asks for, and copies do not.
        narrowest = 0.8 if place[0] == "error-correlation" else NARROWEST
        assert widths[0] >= widths[1] * narrowest, (place, widths, one.interval.method)
