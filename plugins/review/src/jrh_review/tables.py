"""Decisions and labels as tables for a spreadsheet, in which no text is computed."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from jrh import JrhError, content_id
from jrh.text import Redactor, count_noun
from jrh.values import GoldKind
from jrh_interchange import MOST_ROWS, Row, guess_format, read_table, rows_by
from jrh_measuring import compare_questions, formula_safe

from jrh_review.case_texts import TextError, editable_places, original_texts, texts_at
from jrh_review.decisions import CaseReview, Decision, QueuedCase, ReviewAction, expectation_code
from jrh_review.desk import ReviewDesk, check_decision
from jrh_review.labelling import LabelDesk, LabelScreen, ScreenDecision
from jrh_review.person_labels import LabelAction, majority
from jrh_review.review_cases import Given, build_decision

_MOST: Final = 10
"""Mistakes that are listed."""
_KEEP: Final = "keep the rows as they were exported"


def write_table(rows: Iterable[Sequence[object]]) -> str:
    """Return rows as CSV."""
    out = io.StringIO()
    csv.writer(out).writerows([formula_safe(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    return out.getvalue()


COLUMNS: Final = (
    *("case_id", "task", "test", "item_id", "probability", "reviewer", "made", "settles"),
    *("action", "reason", "expected", "field", "original", "perturbed", "edited"),
    *("valid", "check"),
)
"""A row is one text of a case: a field, a message of a transcript, a prompt template."""


def write_decisions(desk: ReviewDesk, reviewer: str = "") -> str:
    """Return the queue as CSV: with everybody's decisions, or as a person's sheet, for `read_decisions`."""
    rows: list[Sequence[object]] = [COLUMNS]
    reviews = desk.reviews()
    for queued in desk.queue():
        known = reviews.get(queued.case_id, CaseReview())
        # What others decided is none of a person's sheet before two people have.
        review = known.visible_to(reviewer) if reviewer else known
        people = () if reviewer else dict.fromkeys(decision.reviewer for decision in review.log)
        shown = review.counts_for(reviewer) if reviewer else review.settlement
        decisions = [decision for decision in (*map(review.own, people), shown) if decision is not None]
        for decision in decisions or (None,):
            rows += _decision_rows(desk, queued, review, decision, reviewer)
    return write_table(rows)


def _decision_rows(
    desk: ReviewDesk, queued: QueuedCase, review: CaseReview, decision: Decision | None, reviewer: str
) -> Iterator[Sequence[object]]:
    case, original = desk.case(queued.case_id)
    texts = texts_at(case, editable_places(case, original))
    before = original_texts(case, original) if original else {}
    head = (
        *(queued.case_id, queued.task, queued.test, queued.item_id, queued.probability),
        decision.reviewer if decision else "",
        decision.made if decision else "",
        "yes" if decision and decision.settles else "",
    )
    said: tuple[str, ...] = (
        decision.action.value if decision else "",
        decision.reason if decision else "",
        (decision.expected_after if decision else "") or expectation_code(case.expectation),
    )
    # As `perturbation-validity` reads it: whether people accept the case as it was asked; empty: no outcome.
    valid = "" if review.outcome is None else "yes" if review.outcome.action is ReviewAction.ACCEPT else "no"
    for field in texts or {"": ""}:
        edited = decision.after.get(field, "") if decision else ""
        check = _text_check(queued.case_id, reviewer, review, field) if reviewer else ""
        yield (*head, *said, field, before.get(field, ""), texts.get(field, ""), edited, valid, check)
        # In a sheet once for each case: a person changes it in one place.
        said = ("", "", "") if reviewer else said


def _text_check(case_id: str, reviewer: str, review: CaseReview, field: str) -> str:
    """Return a digest that ties a row to its person and text, and to what the person knew of the case."""
    return content_id("decisions", case_id, reviewer, review.version(reviewer), field)[:16]


def read_decisions(desk: ReviewDesk, path: Path, reviewer: str) -> int:
    """Save the decisions of a filled-in sheet, all or none; return how many are new or changed.

    A case of the sheet has all of its texts, in order; cases may be left out.

    Raises:
        JrhError: the file cannot be read, is somebody else's sheet, or rows are wrong: all are named, up to ten.
    """
    new: list[tuple[Decision, int]] = []
    wrong: list[str] = []
    queued = {case.case_id for case in desk.queue()}
    rows = list(_nonempty_rows(path, ("case_id", "action", "reason", "expected", "field", "edited", "check")))
    for case_id, of_case in rows_by(rows, "case_id").items():
        try:
            if case_id not in queued:
                raise JrhError(f"the queue has no case '{case_id[:80]}'")
            review = desk.review(case_id)
            if (decision := _read_decision(desk, case_id, reviewer, of_case, review)) is not None:
                check_decision(decision, review, review.version(reviewer))
                new.append((decision, review.version(reviewer)))
        except JrhError as error:
            text = getattr(error, "text", "")
            row = next((row for row in reversed(of_case) if row["field"] in (text, formula_safe(text))), of_case[0])
            wrong.append(f"{path.name}:{row.line}: {error}")
    _refuse(wrong)
    desk.decide_all(new)
    return len(new)


def _read_decision(
    desk: ReviewDesk, case_id: str, reviewer: str, rows: Sequence[Row], review: CaseReview
) -> Decision | None:
    """Return the decision that the rows of a case hold; None where it is the one that counts already."""
    case, original = desk.case(case_id)
    texts = texts_at(case, editable_places(case, original)) or {"": ""}
    _check_rows(rows, {field: _text_check(case_id, reviewer, review, field) for field in texts}, reviewer)
    known = review.counts_for(reviewer)
    earlier = known.after if known else {}
    after = {
        field: _read_text(row["edited"], (earlier.get(field, ""), texts[field]))
        for field, row in zip(texts, rows, strict=True)
        if row["edited"]
    }
    after = {field: text for field, text in after.items() if text != texts[field]}
    action, reason, cell = (_single(rows, column) for column in ("action", "reason", "expected"))
    stated = expectation_code(case.expectation)
    expected = _read_text(cell, (stated,))
    action = action.lower() or (ReviewAction.EDIT.value if after or expected not in ("", stated) else "")
    if not action:
        return None
    if action not in {known.value for known in ReviewAction}:
        raise JrhError(f"{_quote(action)} is no action: accept, edit, reject, skip, undo, or nothing")
    if after and action != ReviewAction.EDIT.value:
        raise JrhError(f"a text is edited, and the action is '{action}'; make it 'edit', or empty the column edited")
    given = Given(
        action=ReviewAction(action),
        reason=_read_text(reason, (known.reason if known else "",)),
        after=after,
        expected=expected,
        settles=review.is_open,
    )
    decision = build_decision(desk, case_id, reviewer, given)
    unchanged = known is not None and (known.content, known.reason) == (decision.content, decision.reason)
    return None if unchanged else decision


def _check_rows(rows: Sequence[Row], checks: Mapping[str, str], reviewer: str) -> None:
    """Require every text of the case once, in the order of the sheet."""
    fields = {formula_safe(field): field for field in checks}
    by_check = {check: field for field, check in checks.items()}
    seen = [row["field"] for row in rows]
    for row, cell in zip(rows, seen, strict=True):
        other = by_check.get(row["check"].strip())
        if cell not in fields:
            what = f"the case has no '{cell[:80]}'"
        elif other is None:
            what = f"this row is not in the sheet of '{reviewer}', or somebody decided since; export the sheet again"
        elif other != fields[cell]:
            what = f"'{cell[:80]}' has the check of '{other[:80]}': cells of two rows changed places"
        elif seen.count(cell) > 1:
            what = f"'{cell[:80]}' appears twice; {_KEEP}"
        else:
            continue
        raise TextError(cell, what)
    if missing := [cell for cell in fields if cell not in seen]:
        raise JrhError(f"'{missing[0][:80]}' is missing; {_KEEP}")
    # Moving a row moves no message, which somebody may have meant.
    if moved := [pair for pair in zip(seen, fields, strict=True) if pair[0] != pair[1]]:
        raise TextError(moved[0][0], f"'{moved[0][0][:80]}' comes before '{moved[0][1][:80]}'; {_KEEP}")


def _single(rows: Sequence[Row], column: str) -> str:
    values = {row[column].strip(): row for row in rows if row[column].strip()}
    if len(values) > 1:
        raise TextError([*values.values()][1]["field"], f"the rows of a case have two values of '{column}'; keep one")
    return next(iter(values), "")


def _read_text(cell: str, known: Iterable[str]) -> str:
    """Return the text of a cell; what was exported comes back as it was, whatever a table did to it."""
    text = cell.replace("\r\n", "\n")
    for earlier in known:
        if text in (earlier, formula_safe(earlier).replace("\r\n", "\n")):
            return earlier
    return text[1:] if text.startswith("'") and formula_safe(text[1:]) == text else text


def _quote(cell: str) -> str:
    # Masked before it is cut: what is left of a key would no longer look like one.
    return f"'{Redactor.from_environment()(cell)[:40]}'"


def _refuse(wrong: Sequence[str]) -> None:
    if wrong:
        mistakes = count_noun(len(wrong), "row")
        raise JrhError("\n".join([*wrong[:_MOST], f"Nothing was imported: mistakes in {mistakes}."]))


SHEET: Final = ("row", "check", "task", "choices", "label")
GOLD: Final = ("task", "item_id", "label", "share", "labellers", "gold_source")
_TEXT: Final = 1_000_000
_PARTS: Final = 1_000


def write_sheet(desk: LabelDesk, labeller: str) -> str:
    """Return what a person is shown as CSV, with their labels so far; the rest is to be filled in.

    Instruction and rubric are in the first row of every task.
    """
    screens = desk.screens(labeller)
    labels = {label.key: label for label in desk.labels()}
    rows = []
    introduced: set[str] = set()
    for place, screen in enumerate(screens):
        task, case = screen.task, screen.case
        # Repeated in every row they would be most of the file.
        first = task.name not in introduced
        introduced.add(task.name)
        known = labels.get((labeller, task.name, screen.item.id, screen.again))
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
    labels = [label for label in desk.labels() if label.action is LabelAction.LABEL]
    people = sorted({label.labeller for label in labels})
    by_screen = {label.key: label.label for label in labels}
    heads = [*GOLD, *(f"by {name}" for name in people), *(f"again by {name}" for name in people)]
    rows: list[list[str]] = [heads]
    for task, items in desk.tasks:
        for item in items:
            votes = {name: by_screen[key] for name in people if (key := (name, task.name, item.id, False)) in by_screen}
            gold = majority(votes.values())
            share = f"{Counter(votes.values())[gold] / len(votes):.3f}" if gold is not None else ""
            source = GoldKind.PEOPLE if len(votes) > 1 else GoldKind.ONE_PERSON
            head = [task.name, item.id, gold or "", share, str(len(votes)), source.value if gold is not None else ""]
            again = [by_screen.get((name, task.name, item.id, True), "") for name in people]
            rows.append([*head, *(votes.get(name, "") for name in people), *again])
    return write_table(rows)


def read_sheet(desk: LabelDesk, path: Path, labeller: str) -> int:
    """Save the labels of a filled-in sheet, all or none; return how many are new or changed.

    Raises:
        JrhError: the file cannot be read, is somebody else's sheet, or rows are wrong: all are named, up to ten.
    """
    screens = desk.screens(labeller)
    labels = {label.key: label for label in desk.labels()}
    new: dict[int, ScreenDecision] = {}
    wrong: list[str] = []
    for row in _nonempty_rows(path, ("row", "check", "label")):
        try:
            place = _place(desk, labeller, screens, row["row"].strip(), row["check"].strip())
            screen, cell = screens[place], row["label"].strip()
            # The sheet that was exported wrote labels such as "-1" with an apostrophe; spreadsheets may drop it.
            label = next((choice for choice in screen.label_map if cell in (choice, formula_safe(choice))), None)
            label = label or screen.task.scale.match(cell)
            if not cell:
                continue
            if label is None:
                raise JrhError(f"{_quote(cell)} is not one of the choices: {', '.join(screen.label_map)}")
            if place in new:
                raise JrhError("the row appears twice")
            key = labeller, screen.task.name, screen.item.id, screen.again
            if screen.as_shown(labels.get(key)) != label:
                new[place] = ScreenDecision(labeller, screen, LabelAction.LABEL, label, desk.version(labeller, screen))
        except JrhError as error:
            wrong.append(f"{path.name}:{row.line}: {error}")
    _refuse(wrong)
    if new:
        desk.decide(list(new.values()))
    return len(new)


def _nonempty_rows(path: Path, needed: Sequence[str]) -> Iterator[Row]:
    """Yield the rows that are not empty: spreadsheets add empty ones at the end."""
    kind, delimiter = guess_format(path)
    rows = read_table(path, path.name, kind, most=MOST_ROWS, **({"delimiter": delimiter} if kind == "csv" else {}))
    if missing := [name for name in needed if not rows or name not in rows[0].values]:
        raise JrhError(f"{path.name}:1: the table needs the columns {', '.join(needed)}; missing: {missing[0]}")
    yield from (row for row in rows if any(row.values.values()))


def _place(desk: LabelDesk, labeller: str, screens: tuple[LabelScreen, ...], number: str, check: str) -> int:
    place = int(number) - 1 if number.isdecimal() and len(number) < 10 else -1  # noqa: PLR2004
    if not 0 <= place < len(screens) or check != _check(desk, labeller, place, screens[place]):
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
