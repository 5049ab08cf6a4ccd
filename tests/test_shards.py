"""A run divided into parts and put together again is the run that was never divided."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from jrh_testing import ChatServer, Project
from support.keys import KEY, KEY_VARIABLE
from support.looking import one, query, report
from support.suites import openai_http, write_suite

pytestmark = pytest.mark.inside

PARTS = 3
ITEMS = 14
FLAGS = ("--yes", "--no-cache", "--no-preflight")


def suite(url: str, **more: Any) -> dict[str, Any]:
    return {
        "name": "divided",
        "data": {"source": "jsonl", "path": "items.jsonl"},
        "task": {"instruction": "Is the answer right?", "scale": {"labels": ["YES", "NO"]}},
        "models": {"mini": openai_http(url, concurrency=8, price={"input": 1, "output": 1}, max_tokens=10)},
        "tests": [{"format": {"variants": ["spaces", "wrap"]}}, {"stochastic": {"repeats": 3}}],
        "judges": [{"judge": "llm", "model": "mini"}, {"judge": "simulated", "rerun_noise": 0.3}],
        "reports": ["json", "csv"],
        **more,
    }


def items() -> str:
    """Return items of which some are alike, and one has a long text."""
    texts = [f"It is {number}. " * (40 if number == 3 else 1) for number in range(ITEMS - 2)] + ["Alike."] * 2
    rows = [
        {"id": str(number), "request": "How many?", "response": text, "label": "YES" if number % 3 else "NO"}
        for number, text in enumerate(texts)
    ]
    return "\n".join(map(json.dumps, rows))


class Divided:
    """One run as a whole, and the same in parts."""

    def __init__(self, folder: Path) -> None:
        self.project = Project(folder, env={KEY_VARIABLE: KEY})
        self.project.write("items.jsonl", items())
        with ChatServer(lambda prompt: "YES" if len(prompt) % 2 else "NO") as server:
            write_suite(self.project, suite(server.url))
            self.run("--run-dir", "whole")
            self.asked_whole = server.count
            for part in range(1, PARTS + 1):
                self.run("--run-dir", f"part-{part}", "--shard", f"{part}/{PARTS}")
            self.asked_in_parts = server.count - self.asked_whole
            dirs = [f"part-{part}" for part in (2, 3, 1)]
            self.merged = self.project.run("merge", *dirs, "--run-dir", "merged")
            self.run("--run-dir", "merged")
            self.asked_after = server.count - self.asked_whole - self.asked_in_parts

    def run(self, *flags: str) -> None:
        outcome = self.project.run("run", "suite.yaml", *FLAGS, *flags)
        assert outcome.exit_code == 0, outcome.output


@pytest.fixture(scope="module")
def divided(tmp_path_factory: pytest.TempPathFactory) -> Divided:
    return Divided(tmp_path_factory.mktemp("divided"))


def test_every_question_is_asked_in_one_part_and_never_again(divided: Divided) -> None:
    assert divided.asked_in_parts == divided.asked_whole > 5 * ITEMS
    assert divided.asked_after == 0
    assert divided.merged.exit_code == 0, divided.merged.output
    records = one(divided.project, "merged", "SELECT count(*) FROM records")
    assert f"Merged 3 parts: {records:,} records, {divided.asked_whole} calls." in divided.merged.output


def test_the_merged_report_is_that_of_the_whole_run(divided: Divided) -> None:
    assert report(divided.project, "merged") == report(divided.project, "whole")
    columns = "trial_id, status, canonical, cost, occasion"
    sql = f"SELECT {columns} FROM trials JOIN records ON trial_id = id ORDER BY position"
    assert query(divided.project, "merged", sql) == query(divided.project, "whole", sql)


def test_every_item_is_in_one_part_and_items_that_are_alike_in_the_same(divided: Divided) -> None:
    parts = [
        {item for (item,) in query(divided.project, f"part-{part}", "SELECT id FROM items")}
        for part in range(1, PARTS + 1)
    ]
    assert sorted(item for part in parts for item in part) == sorted(map(str, range(ITEMS)))
    assert all(part for part in parts)
    assert any({str(ITEMS - 2), str(ITEMS - 1)} <= part for part in parts)


def test_replies_are_found_under_the_new_numbers_of_their_calls(divided: Divided) -> None:
    sql = (
        "SELECT r.trial_id, c.key, c.payload FROM records r JOIN calls c ON c.id = CAST(substr(r.reply, 2) AS INTEGER) "
        "JOIN uses u ON u.owner = r.trial_id AND u.key = c.key WHERE r.reply LIKE '@%'"
    )
    found = query(divided.project, "merged", sql)
    assert len(found) == divided.asked_whole
    assert {json.loads(payload)["status"] for *_, payload in found} == {"ok"}


@pytest.mark.parametrize(
    ("dirs", "said"),
    [
        (("part-1", "part-1"), "'part-1' and 'part-1' are both shard 1/3"),
        (("part-1", "whole"), "'whole' is no shard: it was run without --shard"),
        (("part-1", "--run-dir", "part-2"), "'part-2' already holds a run; choose another with --run-dir"),
    ],
)
def test_what_is_no_set_of_parts_is_refused(divided: Divided, dirs: tuple[str, ...], said: str) -> None:
    outcome = divided.project.run("merge", "--run-dir", "refused", *dirs)
    assert outcome.exit_code == 2
    assert said in outcome.stderr
    assert not (divided.project.path / "refused").exists()


def test_missing_parts_are_named_and_decisions_of_people_are_kept(divided: Divided) -> None:
    decision = (None, "c", "ann", "", "accept", 0, "", "{}", "{}", "", "")
    with closing(sqlite3.connect(divided.project.path / "part-1" / "run.sqlite")) as store:
        store.execute(f"INSERT INTO decisions VALUES ({', '.join('?' * len(decision))})", decision)
        store.execute("PRAGMA application_id = 0")  # no checksum of the whole file
        store.commit()
    outcome = divided.project.run("merge", "part-1", "--run-dir", "some")
    assert outcome.exit_code == 3
    assert "missing: 2/3, 3/3" in outcome.stderr
    assert query(divided.project, "some", "SELECT number, case_id, reviewer FROM decisions") == [(1, "c", "ann")]
    calls = "SELECT count(*) FROM calls"
    assert one(divided.project, "some", calls) == one(divided.project, "part-1", calls)
    assert not list(divided.project.path.glob("*.unfinished"))


def test_a_part_goes_on_as_the_same_part_alone(divided: Divided) -> None:
    other = divided.project.run("run", "suite.yaml", *FLAGS, "--run-dir", "part-1", "--shard", "2/3")
    assert other.exit_code == 2
    assert "run directory 'part-1' holds shard 1/3; choose another with --run-dir" in other.stderr
    whole = divided.project.run("run", "suite.yaml", *FLAGS, "--run-dir", "part-1")
    assert "run directory 'part-1' holds shard 1/3" in whole.stderr


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"judges": ["baseline"]}, "--shard: judge 'baseline' is trained on all items; run it without --shard"),
        (
            {"tests": [{"format": {"sample": {"n": 3}}}], "judges": ["simulated"]},
            "--shard: the sample of test 'format' is drawn from all items; run it without --shard",
        ),
        (
            {
                "task": {"rubric": "Rate.", "scale": {"ordinal": [1, 2]}},
                "tests": ["synthetic-ordinal"],
                "judges": ["simulated"],
            },
            "--shard: 'synthetic-ordinal' of test 'synthetic-ordinal' sees all items at once; run it without --shard",
        ),
    ],
)
def test_what_needs_all_items_is_refused(tmp_path: Path, more: dict[str, Any], said: str) -> None:
    project = Project(tmp_path, env={KEY_VARIABLE: KEY})
    project.write("items.jsonl", items())
    write_suite(project, suite("http://127.0.0.1:9/v1", **more))
    outcome = project.run("run", "suite.yaml", *FLAGS, "--shard", "1/2")
    assert outcome.exit_code == 2
    assert said in outcome.stderr


def test_the_parts_of_a_budget_add_up_to_it(divided: Divided) -> None:
    spent = 0
    with ChatServer("YES") as server:
        write_suite(divided.project, suite(server.url, budget={"calls": 20}))
        for part in range(1, PARTS + 1):
            flags = ("--run-dir", f"poor-{part}", "--shard", f"{part}/{PARTS}")
            outcome = divided.project.run("run", "suite.yaml", *FLAGS, *flags)
            assert outcome.exit_code == 4, outcome.output
            spent += one(divided.project, f"poor-{part}", "SELECT count(*) FROM calls")
        assert spent == server.count == 20


def test_verdicts_of_one_trial_in_two_parts_are_a_conflict(divided: Divided) -> None:
    twin = divided.project.path / "twin"
    shutil.copytree(divided.project.path / "part-1", twin)
    with closing(sqlite3.connect(twin / "run.sqlite")) as store:
        store.execute("UPDATE meta SET value = '2/3' WHERE key = 'shard'")
        store.execute("PRAGMA application_id = 0")  # no checksum of the whole file
        store.commit()
    outcome = divided.project.run("merge", "part-1", "twin", "--run-dir", "conflict")
    assert outcome.exit_code == 2
    assert "'part-1' and 'twin' both hold a verdict of judge " in outcome.stderr
    assert "the data or the suite changed between the shards" in outcome.stderr
    assert not (divided.project.path / "conflict").exists()
