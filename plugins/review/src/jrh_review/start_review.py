"""Start a review, or read and write its decisions as a table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from jrh import JrhError
from jrh.text import counted, is_person_name, tell

from jrh_review.decisions_csv import read_decisions, write_decisions
from jrh_review.desk import ReviewDesk
from jrh_review.reviewers import reviewing_of
from jrh_review.runs import Runs
from jrh_review.serving import Place, serve

NOBODY: Final = "reviewer"
"""The name of who gives none."""


def checked_names(names: Sequence[str], option: str = "--reviewer") -> tuple[str, ...]:
    """Check the names of people, as an option gave them.

    Raises:
        JrhError: one is empty, too long, holds control characters, or is there twice.
    """
    for name in names:
        if not is_person_name(name):
            raise JrhError(f"{option} needs a name of 1 to 80 visible characters")
    if len(set(names)) != len(names):
        raise JrhError(f"{option}: a name is given twice; give each person a different name")
    return tuple(names)


def export_to(desk: ReviewDesk, path: Path, names: Sequence[str]) -> None:
    """Write the table.

    Raises:
        JrhError: it cannot be written, or several reviewers are named.
    """
    text = write_decisions(desk, _only(names))
    try:
        path.write_bytes(text.encode("utf-8", "replace"))
    except OSError as error:
        raise JrhError(f"cannot write '{path}': {error.strerror or error}") from error
    tell(f"Wrote {counted(len(desk.queue()), 'case')} to {path}.")


def import_from(desk: ReviewDesk, path: Path, names: Sequence[str]) -> None:
    """Read a table.

    Raises:
        JrhError: the table is wrong, or several reviewers are named.
    """
    tell(f"Imported {counted(read_decisions(desk, path, _only(names)), 'new decision')}.")


def serve_review(
    desk: ReviewDesk,
    run_dir: Path,
    names: Sequence[str],
    place: tuple[str, int],
    *,
    allow_remote: bool,
    open_browser: bool,
) -> None:
    """Serve the review until Ctrl-C."""
    runs = Runs((run_dir,))
    reviewing = reviewing_of(runs, run_dir, desk, names or (NOBODY,))
    known = desk.reviews()
    tell(f"{counted(len(desk.queue()), 'case')} to review, {len(known)} with decisions.")
    where = Place.checked(*place, allow_remote=allow_remote)
    serve(runs, where, open_browser=open_browser, reviewing=reviewing)


def _only(names: Sequence[str]) -> str:
    if len(names) > 1:
        raise JrhError("--export and --import take one --reviewer at most")
    return names[0] if names else ""
