"""The measures of every metric; `docs/measures.md` is generated from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from jrh.plugins import MeasureInfo
from jrh_measuring import describe_difference, describe_rate

MEASURES: Final[Mapping[str, tuple[MeasureInfo, ...]]] = {
    "agent-error-rates": (
        describe_rate("agent-false-negative-rate", "share of planted violations that the judge misses"),
        describe_rate("agent-false-positive-rate", "share of good transcripts that the judge flags"),
        describe_rate(
            "agent-accuracy",
            "share of both kinds of transcript that get the expected label; on scales with levels, the target level",
            better="higher",
            source="jrh",
            on_request=True,
        ),
    ),
    "edit-sensitivity": (
        describe_rate(
            "edit-sensitivity",
            "share of verdicts on edited transcripts that are as expected: for the whole test, by number of edits "
            "(`edits`), and by third of the transcript (`position`)",
            better="higher",
            source="jrh",
        ),
    ),
    "evidence-localisation": (
        describe_rate(
            "evidence-localisation",
            "share of right verdicts on perturbed transcripts whose rationale points at an edited message, among "
            "those with a rationale",
            better="higher",
            flags=(),
            source="jrh",
        ),
        describe_rate(
            "evidence-localisation-by-chance",
            "the same share if each rationale pointed at k random messages of the assistant's n, of which e are "
            "edited: 1 - C(n - e, k) / C(n, k)",
            better="",
            flags=(),
            source="jrh",
            on_request=True,
        ),
        describe_difference(
            "evidence-localisation-above-chance",
            "`evidence-localisation` minus `evidence-localisation-by-chance`",
            better="higher",
            interval="`cluster-robust-wilson`",
            source="jrh",
        ),
    ),
}
"""Metric -> its measures."""
