"""A run in MLflow: a real store on this machine, and the numbers read back from it."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import jrh
import pytest
from jrh_export.rows import rows, rows_by_key
from jrh_interchange import export_run
from jrh_testing import Project, call

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("default"),
    pytest.mark.skipif(find_spec("mlflow") is None, reason="`make test-extras` installs MLflow"),
]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mlflow")


def test_the_numbers_read_back_are_those_of_the_run(
    run_dir: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(store)
    uri = f"sqlite:///{store}/mlflow.db"
    first = list(export_run(run_dir, "mlflow", {"tracking_uri": uri, "experiment": "judges"}))
    import mlflow  # takes seconds, which every collection would pay

    client = mlflow.MlflowClient(tracking_uri=uri)
    experiment = client.get_experiment_by_name("judges")
    (run,) = client.search_runs([experiment.experiment_id])
    assert run.info.run_id in first[0]
    assert run.info.status == "FINISHED"
    assert (run.data.tags["jrh.suite"], run.data.tags["jrh.simulated"]) == ("answers", "planted")
    with jrh.open_report(run_dir) as report:
        measures, table = report.measures, list(rows(report))
        for (key, row), measure in zip(rows_by_key(report), measures, strict=True):
            assert " simulated/" in key
            if measure.estimate is None:
                assert key not in run.data.metrics
                continue
            assert run.data.metrics[key] == measure.estimate
            assert run.data.metrics[f"{key}/trials"] == measure.n_trials
            assert run.data.metrics[f"{key}/clusters"] == measure.n_clusters
            assert run.data.metrics[f"{key}/missing"] == sum(measure.missing.values()) == row["missing"]
            if measure.interval is not None:
                assert run.data.metrics[f"{key}/low"] == measure.interval.low
                assert run.data.metrics[f"{key}/high"] == measure.interval.high
    assert any(row["missing"] for row in table)
    files = {each.path for each in client.list_artifacts(run.info.run_id)}
    assert files == {"measures.json", "report.html", "report.json", "records.csv"}
    written = json.loads(Path(client.download_artifacts(run.info.run_id, "measures.json", str(store))).read_text())
    assert written["columns"] == list(table[0])
    assert written["data"] == [list(row.values()) for row in table]

    again = list(export_run(run_dir, "mlflow", {"tracking_uri": uri, "experiment": "judges"}))
    assert again == [f"MLflow already has these numbers: run {run.info.run_id} of experiment 'judges'."]
    assert len(client.search_runs([experiment.experiment_id])) == 1

    client.delete_experiment(experiment.experiment_id)
    with pytest.raises(jrh.JrhError, match="'judges' is deleted"):
        list(export_run(run_dir, "mlflow", {"tracking_uri": uri, "experiment": "judges"}))


def test_no_password_of_an_address_is_told(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("MAX_RETRIES", "0"), ("TIMEOUT", "1")):
        monkeypatch.setenv(f"MLFLOW_HTTP_REQUEST_{name}", value)
    uri = "http://ann:do-not-show-me@127.0.0.1:9"
    done = call(Project(run_dir.parent), "export", str(run_dir), "--to", "mlflow", "--option", f"tracking_uri={uri}")
    assert done.exit_code == 2
    assert "MLflow: " in done.stderr
    assert "do-not-show-me" not in done.output
