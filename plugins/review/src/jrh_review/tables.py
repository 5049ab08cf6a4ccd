"""Decisions and labels in tables that people fill in with a spreadsheet, where no text is computed."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from jrh import JrhError, content_id
from jrh.text import counted, is_person_name
from jrh.values import GoldKind
from jrh_interchange import read_table
from jrh_measuring import compare_questions, formula_safe

from jrh_review.decisions import CaseReview, Decision, QueuedCase, ReviewAction, expectation_code
from jrh_review.desk import ReviewDesk
from jrh_review.labelling import LabelDesk, LabelScreen
from jrh_review.person_labels import LabelAction, majority
from jrh_review.review_cases import Given, build_decision, choices, editable

_MOST: Final = 10
"""Mistakes that are listed."""


def write_table(rows: Iterable[Sequence[object]]) -> str:
    """Return rows as CSV."""
    out = io.StringIO()
    csv.writer(out).writerows([formula_safe(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    return out.getvalue()


def plain_cell(cell: str) -> str:
    """Take the apostrophe away that keeps a spreadsheet from computing a text."""
    return cell[1:] if cell.startswith("'") and formula_safe(cell[1:]) == cell else cell


def read_filled_in(path: Path, *needed: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield line and cells of every row that is not empty.

    Raises:
        JrhError: the file cannot be read, is not CSV, or lacks one of the needed columns.
    """
    rows = read_table(path, path.name, "csv")
    if missing := [name for name in needed if name not in rows[0].values]:
        names = f"{', '.join(needed[:-1])} and {needed[-1]}"
        raise JrhError(f"{path.name}:1: the table needs the columns {names}; missing: {missing[0]}")
    for row in rows:
        if any(row.values.values()):
            yield row.line, {name: row[name] for name in row.values}


def refuse_mistakes(mistakes: Sequence[str], unit: str) -> None:
    """Raise an error that names the first mistakes of a table, one of each unit; none: nothing happens."""
    if mistakes:
        count = counted(len(mistakes), unit)
        raise JrhError("\n".join([*mistakes[:_MOST], f"Nothing was imported: mistakes in {count}."]))


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
    decision = build_decision(desk, case_id, name, given)
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


SHEET: Final = ("row", "check", "task", "choices", "label")
GOLD: Final = ("task", "item_id", "label", "share", "labellers", "gold_source")
_TEXT: Final = 1_000_000
_PARTS: Final = 1_000


def write_sheet(desk: LabelDesk, labeller: str) -> str:
    """Return what a person is shown as CSV, with their labels so far; the rest is to be filled in.

    Instruction and rubric are in the first row of every task.
    """
    screens = desk.screens(labeller)
    own = {each.key: each for each in desk.labels()}
    rows = []
    asked: set[str] = set()
    for place, screen in enumerate(screens):
        task, case = screen.task, screen.case
        first = task.name not in asked
        asked.add(task.name)
        known = own.get((labeller, task.name, screen.item.id, screen.again))
        rows.append(
            {
                "row": str(place + 1),
                "check": _check(desk, labeller, place, screen),
                "task": task.name,
                "choices": " | ".join(screen.label_map),
                "label": screen.as_shown(known),
                "instruction": task.instruction if first else "",
                "rubric": task.rubric if first else "",
                **{
                    f"text: {name}": text
                    for name, text in compare_questions(case, case, limit=_TEXT, most=_PARTS).context
                },
            }
        )
    names = list(dict.fromkeys([*SHEET, *(name for row in rows for name in row)]))
    return write_table([names, *([row.get(name, "") for name in names] for row in rows)])


def write_gold(desk: LabelDesk) -> str:
    """Return the gold label of every item with its uncertainty, and everybody's labels.

    `share` is the share of the labellers who gave the gold label; an item that is split evenly has none. `again` is
    what a person said when the item came a second time. The columns `label` and `gold_source` are those that the data
    sources of jrh read.
    """
    labels = [each for each in desk.labels() if each.action is LabelAction.LABEL]
    people = sorted({each.labeller for each in labels})
    found = {each.key: each.label for each in labels}
    heads = [*GOLD, *(f"by {name}" for name in people), *(f"again by {name}" for name in people)]
    rows: list[list[str]] = [heads]
    for task, items in desk.tasks:
        for item in items:
            own = {name: found[key] for name in people if (key := (name, task.name, item.id, False)) in found}
            gold = majority(own)
            share = f"{Counter(own.values())[gold] / len(own):.3f}" if gold is not None else ""
            source = GoldKind.PEOPLE if len(own) > 1 else GoldKind.ONE_PERSON
            head = [task.name, item.id, gold or "", share, str(len(own)), source.value if gold is not None else ""]
            again = [found.get((name, task.name, item.id, True), "") for name in people]
            rows.append([*head, *(own.get(name, "") for name in people), *again])
    return write_table(rows)


def read_sheet(desk: LabelDesk, path: Path, labeller: str) -> int:
    """Save the labels of a filled-in sheet, all or none; return how many are new or changed.

    Raises:
        JrhError: the file cannot be read, is somebody else's sheet, or rows are wrong: all are named, up to ten.
    """
    screens = desk.screens(labeller)
    own = {each.key: each for each in desk.labels()}
    new: dict[int, tuple[str, LabelScreen, LabelAction, str, int, float | None]] = {}
    wrong: list[str] = []
    for line, row in read_filled_in(path, "row", "check", "label"):
        try:
            place = _place(desk, labeller, screens, row)
            screen, cell = screens[place], row["label"].strip()
            label = next((each for each in screen.label_map if cell in (each, formula_safe(each))), None)
            label = label or screen.task.scale.match(cell)
            if not cell:
                continue
            if label is None:
                raise JrhError(f"'{cell[:40]}' is not one of the choices: {', '.join(screen.label_map)}")
            if place in new:
                raise JrhError("the row appears twice")
            key = labeller, screen.task.name, screen.item.id, screen.again
            if screen.as_shown(own.get(key)) != label:
                new[place] = (labeller, screen, LabelAction.LABEL, label, desk.version(labeller, screen), None)
        except JrhError as error:
            wrong.append(f"{path.name}:{line}: {error}")
    refuse_mistakes(wrong, "row")
    if new:
        desk.decide_all(list(new.values()))
    return len(new)


def _place(desk: LabelDesk, labeller: str, screens: tuple[LabelScreen, ...], row: dict[str, str]) -> int:
    number = row["row"].strip()
    place = int(number) - 1 if number.isdecimal() and len(number) < 10 else -1  # noqa: PLR2004
    if not 0 <= place < len(screens) or row["check"].strip() != _check(desk, labeller, place, screens[place]):
        raise JrhError(f"this row is not in the sheet of '{labeller}', or its item has changed; export the sheet again")
    return place


def _check(desk: LabelDesk, labeller: str, place: int, screen: LabelScreen) -> str:
    """Return a digest that ties a row to its person, item and texts, and says nothing of which item it is."""
    return content_id(
        "sheet",
        desk.settings.seed,
        labeller,
        place,
        screen.again,
        screen.task.name,
        screen.item.id,
        dict(screen.fields),
    )[:16]
