"""Metric `perturbation-validity`: failure rate among the valid cases, based on a reviewed sample."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import numpy as np
from attrs import frozen
from jrh import REFERENCE, JrhError, Measure, MetricContext, RecordTable
from jrh_interchange import csv_rows, next_csv_row
from jrh_measuring import Basis, Cell, Codes, Floats, Mask, MeasureBuilder, as_expected, cells_of
from jrh_stats import (
    Estimate,
    ValidityBounds,
    cluster_sums,
    clustered_proportion,
    corrected_failure_rate,
    validity_bounds,
)

from jrh_metrics.options import ValidityOptions

_UNREVIEWED: Final = "no case of this test was reviewed"
_ONE_SIDE: Final = "the reviewed sample needs at least one failure and one pass"
_ALL_INVALID: Final = "no reviewed case is valid"


@frozen(kw_only=True, eq=False)
class _Cases:
    """The cases of a cell with a verdict; arrays of shape (cases,)."""

    fails: Mask
    """Whether fewer than half of the case's verdicts are as expected."""
    clusters: Codes
    reviewed: Mask
    valid: Mask
    """Reviewed and valid."""
    basis: Basis
    """The trials they come from."""


@frozen
class PerturbationValidity:
    """Estimate the judge's failure rate if some of the cases are invalid themselves.

    A case fails where fewer than half of its verdicts are as expected (see `as-expected`); the unit is the case,
    by cluster. The reviewed cases have to be a random sample of the failures and of the passes.
    """

    options: ValidityOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield `failure-rate`, `invalid-cases` and `failure-rate-valid` per task, judge and test.

        The decisions are those stored in the run, and those of the table of reviews, which wins. Without either, it
        estimates only the first. All cases count as they were made, also those that people rejected or edited since.

        Raises:
            JrhError: the table of reviews cannot be used, or contains no case of the records.
        """
        evidence = context.evidence.as_made()
        # Cases that people rejected are out of the records of the run, and have to be in these.
        builder = MeasureBuilder.of(records if evidence is None else evidence.records, context, self.options)
        path = self.options.reviews
        # The table comes last: what it says replaces what is stored.
        reviews = {**(evidence.valid if evidence is not None else {}), **(read_reviews(path) if path.exists() else {})}
        known = path.exists() or evidence is not None
        unreviewed = _UNREVIEWED if known else f"no case was reviewed, and the table '{path.name}' does not exist"
        names = builder.trials.case.names
        # 1 for valid, 0 for invalid, -1 for not reviewed.
        decision = np.array([reviews.get(name, -1) for name in names], dtype=np.int64)
        # The table of another run would make every case count as not reviewed, without a word.
        if path.exists() and reviews and not (decision >= 0).any():
            raise JrhError(f"{path.name}: the records contain none of its {len(reviews)} cases")
        for cell in cells_of(builder.trials):
            if cell.test != REFERENCE:
                cases = _cases(builder, cell, decision)
                if len(cases.basis.rows):
                    yield from _measure_cell(builder, cases, unreviewed)


def _cases(builder: MeasureBuilder, cell: Cell, decision: Codes) -> _Cases:
    trials, scores = builder.trials, as_expected(builder.trials)
    basis = builder.basis(cell, scores)
    usable = basis.usable
    # Several verdicts on a case are one case: what may be invalid is the case.
    case, first = np.unique(trials.case.codes[usable], return_index=True)
    sums = cluster_sums(trials.case.codes[usable], scores.value[usable], np.ones(len(usable)))
    return _Cases(
        fails=sums[:, 0] / sums[:, 1] < 1 / 2 if len(sums) else np.zeros(0, dtype=np.bool_),
        clusters=trials.cluster.codes[usable[first]],
        reviewed=decision[case] >= 0,
        valid=decision[case] == 1,
        basis=basis,
    )


def _measure_cell(builder: MeasureBuilder, cases: _Cases, unreviewed: str) -> Iterator[Measure]:
    level = builder.context.level
    reviewed, valid = int(cases.reviewed.sum()), int(cases.valid.sum())
    failures = _failures(cases, level)
    yield builder.measure("failure-rate", cases.basis, failures, note="unit: cases")
    invalid, looked = _per_cluster(cases, cases.reviewed & ~cases.valid, cases.reviewed)
    share = clustered_proportion(invalid[looked > 0], looked[looked > 0], level=level)
    note = f"{reviewed} cases reviewed" if reviewed else unreviewed
    yield builder.measure("invalid-cases", cases.basis, share, note=note)
    # Reviewed apart: the share of valid cases may differ between failures and passes.
    fails, passes = cases.reviewed & cases.fails, cases.reviewed & ~cases.fails
    (a, of_failures), (b, of_passes) = (_per_cluster(cases, cases.valid & side, side) for side in (fails, passes))
    corrected = corrected_failure_rate(
        failures,
        valid_failures=a,
        reviewed_failures=of_failures,
        valid_passes=b,
        reviewed_passes=of_passes,
        level=level,
    )
    # Two limits hold at the same time, of failures and of invalid cases: each has half of the error rate.
    bounds = validity_bounds(_failures(cases, (1 + level) / 2), invalid=invalid, reviewed=looked, level=level)
    note = _ONE_SIDE if valid else _ALL_INVALID if reviewed else unreviewed
    if corrected.value is not None:
        note = _describe_sample(bounds, reviewed, level)
    ends = None if bounds is None else (bounds.low, bounds.high)
    yield builder.measure("failure-rate-valid", cases.basis, corrected, bounds=ends, note=note)


def _failures(cases: _Cases, level: float) -> Estimate:
    sums = cluster_sums(cases.clusters, cases.fails.astype(np.float64), np.ones(len(cases.clusters)))
    return clustered_proportion(sums[:, 0], sums[:, 1], level=level)


def _per_cluster(cases: _Cases, part: Mask, whole: Mask) -> tuple[Floats, Floats]:
    """Count the cases of two kinds per cluster."""
    sums = cluster_sums(cases.clusters, part.astype(np.float64), whole.astype(np.float64))
    return sums[:, 0], sums[:, 1]


def _describe_sample(bounds: ValidityBounds | None, reviewed: int, level: float) -> str:
    text = f"among the valid cases; {reviewed} reviewed"
    if bounds is None:
        return text
    return (
        f"{text}; bounds for any pattern of invalid cases: {bounds.outer_low:.3f} to {bounds.outer_high:.3f} with "
        f"{level:.0%} confidence"
    )


COLUMNS: Final = ("case_id", "valid")
_DECISIONS: Final = {**dict.fromkeys(("yes", "true", "1"), True), **dict.fromkeys(("no", "false", "0"), False)}


def read_reviews(path: Path) -> Mapping[str, bool]:
    """Read a csv table of reviewed cases: case id -> whether the case is valid.

    Args:
        path: a csv file with the columns `case_id` and `valid` (yes or no, true or false, 1 or 0;
            empty: not reviewed); others are ignored.

    Raises:
        JrhError: it cannot be read, a column is missing, a decision is invalid, or a case has both decisions.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise JrhError(f"{path.name}: not UTF-8 text (byte {error.start + 1}); save the file as UTF-8") from error
    except OSError as error:
        raise JrhError(f"{path.name}: cannot be read: {error.strerror or error}") from error
    reviews: dict[str, bool] = {}
    for line, case, decision in _rows(path.name, text):
        if not decision.strip():
            continue  # not decided yet, or people disagree: `jrh review --export` lists these cases, too
        valid = _DECISIONS.get(decision.strip().casefold())
        if valid is None:
            raise JrhError(f"{path.name}:{line}: expected yes or no, got '{decision}'")
        if reviews.setdefault(case, valid) is not valid:
            raise JrhError(f"{path.name}:{line}: case '{case}' is valid in one row and invalid in another; keep one")
    return reviews


def _rows(name: str, text: str) -> Iterator[tuple[int, str, str]]:
    reader = csv.reader(text.splitlines(keepends=True), strict=True)
    try:
        header = next_csv_row(reader) or []
        missing = [column for column in COLUMNS if column not in header]
        if missing:
            raise JrhError(f"{name}:1: the table needs the columns case_id and valid; missing: {', '.join(missing)}")
        for cells in csv_rows(reader):
            if not cells:
                continue
            row = dict(zip(header, cells, strict=False))
            case, decision = (row.get(column, "").strip() for column in COLUMNS)
            if not case:
                raise JrhError(f"{name}:{reader.line_num}: the row has no case_id")
            yield reader.line_num, case, decision
    except csv.Error as error:
        raise JrhError(f"{name}:{reader.line_num}: not csv: {error}") from error
