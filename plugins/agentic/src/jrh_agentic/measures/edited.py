"""What a metric knows of edited cases: their families, which messages were edited, where they stand, what they say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np
from attrs import frozen
from jrh import Case, JrhError, Json, read_transcript
from jrh.text import TranscriptMessage
from jrh.values import Evidence
from jrh_measuring import Mask, Trials

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
    now: tuple[int, ...]
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


def edited_cases(evidence: Evidence, case_ids: Sequence[str]) -> Iterator[EditedCase]:
    """Yield the cases that are known and have edits, a few at a time, in the order of the ids."""
    for start in range(0, len(case_ids), _AT_ONCE):
        some = case_ids[start : start + _AT_ONCE]
        cases = evidence.cases(some)
        yield from (edited for each in some if each in cases and (edited := _edited(cases[each])) is not None)


def _edited(case: Case) -> EditedCase | None:
    details = case.provenance.details
    listed = details.get("edits")
    edits = [edit for edit in listed if isinstance(edit, Mapping)] if isinstance(listed, (list, tuple)) else []
    was, now = _numbers(edits, "was"), _numbers(edits, "message")
    messages = details.get("messages")
    if not was or not isinstance(messages, int):
        return None
    return EditedCase(
        id=case.id, was=was, now=now, messages=messages, complete=not details.get("edits_left_out"), case=case
    )


def _numbers(edits: Sequence[Mapping[str, Json]], key: str) -> tuple[int, ...]:
    found = (edit.get(key) for edit in edits)
    return tuple(sorted({number for number in found if isinstance(number, int) and number > 0}))
