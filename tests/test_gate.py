"""`jrh gate`: every exit code by the real command, and files that any server can read."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from html import unescape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from jrh_measuring import parse_rule
from jrh_testing import PAYLOADS, ChatServer, Fault, Inside, Outcome, Project, call
from support.keys import KEY, KEY_VARIABLE
from support.looking import until
from support.suites import llm_suite, openai_http, simulated_suite, write_items, write_suite
from support.verdicts import import_judges, right_with

pytestmark = pytest.mark.inside

ROOT = Path(__file__).resolve().parents[1]
RUN = ("run", "suite.yaml", "--run-dir", "run", "--no-cache", "--yes")
GATE = ("gate", "run")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Provide a finished run of two simulated judges, one right and one often wrong, and rules in its suite."""
    project = Inside(tmp_path_factory.mktemp("finished"), env={KEY_VARIABLE: KEY})
    write_items(project, 40)
    judges = [
        {"name": "good", "judge": "simulated", "accuracy": 1.0},
        {"name": "poor", "judge": "simulated", "accuracy": 0.5},
    ]
    gate = {"rules": ["as-expected[*, judge=good] >= 80%", "as-expected[reference, judge=poor] <= 0.8"]}
    write_suite(
        project,
        simulated_suite(judges=judges, tests=[{"format": {"variants": ["spaces"]}}], gate=gate, reports=["json"]),
    )
    assert project.run(*RUN).exit_code == 0
    return project


def gate(project: Project, *rules: str, run: str = "run", options: tuple[str, ...] = ()) -> Outcome:
    """Run the real command."""
    done = project.run("gate", run, *(part for rule in rules for part in ("--rule", rule)), *options)
    assert "Traceback" not in done.output
    return done


def inside(project: Project, *rules: str, run: str = "run", options: tuple[str, ...] = ()) -> Outcome:
    """Run the command in this process, where the exit code itself is shown elsewhere."""
    done = call(project, "gate", run, *(part for rule in rules for part in ("--rule", rule)), *options)
    assert "Traceback" not in done.output
    return done


# -- the exit codes --------------------------------------------------------------------------------------------------


def test_rules_of_the_suite_that_all_hold_end_with_0(finished: Project) -> None:
    done = gate(finished)
    assert done.exit_code == 0, done.output
    assert len(re.findall(r"^holds ", done.stdout, re.MULTILINE)) == 3, "two tests of one judge, one of the other"
    assert "good (simulated)" in done.stdout
    assert done.stdout.endswith("Gate of trial: 3 checks hold; exit code 0: all rules hold.\nNext: jrh view run\n")


def test_a_rule_that_fails_ends_with_1_for_the_judge_that_fails_it(finished: Project) -> None:
    done = gate(finished, "as-expected[reference] >= 0.9", "as-expected[reference] >= 0.1")
    assert done.exit_code == 1, done.output
    assert re.search(r"^fails +as-expected\[reference\] >= 0\.9 +poor \(simulated\)", done.stdout, re.MULTILINE)
    assert "a rule fails" in done.stdout


def test_a_rule_about_gold_labels_holds_in_a_suite_whose_label_flips_leave_none_as_it_was(tmp_path: Path) -> None:
    project = Inside(tmp_path, env={KEY_VARIABLE: KEY})
    write_items(project, 40)
    judges = [{"name": "good", "judge": "simulated", "accuracy": 1.0}]
    write_suite(project, simulated_suite(judges=judges, tests=["label-flip"], reports=["json"]))
    assert project.run(*RUN).exit_code == 0
    done = inside(project, "gold-accuracy >= 0.8")
    assert done.exit_code == 0, done.output
    assert len(re.findall(r"^holds ", done.stdout, re.MULTILINE)) == 1, "in the reference condition"
    everywhere = inside(project, "gold-accuracy[*] >= 0.8")
    assert everywhere.exit_code == 0, everywhere.output
    assert inside(project, "gold-accuracy[label-flip] >= 0.8").exit_code == 5, "no case keeps its gold label"


def test_a_threshold_within_the_interval_ends_with_5_or_what_the_user_says(finished: Project) -> None:
    rule = "as-expected[reference, judge=good] >= 0.97"
    assert gate(finished, rule).exit_code == 5
    assert gate(finished, rule, options=("--undecided", "1")).exit_code == 1
    passed = gate(finished, rule, options=("--undecided", "0"))
    assert passed.exit_code == 0
    assert "a rule is undecided, let pass" in passed.stdout


def test_a_rule_that_fails_counts_more_than_one_that_is_undecided(finished: Project) -> None:
    assert inside(finished, "as-expected[reference] >= 0.97").exit_code == 1


def test_a_measure_without_an_interval_is_undecided_and_never_holds(finished: Project) -> None:
    done = inside(finished, "accuracy-change-p[format] >= 0")
    assert done.exit_code == 5, done.output
    assert "the measure has no interval" in done.stdout


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        (
            "accuracy >= 0.9",
            "there is no measure 'accuracy': did you mean 'gold-accuracy' (equal to the gold label) or 'as-expected' ",
        ),
        ("as-expectd >= 0.9", "the run has no measure 'as-expectd'\nDid you mean 'as-expected'?"),
        (
            "as-expected[fromat] >= 0.9",
            "the run has no test 'fromat'\nDid you mean 'format'? Available: format, reference.",
        ),
        ("as-expected[judge=god] >= 0.9", "the run has no judge 'god'\nDid you mean 'good'? Available: good, poor."),
        ("as-expected[task=x] >= 0.9", "the run has no task 'x'\nAvailable: trial."),
        ("as-expected[variant=tabs] >= 0.9", "the run has no selector 'variant'"),
        ("as-expected[colour=red] >= 0.9", "the run has no selector 'colour'"),
        (
            "agreement[reference] >= 0.9",
            "the run does not have this measure there\nIt has 'agreement' for the tests format",
        ),
        ("as-expected >= 90", "as-expected is a share from 0 to 1; write the threshold as 0.9 or 90%, not 90"),
        ("as-expected is high", "character 13: expected one of >=, <=, >, <; got 'is high'"),
    ],
)
def test_a_rule_about_what_is_not_there_ends_with_2_and_says_what_is(finished: Project, rule: str, told: str) -> None:
    done = inside(finished, rule)
    assert (done.exit_code, done.stdout) == (2, "")
    assert told in done.stderr


def test_a_malformed_rule_of_a_suite_is_found_when_the_suite_is_read(project: Project) -> None:
    write_items(project, 2)
    project.write(
        "suite.yaml",
        """name: trial
data: {source: jsonl, path: items.jsonl}
task: {scale: {labels: [YES_, NO_]}}
judges: [simulated]
gate:
  rules:
    - as-expected >= 0.9
    - as-expected[fromat] >= 0.9
    - as-expected ~ 0.9
    - accuracy[reference] >= 0.5
  undecided: 7
""",
    )
    done = project.run("run", "suite.yaml")
    assert done.exit_code == 2
    assert "suite.yaml:11:3: undecided:" in done.stderr
    project.write("suite.yaml", project.read("suite.yaml").replace("  undecided: 7\n", ""))
    done = project.run("run", "suite.yaml")
    assert done.exit_code == 2
    assert "suite.yaml:8:7: rules[1]: the rule names the test 'fromat'\nThere are: reference, *." in done.stderr
    assert "suite.yaml:9:7: rules[2]: rule 'as-expected ~ 0.9', character 13: expected one of" in done.stderr
    ambiguous = "there is no measure 'accuracy': did you mean 'gold-accuracy' (equal to the gold label) or"
    assert f"suite.yaml:10:7: rules[3]: rule 'accuracy[reference] >= 0.5': {ambiguous}" in done.stderr
    named = project.run("run", "suite.yaml", "--set", "metrics=[accuracy]", "--set", "gate={}")
    assert "there is no metric 'accuracy'" in named.stderr
    assert "did you mean 'gold-accuracy' (equal to the gold label) or 'as-expected' (meets the test's" in named.stderr
    assert not (project.path / "runs").exists()


def test_what_is_no_run_ends_with_2_and_says_what_to_do(project: Project) -> None:
    project.write("suite.yaml", "name: x\n")
    (project.path / "empty").mkdir()
    for run, told in (
        ("suite.yaml", "'suite.yaml' is a file; `jrh gate` takes a run directory"),
        ("empty", "'empty' is not a run directory: it holds no run.sqlite"),
        ("nowhere", "'nowhere' is not a run directory: it holds no run.sqlite"),
    ):
        done = inside(project, "as-expected >= 0.9", run=run)
        assert done.exit_code == 2
        assert told in done.stderr


def test_a_run_without_rules_ends_with_2_and_says_how_to_give_one(project: Project) -> None:
    import_judges(project.path / "run", {"a": right_with(1.0)}, items=4)
    done = inside(project)
    assert done.exit_code == 2
    assert 'no rules to check; pass --rule "as-expected[format] >= 0.9"' in done.stderr


def test_a_run_of_a_newer_jrh_ends_with_2(project: Project) -> None:
    import_judges(project.path / "run", {"a": right_with(1.0)}, items=4)
    with closing(sqlite3.connect(project.path / "run" / "run.sqlite")) as connection:
        connection.execute("PRAGMA user_version=99")
    done = inside(project, "as-expected >= 0.9")
    assert done.exit_code == 2
    assert "was written by a newer jrh (schema 99" in done.stderr


def test_a_store_that_is_no_database_ends_with_2(project: Project) -> None:
    project.write("run/run.sqlite", b"not a database at all" * 100)
    done = inside(project, "as-expected >= 0.9")
    assert done.exit_code == 2
    assert "cannot use" in done.stderr


def served(project: Project, server: ChatServer, items: int = 8, **changes: Any) -> None:
    write_items(project, items)
    model = openai_http(
        server.url, concurrency=2, price={"input": 1000.0, "output": 2000.0}, max_tokens=10, max_attempts=1
    )
    small = {"gate": {"rules": ["as-expected <= 1"]}, "metrics": ["as-expected"], "reports": ["terminal"]}
    write_suite(project, llm_suite(model, **{**small, **changes}))


def test_failed_calls_end_with_3_unless_so_many_missing_verdicts_are_allowed(project: Project) -> None:
    failing = Fault("500", every=3)
    with ChatServer("YES", faults=[failing]) as server:
        served(project, server, items=20)
        assert project.run(*RUN).exit_code == 3
    done = gate(project)
    assert done.exit_code == 3, done.output
    found = re.search(
        r"missing: mini in reference: (\d+) of 20 verdicts are missing \(provider_error (\d+)\)", done.stdout
    )
    assert found, done.stdout
    assert found[1] == found[2]
    share = int(found[1]) / 20
    assert 0 < share < 1
    assert gate(project, options=("--allow-missing", str(share))).exit_code == 0
    assert gate(project, options=("--allow-missing", str(share - 0.01))).exit_code == 3
    assert gate(project, options=("--allow-missing", "1")).exit_code == 2


def test_verdicts_that_stay_missing_end_with_3_also_where_every_rule_holds(project: Project) -> None:
    import_judges(project.path / "run", {"a": right_with(1.0, missing=0.1), "b": right_with(1.0)}, items=40)
    done = inside(project, "as-expected >= 0.5")
    assert done.exit_code == 3, done.output
    assert len(re.findall(r"^holds ", done.stdout, re.MULTILINE)) == 2
    assert "more than 0% of the verdicts are missing" in done.stdout


def test_a_rule_that_fails_ends_with_1_whatever_else_is_missing(project: Project) -> None:
    import_judges(project.path / "run", {"a": right_with(0.2), "b": right_with(1.0, missing=0.1)}, items=40)
    done = inside(project, "as-expected >= 0.9")
    assert done.exit_code == 1, done.output
    assert "exit code 1: a rule fails; besides, more than 0% of the verdicts are missing" in done.stdout


def test_a_run_with_a_gate_says_its_result_above_everything_and_exits_with_1_if_a_rule_fails(project: Project) -> None:
    write_items(project, 40)
    judges = [
        {"name": "good", "judge": "simulated", "accuracy": 1.0},
        {"name": "poor", "judge": "simulated", "accuracy": 0.3},
    ]
    rules = ["as-expected[*, judge=good] >= 80%", "as-expected[reference, judge=poor] >= 0.8"]
    suite = simulated_suite(judges=judges, tests=[{"format": {"variants": ["spaces"]}}], gate={"rules": rules})
    write_suite(project, {**suite, "reports": ["terminal", "markdown", "html", "json"]})
    done = project.run(*RUN)
    assert done.exit_code == 1, done.output
    assert "jrh: the gate failed, 1 of 2 rules.\n" in done.stderr
    line = re.sub(r"\s+", " ", done.stdout)
    found = re.search(
        r"Gate: failed, 1 of 2 rules \(as-expected\[reference, judge=poor\] >= 0\.8: poor \(simulated\) on reference: "
        r"0\.\d+, limits 0\.\d+ and 0\.\d+\)\. Look at the cases that fail, change the judge, and run the suite "
        r"again\.",
        line,
    )
    assert found, line
    report = json.loads(project.read("run/report.json"))
    assert [section["name"] for section in report["sections"]][:2] == ["gate", "answer"]
    assert report["sections"][0]["parts"][0]["text"] == found[0]
    assert report["stages"]["gate"]["exit_code"] == 1
    page, markdown = project.read("run/report.html"), project.read("run/report.md")
    for text, answer in ((line, "Judge use for"), (page, "Which judge, for what</h2>"), (markdown, "Which judge, for")):
        assert 0 < text.index("failed, 1 of 2 rules") < text.index(answer)
    assert len(report["stages"]["gate"]["rules"]) == 3, "two places of one rule, one of the other"
    # The gate on the same verdicts is the same look; a repeated run asks nothing and ends the same way.
    assert inside(project, options=("--json", "gate.json")).exit_code == 1
    assert json.loads(project.read("gate.json"))["look"]["number"] == 1
    assert project.run(*RUN).exit_code == 1
    write_suite(project, suite | {"gate": {"rules": rules[:1]}, "reports": ["terminal"]})
    held = project.run(*RUN)
    assert (held.exit_code, "Gate: passed, 1 of 1 rule met." in held.stdout) == (0, True), held.output


def test_the_line_of_the_gate_names_what_is_undecided_missing_or_not_checked(project: Project) -> None:
    import jrh

    write_items(project, 40)
    judges = [{"name": "good", "judge": "simulated", "accuracy": 1.0}]
    suite = simulated_suite(judges=judges, tests=[{"format": {"variants": ["spaces"]}}], reports=["terminal"])
    undecided = {"rules": ["as-expected[reference] >= 0.97"]}
    away, slice_of_tests = "as-expected[format] >= 0.5", ("--test", "reference")
    lacks = f"rule '{away}': the run has no test 'format'"
    some = f"Gate: not checked, 1 of 2 rules: {lacks}. Available: reference. The others:"
    for rules, options, code, told in (
        (undecided["rules"], (), 0, "Gate: undecided, 0 of 1 rule met (as-expected[reference]"),
        ([away], slice_of_tests, 3, f"Gate: not checked. {lacks}"),
        # The slice lacks one rule's test: the other rule is decided all the same.
        ([away, "as-expected[reference] >= 0.5"], slice_of_tests, 3, f"{some} passed, 1 of 1 rule met."),
        ([away, "as-expected[reference] <= 0.5"], slice_of_tests, 1, f"{some} failed, 1 of 1 rule"),
    ):
        write_suite(project, suite | {"gate": {"rules": rules}})
        done = project.run(*RUN, *options)
        assert (done.exit_code, told in re.sub(r"\s+", " ", done.stdout)) == (code, True), done.output
        # `jrh gate` on such a run refuses the rule, and decides others as of any finished run.
        assert gate(project).exit_code == {3: 2, 1: 2, 0: 5}[code]
    assert lacks in done.stderr
    assert gate(project, "as-expected[reference] >= 0.5").exit_code == 0
    write_suite(project, suite | {"gate": undecided | {"undecided": 1}})
    done = project.run(*RUN)
    assert done.exit_code == 1
    assert "jrh: the gate is undecided, 0 of 1 rule met.\n" in done.stderr
    # A notebook shows the same line.
    shown = jrh.run(project.path / "suite.yaml", run_dir=project.path / "run", use_cache=False)._repr_html_()
    found = re.search(r"Gate: undecided[^<]*", unescape(shown))
    assert found, shown
    assert found[0] in re.sub(r"\s+", " ", done.stdout)


def test_a_judge_without_any_verdict_never_holds(project: Project) -> None:
    import_judges(project.path / "run", {"mute": right_with(1.0, missing=1.1)}, items=12)
    assert inside(project, "as-expected >= 0").exit_code == 3
    done = inside(project, "as-expected >= 0", options=("--allow-missing", "0.99"))
    assert done.exit_code == 3
    assert re.search(r"^undecided .* not estimable", done.stdout, re.MULTILINE)


def test_a_run_that_reached_its_budget_ends_with_4(project: Project) -> None:
    with ChatServer("YES") as server:
        # Each of the eight calls costs $0.081: half a dollar pays for some and cannot pay for all.
        served(project, server, budget={"usd": 0.5})
        assert project.run(*RUN).exit_code == 4
        assert 0 < server.count < 8
    done = gate(project)
    assert done.exit_code == 4, done.output
    assert "budget" in done.stdout
    done = gate(project, "as-expected >= 0.5", "no-such-measure >= 0.5")
    assert done.exit_code == 4, done.output


def test_an_interrupted_run_ends_with_130_and_a_continued_one_does_not(project: Project) -> None:
    with ChatServer("YES", latency=0.2) as server:
        served(project, server)
        with project.start(*RUN) as running:
            until(lambda: server.count >= 2, "two requests")
            running.interrupt()
            assert running.wait().exit_code == 130
    done = gate(project)
    assert done.exit_code == 130, done.output
    assert "exit code 130: interrupted." in done.stdout
    with ChatServer("YES") as server:
        served(project, server)
        assert project.run(*RUN).exit_code == 0
    assert gate(project).exit_code == 0


def test_a_run_that_was_left_at_once_was_interrupted_too(project: Project) -> None:
    with ChatServer("YES", latency=60.0) as server:
        served(project, server)
        with project.start(*RUN) as running:
            until(lambda: server.count >= 2, "two requests")
            running.interrupt()
            until(lambda: '"stopping"' in project.read("run/log.jsonl"), "the first Ctrl-C to arrive")
            running.interrupt()
            assert running.wait().exit_code == 130
    assert inside(project).exit_code == 130


def test_a_killed_run_ends_with_3_and_so_does_one_that_goes_on(project: Project) -> None:
    with ChatServer("YES", latency=60.0) as server:
        served(project, server)
        with project.start(*RUN) as running:
            until(lambda: server.count >= 2, "some requests")
            during = gate(project)
            running.kill()
            running.wait()
    after = gate(project, options=("--junit", "gate.xml"))
    for done in (during, after):
        assert done.exit_code == 3, done.output
        assert "the run has not ended: it is still running, was killed, or was merged and not run" in done.stdout
    case = ET.parse(project.path / "gate.xml").getroot().find("testsuite[@name='run']/testcase/error")
    assert case is not None
    assert case.get("type") == "incomplete"


def test_a_store_that_was_killed_at_once_ends_with_3(project: Project) -> None:
    (project.path / "run").mkdir()
    with closing(sqlite3.connect(project.path / "run" / "run.sqlite")) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
    done = inside(project, "as-expected >= 0.9", options=("--markdown", "gate.md", "--json", "gate.json"))
    assert done.exit_code == 3, done.output
    assert json.loads(project.read("gate.json"))["exit_code"] == 3


SLOW = """
import pathlib, time
from jrh import MetricSpec, hookimpl

class Slow:
    def measure(self, records, context):
        pathlib.Path("measuring").touch()
        time.sleep(60)
        return []

@hookimpl
def jrh_metrics():
    yield MetricSpec(name="slow", summary="slow", factory=lambda *_: Slow())
"""


def test_ctrl_c_ends_the_gate_itself_with_130(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write("slow.py", SLOW)
    project.write("log.csv", "item,label\n1,YES\n")
    project.write(
        "log.yaml",
        "name: log\npath: log.csv\ntask: {scale: {labels: ['YES', 'NO']}}\n"
        "columns: {item: item, label: label}\nvalues: {judge: a}\n",
    )
    assert project.run("import", "log.yaml", "--run-dir", "run", "--plugins", "slow.py").exit_code == 0
    with project.start(*GATE, "--rule", "as-expected >= 0", "--plugins", "slow.py", "--junit", "gate.xml") as running:
        until(lambda: (project.path / "measuring").exists() or not running.is_running, "the metric")
        running.interrupt()
        done = running.wait()
    assert (done.exit_code, done.stdout, done.stderr.strip()) == (130, "", "jrh: interrupted")
    assert not (project.path / "gate.xml").exists()


# -- the files -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def files(finished: Project) -> dict[str, bytes]:
    names = {"--junit": "out/gate.xml", "--json": "out/gate.json", "--markdown": "out/gate.md"}
    rules = ("as-expected[reference] >= 0.9", "as-expected[format] >= 0.97", "accuracy-change-p[format] >= 0")
    options = tuple(part for pair in names.items() for part in pair)
    written = []
    for _ in range(2):
        assert inside(finished, *rules, options=options).exit_code == 1
        written.append({name: (finished.path / name).read_bytes() for name in names.values()})
    assert written[0] == written[1], "the same findings give the same bytes"
    return {Path(name).suffix: content for name, content in written[0].items()}


def test_the_junit_file_has_a_suite_per_judge_and_a_case_per_rule(files: dict[str, bytes]) -> None:
    root = ET.fromstring(files[".xml"])
    check_junit(root)
    assert [suite.get("name") for suite in root] == ["run", "good (simulated)", "poor (simulated)"]
    good, poor = root[1], root[2]
    assert [case.get("name") for case in good] == [
        "at most 0% of the verdicts are missing",
        "as-expected[reference] >= 0.9 (reference)",
        "as-expected[format] >= 0.97 (format)",
        "accuracy-change-p[format] >= 0 (format)",
    ]
    assert [part.tag for case in good for part in case] == ["system-out", "error", "error"]
    assert next(part.tag for case in poor for part in case) == "failure"


def check_junit(root: ET.Element) -> None:
    """Check what the schema of JUnit files asks for: elements, their order and attributes, and sums that add up."""
    assert root.tag == "testsuites"
    totals = dict.fromkeys(("tests", "failures", "errors", "skipped"), 0)
    for suite in root:
        assert (suite.tag, set(suite.attrib)) == (
            "testsuite",
            {"name", "tests", "failures", "errors", "skipped", "time"},
        )
        printed = [child.tag for child in suite].count("system-out")
        assert [child.tag for child in suite][len(suite) - printed :] == ["system-out"] * min(printed, 1)
        for case in suite[: len(suite) - printed]:
            assert (case.tag, set(case.attrib)) == ("testcase", {"name", "classname", "time"})
            assert len(case) <= 1
            for part in case:
                expected = {"skipped": {"message"}, "system-out": set()}.get(part.tag, {"message", "type"})
                assert part.tag in ("failure", "error", "skipped", "system-out")
                assert set(part.attrib) == expected
        tags = {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}
        for name, tag in tags.items():
            assert int(suite.get(name, "-1")) == len(list(suite.iter(tag)))
            totals[name] += int(suite.get(name, "-1"))
    assert {name: int(root.get(name, "-1")) for name in totals} == totals


@pytest.mark.parametrize(("code", "tag"), [("0", "skipped"), ("1", "failure"), ("5", "error")])
def test_an_undecided_rule_is_what_its_exit_code_says(finished: Project, code: str, tag: str) -> None:
    rule = "as-expected[reference, judge=good] >= 0.97"
    inside(finished, rule, options=("--undecided", code, "--junit", "undecided.xml"))
    root = ET.parse(finished.path / "undecided.xml").getroot()
    check_junit(root)
    assert [part.tag for part in root.iter() if part.tag in ("failure", "error", "skipped")] == [tag]


def test_the_json_file_is_what_its_schema_says_and_equals_the_report(
    files: dict[str, bytes], finished: Project
) -> None:
    import jsonschema

    document = json.loads(files[".json"])
    schema = json.loads((ROOT / "schemas" / "gate.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(document, schema)
    assert document["exit_code"] == 1
    report = json.loads(finished.read("run/report.json"))
    for check in document["checks"]:
        same = next(
            measure
            for measure in report["measures"]
            if (measure["name"], measure["judge"], measure["test"], measure["cell"])
            == (check["measure"]["name"], check["judge"], check["test"], {})
        )
        assert check["measure"]["estimate"] == same["estimate"]
        assert (check["measure"]["low"] is None) == (same["interval"] is None)
        if same["interval"]:
            assert (check["measure"]["low"], check["measure"]["high"]) == (
                same["interval"]["low"],
                same["interval"]["high"],
            )


def test_the_markdown_tells_what_fails_before_what_holds(files: dict[str, bytes]) -> None:
    text = files[".md"].decode()
    assert text.startswith("## Gate of trial: failed, ")
    assert "Simulated judges (planted behaviour, no model): good, poor." in text
    assert text.index("| **fails** |") < text.index("<details><summary>")


def test_names_that_attack_do_nothing_in_any_file(project: Project) -> None:
    storable = [payload for payload in PAYLOADS if payload.strip() and payload.isprintable()]
    payloads = storable[:: len(storable) // 8]
    judges = {f"{payload}{number}": right_with(0.9, seed=number) for number, payload in enumerate(payloads)}
    import_judges(project.path / "run", judges, items=4)
    options = ("--junit", "gate.xml", "--json", "gate.json", "--markdown", "gate.md")
    done = inside(project, "as-expected[reference] >= 0", options=options)
    assert done.exit_code == 0, done.output
    root = ET.parse(project.path / "gate.xml").getroot()
    check_junit(root)
    assert len(root) == 1 + len(judges)
    assert {each["judge"] for each in json.loads(project.read("gate.json"))["checks"]} == set(judges)
    markdown = project.read("gate.md")
    for text in (markdown, done.stdout):
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)
    assert set(re.findall(r"<[^>]*>?", markdown)) <= {"<details>", "<summary>", "</summary>", "</details>"}
    assert not re.search(r"(?<!\\)\]\(|(?<!\\)!\[|(?<!\\)`", markdown)
    assert not re.search(r"@\w|://|www\.", markdown)
    rows = [line for line in markdown.splitlines() if line.startswith("| ")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {7}


def test_a_file_that_cannot_be_written_ends_with_2(finished: Project) -> None:
    done = inside(finished, options=("--json", "suite.yaml/gate.json"))
    assert done.exit_code == 2
    assert "cannot write 'suite.yaml/gate.json'" in done.stderr


def test_an_imported_log_is_measured_and_gated_without_a_report(project: Project) -> None:
    import_judges(project.path / "run", {"a": right_with(1.0)}, items=40)
    assert gate(project, "as-expected[reference] >= 0.9").exit_code == 0
    before = (project.path / "run" / "run.sqlite").read_bytes()
    assert gate(project, "as-expected[reference] >= 0.9").exit_code == 0
    assert (project.path / "run" / "run.sqlite").read_bytes() == before, "only a first look is written down"


def test_one_judge_on_one_item_decides_nothing(project: Project) -> None:
    import_judges(project.path / "run", {"a": right_with(1.0)}, items=1)
    assert inside(project, "as-expected[reference] >= 0.9").exit_code == 5


def test_the_rules_of_the_documents_are_rules() -> None:
    text = (ROOT / "docs" / "gate.md").read_text() + (ROOT / "plugins" / "gate" / "README.md").read_text()
    listed = [line.strip(" -'") for line in re.findall(r"^    - .*[<>].*$", text, re.MULTILINE)]
    quoted = re.findall(r'--rule "([^"]+)"', text)
    assert len(listed) >= 4
    assert len(quoted) >= 2
    for rule in (*listed, *quoted):
        assert parse_rule(rule).text == rule


def test_the_workflow_of_the_documents_runs_the_suite_and_the_gate() -> None:
    import yaml

    workflow = yaml.safe_load((ROOT / "docs" / "examples" / "jrh-gate.yml").read_text())
    steps = workflow["jobs"]["judge"]["steps"]
    commands = "\n".join(step.get("run", "") for step in steps)
    assert "jrh run" in commands
    assert "jrh gate" in commands
    assert "GITHUB_STEP_SUMMARY" in commands
    upload = next(step for step in steps if step.get("uses", "").startswith("actions/upload-artifact"))
    assert upload["if"] == "always()"
