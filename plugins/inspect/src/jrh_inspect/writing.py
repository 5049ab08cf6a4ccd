"""Write edited transcripts as JSON Lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from attrs import frozen
from jrh import REFERENCE, Case, Equals, JrhError, Json, RunReport
from jrh_authoring import json_text

_CHUNK: Final = 20
"""Cases held at once."""
_SHOWN: Final = 5


@frozen(kw_only=True)
class Wanted:
    """Select cases of a run; None selects all."""

    task: str | None = None
    test: str | None = None
    variant: str | None = None

    def accepts(self, task: str, test: str, variant: str) -> bool:
        """Return whether a case is selected."""
        return (
            (self.task is None or task == self.task)
            and (test != REFERENCE if self.test is None else test == self.test)
            and (self.variant is None or variant == self.variant)
        )


@frozen(kw_only=True)
class Edited:
    """One case of a run whose transcript differs from its item's."""

    case: Case
    original: Sequence[Mapping[str, Json]]
    transcript: Sequence[Mapping[str, Json]]


def edited_transcripts(report: RunReport, wanted: Wanted) -> Iterator[Edited]:
    """Yield the cases with an edited transcript, in plan order; only a few are in memory at a time.

    Raises:
        JrhError: The run has no such task, test or variant.
    """
    rows = list(_rows(report))
    _check(wanted, rows)
    reference = {(row[1], row[4]): row[0] for row in rows if row[2] == REFERENCE}
    chosen = [(row[0], reference.get((row[1], row[4]), "")) for row in rows if wanted.accepts(row[1], row[2], row[3])]
    return _read(report, chosen)


def _read(report: RunReport, chosen: Sequence[tuple[str, str]]) -> Iterator[Edited]:
    for start in range(0, len(chosen), _CHUNK):
        some = chosen[start : start + _CHUNK]
        cases = report.evidence.cases(list({case_id for pair in some for case_id in pair}))
        for case_id, original_id in some:
            found = _edited(cases.get(case_id), cases.get(original_id))
            if found is not None:
                yield found


def as_line(edited: Edited) -> dict[str, Json]:
    """Return the JSON Lines object of one edited transcript."""
    case = edited.case
    return {
        "item": case.item_id,
        "task": case.task,
        "test": case.test,
        "variant": case.condition.variant,
        "case": case.id,
        "expected": case.expectation.label if isinstance(case.expectation, Equals) else None,
        "transcript": list(edited.transcript),
        "component": case.provenance.component,
        "details": case.provenance.details,
    }


def _rows(report: RunReport) -> Iterator[tuple[str, str, str, str, str]]:
    """Yield (case, task, test, variant, item) once per case."""
    seen: set[str] = set()
    columns = [report.records.text(name) for name in ("case_id", "task", "test", "variant", "item_id")]
    for row in zip(*columns, strict=True):
        case, task, test, variant, item = (value or "" for value in row)
        if case not in seen:
            seen.add(case)
            yield case, task, test, variant, item


def _check(wanted: Wanted, rows: Sequence[tuple[str, ...]]) -> None:
    for name, place in (("task", 1), ("test", 2), ("variant", 3)):
        value = getattr(wanted, name)
        known = list(dict.fromkeys(row[place] for row in rows))
        if value is not None and value not in known:
            listed = ", ".join(each for each in known[:_SHOWN] if each)
            raise JrhError(f"the run has no judged case for {name} '{value}'; available: {listed or 'none'}")


def _edited(case: Case | None, reference: Case | None) -> Edited | None:
    if case is None or reference is None:
        return None
    original, transcript = reference.fields.get("transcript"), case.fields.get("transcript")
    if original == transcript or not _is_messages(original) or not _is_messages(transcript):
        return None
    return Edited(case=case, original=original, transcript=transcript)  # type: ignore[arg-type]


def _is_messages(value: Json) -> bool:
    return (
        isinstance(value, Sequence) and not isinstance(value, str) and all(isinstance(each, Mapping) for each in value)
    )


def write_lines(path: Path, edited: Iterable[Edited]) -> int:
    """Write one JSON object per edited transcript; return how many.

    Raises:
        JrhError: The file already exists or cannot be written.
    """
    count = 0
    try:
        with suppress(FileExistsError):  # it is a file: said below
            path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            for each in edited:
                file.write(json_text(as_line(each)) + "\n")
                count += 1
    except FileExistsError as error:
        raise JrhError(f"{path} already exists; choose another name") from error
    except OSError as error:
        raise JrhError(f"{path}: cannot be written: {error.strerror or error}") from error
    return count
