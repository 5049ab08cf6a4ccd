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
            formula="share of both that get the expected label; on scales with levels, the target level",
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
            "of edits (`edits`), by third of the transcript (`position`)",
            better="higher",
            flags=("sensitive-to-missing",),
            rate=True,
            source="jrh",
        ),
    ),
    "evidence-localisation": (
        MeasureInfo(
            name="evidence-localisation",
            formula="of the right verdicts on perturbed transcripts with a rationale, the share that points at an "
            "edited message",
            better="higher",
            rate=True,
            source="jrh",
        ),
        MeasureInfo(
            name="evidence-localisation-by-chance",
            formula="the same share if each rationale pointed at k of the assistant's n messages at random, e of "
            "them edited: 1 - C(n - e, k) / C(n, k)",
            rate=True,
            source="jrh",
        ),
        MeasureInfo(
            name="evidence-localisation-above-chance",
            formula="the difference of the two",
            unit="difference",
            better="higher",
            interval="`cluster-robust-wilson`",
            source="jrh",
        ),
    ),
}
"""Metric -> its measures."""
