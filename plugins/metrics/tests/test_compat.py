import jrh_metrics.plugin
import pytest
from jrh import Item, MetricContext, RecordTable, Scale, Task
from jrh_testing import build


def test_what_no_report_shows_and_what_has_to_be_declared_runs_only_on_request() -> None:
    specs = {spec.name: spec.default for spec in jrh_metrics.plugin.jrh_metrics()}

    assert [name for name, default in specs.items() if not default] == [
        "confusion", "judge-comparison", "generalizability", "panel-by-test", "test-comparison",
        "variant-pairs", "binary-levels", "perturbation-validity", "compat-jrh", "compat-judgesense",
    ]  # fmt: skip


def test_judgesense_pairs_with_the_first_reference_and_takes_one_label_for_perfect(measures, ref, row) -> None:
    rows = [r for i in range(5) for r in (*ref(i, "YES", "NO"), row(i, "YES"))]
    found = {m.name: m for m in measures("compat-judgesense", rows)}

    assert found["compat-judgesense-jss"].estimate == 1.0
    assert found["compat-judgesense-kappa"].estimate == 1.0
    assert "degenerate" in found["compat-judgesense-kappa"].flags


def test_judgesense_pairs_prompt_a_with_prompt_b_where_the_items_list_pairs() -> None:
    # Five items. Under c the judge is right, under a and b it says NO on the last ones: against the reference four of
    # five agree under each; prompt_a against prompt_b, as the paper does, three of five.
    said = {"a": "YYYYN", "b": "YYYNY", "c": "YYYYY"}
    columns: dict[str, list[object]] = {}
    for template, labels in said.items():
        for item, label in enumerate(labels):
            row = {
                "task": "task", "test": "reference" if template == "c" else "templates", "judge": "judge",
                "item_id": str(item), "variant": template, "template": template, "repeat": 0, "status": "ok",
                "canonical": "YES" if label == "Y" else "NO", "gold": None, "expectation": None, "expected": None,
                "case_id": f"{template}/{item}", "simulated": False,
            }  # fmt: skip
            for name, value in row.items():
                columns.setdefault(name, []).append(value)
    task = Task(name="task", scale=Scale.of_labels("YES", "NO"))
    metric = build(jrh_metrics.plugin, "compat-judgesense", options={}, task=task)

    def jss(items: list[Item]) -> float | None:
        context = MetricContext(tasks={"task": task}, items={"task": items}, resamples=200)
        table = RecordTable.from_columns(columns)
        (found,) = (each for each in metric.measure(table, context) if each.name == "compat-judgesense-jss")
        return found.estimate

    listing = [Item(id=str(item), fields={}, metadata={"pairs": [["a", "b"]]}) for item in range(5)]
    assert jss(listing) == pytest.approx(0.60)
    assert jss([]) == pytest.approx(0.80)


def test_the_harness_interval_is_marked_by_its_method(measures, ref) -> None:
    rows = [r for i in range(40) for r in ref(i, "YES" if i < 30 else "NO", gold="YES")]
    (found,) = (m for m in measures("compat-jrh", rows, options={"bootstrap_repetitions": 2000}) if not m.cell)

    assert found.estimate == pytest.approx(0.75, abs=0.01)
    assert found.interval.method == "spread-of-bootstrap-means"
    assert found.interval.high - found.interval.low < 0.02  # with 40 items it ought to be about 0.27
