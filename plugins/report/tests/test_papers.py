"""Tables and figures of papers: which there are, and that a number carries its interval and sizes."""

from __future__ import annotations

import csv
import re
from io import StringIO

import pytest
from attrs import evolve
from jrh import Interval, RecordTable, Reply, Status, Usage
from jrh_testing import empty_report

pytestmark = pytest.mark.slow

TABLES = {"formats": ["csv", "tex"]}


def rows(file: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(file.decode())))


def test_judges_by_tests_have_n_in_the_heading_and_the_majority_last(render, report, measure) -> None:
    interval = Interval(low=0.7, high=0.9, method="wilson")
    vote = measure("majority-accuracy", judge="", test="format", estimate=0.8, n_trials=177, interval=interval)
    files = render("papers", evolve(report, measures=(*report.measures, vote)), **TABLES)
    found = rows(files["judges-by-tests.csv"])

    assert [row["judge"] for row in found] == ["baseline", "gpt-4o-mini", "yes-man (simulated)", "majority vote"]
    assert found[1]["format (N=60)"] == "0.6799999999999999"
    assert (found[1]["format (N=60) trials"], found[1]["format (N=60) missing"]) == ("117", "3")
    assert (found[3]["format (N=60)"], found[3]["format (N=60) low"]) == ("0.8", "0.7")


def test_variants_are_pooled_or_apart(render, report) -> None:
    apart = render("papers", report, variants="apart", **TABLES)["judges-by-tests.csv"].decode()
    assert "format: crlf (N=60)" in apart
    assert "format: crlf" not in render("papers", report, **TABLES)["judges-by-tests.csv"].decode()


def test_the_spread_is_that_of_the_estimates(render, report, measure) -> None:
    mean = measure("mean-over-judges", judge="", test="format", estimate=(0.71 + 0.68 + 0.65) / 3)
    found = rows(
        render("papers", evolve(report, measures=(*report.measures, mean)), **TABLES)["spread-over-judges.csv"]
    )
    one = next(row for row in found if row["test"] == "format")
    assert float(one["mean"]) == pytest.approx((0.71 + 0.68 + 0.65) / 3)
    assert float(one["SD"]) == pytest.approx(0.03)
    assert (one["lowest"], one["lowest by"], one["highest"], one["highest by"]) == (
        pytest.approx("0.6499999999999999"), "yes-man (simulated)", "0.71", "baseline",
    )  # fmt: skip


def test_the_best_three_are_held_out_and_in_sample(render, report, measure) -> None:
    found = tuple(
        measure("trio-accuracy", judge="", test="", cell={"chosen": chosen}, estimate=value, note="a, b, c; and more")
        for chosen, value in (("held out", 0.7), ("in sample", 0.9))
    )
    table = rows(render("papers", evolve(report, measures=(*report.measures, *found)), **TABLES)["best-panel.csv"])
    assert [(row["test"], row["panel"], row["judges"], row["accuracy"]) for row in table] == [
        ("all tests", "best three, held out", "a, b, c", "0.7"),
        ("all tests", "best three, in sample (too good)", "a, b, c", "0.9"),
    ]


def test_figures_are_the_same_twice(render, report) -> None:
    files = render("papers", report, formats=["svg"])
    assert set(files) == {"judges-by-tests.svg", "judges-by-tests-intervals.svg", "index.md"}
    assert files == render("papers", report, formats=["svg"])
    assert "`judges-by-tests`: As expected" in files["index.md"]


class Replies:
    """Two of three replies state their reasoning tokens."""

    def cases(self, case_ids):
        return {}

    def replies(self, trial_ids):
        stated = {"t1": 40, "t2": 2, "t3": None}
        return {
            name: Reply(status=Status.OK, usage=Usage(completion_tokens=50, reasoning_tokens=stated[name]))
            for name in trial_ids
        }


def test_reasoning_tokens_are_added_up_where_replies_state_them(render, report) -> None:
    names = ["t1", "t2", "t3"]
    records = RecordTable.from_columns({"trial_id": names, "judge": ["gpt-4o-mini"] * 3, "status": ["ok"] * 3})
    told = evolve(report, records=records, evidence=Replies())
    row = next(row for row in rows(render("papers", told, **TABLES)["usage.csv"]) if row["judge"] == "gpt-4o-mini")
    assert (row["reasoning tokens"], row["replies that state them"]) == ("42", "2")
    assert (row["trials"], row["prompt tokens"]) == ("300", "220300")
    assert (row["dollars"], row["replies of unknown price"]) == ("", "60")


def test_a_run_without_measures_says_so(render) -> None:
    assert "No tables." in render("papers", empty_report())["index.md"]


def test_tasks_with_like_names_have_files_of_their_own(render, report) -> None:
    names = ("a b", "a-b", "日本", "中国", "a b 2")
    tasks = tuple(evolve(report.tasks[0], task=evolve(report.tasks[0].task, name=name)) for name in names)
    measures = [evolve(each, task=name, estimate=0.1 * n) for n, name in enumerate(names) for each in report.measures]
    files = render("papers", evolve(report, tasks=tasks, measures=tuple(measures), costs=()), **TABLES)
    ends = ("a-b", "a-b-2", "task", "task-2", "a-b-2-2")
    found = [rows(files[f"judges-by-tests-{end}.csv"])[0]["format (N=60)"] for end in ends]
    assert list(map(float, found)) == pytest.approx([0.0, 0.1, 0.2, 0.3, 0.4])
    labels = re.findall(r"\\label\{(.*?)\}", files["tables.tex"])
    assert len(labels) == len(set(labels))


def test_a_task_without_right_labels_has_no_table_of_them(render, report) -> None:
    bare = [evolve(each, estimate=None, interval=None, n_trials=0, missing={}) for each in report.measures]
    files = render("papers", evolve(report, measures=tuple(bare)), formats=["csv", "tex", "svg"])
    assert set(files) == {"cost.csv", "usage.csv", "tables.tex", "index.md"}
    mute = [evolve(each, estimate=None, interval=None, n_trials=0, missing={"refused": 9}) for each in report.measures]
    assert "9 verdicts missing" in render("papers", evolve(report, measures=tuple(mute)), **TABLES)["index.md"]


def test_a_long_name_keeps_its_mark_and_its_size(render, report) -> None:
    judge, test = "yes-man " + "x" * 90, "format " + "y" * 90
    longer = {"yes-man": judge, "format": test}
    measures = [
        evolve(each, judge=longer.get(each.judge, each.judge), test=longer.get(each.test, each.test))
        for each in report.measures
    ]
    names = {"judges": (*report.judges[:2], judge), "simulated": frozenset({judge}), "tests": ("reference", test)}
    picture = render("papers", evolve(report, measures=tuple(measures), costs=(), **names), formats=["svg"])
    shown = re.findall(r"<text[^>]*>([^<]*)</text>", picture["judges-by-tests.svg"])
    assert [text for text in shown if text.startswith("yes-man x") and text.endswith("x… (simulated)")]
    assert [text for text in shown if text.startswith("format y") and text.endswith("y… (N=60)")]
