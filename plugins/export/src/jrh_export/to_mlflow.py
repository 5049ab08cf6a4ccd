"""Export a run to MLflow."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from jrh import JrhError, RunReport
from jrh.text import clean_text, count_noun
from jrh_measuring import MEASURE_COLUMNS

from jrh_export.options import MlflowOptions
from jrh_export.rows import about, digest, numbers, rows, rows_by_key, without_keys

if TYPE_CHECKING:
    from mlflow.tracking import MlflowClient

_AT_ONCE: Final = 500
"""Metrics of one request; servers take 1,000."""
_DIGEST: Final = "jrh.digest"
_TABLE: Final = "measures.json"


class MlflowExporter:
    """Write every measure as metrics with interval, sizes and missing verdicts, and all of them as a table."""

    def __init__(self, options: MlflowOptions) -> None:
        """Check that MLflow is installed.

        Raises:
            JrhError: it is not.
        """
        try:
            import mlflow  # noqa: F401
        except ImportError as error:
            raise JrhError(f"MLflow is not installed ({error}): pip install 'jrh-export[mlflow]'") from None
        self._options = options

    def export(self, report: RunReport, attached: Sequence[Path]) -> Iterator[str]:
        """Make an MLflow run of this run; one with the same numbers is not made again.

        Raises:
            JrhError: MLflow refuses, or the store cannot be reached.
        """
        from mlflow.exceptions import MlflowException
        from mlflow.tracking import MlflowClient

        try:
            client = MlflowClient(tracking_uri=self._options.tracking_uri or None)
            yield from self._export(client, report, attached if self._options.reports else ())
        except MlflowException as error:
            raise JrhError(f"MLflow: {clean_text(without_keys(str(error)), 500)}") from None

    def _export(self, client: MlflowClient, report: RunReport, attached: Sequence[Path]) -> Iterator[str]:
        name = self._options.experiment
        experiment = _experiment(client, name)
        mark = digest(report)
        # By the numbers rather than the run: a run that was continued is exported again.
        there = client.search_runs([experiment], f"tags.`{_DIGEST}` = '{mark}' and attributes.status = 'FINISHED'")
        if there:
            yield f"MLflow already has these numbers: run {there[0].info.run_id} of experiment '{name}'."
            return
        run = client.create_run(experiment, tags={**about(report), _DIGEST: mark}, run_name=clean_text(report.suite))
        try:
            estimates = _log(client, run.info.run_id, report, attached)
        except BaseException:
            # A half-written run must not be taken for a finished one by the search above, next time.
            client.set_terminated(run.info.run_id, status="FAILED")
            raise
        client.set_terminated(run.info.run_id)
        yield (
            f"MLflow run {run.info.run_id} of experiment '{name}': {count_noun(estimates, 'estimate')} as metrics, "
            f"{count_noun(len(report.measures), 'measure')} in measures.json."
        )
        if attached:
            yield f"Attached: {', '.join(path.name for path in attached)}."


def _experiment(client: MlflowClient, name: str) -> str:
    experiment = client.get_experiment_by_name(name)
    if experiment is None:
        return str(client.create_experiment(name))
    if experiment.lifecycle_stage != "active":
        raise JrhError(f"the MLflow experiment '{name}' is deleted: restore it, or pass --option experiment=NAME")
    return str(experiment.experiment_id)


def _log(client: MlflowClient, run: str, report: RunReport, attached: Sequence[Path]) -> int:
    """Write metrics, table and files; return how many measures have an estimate."""
    from mlflow.entities import Metric

    milliseconds, estimates, metrics = int(time.time() * 1000), 0, []
    for key, row in rows_by_key(report):
        numbers_of_row = numbers(row)
        estimates += bool(numbers_of_row)
        metrics += [Metric(f"{key}{end}", value, milliseconds, 0) for end, value in numbers_of_row.items()]
    for start in range(0, len(metrics), _AT_ONCE):
        client.log_batch(run, metrics=metrics[start : start + _AT_ONCE])
    # What `log_table` writes, but for its rounding to ten digits; the tag makes the file a table on MLflow's page.
    table = {"columns": MEASURE_COLUMNS, "data": [list(row.values()) for row in rows(report)]}
    client.log_text(run, json.dumps(table, allow_nan=False), _TABLE)
    client.set_tag(run, "mlflow.loggedArtifacts", json.dumps([{"path": _TABLE, "type": "table"}]))
    for path in attached:
        client.log_artifact(run, str(path))
    return estimates
