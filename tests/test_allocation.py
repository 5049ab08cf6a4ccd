"""An allocator ends the judging of a judge, or of a run, after a batch: by its records, whatever order they came in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jrh
import pytest

PLUGIN = """
import asyncio
from pathlib import Path

from jrh import DataSourceSpec, Item, Judgement, JudgeSpec, Status, Verdict, hookimpl
from jrh.plugins import AllocatorSpec

ITEMS = 25

def number_of(question):
    return int("".join(filter(str.isdigit, question.fields["response"])))

class Numbers:
    def read(self):
        for number in range(ITEMS):
            yield Item(id=f"n{number:02}", fields={"request": "Even?", "response": str(number)}, gold="YES")

class Even:
    async def judge(self, question):
        number = number_of(question)
        await asyncio.sleep(PAUSE * (ITEMS - number) / 1000)
        return Judgement(verdict=Verdict(status=Status.OK, presented="YES" if number % 2 else "NO"))

class Broken:
    async def judge(self, question):
        await asyncio.sleep(PAUSE * number_of(question) / 1000)
        with Path("asked.txt").open("a") as asked:
            asked.write(f"{number_of(question)}\\n")
        return Judgement(verdict=Verdict(status=Status.UNPARSABLE, detail="no label"))

class Peek:
    batch = 10
    def keep(self, judges, batch, records):
        assert "canonical" in records.columns
        return [] if batch == 2 else judges

@hookimpl
def jrh_data_sources():
    yield DataSourceSpec(name="numbers", summary="", factory=lambda options, context: Numbers())

@hookimpl
def jrh_judges():
    yield JudgeSpec(name="even", summary="", factory=lambda options, context: Even())
    yield JudgeSpec(name="broken", summary="", factory=lambda options, context: Broken())

@hookimpl
def jrh_allocators():
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


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)

    def run(name: str = "run", suite: Mapping[str, Any] = SUITE, pause: float = 0.0, **settings: Any) -> Any:
        plugin = tmp_path / "numbering.py"
        plugin.write_text(PLUGIN.replace("PAUSE", str(pause)), encoding="utf-8")
        return jrh.run(suite, plugins=[str(plugin)], run_dir=tmp_path / name, use_cache=False, **settings)

    return run


def items_of(result: Any, judge: str) -> set[str]:
    return set(result.records.where(result.records.equals("judge", judge)).text("item_id"))


def test_a_failing_judge_is_dropped_after_the_first_batch_whatever_arrives_first(run: Any, tmp_path: Path) -> None:
    result = run(pause=0.5)
    assert len(items_of(result, "even")) == 25
    assert items_of(result, "broken") == {f"n{number:02}" for number in range(10)}
    asked = (tmp_path / "asked.txt").read_text(encoding="utf-8").split()
    assert {int(number) for number in asked} == set(range(10))
    assert result.report.planned == len(result.records)
    assert result.report.missing_records == 0
    (note,) = [note for note in result.report.notes if "drop-failing" in note]
    every = run("every", {**SUITE, "allocate": None})
    left_out = len(every.records) - len(result.records)
    assert note.startswith(NOTE.format(left_out))
    assert left_out > 15
    report = json.loads((tmp_path / "run" / "report.json").read_text(encoding="utf-8"))
    assert note in report["notes"]
