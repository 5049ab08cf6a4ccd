"""What stands behind the records, out of a run's store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import frozen

from jrh.running.stages.stored_records import records_as_made
from jrh.store.run_store import Store
from jrh.values.cases import Case
from jrh.values.evidence import CasesAsMade
from jrh.values.items import Item
from jrh.values.verdicts import Reply


@frozen(kw_only=True)
class StoredEvidence:
    """Reads items, and cases and replies by id; nothing is kept in memory."""

    store: Store

    def items(self) -> Mapping[str, Sequence[Item]]:
        """Return the items of every task that are stored."""
        return self.store.items.read()

    def cases(self, case_ids: Sequence[str]) -> Mapping[str, Case]:
        """Return the cases that are stored, by id."""
        return self.store.cases.by_id(case_ids)

    def as_made(self) -> CasesAsMade | None:
        """Return the records of all cases as they were made, with what stages decided on these; None if nothing."""
        valid = self.store.cases.validity()
        if not valid:
            return None
        gone = self.store.cases.by_id([name for name, as_made in valid.items() if not as_made])
        return CasesAsMade(valid=valid, records=records_as_made(self.store, gone))

    def replies(self, trial_ids: Sequence[str]) -> Mapping[str, Reply]:
        """Return the replies that are stored, by the id of their trial."""
        return self.store.records.replies(trial_ids)
