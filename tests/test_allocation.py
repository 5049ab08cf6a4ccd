"""An allocator ends the judging of a judge, or of a run, after a batch: by its records, whatever order they came in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jrh
import pytest
from jrh import JrhError
from jrh_testing import Inside, Project
from support.looking import query, report_bytes
from support.suites import write_suite

PLUGIN = """
import asyncio
import os
import signal
from pathlib import Path

from jrh import DataSourceSpec, Item, Judgement, JudgeSpec, Status, Verdict, hookimpl
from jrh.plugins import AllocatorSpec

ITEMS = 25

def number_of(question):
    return int("".join(filter(str.isdigit, question.fields["response"])))

class Numbers:
    def read(self):
        for number in range(ITEMS)[:: -1 if Path("reverse").exists() else 1]:
            group = f"g{number // GROUP}" if GROUP else ""
            fields = {"request": "Even?", "response": str(number)}
            yield Item(id=f"n{number:02}", fields=fields, gold="YES", group=group)

class Even:
    async def judge(self, question):
        number = number_of(question)
        await asyncio.sleep(PAUSE * (ITEMS - number) / 1000)
        if number == KILL_AT and Path("kill").exists():
            Path("kill").unlink()
            os.kill(os.getpid(), signal.SIGKILL)
        return Judgement(verdict=Verdict(status=Status.OK, presented="YES" if number % 2 else "NO"))

class Broken:
    async def judge(self, question):
        await asyncio.sleep(PAUSE * number_of(question) / 1000)
        with Path("asked.txt").open("a") as asked:
            asked.write(f"{number_of(question)}\\n")
        return Judgement(verdict=Verdict(status=Status.UNPARSABLE, detail="no label"))

class Logged:
    batch = 10
    def keep(self, judges, batch, records):
        rows = records.where(records.equals("judge", "broken"))
        with Path("decided.txt").open("a") as decided:
            items = len(set(rows.text("item_id")))
            decided.write(f"{batch} {len(records)} {items} {'canonical' in records.columns}\\n")
        return [judge for judge in judges if judge != "broken"]

class Peek:
    batch = 10
    def keep(self, judges, batch, records):
        assert "canonical" in records.columns
        return [] if batch == 2 else judges

class Late:
    async def judge(self, question):
        if Path("down").exists():
            raise ConnectionError("down")
        return Judgement(verdict=Verdict(status=Status.OK, presented="YES"))

@hookimpl
def jrh_data_sources():
    yield DataSourceSpec(name="numbers", summary="", factory=lambda options, context: Numbers())

@hookimpl
def jrh_judges():
    yield JudgeSpec(name="even", summary="", factory=lambda options, context: Even())
    yield JudgeSpec(name="late", summary="", factory=lambda options, context: Late())
    yield JudgeSpec(name="broken", summary="", factory=lambda options, context: Broken())

@hookimpl
def jrh_allocators():
    yield AllocatorSpec(name="logged", summary="", factory=lambda o, c: Logged())
    yield AllocatorSpec(name="peek", summary="", factory=lambda o, c: Peek(), sees_verdicts=True)
"""
SUITE: Mapping[str, Any] = {
    "name": "numbers",
    "data": {"source": "numbers"},
    "task": {"scale": {"labels": ["YES", "NO"]}},
    "tests": ["format"],
    "judges": ["even", "broken"],
    "reference": {"repeats": 1},
    "allocate": {"drop-failing": {"batch": 10, "limit": 0.5}},
}
NOTE = "allocator 'drop-failing' stopped after 10 of 25 items: 'broken' ({} questions not asked); these are not missing"


def plugin_text(pause: float = 0.0, kill_at: int = -1, group: int = 0) -> str:
    return PLUGIN.replace("PAUSE", str(pause)).replace("KILL_AT", str(kill_at)).replace("GROUP", str(group))


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)

    def run(
        name: str = "run", suite: Mapping[str, Any] = SUITE, pause: float = 0.0, group: int = 0, **settings: Any
    ) -> Any:
        plugin = tmp_path / "numbering.py"
        plugin.write_text(plugin_text(pause, group=group), encoding="utf-8")
        return jrh.run(suite, plugins=[str(plugin)], run_dir=tmp_path / name, use_cache=False, **settings)

    return run


def items_of(result: Any, judge: str) -> set[str]:
    return set(result.records.where(result.records.equals("judge", judge)).text("item_id"))


def test_a_failing_judge_is_dropped_after_the_first_batch_whatever_arrives_first(run: Any, tmp_path: Path) -> None:
    result = run(pause=0.5)
    assert len(items_of(result, "even")) == 25
    assert len(items_of(result, "broken")) == 10
    asked = (tmp_path / "asked.txt").read_text(encoding="utf-8").split()
    assert {f"n{int(number):02}" for number in asked} == items_of(result, "broken")
    assert result.report.planned == len(result.records)
    assert result.report.missing_records == 0
    (note,) = [note for note in result.report.notes if "drop-failing" in note]
    every = run("every", {**SUITE, "allocate": None})
    left_out = len(every.records) - len(result.records)
    assert note.startswith(NOTE.format(left_out))
    assert left_out > 15
    report = json.loads((tmp_path / "run" / "report.json").read_text(encoding="utf-8"))
    assert note in report["notes"]


def test_a_batch_is_whole_clusters_drawn_at_random_whatever_the_order_of_the_data(run: Any, tmp_path: Path) -> None:
    first = items_of(run(group=3), "broken")
    groups = {int(item[1:]) // 3 for item in first}
    assert groups != set(range(len(groups)))
    assert first == {f"n{number:02}" for number in range(25) if number // 3 in groups}
    assert len(first) in (10, 12)  # the cluster that begins in the batch is whole; the last one has a single item
    (tmp_path / "reverse").touch()
    assert items_of(run("backwards", group=3), "broken") == first
    other = items_of(run("other", {**SUITE, "seed": 7}, group=3), "broken")
    assert other != first


def test_an_allocator_that_keeps_all_judges_changes_no_record(run: Any) -> None:
    suite = {**SUITE, "judges": ["even"]}
    plain, batched = run("plain", {**suite, "allocate": None}), run("batched", suite)
    assert sorted(rows(batched)) == sorted(rows(plain))
    assert [note for note in batched.report.notes if "allocator" in note] == []
    assert {(each.name, each.judge, each.test, each.estimate) for each in batched.measures} == {
        (each.name, each.judge, each.test, each.estimate) for each in plain.measures
    }


def rows(result: Any) -> list[tuple[Any, ...]]:
    columns = ("trial_id", "item_id", "test", "judge", "status", "canonical")
    return list(zip(*(result.records.text(name) for name in columns), strict=True))


def test_an_allocator_that_sees_verdicts_may_end_the_run_and_the_report_says_so(run: Any) -> None:
    result = run(suite={**SUITE, "allocate": "peek"})
    assert items_of(result, "even") == items_of(result, "broken")
    assert len(items_of(result, "even")) == 20
    (note,) = [note for note in result.report.notes if "'peek'" in note]
    assert note.startswith("allocator 'peek' stopped after 20 of 25 items: 'even' (")
    assert note.endswith("it saw verdicts, so intervals are conditional on this decision")
    assert result.report.missing_records == 0
    again = run(suite={**SUITE, "allocate": "peek"})
    assert rows(again) == rows(result)
    assert again.report.notes == result.report.notes


@pytest.mark.parametrize("kill_at", [9, 15, 22])
def test_a_run_that_is_killed_decides_once_and_ends_in_the_same_report(tmp_path: Path, kill_at: int) -> None:
    project = Project(tmp_path)
    project.write("numbering.py", plugin_text(pause=0.5, kill_at=kill_at))
    write_suite(project, {**SUITE, "allocate": "logged"})
    command = ("run", "suite.yaml", "--plugins", "numbering.py", "--no-cache", "--run-dir")
    whole = project.run(*command, "whole")
    decided = (tmp_path / "decided.txt").read_text(encoding="utf-8")
    assert [line.split()[0] for line in decided.splitlines()] == ["1", "2"]
    assert [line.split()[2:] for line in decided.splitlines()] == [["10", "False"]] * 2
    (tmp_path / "decided.txt").unlink()
    project.write("kill", "")
    assert project.run(*command, "killed").exit_code < 0
    killed = project.run(*command, "killed")
    assert (killed.exit_code, whole.exit_code) == (3, 3)  # the broken judge has no verdict
    assert (tmp_path / "decided.txt").read_text(encoding="utf-8") == decided
    assert report_bytes(project, "killed") == report_bytes(project, "whole")


def test_merged_shards_are_the_run_that_was_never_divided(tmp_path: Path) -> None:
    project = Inside(tmp_path)
    project.write("numbering.py", plugin_text())
    write_suite(project, {**SUITE, "allocate": {"drop-failing": {"batch": 5}}})
    command = ("run", "suite.yaml", "--plugins", "numbering.py", "--no-cache", "--run-dir")
    project.run(*command, "whole")
    for part in ("1", "2"):
        project.run(*command, f"part-{part}", "--shard", f"{part}/2")
    notes = [json.loads((tmp_path / f"part-{part}" / "report.json").read_text())["notes"] for part in ("1", "2")]
    assert all(any("'drop-failing' stopped after 5 of" in note for note in some) for some in notes), notes
    merged = project.run("merge", "part-1", "part-2", "--run-dir", "merged")
    assert merged.exit_code == 0, merged.output
    project.run(*command, "merged")
    assert report_bytes(project, "merged") == report_bytes(project, "whole")
    sql = "SELECT batch, judges, note FROM stage_allocation"
    assert query(project, "merged", sql) == query(project, "whole", sql) != []


@pytest.mark.parametrize(
    ("allocate", "message"),
    [
        ("drop-failling", "unknown allocator 'drop-failling'"),
        ({"drop-failing": {"batch": 0}}, "batch"),
        ({"drop-failing": {"limit": 2}}, "limit"),
        ({"drop-failing": {"share": 0.5}}, "share: unknown key"),
        (["drop-failing"], "expected the name of an allocator or a mapping"),
    ],
)
def test_a_mistake_in_the_section_is_shown_at_its_place(tmp_path: Path, allocate: Any, message: str) -> None:
    project = Inside(tmp_path)
    project.write("numbering.py", plugin_text())
    write_suite(project, {**SUITE, "allocate": allocate})
    outcome = project.run("run", "suite.yaml", "--plugins", "numbering.py")
    assert outcome.exit_code == 2
    assert message in outcome.stderr
    assert outcome.stderr.startswith("jrh: suite.yaml:1")


def test_a_plan_counts_all_batches_and_says_so(tmp_path: Path) -> None:
    project = Inside(tmp_path)
    project.write("numbering.py", plugin_text())
    write_suite(project, SUITE)
    outcome = project.run("plan", "suite.yaml", "--plugins", "numbering.py")
    assert "Allocator 'drop-failing' may end the judging early" in " ".join(outcome.output.split())


def test_an_allocator_that_keeps_what_was_not_asked_is_an_error(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jrh_judges.allocators.DropFailing.keep", lambda *_: ["nobody"])
    with pytest.raises(JrhError, match="allocator 'drop-failing' keeps 'nobody', which was not asked in batch 1"):
        run()


@pytest.mark.parametrize(
    ("kept", "message"),
    [("even", "it returns str, which is no list"), (["even", 3], "it returns list"), (None, "it returns NoneType")],
)
def test_what_is_no_list_of_names_is_an_error(
    run: Any, monkeypatch: pytest.MonkeyPatch, kept: Any, message: str
) -> None:
    monkeypatch.setattr("jrh_judges.allocators.DropFailing.keep", lambda *_: kept)
    with pytest.raises(JrhError, match=f"allocator 'drop-failing' failed after batch 1: .*{message}"):
        run()


@pytest.mark.parametrize("batch", [2.5, "3", None, 0])
def test_a_batch_is_a_whole_number_of_items(run: Any, monkeypatch: pytest.MonkeyPatch, batch: Any) -> None:
    monkeypatch.setattr(
        "jrh_judges.allocators.DropFailing.__init__", lambda self, options: setattr(self, "batch", batch)
    )
    with pytest.raises(JrhError, match="a batch needs a whole number of items"):
        run()


def test_a_judge_that_was_down_is_decided_about_again(run: Any, tmp_path: Path) -> None:
    suite = {**SUITE, "judges": ["even", "late"]}
    (tmp_path / "down").touch()
    first = run(suite=suite)
    assert len(items_of(first, "late")) == 10
    assert any("drop-failing" in note for note in first.report.notes)
    (tmp_path / "down").unlink()
    second = run(suite=suite)
    assert len(items_of(second, "late")) == 25
    assert second.report.missing_records == 0
    assert [note for note in second.report.notes if "drop-failing" in note] == []


def test_a_run_without_the_allocator_it_had_says_nothing_of_its_decisions(run: Any) -> None:
    assert any("drop-failing" in note for note in run().report.notes)
    whole = run(suite={**SUITE, "allocate": None})
    assert len(items_of(whole, "broken")) == 25
    assert [note for note in whole.report.notes if "drop-failing" in note] == []
