"""What stands behind the records, out of a run's store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from attrs import frozen

from jrh.document.serial import from_text
from jrh.store.run_store import Store
from jrh.values.types import Case, Reply


@frozen(kw_only=True)
class StoredEvidence:
    """Reads cases and replies by id; nothing is kept in memory."""

    store: Store

    def cases(self, case_ids: Sequence[str]) -> Mapping[str, Case]:
        """Return the cases that are stored, by id."""
        return {key: from_text(Case, text) for key, text in self._payloads("cases", "id", "payload", case_ids)}

    def replies(self, trial_ids: Sequence[str]) -> Mapping[str, Reply]:
        """Return the replies that are stored, by the id of their trial."""
        return {key: from_text(Reply, text) for key, text in self._payloads("records", "trial_id", "reply", trial_ids)}

    def _payloads(self, table: str, key: str, column: str, ids: Sequence[str]) -> Iterator[tuple[str, str]]:
        for some in _chunks(ids):
            marks = ", ".join("?" * len(some))
            yield from self.store.read(
                f"SELECT {key}, {column} FROM {table} WHERE {key} IN ({marks}) AND {column} IS NOT NULL",  # noqa: S608
                some,
            )


def _chunks(ids: Sequence[str], size: int = 500) -> Iterator[tuple[str, ...]]:
    for start in range(0, len(ids), size):
        yield tuple(ids[start : start + size])
