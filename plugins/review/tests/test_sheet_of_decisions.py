"""The sheet of a reviewer: every message and template has a row; a wrong sheet is refused with one sentence, whole."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from attrs import evolve
from jrh import Case, JrhError
from jrh.store.run_store import Store
from jrh.values.cases import Equals, Prompt, Same
from jrh_review.case_texts import TextError, with_texts
from jrh_review.decisions import QueuedCase, ReviewAction
from jrh_review.desk import ReviewDesk, review_desk
from jrh_review.review_cases import MESSAGES, Given, build_decision, case_data
from jrh_review.tables import read_decisions, write_decisions

CALL = {"id": "c", "name": "find", "arguments": {"what": "=1+1"}}
MESSAGES_MADE = [
    {"role": "user", "content": "=2+2"},
    {"role": "assistant", "content": "one", "tool_calls": [CALL]},
    {"role": "tool", "content": "found", "tool_call_id": "c"},
    {"role": "assistant", "content": "all\nis well"},
]
LOST = MESSAGES_MADE[3] | {"content": "all\nis lost"}
NAMES = [
    "transcript, message 1 (user)",
    "transcript, message 2 (assistant)",
    "transcript, message 2 (assistant), arguments of call 1",
    "transcript, message 3 (tool)",
    "transcript, message 4 (assistant)",
]
WHOLE = Case(
    id="r-0",
    task="task",
    test="reference",
    item_id="0",
    fields={"transcript": MESSAGES_MADE},
    label_map={"YES": "YES", "NO": "NO"},
)
PROMPT = Prompt(name="short", user="Is {{ response }} right?", original="Is it right: {{ response }}")
CASES = (
    WHOLE,
    evolve(WHOLE, id="style", test="style", fields={"transcript": [*MESSAGES_MADE[:3], LOST]}),
    evolve(WHOLE, id="cut", test="cut", fields={"transcript": [MESSAGES_MADE[0], MESSAGES_MADE[3]]}),
    evolve(WHOLE, id="stated", test="stated", expectation=Equals(label="NO")),
    evolve(WHOLE, id="again", test="again", expectation=Same()),
    evolve(WHOLE, id="template", test="template", fields={"response": "it"}, prompt=PROMPT),
)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[ReviewDesk]:
    store = Store.open(tmp_path / "run", "suite")
    try:
        for case in CASES:
            writing = store.cases.writing("task", case.test)
            writing.put([case], ())
            writing.finish("made")
    finally:
        store.close()
    with review_desk(tmp_path / "run") as found:
        found.make_queue(None)
        yield found


Rows = list[dict[str, str]]


@pytest.fixture
def fill_in(desk: ReviewDesk, tmp_path: Path) -> Callable[[Callable[[Rows], object]], int]:
    """Return a function that exports Ann's sheet, changes its rows and imports it."""

    def filled(change: Callable[[Rows], object]) -> int:
        rows = list(csv.DictReader(io.StringIO(write_decisions(desk, "Ann"), newline="")))
        rows.sort(key=lambda row: row["case_id"] != "style")  # whole cases may change places
        change(rows)
        path = tmp_path / "ann.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
        return read_decisions(desk, path, "Ann")

    return filled


def row(rows: Rows, case: str, field: str) -> dict[str, str]:
    return next(row for row in rows if (row["case_id"], row["field"]) == (case, field))


def test_every_text_that_can_be_edited_has_a_row_with_its_original(desk: ReviewDesk) -> None:
    rows = list(csv.DictReader(io.StringIO(write_decisions(desk))))
    fields = {case.id: [row["field"] for row in rows if row["case_id"] == case.id] for case in CASES[1:]}
    assert fields == {
        "style": NAMES,
        "cut": [NAMES[0], "transcript, message 2 (assistant)"],
        "stated": NAMES,  # nothing is changed, and the label is stated: all of it may have to be
        "again": [""],  # the reference question, asked again
        "template": ["response", "prompt template"][::-1],
    }
    last = row(rows, "cut", "transcript, message 2 (assistant)")
    assert (last["original"], last["perturbed"]) == ("all\nis well", "all\nis well"), "next to its counterpart"
    assert row(rows, "style", NAMES[2])["perturbed"] == '{"what": "=1+1"}'
    assert row(rows, "style", NAMES[0])["original"] == "'=2+2"
    assert row(rows, "template", "prompt template")["original"] == PROMPT.original


def test_a_filled_in_sheet_is_saved_once_and_makes_the_cases_that_it_says(
    desk: ReviewDesk, fill_in: Callable[..., int]
) -> None:
    def fill(rows: Rows) -> None:
        row(rows, "style", NAMES[0])["edited"] = "'=3+3"
        row(rows, "style", NAMES[2])["edited"] = '{"what": "that"}'
        row(rows, "cut", NAMES[0])["action"] = "Accept"
        row(rows, "template", "prompt template")["edited"] = "{{ response }}: right?"
        row(rows, "again", "").update(action="reject", reason="no test")

    assert fill_in(fill) == 4
    decided = {case: review.outcome for case, review in desk.reviews().items()}
    assert {case: decision.action.value for case, decision in decided.items() if decision} == {
        "style": "edit",
        "cut": "accept",
        "template": "edit",
        "again": "reject",
    }
    edit = decided["style"]
    assert edit is not None
    edited = with_texts(CASES[1], edit.after).fields["transcript"]
    call = CALL | {"arguments": {"what": "that"}}
    made = [MESSAGES_MADE[0] | {"content": "=3+3"}, MESSAGES_MADE[1] | {"tool_calls": [call]}, MESSAGES_MADE[2]]
    assert edited == [*made, LOST]
    assert fill_in(lambda rows: None) == 0, "an exported sheet changes nothing"
    assert fill_in(lambda rows: row(rows, "style", NAMES[0]).update(edited="")) == 1
    log = desk.review("style").log
    assert [[*decision.after] for decision in log] == [[NAMES[0], NAMES[2]], [NAMES[2]]]


def test_a_sheet_says_nothing_of_what_somebody_else_decided_alone(desk: ReviewDesk) -> None:
    before = write_decisions(desk, "Ann")
    desk.decide(build_decision(desk, "style", "Ben", Given(action=ReviewAction.ACCEPT)), 0)
    assert write_decisions(desk, "Ann") == before
    assert "Ben" in write_decisions(desk)


def swap(rows: Rows, *columns: str) -> None:
    first, second = row(rows, "style", NAMES[0]), row(rows, "style", NAMES[1])
    for column in columns:
        first[column], second[column] = second[column], first[column]


@pytest.mark.parametrize(
    ("change", "line", "said"),
    [
        (
            lambda rows: row(rows, "style", NAMES[4]).update(field="transcript, message 9 (assistant)", edited="x"),
            6,
            "the case has no 'transcript, message 9 (assistant)'",
        ),
        (lambda rows: swap(rows, *rows[0]), 2, f"'{NAMES[1]}' comes before '{NAMES[0]}'; keep the rows as they were"),
        (lambda rows: swap(rows, "field"), 2, f"'{NAMES[1]}' has the check of '{NAMES[0]}': cells of two rows"),
        (lambda rows: rows.remove(row(rows, "style", NAMES[1])), 2, f"'{NAMES[1]}' is missing"),
        (lambda rows: rows.remove(row(rows, "style", NAMES[4])), 2, f"'{NAMES[4]}' is missing"),
        (lambda rows: rows.insert(1, rows[0]), 3, f"'{NAMES[0]}' appears twice"),
        (lambda rows: rows[0].update(check="0"), 2, "not in the sheet of 'Ann', or somebody decided since"),
        (lambda rows: [each.update(case_id="other") for each in rows[:5]], 2, "the queue has no case 'other'"),
        (lambda rows: rows[0].update(action="aprove"), 2, "'aprove' is no action"),
        (lambda rows: rows[0].update(action="reject"), 2, "A rejection needs a reason."),
        (lambda rows: rows[0].update(action="accept", edited="x"), 2, "the action is 'accept'"),
        (lambda rows: (rows[0].update(action="accept"), rows[1].update(action="skip")), 3, "two values of 'action'"),
        (lambda rows: rows[2].update(edited="[1]"), 4, "the arguments of a call are a JSON object."),
        (lambda rows: row(rows, "template", "prompt template").update(edited="{{ x }}"), None, "unknown: {{ x }}."),
    ],
)
def test_a_wrong_sheet_is_refused_in_one_sentence_and_nothing_is_imported(
    desk: ReviewDesk, fill_in: Callable[..., int], change: Callable[[Rows], object], line: int | None, said: str
) -> None:
    def spoil(rows: Rows) -> None:
        row(rows, "cut", NAMES[0])["action"] = "accept"
        change(rows)

    with pytest.raises(JrhError) as refused:
        fill_in(spoil)
    first, *rest = str(refused.value).splitlines()
    assert said in first
    assert first.startswith(f"ann.csv:{line}: " if line else "ann.csv:")
    assert rest == ["Nothing was imported: mistakes in 1 row."]
    assert desk.reviews() == {}


def test_a_sheet_from_before_a_later_decision_is_refused(desk: ReviewDesk, fill_in: Callable[..., int]) -> None:
    def decide_meanwhile(rows: Rows) -> None:
        rows[0]["edited"] = "late"
        desk.decide(build_decision(desk, "style", "Ann", Given(action=ReviewAction.ACCEPT)), 0)

    with pytest.raises(JrhError, match="somebody decided since; export the sheet again"):
        fill_in(decide_meanwhile)
    assert len(desk.review("style").log) == 1


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("Right? {{ respons }}", r"these placeholders: \{\{ response \}\}; missing: .* unknown: \{\{ respons \}\}\."),
        ("Right?", r"missing: \{\{ response \}\}\.$"),
        ("{{ response }", "line 1: "),
        ("{{ response|nosuch }}", "nosuch"),
    ],
)
def test_a_broken_template_is_refused_by_name(source: str, said: str) -> None:
    with pytest.raises(TextError, match=said) as refused:
        with_texts(CASES[5], {"prompt template": source})
    assert refused.value.text == "prompt template"


def test_a_page_is_bounded_however_long_the_transcript_is(tmp_path: Path) -> None:
    long = [{"role": "user", "content": f"{n} " + "x" * 5_000} for n in range(2 * MESSAGES)]
    store = Store.open(tmp_path / "long", "suite")
    try:
        for test, last in (("reference", "x"), ("cut", "y")):
            writing = store.cases.writing("task", test)
            transcript = [*long[:-1], {"role": "user", "content": last}]
            writing.put([evolve(WHOLE, id=test, test=test, fields={"transcript": transcript})], ())
            writing.finish("made")
        shown = case_data(ReviewDesk(store=store), QueuedCase("cut", "task", "cut", "0", ""), "Ann")
    finally:
        store.close()
    assert len(shown["parts"]) == MESSAGES
    assert sum(len(str(part)) for part in shown["parts"]) < 1_500_000
    assert len(shown["texts"]) <= 3 * MESSAGES
