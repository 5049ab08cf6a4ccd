"""Start labelling, or read and write labels as tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from jrh import JrhError
from jrh.text import counted, say, tell

from jrh_review.label_screens import Labelling
from jrh_review.labelling import LabelDesk
from jrh_review.labels_csv import read_sheet, write_gold, write_sheet
from jrh_review.pages.review_summary import told
from jrh_review.people import People
from jrh_review.people_agreement import people_agreement
from jrh_review.person_labels import LabelAction
from jrh_review.runs import Runs
from jrh_review.serving import Place, serve

NOBODY: Final = "labeller"
"""The name of who gives none."""


def default_path(suite: Path) -> Path:
    """Return where the labels of a suite are kept unless the user says otherwise."""
    return suite.with_name(f"{suite.stem}.labels.jsonl")


def export_to(desk: LabelDesk, path: Path, names: Sequence[str]) -> None:
    """Write one person's sheet, or without a name the gold labels.

    Raises:
        JrhError: it cannot be written, or several people are named.
    """
    text = write_sheet(desk, _only(names)) if names else write_gold(desk)
    try:
        path.write_bytes(text.encode("utf-8", "replace"))
    except OSError as error:
        raise JrhError(f"cannot write '{path}': {error.strerror or error}") from error
    tell(f"Wrote {path}.")


def import_from(desk: LabelDesk, path: Path, names: Sequence[str]) -> None:
    """Read a sheet.

    Raises:
        JrhError: the sheet is wrong, or not exactly one person is named.
    """
    if not names:
        raise JrhError("--import needs --name, the person who filled in the sheet")
    tell(f"Imported {counted(read_sheet(desk, path, _only(names)), 'new label')}.")


def say_agreement(desk: LabelDesk) -> None:
    """Print how far people agree with each other, and with themselves on the hidden repeats."""
    rows = [each for each in desk.labels() if each.action is LabelAction.LABEL]
    for task, items in desk.tasks:
        found = people_agreement(task, items, [each for each in rows if each.task == task.name])
        lines = [(f"{', '.join(pair)}: Cohen's kappa", kappa, "item") for pair, kappa in found.pairs.items()]
        lines += [("All: Krippendorff's alpha", found.alpha, "label")] if found.alpha else []
        for what, estimate, unit in lines:
            items_of = f"{counted(int(estimate.n), unit)}, {counted(estimate.clusters, 'cluster')}"
            say(f"{task.name}: {what} {told(estimate, share=False)}, n = {items_of}")
        for name, share in found.again.items():
            repeats = counted(int(share.n), "hidden repeat")
            say(f"{task.name}: {name} gives the same label again in {told(share)} of {repeats}")


def serve_labels(
    desk: LabelDesk, suite: str, names: Sequence[str], place: tuple[str, int], *, allow_remote: bool, open_browser: bool
) -> None:
    """Serve the items until Ctrl-C."""
    here = Labelling(suite=suite, desk=desk, people=People(tuple(names) or (NOBODY,)))
    for name in here.people.names:
        states = here.states(name)
        repeats = sum(screen.again for screen in here.screens(name))
        done = sum(bool(state) for state in states)
        hidden = counted(repeats, "hidden repeat")
        tell(f"{name}: {counted(len(states), 'screen')} with {hidden}; {done} done.")
    serve(Runs(()), Place.checked(*place, allow_remote=allow_remote), open_browser=open_browser, labelling=here)


def _only(names: Sequence[str]) -> str:
    if len(names) > 1:
        raise JrhError("--export and --import take one --name at most")
    return names[0] if names else ""
