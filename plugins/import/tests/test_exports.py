"""Exports of other tools become the same records as an import file makes.

`exports/` holds files that the tools or their SDKs wrote; `exports/make/` the scripts that made them write.
"""

import json
import os
from pathlib import Path

import pytest
from jrh import JrhError, Status
from jrh_import import plugin
from jrh_interchange import read_export
from jrh_testing import ImporterContract, Inside, loop_over, prompt_pair_row

pytestmark = pytest.mark.inside
EXPORTS = Path(__file__).parent / "exports"
RIGHT_WRONG = {"right": "pass", "wrong": "fail"}
# Of `make/write_exports.py`: what the grader said (None: it failed) and what people said.
SAID = [True, False, True, True, False, False, True, None]
PEOPLE = [True, False, True, False, True, False, True, False]


class Exported(ImporterContract):
    plugin = plugin

    def __init_subclass__(cls):
        super().__init_subclass__()
        cls.files = {cls.export: (EXPORTS / cls.export).read_bytes()}


class TestPromptfoo(Exported):
    component = "promptfoo"
    export = "promptfoo.json"
    options = {"metric": "says-yes", "gold": "metadata.praise"}
    missing = 8


class TestDeepEval(Exported):
    component = "deepeval"
    export = "deepeval.json"
    options = {"metric": "Kindness", "gold": "metadata.human", "labels": {"kind": "pass", "unkind": "fail"}}
    missing = 1


class TestLangfuse(Exported):
    component = "langfuse"
    export = "langfuse.json"
    options = {"metric": "correct"}


class TestLangSmith(Exported):
    component = "langsmith"
    export = "langsmith.jsonl"
    options = {"gold": "reference.correct"}
    missing = 1


class TestPhoenix(Exported):
    component = "phoenix"
    export = "phoenix.json"
    options = {"gold": "reference_output.label"}
    missing = 2


class TestBraintrust(Exported):
    component = "braintrust"
    export = "braintrust.jsonl"
    options = {"gold": "expected"}
    missing = 1


class TestMlflow(Exported):
    component = "mlflow"
    export = "mlflow.jsonl"
    missing = 1


class TestOpenAIEvals(Exported):
    component = "openai-evals"
    export = "openai_evals.jsonl"
    options = {"gold": "item.human"}
    missing = 1


class TestJudgeSense(ImporterContract):
    plugin = plugin
    component = "judgesense"
    export = "log.jsonl"
    files = {
        "log.jsonl": "\n".join(
            json.dumps(prompt_pair_row(number, decision_a="YES", decision_b="YES" if number else "no idea"))
            for number in range(3)
        )
    }
    options = {"scale": "YES,NO", "off_scale": True}
    missing = 1


class TestJudgeReliabilityHarness(ImporterContract):
    plugin = plugin
    component = "judge-reliability-harness"
    export = "results"
    files = {
        "results/label_flip_results_m.csv": "\n".join(
            (
                ",test_name,original_idx,original_expected,original_request,generation_response,autograder_score",
                "0,label_flip,a,1,?,new a,0",
                "1,label_flip,b,0,?,new b,",
            )
        )
    }
    missing = 1


def read(name, tool, **options):
    return read_export(EXPORTS / name, tool, options)


def told(found):
    """Verdict and gold label of each record, in the order of the file."""
    return [(record.canonical, record.gold) for record in found.records]


def pass_fail(values):
    return [None if value is None else "pass" if value else "fail" for value in values]


EIGHT = list(zip(pass_fail(SAID), pass_fail(PEOPLE), strict=True))


@loop_over(
    ("tool", "name", "options", "judge"),
    [
        ("langsmith", "langsmith.jsonl", {"gold": "reference.correct"}, "correct"),
        ("braintrust", "braintrust.jsonl", {"gold": "expected"}, "grader-1"),
        ("mlflow", "mlflow.jsonl", {}, "openai:/grader-1"),
        ("mlflow", "mlflow.jsonl", {"gold": "expectation.truth"}, "openai:/grader-1"),
        ("openai-evals", "openai_evals.jsonl", {"gold": "item.human"}, "grader-1"),
    ],
)
def test_verdicts_and_labels_of_people_are_those_that_were_logged(tool, name, options, judge):
    found = read(name, tool, **options)
    assert told(found) == EIGHT
    assert {record.judge for record in found.records} == {judge}
    assert [record.rationale for record in found.records][:7] == ["because it is so"] * 7
    failed = found.records[7]
    assert failed.status in (Status.PROVIDER_ERROR, Status.PLUGIN_ERROR)
    assert "the grader did not answer" in failed.detail


@pytest.mark.parametrize(
    ("tool", "name", "options"),
    [
        ("langfuse", "langfuse.json", {"metric": "correct"}),
        ("langsmith", "langsmith_feedback.jsonl", {}),
        ("phoenix", "phoenix_spans.json", {"labels": RIGHT_WRONG}),
    ],
)
def test_annotations_of_people_are_the_gold_labels(tool, name, options):
    found = read(name, tool, **options)
    assert told(found) == EIGHT[:7]
    assert any("Outputs with a label by people and no verdict of 'correct': 1" in note for note in found.notes)
    if tool == "langfuse":
        assert any("Annotations with the id of an earlier one: 1" in note for note in found.notes)


def test_promptfoo_with_a_metric_judges_every_output_and_a_failed_grade_is_missing():
    found = read("promptfoo.json", "promptfoo", metric="says-yes", gold="metadata.praise")
    raw = [
        (part, result)
        for result in json.loads((EXPORTS / "promptfoo.json").read_text())["results"]["results"]
        for part in (result["gradingResult"] or {}).get("componentResults", [])
        if part["assertion"]["type"] == "llm-rubric"
    ]
    assert len(found.records) == len(raw) == 44
    failed = sum(bool(part.get("metadata", {}).get("graderError")) for part, _ in raw)
    passed = sum(part["pass"] for part, _ in raw)
    assert sum(record.status is Status.UNPARSABLE for record in found.records) == failed == 8
    assert sum(record.canonical == "pass" for record in found.records) == passed > 0
    assert any("where the provider failed: 4" in note for note in found.notes)
    assert {record.group for record in found.records} == {f"test-{n}" for n in range(1, 7)}


def test_promptfoo_with_output_has_providers_as_judges_prompts_as_templates_and_repeats():
    found = read("promptfoo.json", "promptfoo", metric="output")
    assert len(found.records) == 2 * 2 * 2 * 6
    assert {(record.judge, record.template, record.repeat) for record in found.records} == {
        (judge, template, repeat) for judge in "ab" for template in ("plain", "rate") for repeat in (0, 1)
    }
    assert {record.test for record in found.records if record.template == "plain"} == {"reference"}
    assert {record.test for record in found.records if record.template == "rate"} == {"templates"}
    lost = [record for record in found.records if record.status is not Status.OK]
    assert [(record.judge, record.item_id, record.status) for record in lost] == [
        ("b", "test-6", Status.PROVIDER_ERROR)
    ] * 4
    asked = next(record for record in found.records if record.status is Status.OK)
    assert (asked.cost, asked.prompt_tokens, asked.completion_tokens) == (0.001, 11, 1)


def test_promptfoo_gives_the_numbers_that_counting_in_its_file_gives(tmp_path):
    project = Inside(tmp_path)
    done = project.run("import", str(EXPORTS / "promptfoo.json"), "--from", "promptfoo", "--metric", "output")
    assert done.exit_code == 0, done.output
    assert project.run("report", "runs/promptfoo", "--format", "json").exit_code == 0
    report = json.loads(project.read("runs/promptfoo/report.json"))
    measures = {(each["judge"], each["test"], each["name"]): each for each in report["measures"] if not each["cell"]}
    results = json.loads((EXPORTS / "promptfoo.json").read_text())["results"]["results"]
    for judge in "ab":
        pairs: dict[str, list[tuple[str | None, str]]] = {}
        for result in results:
            if result["provider"]["id"] == judge and result["prompt"]["label"] == "plain":
                said = result["response"].get("output")
                pairs.setdefault(result["vars"]["id"], []).append((said, result["metadata"]["human"]))
        heard = {item: [(said, gold) for said, gold in own if said is not None] for item, own in pairs.items()}
        heard = {item: own for item, own in heard.items() if own}
        shares = [sum(said == gold for said, gold in own) / len(own) for own in heard.values()]
        measure = measures[judge, "reference", "gold-accuracy"]
        assert measure["estimate"] == pytest.approx(sum(shares) / len(shares))
        missing = sum(said is None for own in pairs.values() for said, _ in own)
        assert sum(measure["missing"].values()) == missing
        kappa = measures[judge, "reference", "gold-kappa"]["estimate"]
        assert kappa == pytest.approx(_kappa([pair for own in heard.values() for pair in own]))


def _kappa(pairs):
    """Cohen's kappa by its definition: agreement beyond that of two people who answer at random."""
    n = len(pairs)
    observed = sum(said == gold for said, gold in pairs) / n
    chance = sum(
        (sum(said == label for said, _ in pairs) / n) * (sum(gold == label for _, gold in pairs) / n)
        for label in ("yes", "no")
    )
    return (observed - chance) / (1 - chance)


def test_the_verdict_of_deepeval_is_its_own_decision_and_costs_are_kept():
    found = read("deepeval.json", "deepeval", metric="Kindness")
    scores = [0.9, 0.1, 0.75, 0.5, 1.0, 0.25, 0.75, None]
    assert [record.canonical for record in found.records] == pass_fail(
        [None if score is None else score >= 0.5 for score in scores]
    )
    assert {record.judge for record in found.records} == {"made-up-model"}
    assert {record.cost for record in found.records} == {0.002}
    assert any(
        line.startswith("fields that may hold people's labels, for --gold: metadata.human") for line in found.unmapped
    )
    strict = read("deepeval.json", "deepeval", metric="Kindness", threshold=0.8)
    assert sum(record.canonical == "pass" for record in strict.records) == 2


def test_the_task_of_a_phoenix_experiment_is_the_judge_where_its_output_is_the_verdict():
    found = read("phoenix.json", "phoenix", metric="output.label", gold="reference_output.label")
    assert [task.scale.labels for task in found.tasks] == [("right", "wrong")]
    assert {record.repeat for record in found.records} == {0, 1}
    assert len({record.item_id for record in found.records}) == 8
    runs = json.loads((EXPORTS / "phoenix.json").read_text())
    fifth = next(run["example_id"] for run in runs if run["input"]["text"].startswith("Water"))
    assert [record.canonical for record in found.records if record.item_id == fifth] == ["wrong", "right"]
    assert [record.latency * 1000 for record in found.records] == pytest.approx([run["latency_ms"] for run in runs])


def test_several_metrics_are_listed_and_so_are_fields_and_tools():
    with pytest.raises(JrhError, match=r"has 2 metrics; choose one with --metric: equals \(44 .*says-yes \(44"):
        read("promptfoo.json", "promptfoo")
    with pytest.raises(JrhError, match="has no metric 'x'; it has equals"):
        read("promptfoo.json", "promptfoo", metric="x")
    with pytest.raises(JrhError, match=r"no field 'x' for gold labels; it has metadata\.human"):
        read("deepeval.json", "deepeval", metric="Short", gold="x")
    with pytest.raises(JrhError, match=r"continuous scores, such as 0\.9; pass --threshold or --scale"):
        read("deepeval.json", "deepeval", metric="Kindness", labels={"x": "y"})
    with pytest.raises(JrhError, match="Did you mean 'promptfoo'"):
        read("promptfoo.json", "promptfo")
    with pytest.raises(JrhError, match=r"--from deepeval: .*treshold"):
        read("deepeval.json", "deepeval", treshold=1)


@loop_over("tool", [spec.name for spec in plugin.jrh_importers()])
def test_the_file_of_another_tool_is_one_sentence(tool):
    for name in ("promptfoo.json", "deepeval.json", "langfuse.json", "langsmith.jsonl", "phoenix.json", "mlflow.jsonl"):
        if tool.split("-")[0] not in name:
            with pytest.raises(JrhError) as raised:
                read(name, tool)
            assert name in str(raised.value)
            assert tool == "judgesense" or len(str(raised.value)) < 400  # that one lists its columns


def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(JrhError, match=r"pipe\.json.*not a regular file"):
        read_export(tmp_path / "pipe.json", "langfuse", {})


def test_mistakes_are_told_with_their_line(tmp_path):
    good = (EXPORTS / "langsmith.jsonl").read_text().splitlines()
    path = tmp_path / "cut.jsonl"
    path.write_text("\n".join([*good[:3], good[3][:200]]))
    with pytest.raises(JrhError, match=r"cut\.jsonl:4: not JSON: .*ends too early"):
        read_export(path, "langsmith", {})
    scores = json.loads((EXPORTS / "langfuse.json").read_text())
    for value, message in (
        ("1e999", "entry 1: the score inf is not a finite"),
        ("7" * 5000, "not JSON"),
        ('"x"', "every score of 'correct'.* is missing"),
    ):
        score = {**scores["data"][0], "dataType": "NUMERIC", "value": "VALUE"}
        path.write_text(json.dumps({"data": [score]}).replace('"VALUE"', value))
        with pytest.raises(JrhError, match=message) as raised:
            read_export(path, "langfuse", {"threshold": 1} if value == "1e999" else {})
        assert len(str(raised.value)) < 500
    deep = EXPORTS.joinpath("deepeval.json").read_text().replace('"evaluationCost": 0.002', '"evaluationCost": 1e300')
    path.write_text(deep)
    with pytest.raises(JrhError, match=r"test case 1: `cost` is '1e\+300'"):
        read_export(path, "deepeval", {"metric": "Kindness"})


def test_the_command_says_what_was_not_mapped_and_the_report_repeats_it(tmp_path):
    project = Inside(tmp_path)
    command = ("import", str(EXPORTS / "deepeval.json"), "--from", "deepeval", "--metric", "Kindness")
    done = project.run(*command, "--gold", "metadata.human", "--label", "kind=pass", "--label", "unkind=fail")
    assert "Imported 8 verdicts of 1 judge on 8 items into runs/deepeval." in done.stdout
    assert "Missing: 1 of 8; they have a status instead of a label." in done.stdout
    assert "Not mapped:\n- other metrics: Short\n" in done.stdout
    assert "No repeats: rerun noise cannot be measured." in done.stdout
    assert project.run("report", "runs/deepeval", "--format", "json").exit_code == 0
    report = json.loads(project.read("runs/deepeval/report.json"))
    assert any("Not imported from deepeval: other metrics: Short" in note for note in report["notes"])
    accuracy = [each for each in report["measures"] if each["name"] == "gold-accuracy" and not each["cell"]]
    # Right: c1, c2, c3, c5 and c7; wrong: c4 and c6; c8 has no verdict.
    assert [each["estimate"] for each in accuracy] == [pytest.approx(5 / 7)]
    assert "was written by promptfoo: read with --from" in project.run("import", str(EXPORTS / "promptfoo.json")).output
    assert "belongs to --from" in project.run("import", "x.yaml", "--metric", "y").output


def test_a_log_of_judgesense_and_a_result_folder_are_importers_too(tmp_path):
    rows = [
        {
            "pair_id": "p1",
            "task_type": "facts",
            "prompt_a": f"Is it true? {text}",
            "prompt_b": f"True: {text}?",
            "response_being_judged": text,
            "ground_truth_label": "YES",
            "decision_a": "YES",
            "decision_b": said,
        }
        for text, said in (("one", "YES"), ("two", "NO"))
    ]
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    found = read_export(path, "judgesense", {"scale": "YES,NO"})
    assert [record.canonical for record in found.records] == ["YES", "YES", "YES", "NO"]
    with pytest.raises(JrhError, match="is not a directory; the harness writes a folder"):
        read_export(path, "judge-reliability-harness", {})


def scored(tmp_path, values, golds=None, **options):
    """Import scores of Langfuse, with a gold label in the metadata of each."""
    golds = golds or [None] * len(values)
    about = {"name": "m", "source": "EVAL", "dataType": "NUMERIC"}
    data = [
        {**about, "id": str(n), "traceId": f"t{n}", "value": value, "metadata": {"human": gold}}
        for n, (value, gold) in enumerate(zip(values, golds, strict=True))
    ]
    path = tmp_path / "scores.json"
    path.write_text(json.dumps({"data": data}))
    return read_export(path, "langfuse", options)


def test_numbers_become_levels_only_where_they_can_be(tmp_path):
    (task,) = scored(tmp_path, [1, 5, 3]).tasks
    assert task.scale.labels == ("1", "2", "3", "4", "5")
    for values in ([0, 100, 40], [-1, 1, 3], [1, 2.5, 3]):
        with pytest.raises(JrhError, match="continuous scores"):
            scored(tmp_path, values)
    assert scored(tmp_path, [0, 100, 40], scale="0-100").records[1].canonical == "100"


def test_one_threshold_does_not_cut_scores_and_labels_of_different_scales(tmp_path):
    cut = scored(tmp_path, [0.2, 0.7], [0, 1], gold="metadata.human", threshold=0.5)
    assert told(cut) == [("fail", "fail"), ("pass", "pass")]
    with pytest.raises(JrhError, match=r"go up to 5, the scores up to 0\.7: one threshold cannot split both"):
        scored(tmp_path, [0.2, 0.7], [2, 5], gold="metadata.human", threshold=0.5)
    named = {"2": "fail", "5": "pass"}
    with pytest.raises(JrhError, match="not on the scale"):
        scored(tmp_path, [1, 0], [2, 5], gold="metadata.human", labels={"2": "fail"})
    assert told(scored(tmp_path, [1, 0], [2, 5], gold="metadata.human", labels=named))[0] == ("pass", "fail")


def test_names_out_of_a_file_are_bounded_and_cleaned(tmp_path):
    path = tmp_path / "scores.json"
    about = {"source": "EVAL", "dataType": "NUMERIC", "value": 1}
    names = [f"\x1b[31m{'x' * 500}{n}" for n in range(50)]
    path.write_text(json.dumps({"data": [{**about, "traceId": "t", "name": name} for name in names]}))
    with pytest.raises(JrhError, match="and 30 more") as raised:
        read_export(path, "langfuse", {})
    assert "\x1b" not in str(raised.value)
    assert len(str(raised.value)) < 2500


def test_names_out_of_a_file_are_no_markup_in_its_report(tmp_path):
    hostile = "<img src=x onerror=alert(1)>"
    about = {"source": "EVAL", "dataType": "NUMERIC", "name": hostile, "metadata": {"model": hostile}}
    rows = [{**about, "traceId": f"t{hostile}{n}", "value": n % 2} for n in range(6)]
    project = Inside(tmp_path)
    project.write("scores.json", json.dumps({"data": rows}))
    assert project.run("import", "scores.json", "--from", "langfuse").exit_code == 0
    assert project.run("report", "runs/scores").exit_code == 0
    for name in ("report.html", "report.md"):
        text = project.read(f"runs/scores/{name}")
        assert "onerror" in text
        assert "<img" not in text


@pytest.mark.parametrize(
    ("tool", "name", "options"),
    [
        ("langsmith", "langsmith.jsonl", {}),
        ("langsmith", "langsmith.jsonl", {"metric": "output.label", "gold": "reference.label"}),
        ("braintrust", "braintrust.jsonl", {}),
        ("mlflow", "mlflow.jsonl", {}),
        ("openai-evals", "openai_evals.jsonl", {}),
    ],
)
def test_a_row_that_is_twice_in_a_file_is_no_rerun(tool, name, options, tmp_path):
    twice = tmp_path / name
    twice.write_text((EXPORTS / name).read_text() * 2)
    once = read(name, tool, **options)
    found = read_export(twice, tool, options)
    assert [record.trial_id for record in found.records] == [record.trial_id for record in once.records]
