"""Name the failures that are known and not mended, with the reason; they are shown as failures all the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from attrs import evolve

from jrh_selftest.findings import Finding, Verdict

KNOWN: Final[Mapping[tuple[str, str], str]] = {}
"""(place, name) -> why it fails."""


def known_failure(finding: Finding) -> Finding:
    """Return the row with the reason for a failure that is known."""
    if finding.verdict is not Verdict.FAIL:
        return finding
    return evolve(finding, known=KNOWN.get((finding.where, finding.name), ""))
