"""Records from elsewhere: what they mean, what is refused, and metrics without a run."""

import pytest
from attrs import evolve
from jrh import JrhError, MetricContext, RecordTable, Scale, Status, SuiteError, Task
from jrh.store.run_store import Store
from jrh.suite.syntax import WrittenScale, WrittenTask
from jrh.values.items import Mode
from jrh_interchange import import_records, imported_record, measure_records, read_settings, task_of
from jrh_interchange.record_checks import check_records
from jrh_measuring import load_metrics
from jrh_testing import loop_over

TASK = Task(name="t", scale=Scale.of_labels("YES", "NO"))
PAIRS = Task(name="p", scale=Scale.of_pairs(tie="TIE"), mode=Mode.PAIRWISE)


def record(**more):
    return imported_record(**{"task": TASK, "item_id": "i", "judge": "j", "label": "YES", **more})


@loop_over(
    ("label", "order", "polarity", "canonical"),
    [
        ("A", "", "positive", "A"),
        ("A", "BA", "positive", "B"),
        ("TIE", "BA", "positive", "TIE"),
        ("A", "AB", "positive", "A"),
        ("A", "", "inverted", "B"),
        ("A", "BA", "inverted", "A"),
    ],
)
def test_presented_labels_become_canonical(label, order, polarity, canonical):
    found = record(task=PAIRS, label=label, option_order=order, polarity=polarity, presented=True)
    assert found.canonical == canonical
    assert found.presented == label
    back = record(task=PAIRS, label=canonical, option_order=order, polarity=polarity)
    assert back.presented == label


def test_the_expectation_follows_from_the_test_and_the_gold_label():
    assert (record(gold="NO").expectation, record(gold="NO").expected) == ("equals", "NO")
    assert record().expectation is None
    assert record(test="format", gold="NO").expectation == "same"
    assert record(test="flip", expectation="equals", expected="NO", gold="YES").expected == "NO"


def test_what_a_log_says_of_a_verdict_itself_comes_before_what_follows():
    assert record(test="format", expectation="").expectation is None
    found = record(case="c1", presented_label="good", attempts=3, left_out=40)
    assert (found.case_id, found.canonical, found.presented) == ("c1", "YES", "good")
    assert (found.attempts, found.left_out) == (3, 40)
    assert found.trial_id == record(case="c1").trial_id != record(case="c2").trial_id


def test_the_same_condition_is_one_case_and_every_asking_a_trial_of_its_own():
    one, again, other = record(), record(repeat=1), record(template="short", test="prompts")
    assert one.case_id == again.case_id
    assert len({one.trial_id, again.trial_id, other.trial_id, record(judge="k").trial_id}) == 4


def test_no_label_is_a_status():
    assert record(label=None).status is Status.UNPARSABLE
    assert record(label=None, status=Status.REFUSED).canonical is None


@loop_over(
    ("records", "message"),
    [
        ([record(), record()], "number repeats with"),
        ([record(label="MAYBE")], "'MAYBE' is not on the scale"),
        ([record(label="yes")], "did you mean 'YES'"),
        ([record(gold="X")], "gold label 'X'"),
        ([record(gold="YES"), record(judge="k", gold="NO")], "has the gold label"),
        ([evolve(record(), task="other")], "unknown task 'other'"),
        ([record(status=Status.REFUSED)], "only 'ok' has a label"),
        ([record(expectation="maybe")], "the expectation 'maybe'"),
        ([record(probability=1.5)], "is not between 0 and 1"),
        ([record(repeat=-1)], "negative"),
        ([record(), record(repeat=1, simulated=True)], "the judge 'j' is simulated here and real at log.csv:2"),
        ([record(case="c"), record(case="c", item_id="k")], "the case 'c' is another question at log.csv:2"),
    ],
)
def test_records_that_are_not_sound_are_refused_with_their_origin(records, message):
    with pytest.raises(SuiteError, match=message) as caught:
        check_records([TASK], records, [f"log.csv:{number}" for number in range(2, 9)])
    assert "log.csv:" in str(caught.value)


def test_nothing_is_no_import(tmp_path):
    with pytest.raises(JrhError, match="no record"):
        import_records(tmp_path / "run", "s", [TASK], [])
    assert not (tmp_path / "run").exists()


def test_records_come_back_in_the_order_they_were_given(tmp_path):
    records = [record(item_id=f"i{number}", label="NO" if number % 3 else "YES") for number in (5, 1, 9, 2)]
    assert import_records(tmp_path, "s", [TASK], records) == 4
    store = Store.view(tmp_path)
    found = RecordTable.from_slices(store.records.slices())
    store.close()
    assert found.text("item_id") == ["i5", "i1", "i9", "i2"]
    assert found.text("canonical") == [each.canonical for each in records]


def test_unknown_metrics_are_errors():
    with pytest.raises(JrhError, match="unknown metric 'nothing'"):
        load_metrics(["nothing"])


def test_metrics_that_run_by_default_measure_a_table_without_a_run():
    table = RecordTable.from_records([record(gold="YES"), record(item_id="k", gold="NO")])
    context = MetricContext(tasks={"t": TASK}, resamples=20)
    found = {each.name for metric in load_metrics().values() for each in metric.measure(table, context)}
    assert {"as-expected", "gold-accuracy", "missing"} <= found


METRICS = ["gold-accuracy", "gold-kappa"]


def test_records_are_measured_without_a_run_directory():
    records = [
        record(item_id=f"i{n}", label="NO" if n < 5 else "YES", gold="YES" if n % 2 else "NO") for n in range(40)
    ]
    report = measure_records("log", [TASK], records, metrics=load_metrics(METRICS), notes=["as told"])
    measure, *_ = [each for each in report.measures if not each.cell]
    assert (measure.name, measure.estimate, measure.n_items) == ("gold-accuracy", (3 + 18) / 40, 40)
    assert (report.judges, report.planned, report.notes) == (("j",), 40, ("as told",))
    assert dict(report.tasks[0].gold) == {"YES": 20, "NO": 20}
    assert {each.kind for each in report.findings} >= {"gold-agreement"}
    with pytest.raises(SuiteError, match="number repeats"):
        measure_records("log", [TASK], [record(), record()], metrics={})


def test_settings_files_are_read_strictly_with_lines(tmp_path):
    path = tmp_path / "file.yaml"
    path.write_text("scale: {ordinal: [1, 3]}\nmoed: pointwise\n")
    with pytest.raises(SuiteError, match=r"file\.yaml:2:1.*unknown key"):
        read_settings(path, WrittenTask)
    path.write_text("instruction: {file: i.txt}\nscale: {ordinal: [1, 3]}\n")
    (tmp_path / "i.txt").write_text("Judge.")
    task = task_of(read_settings(path, WrittenTask), "name")
    as_mapping = {"instruction": "Judge.", "scale": {"ordinal": [1, 3]}}
    assert task_of(read_settings(as_mapping, WrittenTask), "name") == task
    assert task == Task(name="name", instruction="Judge.", scale=Scale.of_levels(1, 3))


def test_a_pairwise_scale_is_a_pairwise_task():
    written = WrittenTask(scale=WrittenScale(pairwise=True))
    assert task_of(written, "n").mode is Mode.PAIRWISE
    with pytest.raises(JrhError, match="leave `mode` out"):
        task_of(evolve(written, mode=Mode.POINTWISE), "n")
