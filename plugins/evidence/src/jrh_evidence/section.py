"""The section on planted evidence and planted errors: how much of a text a judge reads, and what it notices."""

from __future__ import annotations

from typing import Final

from jrh_measuring import MeasureTable, MeasureTables

_TEXT: Final = (
    "A judge that reads the whole text follows the evidence wherever it is planted; one that never sees it follows it "
    "as often as chance. The effect is the difference. With planted errors, the threshold is the number at which the "
    "judge notices half of the texts, and the lapse is the share that it misses however many there are."
)


def evidence_section() -> MeasureTables:
    """Build the section."""
    return MeasureTables(
        text=_TEXT,
        tables=(
            MeasureTable(
                caption="Verdicts that follow planted evidence",
                columns={
                    "evidence-follow": "follow it",
                    "evidence-chance": "by chance",
                    "evidence-effect": "effect",
                    "reads-first": "tokens read from the start",
                    "reads-last": "tokens read from the end",
                    "evidence-position-p": "test of position",
                },
            ),
            MeasureTable(
                caption="The same by length of the text",
                columns={"evidence-follow": "follow it", "input-seen": "share of the text that was sent"},
                levels={"length": "Tokens"},
            ),
            MeasureTable(
                caption="Number of errors until the judge notices",
                columns={
                    "error-threshold": "threshold, errors",
                    "error-slope": "slope, log odds",
                    "error-lapse": "lapse",
                },
                levels={"error": "Kind"},
                notes=True,
            ),
            MeasureTable(
                caption="Texts whose errors are noticed",
                columns={"error-noticed": "noticed"},
                levels={"error": "Kind", "errors": "Errors"},
            ),
        ),
    )
