"""What a metric knows of edited cases, and their sensitivity by number and position of the edits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np
from attrs import evolve, frozen
from jrh import Case, JrhError, Json, Measure, MetricContext, RecordTable, read_transcript
from jrh.text import TranscriptMessage
from jrh.values import Evidence
from jrh_measuring import Cell, Codes, Floats, Mask, MeasureBuilder, MetricOptions, Trials, as_expected, cells_of

PERTURBATION: Final = "agent-perturbation"
POSITIVES: Final = "agent-positives"
STYLE: Final = "agent-style"
FAMILIES: Final = (PERTURBATION, POSITIVES, STYLE)
DRAWS: Final = "agentic"
"""The name random numbers are drawn under."""


def of_families(trials: Trials, *families: str) -> Mask:
    """Return the trials of some families, shape (n,)."""
    column = trials.column("family")
    wanted = [code for code, name in enumerate(column.names) if name in families]
    return np.isin(column.codes, wanted)


_AT_ONCE: Final = 20
"""Cases that are held in memory; a transcript may have megabytes."""
_SEVERAL: Final = "several thirds"
POSITIONS: Final = ("first third", "middle third", "last third", _SEVERAL)
"""Where the edits of a case can stand."""


@frozen(kw_only=True)
class EditedCase:
    """One case whose transcript was edited."""

    id: str
    was: tuple[int, ...]
    """1-based numbers of the edited messages in the transcript before the edits."""
    present: tuple[int, ...]
    """1-based numbers in the transcript as presented; messages that are gone have none."""
    messages: int
    """Messages before the edits."""
    complete: bool
    """Whether all edits are listed."""
    case: Case

    @property
    def position(self) -> str:
        """Return the third of the transcript in which the edits stand, or that they stand in several."""
        thirds = {min(2, (3 * number - 2) // self.messages) if self.messages else 0 for number in self.was}
        return POSITIONS[thirds.pop()] if len(thirds) == 1 else _SEVERAL

    def transcript(self) -> tuple[TranscriptMessage, ...]:
        """Return the transcript as presented; empty where it cannot be read."""
        try:
            return read_transcript(self.case.fields.get("transcript"))
        except JrhError:
            return ()


def cases_with_edits(evidence: Evidence, case_ids: Sequence[str]) -> Iterator[EditedCase]:
    """Yield the cases that are known and have edits, a few at a time, in the order of the ids."""
    for start in range(0, len(case_ids), _AT_ONCE):
        # In slices, because the transcripts of all cases may not fit in memory.
        ids = case_ids[start : start + _AT_ONCE]
        cases = evidence.cases(ids)
        yield from filter(None, (_read_case(cases[case_id]) for case_id in ids if case_id in cases))


def _read_case(case: Case) -> EditedCase | None:
    details = case.provenance.details
    listed = details.get("edits")
    edits = [edit for edit in listed if isinstance(edit, Mapping)] if isinstance(listed, (list, tuple)) else []
    was, present = _numbers(edits, "was"), _numbers(edits, "message")
    messages = details.get("messages")
    if not was or not isinstance(messages, int):
        return None
    return EditedCase(
        id=case.id, was=was, present=present, messages=messages, complete=not details.get("edits_left_out"), case=case
    )


def _numbers(edits: Sequence[Mapping[str, Json]], key: str) -> tuple[int, ...]:
    values = (edit.get(key) for edit in edits)
    return tuple(sorted({number for number in values if isinstance(number, int) and number > 0}))


NAME: Final = "edit-sensitivity"


@frozen
class EditSensitivity:
    """How often the verdict on an edited transcript is the expected one.

    The expected one is the label that was aimed at, or, where nothing should matter, that of the reference condition: a
    trial then scores the share of the item's reference verdicts that it equals. Transcripts without an edit do not
    count.
    """

    options: MetricOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield `edit-sensitivity` per task, judge and test, by number of edits, and by third of the transcript."""
        # An imported log need not have strengths.
        if "strength" not in records.columns:
            return
        builder = MeasureBuilder.of(records, context, self.options, draws=DRAWS)
        trials = builder.trials
        edits = trials.records.number("strength")
        edited = of_families(trials, *FAMILIES) & (edits > 0)
        if not edited.any():
            return
        # Without `truth`: a family aims at one label by design, which is no fault of the gold labels.
        scores = evolve(as_expected(trials), truth=None)
        positions = _positions(trials, context, edited)
        for whole_cell in cells_of(trials):
            cell = evolve(whole_cell, rows=whole_cell.rows[edited[whole_cell.rows]])
            if len(cell.rows):
                for part in _parts(cell, edits, positions):
                    yield builder.rate(NAME, part, scores, nothing="no trial has a usable verdict")


def _parts(cell: Cell, edits: Floats, positions: Codes) -> Iterator[Cell]:
    """Yield the cell, and its parts by number and by position of the edits."""
    yield cell
    # A single part repeats the number of the cell, but it names the number or the place of the edits.
    for number in np.unique(edits[cell.rows]):
        yield cell.part({"edits": f"{number:g}"}, cell.rows[edits[cell.rows] == number])
    places = np.unique(positions[cell.rows])
    # Cases that are not stored have no known position.
    for place in places[places >= 0]:
        yield cell.part({"position": POSITIONS[place]}, cell.rows[positions[cell.rows] == place])


def _positions(trials: Trials, context: MetricContext, edited: Mask) -> Codes:
    """Return in which of `POSITIONS` the edits of every trial stand, -1 where that is not known, shape (n,)."""
    names = [trials.case.names[code] for code in np.unique(trials.case.codes[edited])]
    known = {case.id: POSITIONS.index(case.position) for case in cases_with_edits(context.evidence, names)}
    of_case = np.array([known.get(name, -1) for name in trials.case.names], dtype=np.int64)
    return of_case[trials.case.codes]
