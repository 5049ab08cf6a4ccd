"""A run divided into parts and put together again is the run that was never divided."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from jrh.running import execute, open_store
from jrh.running.pipeline import overlaps
from jrh.running.prepare import Prepared
from jrh_review.desk import DECISIONS
from jrh_testing import ChatServer, Inside
from support.keys import KEY, KEY_VARIABLE
from support.looking import one, query, run_files
from support.rewording import Rewording
from support.suites import openai_http, write_suite

pytestmark = pytest.mark.inside

PARTS = 8
ITEMS = 26
FLAGS = ("--yes", "--no-cache", "--no-preflight")


def suite(url: str, **more: Any) -> dict[str, Any]:
    return {
        "name": "divided",
        "data": {"source": "jsonl", "path": "items.jsonl"},
        "task": {"instruction": "Is the answer right?", "scale": {"labels": ["YES", "NO"]}},
        "models": {"mini": openai_http(url, concurrency=8, price={"input": 1, "output": 1}, max_tokens=10)},
        "tests": [
            {"format": {"variants": ["spaces", "wrap"]}},
            {"paraphrase": {"model": "mini"}},
            {"stochastic": {"repeats": 2}},
        ],
        "judges": [{"judge": "llm", "model": "mini"}, {"judge": "simulated", "rerun_noise": 0.3}],
        "reference": {"repeats": 1},
        "resamples": 100,
        "reports": ["json", "html", "markdown", "csv"],
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
        self.project = Inside(folder, env={KEY_VARIABLE: KEY})
        self.project.write("items.jsonl", items())
        self.judged_early: list[bool] = []
        provider = Rewording()
        with ChatServer(provider) as server, pytest.MonkeyPatch.context() as patch:
            patch.setattr(execute, "overlaps", self.overlaps)
            write_suite(self.project, suite(server.url))
            self.run("--run-dir", "whole")
            self.asked_whole = server.count
            self.judged = provider.asked.count("judge")
            for part in range(1, PARTS + 1):
                self.run("--run-dir", f"part-{part}", "--shard", f"{part}/{PARTS}")
            self.asked_in_parts = server.count - self.asked_whole
            dirs = [f"part-{part}" for part in (*range(2, PARTS + 1), 1)]
            self.merged = self.project.run("merge", *dirs, "--run-dir", "merged")
            self.run("--run-dir", "merged")
            self.asked_after = server.count - self.asked_whole - self.asked_in_parts

    def overlaps(self, ready: Prepared) -> bool:
        self.judged_early.append(overlaps(ready))
        return self.judged_early[-1]

    def run(self, *flags: str) -> None:
        outcome = self.project.run("run", "suite.yaml", *FLAGS, *flags)
        assert outcome.exit_code == 0, outcome.output


@pytest.fixture(scope="module")
def divided(tmp_path_factory: pytest.TempPathFactory) -> Divided:
    return Divided(tmp_path_factory.mktemp("divided"))


def test_every_question_is_asked_in_one_part_and_never_again(divided: Divided) -> None:
    assert divided.asked_in_parts == divided.asked_whole > 5 * ITEMS
    assert divided.judged_early == [True] * (1 + PARTS + 1)
    assert divided.asked_after == 0
    assert divided.merged.exit_code == 0, divided.merged.output
    records = one(divided.project, "merged", "SELECT count(*) FROM records")
    assert f"Merged {PARTS} parts: {records:,} records, {divided.asked_whole} calls." in divided.merged.output


def test_the_merged_report_is_that_of_the_whole_run(divided: Divided) -> None:
    whole, merged = (run_files(divided.project, name) for name in ("whole", "merged"))
    assert merged.keys() == whole.keys() >= {"report.json", "report.html", "report.md", "records.csv"}
    assert [name for name in whole if merged[name] != whole[name]] == []
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
    assert len(found) == divided.judged < divided.asked_whole
    assert {json.loads(payload)["status"] for *_, payload in found} == {"ok"}


@pytest.mark.parametrize(
    ("dirs", "said"),
    [
        (("part-1", "part-1"), "'part-1' and 'part-1' are both shard 1/8"),
        (("part-1", "whole"), "'whole' is not a shard: it was run without --shard"),
        (("part-1", "--run-dir", "part-2"), "'part-2' is not empty; choose another directory"),
    ],
)
def test_what_is_no_set_of_parts_is_refused(divided: Divided, dirs: tuple[str, ...], said: str) -> None:
    outcome = divided.project.run("merge", "--run-dir", "refused", *dirs)
    assert outcome.exit_code == 2
    assert said in outcome.stderr
    assert not (divided.project.path / "refused").exists()


def test_missing_parts_are_named_and_decisions_of_people_are_kept(divided: Divided) -> None:
    with open_store(divided.project.path / "part-1", writing=True) as store:
        store.table(DECISIONS).append([(None, "c", "ann", "", "accept", 0, "", "{}", "{}", "", "")])
    outcome = divided.project.run("merge", "part-1", "--run-dir", "some")
    assert outcome.exit_code == 3
    assert "missing: 2/8, 3/8, 4/8, 5/8, 6/8, 7/8, 8/8. " in outcome.stderr
    assert query(divided.project, "some", "SELECT number, case_id, reviewer FROM stage_review_decisions") == [
        (1, "c", "ann")
    ]
    calls = "SELECT count(*) FROM calls"
    assert one(divided.project, "some", calls) == one(divided.project, "part-1", calls)
    assert not list(divided.project.path.glob("*.unfinished"))
    assert outcome.stdout.splitlines()[-1] == "Next: jrh run SUITE --run-dir some"
    # Nothing was killed: only the suite has not been run yet.
    gate = divided.project.run("gate", "some", "--rule", "agreement >= 0.5")
    assert gate.exit_code == 3
    assert "its parts were merged, and the suite has not been run since" in gate.stdout
    assert "killed" not in gate.stdout


def test_a_part_goes_on_as_the_same_part_alone(divided: Divided) -> None:
    other = divided.project.run("run", "suite.yaml", *FLAGS, "--run-dir", "part-1", "--shard", "2/8")
    assert other.exit_code == 2
    assert "run directory 'part-1' holds shard 1/8; choose another with --run-dir" in other.stderr
    whole = divided.project.run("run", "suite.yaml", *FLAGS, "--run-dir", "part-1")
    assert "run directory 'part-1' holds shard 1/8" in whole.stderr


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
    project = Inside(tmp_path, env={KEY_VARIABLE: KEY})
    project.write("items.jsonl", items())
    write_suite(project, suite("http://127.0.0.1:9/v1", **more))
    outcome = project.run("run", "suite.yaml", *FLAGS, "--shard", "1/2")
    assert outcome.exit_code == 2
    assert said in outcome.stderr


def test_the_parts_of_a_budget_add_up_to_it(divided: Divided) -> None:
    spent = 0
    poor = [f"poor-{part}" for part in range(1, PARTS + 1)]
    with ChatServer("YES") as server:
        write_suite(divided.project, suite(server.url, budget={"calls": 20}))
        for part in range(1, PARTS + 1):
            flags = ("--run-dir", f"poor-{part}", "--shard", f"{part}/{PARTS}")
            outcome = divided.project.run("run", "suite.yaml", *FLAGS, *flags)
            assert outcome.exit_code == 4, outcome.output
            spent += one(divided.project, f"poor-{part}", "SELECT count(*) FROM calls")
        assert spent == server.count == 20
    merged = divided.project.run("merge", *poor, "--run-dir", "poor")
    assert merged.exit_code == 3
    assert "not finished: 1/8, 2/8, 3/8, 4/8, 5/8, 6/8, 7/8, 8/8. The next run would ask" in merged.stderr


def test_a_reply_that_changed_is_refused(divided: Divided) -> None:
    changed = divided.project.path / "changed"
    shutil.copytree(divided.project.path / "part-2", changed)
    with closing(sqlite3.connect(changed / "run.sqlite")) as store:
        store.execute("UPDATE calls SET payload = replace(payload, 'YES', 'NO')")
        store.execute("PRAGMA application_id = 0")  # no checksum of the whole file
        store.commit()
    outcome = divided.project.run("merge", "part-1", "changed", "--run-dir", "refused")
    assert outcome.exit_code == 2
    assert "in 'changed/run.sqlite' changed after jrh wrote them. `jrh salvage 'changed'`" in outcome.stderr
    assert not list(divided.project.path.glob("refused*"))


def test_verdicts_of_one_trial_in_two_parts_are_a_conflict(divided: Divided) -> None:
    twin = divided.project.path / "twin"
    shutil.copytree(divided.project.path / "part-1", twin)
    with closing(sqlite3.connect(twin / "run.sqlite")) as store:
        store.execute("UPDATE meta SET value = '2/8' WHERE key = 'shard'")
        store.execute("PRAGMA application_id = 0")  # no checksum of the whole file
        store.commit()
    outcome = divided.project.run("merge", "part-1", "twin", "--run-dir", "conflict")
    assert outcome.exit_code == 2
    assert "'part-1' and 'twin' both hold a verdict of judge " in outcome.stderr
    assert "the data or the suite changed between the shards" in outcome.stderr
    assert not (divided.project.path / "conflict").exists()


WORDS = """
from jrh import JudgeKind, Judgement, JudgeSpec, Status, Verdict, hookimpl

class Words:
    def judge_batch(self, questions):
        return [Judgement(verdict=Verdict(status=Status.OK, presented="YES")) for _ in questions]

@hookimpl
def jrh_judges():
    yield JudgeSpec(name="words", summary="s", kind=JudgeKind.BATCH, factory=lambda: Words())
"""


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Inside:
    """Run the two parts of a suite, and the second one with another task, another code, and changed by hand."""
    project = Inside(tmp_path_factory.mktemp("attacked"))
    project.write("items.jsonl", items())
    project.write("words.py", WORDS)
    plain = suite("http://127.0.0.1:9/v1", judges=["words"], tests=[], models={}, reports=["json"])
    write_suite(project, plain)
    write_suite(project, {**plain, "task": {**plain["task"], "instruction": "Is it wrong?"}}, "other.yaml")

    def part(number: int, name: str, of: str = "suite.yaml") -> Path:
        flags = ("--plugins", "words.py", "--run-dir", name, "--shard", f"{number}/2")
        assert project.run("run", of, *FLAGS, *flags).exit_code == 0
        return project.path / name / "run.sqlite"

    def change(store: Path, sql: str, *, unseal: bool = True) -> None:
        with closing(sqlite3.connect(store)) as connection:
            connection.execute(sql)
            if unseal:
                connection.execute("PRAGMA application_id = 0")  # no checksum of the whole file
            connection.commit()

    part(1, "one")
    part(2, "task", "other.yaml")
    flipped = "UPDATE records SET canonical = 'NO', presented = 'NO'"
    change(part(2, "edited"), flipped, unseal=False)
    change(part(2, "forged"), flipped)
    change(part(2, "no-part"), "UPDATE meta SET value = '3/2' WHERE key = 'shard'")
    change(part(2, "endless"), "UPDATE meta SET value = '2/99999999999' WHERE key = 'shard'")
    change(part(2, "no-json"), "UPDATE meta SET value = '[1' WHERE key = 'alike'")
    project.write("words.py", WORDS.replace('"YES"', '"NO"'))
    part(2, "code")
    return project


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ("task", "'one' and 'task' were run with different versions or options of task 'divided'"),
        ("code", "'one' and 'code' were run with different versions or options of judge 'words'"),
        ("edited", "'edited/run.sqlite' is damaged (it changed after jrh wrote it)"),
        ("forged", " rows of records in 'forged/run.sqlite' changed after jrh wrote them. `jrh salvage "),
        ("no-part", "'no-part' is damaged: its store calls it shard '3/2'"),
        ("endless", "'endless' is damaged: its store calls it shard '2/99999999999'"),
        ("no-json", "'no-json' is damaged: its store does not say what it was run with"),
        ("nowhere", "'nowhere' is not a run directory"),
    ],
)
def test_parts_that_do_not_belong_together_or_were_changed_are_refused_with_one_sentence(
    attacked: Inside, part: str, said: str
) -> None:
    outcome = attacked.run("merge", "--run-dir", "refused", "one", part)
    assert outcome.exit_code == 2, outcome.output
    assert said in outcome.stderr
    assert "Traceback" not in outcome.output
    assert not list(attacked.path.glob("refused*"))
