from pathlib import Path

import pytest
from jrh import JrhError
from jrh_stats import Estimate, binomial_limits, corrected_failure_rate


def _rows(ref, row, fails=40, items=200):
    """Make items judged YES in the reference; the first `fails` flip under the test."""
    return [
        r
        for i in range(items)
        for r in (*ref(i, "YES", "YES"), row(i, "NO" if i < fails else "YES", case_id=f"case-{i}"))
    ]


def _reviewed(path: Path, decisions: dict[int, str]) -> dict[str, str]:
    lines = [f"case-{item},{decision}" for item, decision in decisions.items()]
    path.write_text("\n".join(["case_id,valid", *lines]), encoding="utf-8")
    return {"reviews": str(path)}


def _by_name(measures, rows, options):
    return {m.name: m for m in measures("perturbation-validity", rows, options=options)}


def test_invalid_cases_among_the_failures_lower_the_judges_failure_rate(measures, ref, row, tmp_path) -> None:
    failed = {item: "no" if item < 10 else "yes" for item in range(20)}
    passed = {item: "no" if item < 42 else "yes" for item in range(40, 60)}
    found = _by_name(measures, _rows(ref, row), _reviewed(tmp_path / "reviews.csv", failed | passed))
    raw, valid, invalid = (found[name] for name in ("failure-rate", "failure-rate-valid", "invalid-cases"))

    # Half of the 20 % failures are valid cases, and 90 % of the passes: .2 * .5 / (.2 * .5 + .8 * .9).
    assert (raw.estimate, invalid.estimate) == (0.2, pytest.approx(12 / 40))
    assert valid.estimate == pytest.approx(0.1 / 0.82)
    assert valid.interval.low < valid.estimate < valid.interval.high
    # Horowitz and Manski (1995): max(0, (p - v) / (1 - v)) and p / (1 - v) with v = 0.3.
    assert valid.bounds == (0.0, pytest.approx(0.2 / 0.7))
    assert "40 reviewed" in valid.note
    assert (raw.n_items, raw.n_trials) == (200, 200)


def test_the_corrected_rate_is_that_of_the_public_function(measures, ref, row, tmp_path) -> None:
    decisions = {item: "false" if item % 5 == 0 else "true" for item in (*range(30), *range(40, 90))}
    valid = _by_name(measures, _rows(ref, row), _reviewed(tmp_path / "r.csv", decisions))["failure-rate-valid"]
    low, high = binomial_limits(40, 200)
    expected = corrected_failure_rate(
        Estimate(value=0.2, low=float(low), high=float(high)),
        valid_failures=24,
        reviewed_failures=30,
        valid_passes=40,
        reviewed_passes=50,
    )

    assert valid.estimate == pytest.approx(expected.value)
    assert (valid.interval.low, valid.interval.high) == (pytest.approx(expected.low), pytest.approx(expected.high))


def test_where_every_reviewed_case_is_valid_nothing_changes(measures, ref, row, tmp_path) -> None:
    options = _reviewed(tmp_path / "r.csv", dict.fromkeys(range(10, 70), "YES"))
    found = _by_name(measures, _rows(ref, row), options)

    assert found["failure-rate-valid"].estimate == pytest.approx(found["failure-rate"].estimate)
    assert found["invalid-cases"].estimate == 0.0


def test_reviews_of_passes_alone_give_bounds_and_no_estimate(measures, ref, row, tmp_path) -> None:
    options = _reviewed(tmp_path / "r.csv", dict.fromkeys(range(40, 90), "yes"))
    valid = _by_name(measures, _rows(ref, row), options)["failure-rate-valid"]

    assert (valid.estimate, valid.interval) == (None, None)
    assert valid.bounds == (pytest.approx(0.2), pytest.approx(0.2))
    assert "at least one failure and one pass" in valid.note


def test_without_a_table_the_raw_rate_stands_alone_and_the_note_says_why(measures, ref, row, tmp_path) -> None:
    found = _by_name(measures, _rows(ref, row), {"reviews": str(tmp_path / "none.csv")})

    assert found["failure-rate"].estimate == 0.2
    assert found["failure-rate-valid"].estimate is None
    assert found["failure-rate-valid"].note == "no case was reviewed, and the table 'none.csv' does not exist"


def test_a_case_without_a_decision_is_not_reviewed(measures, ref, row, tmp_path) -> None:
    decisions = {item: "no" if item % 5 == 0 else "yes" for item in range(60)}
    some = _by_name(measures, _rows(ref, row), _reviewed(tmp_path / "some.csv", decisions))
    more = _by_name(
        measures, _rows(ref, row), _reviewed(tmp_path / "more.csv", decisions | dict.fromkeys(range(60, 70), ""))
    )
    assert more == some


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("case,valid\ncase-1,yes", "r.csv:1: the table needs the columns case_id and valid; missing: case_id"),
        ("case_id,valid\ncase-1,maybe", "r.csv:2: expected yes or no, got 'maybe'"),
        ("case_id,valid\ncase-1,yes\ncase-1,no", "r.csv:3: case 'case-1' is valid in one row and invalid in another"),
        ("case_id,valid\n,yes", "r.csv:2: the row has no case_id"),
        ("case_id,valid\nother,yes", "r.csv: the records contain none of its 1 cases"),
        ("", "r.csv:1: the table needs the columns case_id and valid"),
    ],
)
def test_a_bad_table_says_where_and_what_to_do(text, message, measures, ref, row, tmp_path) -> None:
    (tmp_path / "r.csv").write_text(text, encoding="utf-8")
    with pytest.raises(JrhError, match=message):
        measures("perturbation-validity", _rows(ref, row), options={"reviews": str(tmp_path / "r.csv")})
