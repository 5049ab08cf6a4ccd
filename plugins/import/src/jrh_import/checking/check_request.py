"""Define what `jrh check` is asked, and find the columns it names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from attrs import evolve, field, frozen
from attrs.validators import gt, lt
from jrh import JrhError
from jrh.text import clean_text
from jrh_interchange import check_columns, choose_verdict_columns, read_columns

from jrh_import.tables import Table

_SHOWN: Final = 12
"""Columns of a guess that are listed."""


@frozen(kw_only=True)
class CheckRequest:
    """What to check, and in which columns."""

    path: Path
    judges: tuple[str, ...] = ()
    """Columns with verdicts, one per judge."""
    human: str = ""
    """Column with the labels that people gave."""
    item: str | None = None
    group: str | None = None
    repeat: str | None = None
    covariates: tuple[str, ...] = ()
    """Columns that verdicts are tested for."""
    reruns: bool = False
    """Rows of one item are reruns in file order."""
    scale: str | None = None
    missing: tuple[str, ...] = ()
    """Further texts that mean there is no verdict."""
    within: float = field(default=0.05, validator=[gt(0), lt(0.5)])
    """Target half-width of the interval of agreement."""
    at_least: float | None = None
    """The agreement that is enough."""
    guessed: tuple[tuple[str, str, str], ...] = ()
    """Each column, what it was taken for, and the option that changes it; empty where nothing was guessed."""

    def option_columns(self) -> Iterator[tuple[str, str]]:
        """Yield every option and the column it names."""
        yield from (("--judge", judge) for judge in self.judges)
        optional = {"--human": self.human or None, "--item": self.item, "--group": self.group, "--repeat": self.repeat}
        yield from ((option, column) for option, column in optional.items() if column is not None)
        yield from (("--covariate", column) for column in self.covariates)


def complete_request(request: CheckRequest, table: Table) -> CheckRequest:
    """Guess the columns that are not named, where the judges or the labels of people are not.

    Raises:
        JrhError: no column looks like verdicts, or like labels of people; the text shows what was found.
    """
    if request.judges and request.human:
        return request
    check_columns(request.option_columns(), table.columns)
    named = {"gold": request.human, "item": request.item, "repeat": request.repeat, "group": request.group}
    aside = (*request.judges, *request.covariates)
    known = [column for column in read_columns(table.rows) if column.name not in aside]
    chosen, judged = choose_verdict_columns(known, {target: name for target, name in named.items() if name})
    columns = {target: column.name for target, column in chosen.items()}
    judges = request.judges or tuple(column.name for column in judged)
    item = columns.get("item")
    completed = evolve(
        request,
        judges=judges,
        human=columns.get("gold", ""),
        item=item,
        group=columns.get("group"),
        # Without an item every row is one, and has no reruns.
        repeat=columns.get("repeat") if item else None,
    )
    uses: dict[str | None, tuple[str, str]] = {
        **dict.fromkeys(judges, ("verdicts of a judge", "--judge")),
        completed.human: ("labels by people", "--human"),
        completed.item: ("item", "--item"),
        completed.repeat: ("number of the rerun", "--repeat"),
        completed.group: ("what items share", "--group"),
        **dict.fromkeys(request.covariates, ("covariate", "--covariate")),
    }
    guessed = tuple((column, *uses.get(column, ("not used", "any of these"))) for column in table.columns)
    missing = "--human" if not completed.human else "--judge" if not judges else ""
    if missing:
        what = {"--human": "labels of people", "--judge": "verdicts: none shares most of its texts with the labels"}
        lines = "\n".join(guess_lines(guessed))
        raise JrhError(f"no column looks like {what[missing]}; name it with {missing} COLUMN\n{lines}")
    return evolve(completed, guessed=guessed)


def guess_lines(guessed: Sequence[tuple[str, str, str]]) -> Iterator[str]:
    """Yield the lines of a table that says what each column was taken for."""
    rows = [("column", "taken for", "to change it"), *((clean_text(name, 40), *use) for name, *use in guessed[:_SHOWN])]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
    if len(guessed) > _SHOWN:
        yield f"  and {len(guessed) - _SHOWN} more columns"


def check_request(request: CheckRequest, columns: Sequence[str]) -> None:
    """Check that the columns exist and that none is asked to be two things.

    Raises:
        JrhError: lists all columns that are missing, with the nearest ones, or named twice.
    """
    check_columns(request.option_columns(), columns)
    first: dict[str, str] = {}
    for option, column in request.option_columns():
        earlier = first.setdefault(column, option)
        if first[column] != option or list(request.judges).count(column) > 1:
            both = option if earlier == option else f"{earlier} and {option}"
            raise JrhError(f"column '{clean_text(column)}' is named twice, as {both}; name two different columns")
    # Without an item every row is one, and has no reruns.
    if request.item is None and (request.repeat is not None or request.reruns):
        raise JrhError("reruns need an item: name its column with --item")
