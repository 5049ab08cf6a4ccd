"""The first table of a report: the order of judges, ties, uses, and the next step."""

from collections.abc import Mapping, Sequence

import pytest
from attrs import evolve
from jrh import Interval, Measure, Record, RecordTable, RunReport, Status
from jrh.hashing import content_id
from jrh.values import Attrition, Basis, Finding, MeasureRef, Severity, TablePart
from jrh_metrics.answer_table import AnswerTable
from jrh_testing import loop_over, sample_records, sample_report

_KAPPAS = {"careful": (0.7, 0.5, 0.9), "careless": (0.6, 0.3, 0.8), "late": (0.1, -0.1, 0.3)}
_TASK = sample_report().tasks[0].task.name
GOOD, BAD, WARNING, INFO, OPEN = (
    *(Severity.GOOD, Severity.BAD, Severity.WARNING),
    *(Severity.INFO, Severity.INCONCLUSIVE),
)


def _measure(name: str, judge: str, numbers: tuple[float, float, float], test: str = "reference") -> Measure:
    estimate, low, high = numbers
    template = next(measure for measure in sample_report().measures if measure.judge)
    interval = Interval(low=low, high=high)
    return evolve(template, name=name, judge=judge, test=test, cell={}, estimate=estimate, interval=interval, flags=())


def _finding(
    severity: Severity, judge: str, *tests: str, name: str = "gold-kappa", statement: str = "S", task: str = _TASK
) -> Finding:
    tests = tests or ("reference",)
    basis = tuple(
        Basis(name=name, judge=judge, task=task, test=test, value="0.5", decide="60 items decide") for test in tests
    )
    return Finding(
        kind="k",
        severity=severity,
        judge=judge,
        task=task,
        tests=tests,
        statement=statement,
        sentence="S",
        basis=basis,
        decide="60 items decide",
    )


def _tables(report: RunReport) -> tuple[TablePart, TablePart]:
    (section,) = AnswerTable().sections(report)
    uses, numbers = section.parts
    assert isinstance(uses, TablePart)
    assert isinstance(numbers, TablePart)
    return uses, numbers


def _cells(table: TablePart, judge: str) -> dict[str, object]:
    (row,) = [row for row in table.rows if row.heads[0] == judge]
    return dict(zip([column.heading for column in table.columns], row.cells, strict=True))


def _records(answers: Mapping[str, Sequence[int]], first: Mapping[str, int] | None = None) -> RecordTable:
    """Make records of the reference condition: per judge, 1 for a right and 0 for a wrong verdict of each item."""
    template = next(row for row in sample_records(missing=0.0) if row.test == "reference" and row.gold is not None)
    labels = sample_report().tasks[0].task.scale.labels
    rows: list[Record] = []
    for judge, verdicts in answers.items():
        for number, right in enumerate(verdicts, start=(first or {}).get(judge, 0)):
            ids = {"trial_id": content_id(judge, number), "case_id": content_id(number), "item_id": f"item-{number}"}
            label = labels[0] if right else labels[1]
            verdict = {"gold": labels[0], "expected": labels[0], "canonical": label, "presented": label}
            rows.append(evolve(template, judge=judge, group="", repeat=0, **ids, **verdict))
    return RecordTable.from_records(rows)


def _report(*findings: Finding, kappas: Mapping[str, tuple[float, float, float]] = _KAPPAS) -> RunReport:
    measures = [_measure("gold-kappa", judge, numbers) for judge, numbers in kappas.items()]
    measures += [
        _measure("as-expected", "careful", (share, 0.5, 1.0), test) for test, share in (("x", 0.9), ("y", 0.6))
    ]
    # In the suite's order the worst judge is the first.
    return evolve(
        sample_report(),
        judges=("late", "careless", "careful"),
        tests=("reference", "x", "y"),
        measures=tuple(measures),
        findings=tuple(findings),
        planned=21,
        missing_records=0,
        records=_records({"careful": [1] * 9 + [0], "careless": [1] * 9 + [0], "late": [1]}),
    )


def _marks(answers: Mapping[str, Sequence[int]], first: Mapping[str, int] | None = None) -> tuple[dict[str, str], str]:
    _, numbers = _tables(evolve(_report(), records=_records(answers, first)))
    return {row.heads[0]: row.heads[-1] for row in numbers.rows}, numbers.note


def test_judges_whose_intervals_overlap_are_no_tie_where_the_same_items_show_a_difference() -> None:
    marks, note = _marks({"careful": [1] * 40, "careless": [1] * 26 + [0] * 14, "late": [1] * 25 + [0] * 15})
    assert marks == {"careful": "1", "careless": "2", "late": "3"}
    assert not note


def test_judges_that_the_same_items_do_not_tell_apart_are_a_tie() -> None:
    # The intervals of the first and the last exclude each other: three items that differ are no difference.
    marks, note = _marks({"careful": [1] * 40, "careless": [1] * 26 + [0] * 14, "late": [1] * 37 + [0] * 3})
    assert marks == {"careful": "=1", "careless": "2", "late": "=1"}
    assert "paired difference on the same items, corrected for 3 pairs of judges (Holm, 5%)" in note


def test_a_difference_that_the_correction_for_all_pairs_takes_away_is_a_tie() -> None:
    # Five items: a mid-p-value of 0.031, which counts for two judges and not for three.
    pair = {"careful": [1] * 40, "careless": [1] * 35 + [0] * 5}
    assert _marks(pair)[0]["careless"] == "2"
    alike = {**pair, "late": [1] * 36 + [0] * 4}
    assert _marks(alike)[0]["careless"] == "=1"


def test_judges_of_different_items_are_not_compared() -> None:
    answers = {"careful": [1] * 40, "careless": [1] * 26 + [0] * 14, "late": [0] * 40}
    assert _marks(answers, {"late": 100})[0] == {"careful": "1", "careless": "2", "late": "not compared"}
    assert _marks(answers, {"careless": 50, "late": 100})[0] == {"careful": "", "careless": "", "late": ""}


def test_the_difference_is_that_of_the_metric_that_compares_judges() -> None:
    from jrh import MetricContext
    from jrh_measuring import MetricOptions
    from jrh_metrics.changes import JudgeComparison, reference_differences

    tasks = {_TASK: sample_report().tasks[0].task}
    records = _records({"careful": [1] * 30 + [0] * 10, "careless": [0] * 8 + [1] * 32})
    context = MetricContext(tasks=tasks)
    found = {each.name: each.estimate for each in JudgeComparison(options=MetricOptions()).measure(records, context)}
    ((measure, tested),) = reference_differences(records, context)
    assert (measure.estimate, tested.p) == (found["accuracy-difference"], found["accuracy-difference-p"])


def test_without_a_tie_no_mark_is_explained() -> None:
    report = _report(kappas={"careful": (0.9, 0.8, 0.95), "careless": (0.5, 0.4, 0.6)})
    records = _records({"careful": [1] * 40, "careless": [0] * 40})
    _, numbers = _tables(evolve(report, records=records))
    assert [row.heads for row in numbers.rows] == [("careful", "1"), ("careless", "2"), ("late", "")]
    assert not numbers.note


def test_the_worst_test_is_that_with_the_fewest_verdicts_as_expected() -> None:
    report = _report()
    _, numbers = _tables(report)
    cells = _cells(numbers, "careful")
    share = cells["passes worst test"]
    assert cells["worst test"] == "y"
    assert isinstance(share, MeasureRef)
    assert report.measures[share.measure].estimate == 0.6


_AGREES = _finding(GOOD, "careful")
_NOT_SHOWN = "agreement not shown"


@loop_over(
    ("findings", "used", "failed", "undecided"),
    [
        pytest.param((_AGREES,), "this task", "", "", id="agreement is shown, above 0.4"),
        pytest.param((_finding(GOOD, "careless"),), "", "", "agreement may be below 0.4", id="perhaps below 0.4"),
        pytest.param((_finding(GOOD, "careful", name="jss"),), "", "", _NOT_SHOWN, id="another number is good"),
        pytest.param((_finding(OPEN, "careful"),), "", "", _NOT_SHOWN, id="nothing is decided"),
        pytest.param((_AGREES, _finding(BAD, "careful", "x", name="flip-rate")), "", "x", "", id="a test fails"),
        pytest.param(
            (_finding(OPEN, "careful"), _finding(BAD, "careful", "x", name="flip-rate")),
            *("", "x", _NOT_SHOWN),
            id="a test fails, and agreement is open",
        ),
        pytest.param((_finding(BAD, "careful"),), "", "this task", "", id="no agreement"),
        pytest.param(
            (_AGREES, _finding(WARNING, "careful", "x", "y", name="as-expected")),
            *("", "y, x", ""),
            id="a warning names tests: the worst first",
        ),
        pytest.param(
            (_AGREES, _finding(OPEN, "careful", "x", "y", name="excess-disagreement")),
            *("this task", "", "y, x"),
            id="agreement is shown, tests are open",
        ),
        pytest.param(
            (_AGREES, _finding(BAD, "careful", "x", "y", name="missing")),
            *("this task", "", ""),
            id="tests that lost verdicts are not failed",
        ),
        pytest.param(
            (_finding(INFO, "careful", statement="Agrees, but the longer response is the better one"),),
            *("", "", "agreement: the longer response is the better one"),
            id="the data contradict the praise",
        ),
    ],
)
def test_uses_rest_on_findings(findings: tuple[Finding, ...], used: str, failed: str, undecided: str) -> None:
    uses, _ = _tables(_report(*findings))
    cells = _cells(uses, findings[0].judge)
    assert tuple(cells.get(name, "") for name in ("use for", "not for", "undecided")) == (used, failed, undecided)


def test_a_judge_whose_judging_ended_by_its_verdicts_has_no_use() -> None:
    report = _report(_AGREES)
    ended = tuple(evolve(measure, flags=("stopped-early",)) for measure in report.measures)
    cells = _cells(_tables(evolve(report, measures=ended))[0], "careful")
    assert (cells.get("use for", ""), cells["undecided"]) == ("", "agreement: its judging ended early")


def test_a_judge_that_often_changes_its_verdict_on_reruns_is_not_for_the_task() -> None:
    unstable = _finding(WARNING, "careful", name="rerun-disagreement")
    for low, named in ((0.34, "this task"), (0.1, "")):
        report = _report(_AGREES, unstable)
        noise = _measure("rerun-disagreement", "careful", (0.53, low, 0.72))
        uses, numbers = _tables(evolve(report, measures=(*report.measures, noise)))
        cells = _cells(uses, "careful")
        assert cells.get("not for", "") == named
        changes = "it changes 53% of verdicts when asked again"
        assert (changes in str(cells["next step"])) == bool(named)
        assert isinstance(_cells(numbers, "careful")["changes when asked again"], MeasureRef)
    # The column shows the reference: the share of another test has its name.
    report = _report(_AGREES, _finding(WARNING, "careful", "x", name="rerun-disagreement"))
    noise = _measure("rerun-disagreement", "careful", (0.53, 0.34, 0.72), "x")
    uses, _ = _tables(evolve(report, measures=(*report.measures, noise)))
    assert "changes 53% of verdicts when asked again in x" in str(_cells(uses, "careful")["next step"])


@loop_over(
    ("labelled", "step"),
    [
        pytest.param(12, "remove the cause of the missing verdicts, then run the suite again", id="labels"),
        pytest.param(0, "label some items: without labels no agreement can be shown", id="no labels"),
    ],
)
def test_a_judge_without_any_verdict_is_the_last_and_fails_nothing(labelled: int, step: str) -> None:
    report = _report(_finding(BAD, "late", "reference", "x", name="missing"))
    rows = [
        evolve(row, status=Status.ABSTAINED, canonical=None, presented=None, detail="needs labelled items")
        for row in sample_records()[:5]
    ]
    table = RecordTable.from_records(
        [evolve(row, judge="late", trial_id=f"late-{row.trial_id}") for row in rows] + list(sample_records())
    )
    tasks = tuple(evolve(summary, labelled=labelled) for summary in report.tasks)
    measures = () if not labelled else report.measures
    uses, numbers = _tables(
        evolve(report, records=table, tasks=tasks, measures=measures, judges=("late", "careful", "careless"))
    )
    assert [rows.heads[0] for table in (uses, numbers) for rows in table.rows][2::3] == ["late", "late"]
    cells = _cells(uses, "late")
    assert cells.get("not for", "") == ""
    assert (cells["undecided"], cells["next step"]) == ("gave no verdict: needs labelled items", step)


def test_a_stopped_run_is_to_be_continued_for_every_judge_that_is_not_done() -> None:
    report = _report(_AGREES)
    attrition = (Attrition(task=_TASK, test="y", items=10, drafted=10, kept=10),)
    uses, numbers = _tables(evolve(report, planned=60, missing_records=39, attrition=attrition))
    assert _cells(uses, "careful")["next step"] == ("jrh run again: 10 of 20 trials done; unfinished: y")
    assert _cells(uses, "late")["next step"] == ("jrh run again: 1 of 20 trials done; unfinished: reference, y")
    assert _cells(numbers, "careful")["missing"] == "0/10 (10 of 20 done)"


def test_every_judge_has_its_row_and_a_next_step() -> None:
    uses, numbers = _tables(
        evolve(_report(_finding(OPEN, "careless"), _AGREES), records=RecordTable.from_records(sample_records()))
    )
    assert {row.heads[0] for row in uses.rows} == {row.heads[0] for row in numbers.rows} == set(_KAPPAS)
    assert _cells(uses, "late")["next step"] == "jrh run again: this judge was not asked yet"
    assert "without a label" in str(_cells(uses, "careful")["next step"])


@loop_over(
    ("findings", "step"),
    [
        pytest.param((_AGREES,), "use it", id="nothing is open"),
        pytest.param((_finding(OPEN, "careful"),), "label more items; 60 items decide", id="agreement is open"),
        pytest.param(
            (_AGREES, _finding(OPEN, "careful", "x", name="excess-disagreement")),
            "add items to decide x; 60 items decide",
            id="a test is open",
        ),
        pytest.param(
            (_AGREES, _finding(BAD, "careful", "x", name="flip-rate")),
            "see the failed cases in jrh view: x",
            id="a test fails",
        ),
        pytest.param(
            (_finding(INFO, "careful", statement="Agrees, but lengths tell"),),
            "balance the items: lengths tell",
            id="the data contradict the praise",
        ),
    ],
)
def test_the_next_step_cures_what_the_row_says(findings: tuple[Finding, ...], step: str) -> None:
    uses, _ = _tables(_report(*findings))
    assert _cells(uses, "careful")["next step"] == step
    # What is not in the table needs no explanation.
    assert ("Use for:" in uses.note) == any(column.heading == "use for" for column in uses.columns)


def test_with_several_tasks_each_entry_names_its_task() -> None:
    report = _report(_AGREES, _finding(BAD, "careful", "x", name="flip-rate"))
    other = evolve(report.tasks[0], task=evolve(report.tasks[0].task, name="facts"))
    uses, _ = _tables(evolve(report, tasks=(*report.tasks, other)))
    cells = _cells(uses, "careful")
    assert cells["not for"] == f"x ({_TASK})"
    assert cells["undecided"] == "agreement (facts)"
    assert cells["next step"] == f"see the failed cases in jrh view: x (task {_TASK})"


def test_agreement_shown_to_be_too_little_is_not_for_the_task_and_more_labels_are_no_step() -> None:
    uses = _tables(_report(_finding(GOOD, "careful"), kappas={"careful": (0.3, 0.25, 0.35)}))[0]
    cells = _cells(uses, "careful")
    assert (cells["not for"], cells.get("undecided", "")) == ("this task", "")
    assert cells["next step"] == "change the rubric or the judge: its agreement is below 0.4"


def test_an_interval_with_a_flag_counts_as_a_good_judge_has_few_errors_by_nature() -> None:
    report = _report(_finding(GOOD, "careful"), kappas={"careful": (0.9, 0.6, 0.98)})
    doubted = tuple(evolve(measure, flags=("few-events",)) for measure in report.measures)
    assert _cells(_tables(evolve(report, measures=doubted))[0], "careful")["use for"] == "this task"
