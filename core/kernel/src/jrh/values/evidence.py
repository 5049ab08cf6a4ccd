"""What stands behind the records: cases and replies, for metrics and reports that need more than the verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from jrh.values.types import Case, Reply


@runtime_checkable
class Evidence(Protocol):
    """What stands behind the records, read on demand: large, and absent where records were imported."""

    def cases(self, case_ids: Sequence[str]) -> Mapping[str, Case]:
        """Return the cases that are known, by id."""

    def replies(self, trial_ids: Sequence[str]) -> Mapping[str, Reply]:
        """Return the replies that are known, by the id of their trial; secrets are taken out."""


class NoEvidence:
    """The evidence of records that came without any."""

    def cases(self, case_ids: Sequence[str]) -> Mapping[str, Case]:  # noqa: ARG002 - the signature is the protocol's
        """Know no case."""
        return {}

    def replies(self, trial_ids: Sequence[str]) -> Mapping[str, Reply]:  # noqa: ARG002 - the signature is the protocol's
        """Know no reply."""
        return {}
