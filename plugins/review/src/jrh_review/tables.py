"""Decisions and labels as tables for a spreadsheet, in which no text is computed."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from jrh import JrhError, content_id
from jrh.text import count_noun
from jrh.values import GoldKind
from jrh_interchange import Row, read_table
from jrh_measuring import compare_questions, formula_safe

from jrh_review.decisions import CaseReview, Decision, QueuedCase, ReviewAction, expectation_code
from jrh_review.desk import ReviewDesk
from jrh_review.labelling import LabelDesk, LabelScreen, ScreenDecision
from jrh_review.person_labels import LabelAction, majority
from jrh_review.review_cases import editable

_MOST: Final = 10
"""Mistakes that are listed."""


def write_table(rows: Iterable[Sequence[object]]) -> str:
    """Return rows as CSV."""
    out = io.StringIO()
    csv.writer(out).writerows([formula_safe(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    return out.getvalue()


COLUMNS: Final = (
    *("case_id", "task", "test", "item_id", "probability", "reviewer", "made", "settles"),
    *("action", "reason", "expected", "field", "original", "perturbed", "edited"),
    "valid",
)
"""A row is one text of a case: cases of which several texts can be edited have several rows."""


def write_decisions(desk: ReviewDesk) -> str:
    """Return the queue with everybody's decisions as CSV."""
    rows: list[Sequence[object]] = [COLUMNS]
    reviews = desk.reviews()
    for queued in desk.queue():
        review = reviews.get(queued.case_id, CaseReview())
        names = dict.fromkeys(decision.reviewer for decision in review.log)
        decisions = [decision for decision in (*map(review.own, names), review.settlement) if decision is not None]
        for decision in decisions or (None,):
            rows += _decision_rows(desk, queued, review, decision)
    return write_table(rows)


def _decision_rows(
    desk: ReviewDesk, queued: QueuedCase, review: CaseReview, decision: Decision | None
) -> Iterator[Sequence[object]]:
    case, original = desk.case(queued.case_id)
    texts = editable(case, original)
    head = (
        *(queued.case_id, queued.task, queued.test, queued.item_id, queued.probability),
        decision.reviewer if decision else "",
        decision.made if decision else "",
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
    for row in _nonempty_rows(path):
        try:
            place = _place(desk, labeller, screens, row["row"].strip(), row["check"].strip())
            screen, cell = screens[place], row["label"].strip()
            # The sheet that was exported wrote labels such as "-1" with an apostrophe; spreadsheets may drop it.
            label = next((choice for choice in screen.label_map if cell in (choice, formula_safe(choice))), None)
            label = label or screen.task.scale.match(cell)
            if not cell:
                continue
            if label is None:
                raise JrhError(f"'{cell[:40]}' is not one of the choices: {', '.join(screen.label_map)}")
            if place in new:
                raise JrhError("the row appears twice")
            key = labeller, screen.task.name, screen.item.id, screen.again
            if screen.as_shown(labels.get(key)) != label:
                new[place] = ScreenDecision(labeller, screen, LabelAction.LABEL, label, desk.version(labeller, screen))
        except JrhError as error:
            wrong.append(f"{path.name}:{row.line}: {error}")
    if wrong:
        mistakes = count_noun(len(wrong), "row")
        raise JrhError("\n".join([*wrong[:_MOST], f"Nothing was imported: mistakes in {mistakes}."]))
    if new:
        desk.decide(list(new.values()))
    return len(new)


def _nonempty_rows(path: Path) -> Iterator[Row]:
    """Yield the rows that are not empty: spreadsheets add empty ones at the end."""
    rows = read_table(path, path.name, "csv")
    if missing := [name for name in ("row", "check", "label") if name not in rows[0].values]:
        raise JrhError(f"{path.name}:1: the table needs the columns row, check and label; missing: {missing[0]}")
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
