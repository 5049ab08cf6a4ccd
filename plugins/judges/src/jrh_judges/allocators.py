"""Drop judges that fail, before they are asked everything."""

from __future__ import annotations

from collections.abc import Sequence

from jrh import RecordTable, Status

from jrh_judges.options import DropOptions


class DropFailing:
    """Drop a judge once too large a share of its trials has no verdict.

    It sees statuses and no verdict, so what it decides cannot depend on whether a judge is right.
    """

    def __init__(self, options: DropOptions) -> None:
        """Take the size of a batch and the limit."""
        self.batch = options.batch
        self._limit = options.limit

    def keep(self, judges: Sequence[str], batch: int, records: RecordTable) -> list[str]:  # noqa: ARG002
        """Return the judges whose share of trials without a verdict, over all batches so far, is below the limit."""
        by_judge = records.split("judge")
        missing = {judge: 1.0 - rows.equals("status", Status.OK.value).mean() for (judge,), rows in by_judge}
        # A judge without records yet has not failed.
        return [judge for judge in judges if missing.get(judge, 0.0) < self._limit]
