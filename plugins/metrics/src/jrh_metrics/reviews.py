"""Read people's decisions about which perturbed cases are valid."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from jrh import JrhError
from jrh_interchange import csv_rows, next_csv_row

COLUMNS: Final = ("case_id", "valid")
_DECISIONS: Final[Mapping[str, bool]] = {
    "yes": True,
    "true": True,
    "1": True,
    "no": False,
    "false": False,
    "0": False,
}


def read_reviews(path: Path) -> Mapping[str, bool]:
    """Read a csv table of reviewed cases: case id -> whether the case is valid.

    Args:
        path: a csv file with the columns `case_id` and `valid` (yes or no, true or false, 1 or 0;
            empty: not reviewed); others are ignored.

    Raises:
        JrhError: it cannot be read, a column is missing, a decision is invalid, or a case has both decisions.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise JrhError(f"{path.name}: not UTF-8 text (byte {error.start + 1}); save the file as UTF-8") from error
    except OSError as error:
        raise JrhError(f"{path.name}: cannot be read: {error.strerror or error}") from error
    found: dict[str, bool] = {}
    for line, case, decision in _rows(path.name, text):
        if not decision.strip():
            continue  # not decided yet, or people disagree: `jrh review --export` lists these cases, too
        valid = _DECISIONS.get(decision.strip().casefold())
        if valid is None:
            raise JrhError(f"{path.name}:{line}: expected yes or no, got '{decision}'")
        if found.setdefault(case, valid) is not valid:
            raise JrhError(f"{path.name}:{line}: case '{case}' is valid in one row and invalid in another; keep one")
    return found


def _rows(name: str, text: str) -> Iterator[tuple[int, str, str]]:
    reader = csv.reader(text.splitlines(keepends=True), strict=True)
    try:
        header = next_csv_row(reader) or []
        missing = [column for column in COLUMNS if column not in header]
        if missing:
            raise JrhError(f"{name}:1: the table needs the columns case_id and valid; missing: {', '.join(missing)}")
        for cells in csv_rows(reader):
            if not cells:
                continue
            row = dict(zip(header, cells, strict=False))
            case, decision = (row.get(column, "").strip() for column in COLUMNS)
            if not case:
                raise JrhError(f"{name}:{reader.line_num}: the row has no case_id")
            yield reader.line_num, case, decision
    except csv.Error as error:
        raise JrhError(f"{name}:{reader.line_num}: not csv: {error}") from error
