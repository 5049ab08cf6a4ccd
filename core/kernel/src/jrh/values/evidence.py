"""Define access to items, cases and replies, for metrics and reports that need more than the verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from jrh.values.cases import Case
from jrh.values.items import Item
from jrh.values.verdicts import Reply


@runtime_checkable
class Evidence(Protocol):
    """Read what is behind the records on demand; it is large, and absent for imported records."""

    def items(self) -> Mapping[str, Sequence[Item]]:
        """Return the items of every task."""

    def cases(self, case_ids: Sequence[str]) -> Mapping[str, Case]:
        """Return the known cases, by id."""

    def replies(self, trial_ids: Sequence[str]) -> Mapping[str, Reply]:
        """Return the known replies, by trial id, with secrets removed."""


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
