"""Labels as tables: the sheet that one person fills in, the gold labels with their uncertainty, and back."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Final

from jrh import JrhError, content_id
from jrh.values import GoldKind
from jrh_measuring import compare_questions, formula_safe

from jrh_review.labelling import LabelDesk, LabelScreen
from jrh_review.person_labels import LabelAction, majority
from jrh_review.tables import read_filled_in, refuse_mistakes, write_table

SHEET: Final = ("row", "check", "task", "choices", "label")
GOLD: Final = ("task", "item_id", "label", "share", "labellers", "gold_source")
_TEXT: Final = 1_000_000
_PARTS: Final = 1_000


def write_sheet(desk: LabelDesk, labeller: str) -> str:
    """Return what a person is shown as CSV, with their labels so far; the rest is to be filled in.

    Instruction and rubric stand in the first row of every task.
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
