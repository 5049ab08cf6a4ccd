import jrh_metrics.plugin
import pytest


def test_what_no_report_shows_and_what_has_to_be_declared_runs_only_on_request() -> None:
    specs = {spec.name: spec.default for spec in jrh_metrics.plugin.jrh_metrics()}

    assert [name for name, default in specs.items() if not default] == [
        "kappa-quadratic", "kappa-linear", "chance-corrected", "judge-comparison", "generalizability",
        "perturbation-validity", "compat-jrh", "compat-judgesense",
    ]  # fmt: skip


def test_judgesense_pairs_with_the_first_reference_and_takes_one_label_for_perfect(measures, ref, row) -> None:
    rows = [r for i in range(5) for r in (*ref(i, "YES", "NO"), row(i, "YES"))]
    found = {m.name: m for m in measures("compat-judgesense", rows)}

    assert found["compat-judgesense-jss"].estimate == 1.0
    assert found["compat-judgesense-kappa"].estimate == 1.0
    assert "degenerate" in found["compat-judgesense-kappa"].flags


def test_the_harness_interval_is_marked_by_its_method(measures, ref) -> None:
    rows = [r for i in range(40) for r in ref(i, "YES" if i < 30 else "NO", gold="YES")]
    (found,) = (m for m in measures("compat-jrh", rows, options={"bootstrap_repetitions": 2000}) if not m.cell)

    assert found.estimate == pytest.approx(0.75, abs=0.01)
    assert found.interval.method == "spread-of-bootstrap-means"
    assert found.interval.high - found.interval.low < 0.02  # with 40 items it ought to be about 0.27
