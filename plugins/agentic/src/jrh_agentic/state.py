"""Hold the state of one transcript in the pipeline and record it for the provenance."""

from __future__ import annotations

from typing import Final

from attrs import Factory, define
from jrh import Item, Json, Skip
from jrh.text import TranscriptMessage

from jrh_agentic.aims import Aim
from jrh_agentic.asking import Journal
from jrh_agentic.diffs import Edit, described

_EDITS_SHOWN: Final = 8_000
"""Characters of the edits made so far that a role is shown; the last ones stay."""


@define(kw_only=True)
class Run:
    """The state of one transcript on its way."""

    item: Item
    aim: Aim
    messages: list[TranscriptMessage]
    summary: str = ""
    journal: Journal = Factory(Journal)
    edits: list[Edit] = Factory(list)
    summaries: list[Json] = Factory(list)
    rounds: list[dict[str, Json]] = Factory(list)
    objections: list[str] = Factory(list)
    left_out: int = 0
    """Characters of the transcript that the planner was not shown."""

    def shown_edits(self) -> str:
        """Return the edits made so far, the last ones where they are many."""
        shown = [f"message {edit.message}: {edit.what}\n{edit.diff}" for edit in self.edits]
        text = "\n\n".join(shown)
        return text if len(text) <= _EDITS_SHOWN else f"[earlier edits left out]\n{text[-_EDITS_SHOWN:]}"

    def details(self) -> dict[str, Json]:
        """Return everything that was done, for the provenance."""
        return {
            "by": "model",
            "wanted": self.aim.label,
            "rounds": list(self.rounds),
            **described(self.edits),
            "summaries": self.summaries,
            "calls": list(self.journal.calls),
            "costs": self.journal.costs(),
            "messages": len(self.messages),
            "left_out": self.left_out,
        }

    def skip(self, reason: str) -> Skip:
        """Return the skip for a transcript that cannot become a case."""
        return Skip(reason=reason, variant=self.aim.variant, details=self.details())
