from collections.abc import Callable, Mapping
from typing import Any

import pytest
from attrs import evolve
from jrh import Case, Record, RecordTable, Reply, RunReport, Scale, Status, Task
from jrh.values import TaskSummary
from jrh_report.html.changed_verdicts import JudgeChanges, find_changed_verdicts
from jrh_report.html.flips import collect_flips
from jrh_testing import sample_records, sample_report

LEVELS = Scale.of_levels(1, 5)
TASK = Task(name="task", scale=LEVELS)
TEMPLATE = sample_records(TASK, items=1, missing=0.0)[0]


def a_record(item: str, verdict: str | None, test: str = "reference", **fields: Any) -> Record:
    name = f"{item}-{test}-{fields.get('repeat', 0)}-{fields.get('variant', '')}"
    given = {
        "trial_id": name, "case_id": f"case {name}", "item_id": item, "test": test, "judge": "judge", "task": "task",
        "canonical": verdict, "presented": verdict, "gold": None, "expected": None,
        "expectation": None if test == "reference" else "same",
        "status": Status.OK if verdict else Status.TIMEOUT, "stratum": "", "variant": "", "repeat": 0,
    }  # fmt: skip
    return evolve(TEMPLATE, **(given | fields))


@pytest.fixture
def run() -> Callable[..., RunReport]:
    def make(*records: Record, scale: Scale = LEVELS, evidence: Any = None) -> RunReport:
        return evolve(
            sample_report(),
            judges=("judge",),
            tests=("reference", *dict.fromkeys(record.test for record in records if record.test != "reference")),
            tasks=(TaskSummary(task=Task(name="task", scale=scale), items=9, labelled=0, gold={}),),
            records=RecordTable.from_records(records),
            **({"evidence": evidence} if evidence is not None else {}),
        )

    return make


def moves(report: RunReport, limit: int = 10) -> JudgeChanges:
    (found,) = find_changed_verdicts(report, limit)
    return found


def items(report: RunReport, limit: int = 10) -> list[str | None]:
    names = report.records.text("item_id")
    return [names[moved.row] for moved in moves(report, limit).worst]


def test_the_farthest_comes_first_then_the_spoilt_then_the_steady(run: Callable[..., RunReport]) -> None:
    records = [
        *(a_record(item, "3", repeat=repeat) for item in ("far", "spoilt", "steady", "stays") for repeat in (0, 1)),
        *(a_record("shaky", verdict, repeat=repeat) for repeat, verdict in enumerate(("3", "3", "2"))),
        a_record("shaky", "4", "format"),
        a_record("steady", "4", "format"),
        a_record("spoilt", "4", "format", gold="3"),
        a_record("far", "5", "format"),
        a_record("stays", "3", "format"),
    ]
    report = run(*records)
    assert items(report) == ["far", "spoilt", "steady", "shaky"]
    found = moves(report)
    assert (found.total, found.compared) == (4, 5)
    assert [moved.distance for moved in found.worst] == [2, 1, 1, 1]
    assert found.worst[3].steady == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("expectation", "expected", "verdict", "against"),
    [
        ("same", None, "3", False),
        ("same", None, "4", True),
        ("changes", None, "3", True),
        ("changes", None, "4", False),
        ("equals", "1", "1", False),
        ("equals", "1", "3", True),
        ("not_above", None, "4", True),
        ("not_above", None, "1", False),
        ("not_below", None, "1", True),
        ("not_below", None, "4", False),
        (None, None, "4", True),
    ],
)
def test_what_moved_is_what_the_case_does_not_expect(
    run: Callable[..., RunReport], expectation: str | None, expected: str | None, verdict: str, against: bool
) -> None:
    case = a_record("item", verdict, "test", expectation=expectation, expected=expected)
    assert moves(run(a_record("item", "3"), case)).total == against


def test_missing_verdicts_are_never_moves(run: Callable[..., RunReport]) -> None:
    lost = a_record("item", None, "format")
    nothing_before = a_record("other", "4", "format")
    found = moves(run(a_record("item", "3"), a_record("other", None), lost, nothing_before))
    assert (found.total, found.compared) == (0, 0)


def test_every_test_has_its_turn(run: Callable[..., RunReport]) -> None:
    many = [a_record(f"item {n}", "5", "loud") for n in range(9)]
    few = [a_record("item 0", "2", "quiet")]
    report = run(*(a_record(f"item {n}", "1") for n in range(9)), *many, *few)
    tests = report.records.text("test")
    assert {tests[moved.row] for moved in moves(report, 3).worst} == {"loud", "quiet"}
    assert len(moves(report, 3).worst) == 3
    assert moves(report, 3).total == 10


class Shelf:
    def cases(self, case_ids: Any) -> Mapping[str, Case]:
        return {
            each: Case(
                id=each, task="task", test="t", item_id="item", label_map={},
                fields={"request": "Why?", "response": f"The answer is {'not ' * ('format' in each)}this."},
            )
            for each in case_ids
        }  # fmt: skip

    def replies(self, trial_ids: Any) -> Mapping[str, Reply]:
        return {each: Reply(status=Status.OK, text=f"reply to {each}") for each in trial_ids}


def test_an_example_has_both_texts_replies_verdicts_and_rationales(run: Callable[..., RunReport]) -> None:
    report = run(a_record("item", "3"), a_record("item", "5", "format", rationale="Too long."), evidence=Shelf())
    (flip,) = collect_flips(report, 5).flips
    (change,) = flip.changes
    assert change.name == "response"
    assert [piece.text.strip() for piece in change.pair.after if piece.changed] == ["not"]
    assert flip.context == (("request", "Why?"),)
    assert (flip.before.verdict, flip.after.verdict) == ("3", "5")
    assert (flip.before.reply, flip.after.reply) == ("reply to item-reference-0-", "reply to item-format-0-")
    assert flip.after.rationale == "Too long."


def test_the_page_says_how_many_there_are_and_shows_no_more_than_asked(
    run: Callable[..., RunReport], render: Callable[..., str]
) -> None:
    before = [a_record(f"item {n}", "1") for n in range(30)]
    after = [a_record(f"item {n}", "5", "format") for n in range(30)]
    report = run(*before, *after, evidence=Shelf())
    ((changes, shown),) = collect_flips(report, 4).tallies
    assert (changes.total, changes.compared, shown) == (30, 30, 4)
    assert collect_flips(report, 4).failed[("judge", "task", "format")] == "30 of 30 fail"
    text = render("html", report, examples=4)
    assert text.count('<details class="flip"') == 4
    assert "reply to item 0-format-0-" in text
