"""What `jrh review` and `jrh label` do with an open desk: write a table, read one, or serve the pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from jrh import JrhError
from jrh.text import count_noun, is_person_name, say, tell
from jrh_measuring.documents import write_whole

from jrh_review.desk import ReviewDesk
from jrh_review.labelling import LabelDesk
from jrh_review.pages.label import Labelling
from jrh_review.pages.review import open_reviewing
from jrh_review.person_labels import LabelAction
from jrh_review.review_statistics import people_agreement, plain_estimate, write_estimate
from jrh_review.runs import Runs
from jrh_review.serving import serve
from jrh_review.tables import read_decisions, read_sheet, write_decisions, write_gold, write_sheet

REVIEWER: Final = "reviewer"
LABELLER: Final = "labeller"
"""The name of who gives none."""
_LEVEL: Final = 0.95


def check_names(names: Sequence[str], option: str = "--reviewer") -> tuple[str, ...]:
    """Check the names of people, as an option gave them.

    Raises:
        JrhError: one is empty, too long, holds control characters, or is there twice.
    """
    for name in names:
        if not is_person_name(name):
            raise JrhError(f"{option} needs a name of 1 to 80 visible characters")
    # Two browsers under one name would see each other's decisions as their own.
    if len(set(names)) != len(names):
        raise JrhError(f"{option}: a name is given twice; give each person a different name")
    return tuple(names)


def use_review_desk(
    desk: ReviewDesk,
    run_dir: Path,
    names: Sequence[str],
    table: Path | None,
    export: Path | None,
    serving: Mapping[str, Any],
) -> None:
    """Read a person's sheet, write it or everybody's decisions, or without both serve the review until Ctrl-C.

    Raises:
        JrhError: a table is wrong or cannot be written, or a sheet is not of exactly one person.
    """
    if table is not None:
        if len(names) != 1:
            raise JrhError("--import needs one --reviewer, the person who filled in the sheet")
        tell(f"Imported {count_noun(read_decisions(desk, table, names[0]), 'new decision')}.")
    if export is not None:
        write_whole(export, write_decisions(desk, names[0] if len(names) == 1 else "").encode("utf-8", "replace"))
        tell(f"Wrote {count_noun(len(desk.queue()), 'case')} to {export}.")
    if table is None and export is None:
        runs = Runs((run_dir,))
        work = open_reviewing(runs, run_dir, desk, names or (REVIEWER,))
        tell(f"{count_noun(len(desk.queue()), 'case')} to review, {len(desk.reviews())} with decisions.")
        serve(runs, work, **serving)


def use_label_desk(
    desk: LabelDesk,
    suite: Path,
    names: Sequence[str],
    table: Path | None,
    export: Path | None,
    serving: Mapping[str, Any],
) -> None:
    """Read a person's sheet, write it or the gold labels, or without both serve the items until Ctrl-C.

    Raises:
        JrhError: a table is wrong or cannot be written, or it is not of exactly one person.
    """
    if table is not None:
        if not names:
            raise JrhError("--import needs --name, the person who filled in the sheet")
        tell(f"Imported {count_noun(read_sheet(desk, table, _only(names)), 'new label')}.")
    if export is not None:
        write_whole(export, (write_sheet(desk, _only(names)) if names else write_gold(desk)).encode("utf-8", "replace"))
        tell(f"Wrote {export}.")
        if not names:
            say_agreement(desk)
    if table is None and export is None:
        here = Labelling(suite=suite.stem, desk=desk, names=tuple(names) or (LABELLER,))
        # Said before anybody labels: hidden repeats are announced in number, and never on the page.
        for name in here.names:
            states, repeats = here.states(name), sum(screen.again for screen in here.screens(name))
            hidden = count_noun(repeats, "hidden repeat")
            tell(f"{name}: {count_noun(len(states), 'screen')} with {hidden}; {sum(map(bool, states))} done.")
        serve(Runs(()), here, **serving)


def say_agreement(desk: LabelDesk) -> None:
    """Print how far people agree with each other, and with themselves on the hidden repeats."""
    rows = [row for row in desk.labels() if row.action is LabelAction.LABEL]
    for task, items in desk.tasks:
        agreement, again = people_agreement(task, items, [row for row in rows if row.task == task.name], level=_LEVEL)
        lines = [(f"{', '.join(pair)}: Cohen's kappa", kappa, "item") for pair, kappa in agreement.pairs.items()]
        lines += [("All: Krippendorff's alpha", agreement.alpha, "label")] if agreement.alpha else []
        for what, estimate, unit in lines:
            counts = f"{count_noun(int(estimate.n), unit)}, {count_noun(estimate.clusters, 'cluster')}"
            say(f"{task.name}: {what} {write_estimate(plain_estimate(estimate, _LEVEL), share=False)}, n = {counts}")
        for name, share in again.items():
            repeats = count_noun(int(share.n), "hidden repeat")
            same = write_estimate(plain_estimate(share, _LEVEL))
            say(f"{task.name}: {name} gives the same label again in {same} of {repeats}")


def _only(names: Sequence[str]) -> str:
    if len(names) > 1:
        raise JrhError("--export and --import take one --name at most")
    return names[0] if names else ""
