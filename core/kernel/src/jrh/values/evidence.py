"""Define access to items, cases and replies, for metrics and reports that need more than the verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from attrs import frozen

from jrh.values.cases import Case
from jrh.values.items import Item
from jrh.values.verdicts import Reply

if TYPE_CHECKING:
    from jrh.values.records import RecordTable


@frozen(kw_only=True)
class CasesAsMade:
    """The cases as they were before people rejected and edited some of them."""

    valid: Mapping[str, bool]
    """Case id -> whether people accept the case as it was made; cases without a decision that counts are left out."""
    records: RecordTable
    """The records of all cases as they were made, as far as these were judged."""


@runtime_checkable
class Evidence(Protocol):
    """Read what is behind the records on demand; it is large, and absent for imported records."""

    def items(self) -> Mapping[str, Sequence[Item]]:
        """Return the items of every task."""

    def cases(self, case_ids: Sequence[str]) -> Mapping[str, Case]:
        """Return the known cases, by id."""

    def replies(self, trial_ids: Sequence[str]) -> Mapping[str, Reply]:
        """Return the known replies, by trial id, with secrets removed."""

    def as_made(self) -> CasesAsMade | None:
        """Return the cases as they were made; None if there are no decisions."""


class NoEvidence:
    """Stand in for missing evidence, as with imported records."""

    def items(self) -> Mapping[str, Sequence[Item]]:
        """Return no items."""
        return {}

    def cases(self, case_ids: Sequence[str]) -> Mapping[str, Case]:  # noqa: ARG002 - the signature is the protocol's
        """Return no cases."""
        return {}

    def replies(self, trial_ids: Sequence[str]) -> Mapping[str, Reply]:  # noqa: ARG002 - the signature is the protocol's
        """Return no replies."""
        return {}

    def as_made(self) -> CasesAsMade | None:
        """Return None: there are no decisions."""
        return None
