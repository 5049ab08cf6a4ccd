"""Define what `jrh check` is asked, and find the columns it names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from attrs import field, frozen
from attrs.validators import gt, lt, min_len
from jrh import JrhError
from jrh.text import clean_text
from jrh_interchange import check_columns


@frozen(kw_only=True)
class CheckRequest:
    """What to check, and in which columns."""

    path: Path
    judges: tuple[str, ...] = field(validator=min_len(1))
    """Columns with verdicts, one per judge."""
    human: str
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

    def option_columns(self) -> Iterator[tuple[str, str]]:
        """Yield every option and the column it names."""
        yield from (("--judge", judge) for judge in self.judges)
        yield "--human", self.human
        optional = {"--item": self.item, "--group": self.group, "--repeat": self.repeat}
        yield from ((option, column) for option, column in optional.items() if column is not None)
        yield from (("--covariate", column) for column in self.covariates)


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
