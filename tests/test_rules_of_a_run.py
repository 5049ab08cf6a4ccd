"""A run keeps the rules it was decided with: what is installed later changes no finding until it is asked for."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import pytest
from jrh import open_report
from jrh.running import open_store
from jrh.store.database import write_seal
from jrh_measuring import read_findings, read_record
from jrh_testing import Inside, Project

pytestmark = pytest.mark.inside

RULE = '''\
"""A local plugin: one rule."""

from jrh import hookimpl
from jrh.plugins import KindSpec, RuleSpec
from jrh.values import Severity
from jrh_measuring import Claim, Hypothesis, Rule

class Imperfect(Rule):
    def hypotheses(self, design):
        for place in design.wholes("gold-accuracy"):
            yield (Hypothesis(place=place, null=0.99, side="below"),)

    def claims(self, now):
        for measure in now.measures("gold-accuracy"):
            if now.claims(measure, 0.99):
                yield Claim(kind="NAME", severity=Severity.BAD, statement="Is NAME <b>|*", measure=measure)

@hookimpl
def jrh_findings():
    yield RuleSpec(
        name="NAME", summary="s", reads=("gold-accuracy",), kinds=(KindSpec(name="NAME"),), factory=lambda: Imperfect()
    )
'''
NOTHING = """\
from jrh import hookimpl

@hookimpl
def jrh_flags():
    return ()
"""
SUITE = """\
name: mine
data: {source: examples, dataset: factual, sample: {n: 30, seed: 1}}
task: {instruction: Is it right?, scale: {labels: ["YES", "NO"]}}
tests: [format]
judges: [{judge: simulated, name: s, accuracy: 0.5}]
resamples: 100
reports: [terminal, json, markdown, html]
"""
REPORTS = ("report.json", "report.md", "report.html")
SENTENCE = "Findings are those of the run's rules; now installed: {}. `jrh report RUN --rules installed` decides again."


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Provide a finished run that was made with a local rule."""
    project = Inside(tmp_path_factory.mktemp("study"))
    project.write("suite.yaml", SUITE)
    project.write("wrong.py", RULE.replace("NAME", "imperfect"))
    project.write("nothing.py", NOTHING)
    project.write("later.py", RULE.replace("NAME", "later"))
    done = project.run("run", "suite.yaml", "--plugins", "wrong.py")
    assert done.exit_code == 0, done.stderr
    return project


def reports(run_dir: Path) -> list[bytes]:
    return [(run_dir / name).read_bytes() for name in REPORTS]


def kinds(run_dir: Path) -> set[str]:
    return {finding["kind"] for finding in json.loads((run_dir / "report.json").read_text())["findings"]}


def test_a_report_without_the_rule_has_the_same_bytes_and_says_so_in_one_sentence(made: Project) -> None:
    before = reports(made.path / "runs/mine")
    assert "imperfect" in kinds(made.path / "runs/mine")
    same = made.run("report", "runs/mine", "--output", "same")
    # That it loads the local plugin, and that a third party's rule is installed, which `--plugins` left out of the run.
    assert (same.exit_code, same.stderr.count("\n")) == (0, 2), same.stderr
    without = made.run("report", "runs/mine", "--output", "without", "--plugins", "nothing.py")
    assert (without.exit_code, without.stderr.strip()) == (0, SENTENCE.format("-wrong/imperfect"))
    assert reports(made.path / "same") == reports(made.path / "without") == before
    assert same.stdout.replace("same/", "") == without.stdout.replace("without/", "")
    with open_report(made.path / "runs/mine", plugins=["nothing.py"]) as report:
        assert "imperfect" in {finding.kind for finding in report.findings}


def test_a_rule_installed_later_adds_nothing_until_it_is_asked_for(made: Project) -> None:
    plugins = ("--plugins", "wrong.py,later.py")
    later = made.run("report", "runs/mine", "--output", "later", *plugins)
    assert later.stderr.strip() == SENTENCE.format("+later/later")
    assert reports(made.path / "later") == reports(made.path / "runs/mine")
    again = made.run("report", "runs/mine", "--output", "again", "--rules", "installed", *plugins)
    assert (again.exit_code, again.stderr) == (0, "")
    assert kinds(made.path / "again") == kinds(made.path / "later") | {"later"}
    notes = json.loads((made.path / "again/report.json").read_text())["notes"]
    assert "findings decided again with the installed rules (+later/later)" in notes
    assert any(note.startswith("1 finding new: s: Is later") for note in notes), notes
    assert "<b>" not in (made.path / "again/report.html").read_text()


def test_the_installed_rules_say_what_is_gone_and_how_many_hypotheses_there_are(made: Project) -> None:
    flags = ("--rules", "installed", "--plugins", "nothing.py", "--output", "gone")
    done = made.run("report", "runs/mine", *flags)
    assert done.exit_code == 0, done.stderr
    assert "imperfect" not in kinds(made.path / "gone")
    (before, now) = (json.loads((made.path / name / "report.json").read_text()) for name in ("runs/mine", "gone"))
    tests = [each["family"]["tests"] + each["family"]["equivalences"] for each in (before, now)]
    assert tests[0] > tests[1]
    assert any(note == f"hypotheses: {tests[0]} in the run, {tests[1]} now" for note in now["notes"])
    assert any(" gone: s: Is imperfect" in note for note in now["warnings"])


def test_the_record_holds_rules_hypotheses_and_what_was_decided(made: Project) -> None:
    with open_store(made.path / "runs/mine") as store:
        record = read_record(store)
        assert record is not None
        assert record.found == read_findings(store)
    (rule,) = [rule for rule in record.rules if rule.name == "wrong/imperfect"]
    assert rule.digest
    tested = [each for each in record.hypotheses if each.rule == rule.name]
    assert tested
    assert {(each.null, each.side, each.equivalence, each.place.judge) for each in tested} == {
        (0.99, "below", False, "s")
    }
    family = record.found.family
    assert family is not None
    assert sum(not each.equivalence for each in record.hypotheses) == family.tests
    assert sum(each.rejected and not each.equivalence for each in record.hypotheses) == family.claimed


@pytest.mark.parametrize("older", [True, False])
def test_a_run_without_a_record_of_its_measures_is_decided_with_the_installed_rules(
    made: Project, tmp_path: Path, older: bool
) -> None:
    path = shutil.copytree(made.path / "runs/mine", tmp_path / "copy") / "run.sqlite"
    database = sqlite3.connect(path)
    if older:
        database.execute("DROP TABLE stage_measure_findings")
        database.execute("DELETE FROM stage_tables WHERE name = 'measure_findings'")
        database.execute("DELETE FROM stages WHERE name = 'stage_measure_findings'")
    else:
        database.execute("UPDATE stages SET digest = 'others' WHERE name = 'measures'")
    database.commit()
    database.close()
    write_seal(path)
    done = made.run("report", path.parent, "--plugins", "nothing.py")
    assert done.exit_code == 0, done.stderr
    assert done.stderr.startswith("Findings are decided with the installed rules")
    assert "imperfect" not in kinds(path.parent)


def test_the_gate_reads_the_findings_of_the_run(made: Project) -> None:
    flags = ("--rule", "gold-accuracy >= 0.1", "--json", "gate.json", "--plugins", "nothing.py")
    made.run("gate", "runs/mine", *flags)
    findings = json.loads((made.path / "gate.json").read_text())["findings"]
    assert "imperfect" in {finding["kind"] for finding in findings}


def test_a_rule_whose_source_changed_is_named_and_running_the_suite_again_decides_with_it(
    made: Project, tmp_path: Path
) -> None:
    study = Inside(shutil.copytree(made.path, tmp_path / "study"))
    study.write("wrong.py", RULE.replace("NAME", "imperfect").replace("Is imperfect", "Is edited"))
    before = reports(study.path / "runs/mine")
    done = study.run("report", "runs/mine", "--plugins", "wrong.py")
    assert done.stderr.strip() == SENTENCE.format("wrong/imperfect changed")
    assert reports(study.path / "runs/mine") == before
    assert study.run("run", "suite.yaml", "--plugins", "wrong.py").exit_code == 0
    after = reports(study.path / "runs/mine")
    assert b"Is edited" in after[0]
    assert study.run("report", "runs/mine", "--plugins", "nothing.py").exit_code == 0
    assert reports(study.path / "runs/mine") == after


@pytest.mark.parametrize("content", ["{", '{"findings": [{"severity": "worst"}]}', "\x1b[31m"])
@pytest.mark.parametrize("sealed", [False, True])
def test_a_record_that_was_edited_is_one_sentence(made: Project, tmp_path: Path, content: str, sealed: bool) -> None:
    path = shutil.copytree(made.path / "runs/mine", tmp_path / "edited") / "run.sqlite"
    database = sqlite3.connect(path)
    database.execute("UPDATE stage_measure_findings SET content = ? WHERE part = 'findings'", (content,))
    database.commit()
    database.close()
    if sealed:
        write_seal(path)
    done = made.run("report", path.parent)
    assert done.exit_code == 2
    said = "the record of its findings cannot be read" if sealed else "is damaged (it changed after jrh wrote it)"
    assert [said in line for line in done.stderr.splitlines() if "made with" not in line] == [True]
    again = made.run("report", path.parent, "--rules", "installed")
    assert (again.exit_code, said in again.stderr) == (0 if sealed else 2, True), again.stderr
