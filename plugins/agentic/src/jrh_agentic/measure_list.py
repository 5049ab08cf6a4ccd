"""The measures of every metric; `docs/measures.md` is generated from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from jrh.plugins import MeasureInfo

MEASURES: Final[Mapping[str, tuple[MeasureInfo, ...]]] = {
    "agent-error-rates": (
        MeasureInfo(
            name="agent-false-negative-rate",
            formula="share of planted violations that the judge misses",
            better="lower",
            flags=("sensitive-to-missing",),
            rate=True,
        ),
        MeasureInfo(
            name="agent-false-positive-rate",
            formula="share of good transcripts that the judge flags",
            better="lower",
            flags=("sensitive-to-missing",),
            rate=True,
        ),
        MeasureInfo(
            name="agent-accuracy",
            formula="share of both kinds of transcript that get the expected label; on scales with levels, the "
            "target level",
            better="higher",
            flags=("sensitive-to-missing",),
            rate=True,
            source="jrh",
        ),
    ),
    "edit-sensitivity": (
        MeasureInfo(
            name="edit-sensitivity",
            formula="share of verdicts on edited transcripts that are as expected: for the whole test, by number "
            "of edits (`edits`), and by third of the transcript (`position`)",
            better="higher",
            flags=("sensitive-to-missing",),
            rate=True,
            source="jrh",
        ),
    ),
    "evidence-localisation": (
        MeasureInfo(
            name="evidence-localisation",
            formula="share of right verdicts on perturbed transcripts whose rationale points at an edited message, "
            "among those with a rationale",
            better="higher",
            rate=True,
            source="jrh",
        ),
        MeasureInfo(
            name="evidence-localisation-by-chance",
            formula="the same share if each rationale pointed at k random messages of the assistant's n, of which "
            "e are edited: 1 - C(n - e, k) / C(n, k)",
            rate=True,
            source="jrh",
        ),
        MeasureInfo(
            name="evidence-localisation-above-chance",
            formula="`evidence-localisation` minus `evidence-localisation-by-chance`",
            unit="difference",
            better="higher",
            interval="`cluster-robust-wilson`",
            source="jrh",
        ),
    ),
}
"""Metric -> its measures."""
