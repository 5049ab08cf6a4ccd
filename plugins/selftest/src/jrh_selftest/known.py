"""Name the failures that are known and not mended, with the reason; they are shown as failures all the same."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Final

from attrs import evolve

from jrh_selftest.findings import Finding, Verdict

KNOWN: Final[Sequence[tuple[str, str, str]]] = ()
"""(place, name, why it fails); place and name may have `*`. The first that fits."""


def known_failure(finding: Finding, known: Sequence[tuple[str, str, str]] = KNOWN) -> Finding:
    """Return the row with the reason for a failure that is known. It fails all the same."""
    if finding.verdict is not Verdict.FAIL:
        return finding
    fitting = (
        why for where, name, why in known if fnmatchcase(finding.where, where) and fnmatchcase(finding.name, name)
    )
    return evolve(finding, known=next(fitting, ""))
