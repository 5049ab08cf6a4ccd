"""Decisions as a table for a spreadsheet, and back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from jrh import JrhError
from jrh.text import is_person_name
from jrh_measuring import formula_safe

from jrh_review.decisions import CaseReview, Decision, QueuedCase, ReviewAction, expectation_code
from jrh_review.desk import ReviewDesk
from jrh_review.review_cases import Given, choices, editable, made
from jrh_review.tables import plain_cell, read_filled_in, refuse_mistakes, write_table

COLUMNS: Final = (
    *("case_id", "task", "test", "item_id", "probability", "reviewer", "made", "version", "settles"),
    *("action", "reason", "expected", "field", "original", "perturbed", "edited"),
    "valid",
)
"""A row is one text of a case: cases of which several texts can be edited have several rows."""
_DIGITS: Final = 15


def write_decisions(desk: ReviewDesk, reviewer: str = "") -> str:
    """Return the queue with its decisions as CSV.

    Args:
        desk: the run.
        reviewer: whose decisions, so that the table can be filled in blind; empty: everybody's.
    """
    rows: list[Sequence[object]] = [COLUMNS]
    reviews = desk.reviews()
    for queued in desk.queue():
        review = reviews.get(queued.case_id, CaseReview())
        review = review.known_to(reviewer) if reviewer else review
        for name, decision in _decisions(review, reviewer):
            rows += _rows(desk, queued, review, name, decision)
    return write_table(rows)


def _decisions(review: CaseReview, reviewer: str) -> list[tuple[str, Decision | None]]:
    if reviewer:
        found = [review.own(reviewer), *([review.settlement] if review.is_open else [])]
    else:
        names = dict.fromkeys(each.reviewer for each in review.log)
        found = [*(review.own(name) for name in names), review.settlement]
    told: list[tuple[str, Decision | None]] = [(each.reviewer, each) for each in found if each is not None]
    return told or [(reviewer, None)]


def _rows(
    desk: ReviewDesk, queued: QueuedCase, review: CaseReview, name: str, decision: Decision | None
) -> Iterator[Sequence[object]]:
    case, original = desk.case(queued.case_id)
    texts = editable(case, original)
    head = (
        *(queued.case_id, queued.task, queued.test, queued.item_id, queued.probability, name),
        decision.made if decision else "",
        review.version(name),
        "yes" if decision and decision.settles else "",
        decision.action.value if decision else "",
        decision.reason if decision else "",
        (decision.expected_after if decision else "") or expectation_code(case.expectation),
    )
    # As `perturbation-validity` reads it: whether people accept the case as it was asked; empty: no outcome.
    valid = "" if review.outcome is None else "yes" if review.outcome.action is ReviewAction.ACCEPT else "no"
    for field in texts or {"": ""}:
        before = original.fields.get(field, "") if original else ""
        edited = decision.after.get(field, "") if decision else ""
        yield (*head, field, before if isinstance(before, str) else "", texts.get(field, ""), edited, valid)


def read_decisions(desk: ReviewDesk, path: Path, reviewer: str = "") -> int:
    """Save the decisions of a table, all or none; return how many are new.

    Rows without an action, and those that say what is stored already, change nothing. The column `edited` holds a whole
    text; where it is empty, the text was not edited.

    Raises:
        JrhError: the file cannot be read, or rows are wrong: all are named, up to ten.
    """
    cases: dict[tuple[str, str, str], list[dict[str, str]]] = {}
    lines: dict[tuple[str, str, str], int] = {}
    for line, cells in read_filled_in(path, "case_id", "action"):
        row = dict.fromkeys(COLUMNS, "") | cells
        key = plain_cell(row["case_id"].strip()), plain_cell(row["reviewer"].strip()) or reviewer, row["settles"]
        cases.setdefault(key, []).append(row)
        lines.setdefault(key, line)
    known = {case.case_id for case in desk.queue()}
    new: list[tuple[Decision, int]] = []
    wrong: list[str] = []
    for key, rows in cases.items():
        case_id, name, _ = key
        try:
            if case_id not in known:
                raise JrhError("the queue has no such case_id")
            if found := _decision(desk, case_id, name, rows):
                new.append(found)
                # Checked one by one, so that every mistake is named; nothing is written before all are right.
                desk.check(*found)
        except JrhError as error:
            wrong.append(f"{path.name}:{lines[key]}: {error}")
    refuse_mistakes(wrong, "case")
    if new:
        desk.decide_all(new)
    return len(new)


def _decision(desk: ReviewDesk, case_id: str, name: str, rows: Sequence[dict[str, str]]) -> tuple[Decision, int] | None:
    first = rows[0]
    word = first["action"].strip().casefold()
    if not word:
        return None
    if any(row[each] != first[each] for row in rows for each in ("action", "reason", "expected", "version")):
        raise JrhError("the rows of one case and reviewer differ in action, reason, expected or version")
    action = next((each for each in ReviewAction if each.value == word), None)
    if action is None or action is ReviewAction.UNDO:
        raise JrhError(f"action must be accept, edit, reject or skip, not '{word[:40]}'")
    if not name:
        raise JrhError("the row has no reviewer; fill the column in, or pass --reviewer NAME")
    if not is_person_name(name):
        raise JrhError("the reviewer needs a name of 1 to 80 visible characters")
    review = desk.review(case_id)
    version = _version(first["version"].strip(), review.version(name), desk)
    settles = first["settles"].strip().casefold() == "yes"
    stored = review.settlement if settles else review.own(name)
    case, original = desk.case(case_id)
    texts, expected = editable(case, original), first["expected"].strip()
    given = Given(
        action=action,
        reason=plain_cell(first["reason"]),
        after=_edited(rows, texts, stored),
        expected=next((code for code in choices(case) if formula_safe(code) == expected), expected),
        settles=settles,
    )
    changed = any(text != texts.get(name) for name, text in given.after.items())
    if action is not ReviewAction.EDIT and (changed or given.expected not in ("", expectation_code(case.expectation))):
        raise JrhError(f"the row edits the case, but its action is {word}")
    decision = made(desk, case_id, name, given)
    if stored and stored.content == decision.content and formula_safe(stored.reason) == formula_safe(decision.reason):
        return None
    return decision, version


def _version(cell: str, now: int, desk: ReviewDesk) -> int:
    """Return the version that a row was filled in for; without one, it is for the case as it is now."""
    if not cell:
        return now
    if not cell.isascii() or not cell.isdecimal() or len(cell) > _DIGITS:
        raise JrhError("version must be the number that was exported, or empty")
    if int(cell) > desk.last():
        raise JrhError("the version belongs to another run; clear the column `version` to import its decisions here")
    return int(cell)


def _edited(rows: Sequence[dict[str, str]], texts: dict[str, str], stored: Decision | None) -> dict[str, str]:
    """Return the edited texts: cells that are as they were exported stand for the text they were made from."""
    found: dict[str, str] = {}
    for row in rows:
        cell = row["edited"]
        field = next((name for name in texts if formula_safe(name) == row["field"]), row["field"])
        if not cell:
            continue
        before = stored.after.get(field) if stored else None
        known = (text for text in (before, texts.get(field)) if text is not None and formula_safe(text) == cell)
        found[field] = next(known, plain_cell(cell))
    return found
