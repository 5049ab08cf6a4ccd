"""The exporters hold the contract of exporters."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jrh_export.plugin
import pytest
from jrh_testing import ExporterContract

from .conftest import Langfuse
from .wandb_file import told


class TestLangfuse(ExporterContract):
    plugin = jrh_export.plugin
    component = "langfuse"

    @pytest.fixture(autouse=True)
    def service(self, langfuse: Langfuse) -> None:
        self.langfuse = langfuse

    def tool_contents(self, base: Path) -> Mapping[str, bytes]:
        return {key: json.dumps(body).encode() for key, body in self.langfuse.bodies.items()}


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@pytest.mark.skipif(importlib.util.find_spec("mlflow") is None, reason="`make test-extras` installs MLflow")
class TestMlflow(ExporterContract):
    plugin = jrh_export.plugin
    component = "mlflow"

    @pytest.fixture(autouse=True)
    def store(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.uri = f"sqlite:///{tmp_path}/mlflow.db"
        monkeypatch.setenv("MLFLOW_TRACKING_URI", self.uri)

    def tool_contents(self, base: Path) -> Mapping[str, bytes]:
        import mlflow

        client = mlflow.MlflowClient(tracking_uri=self.uri)
        (experiment,) = client.search_experiments(filter_string="name = 'jrh'")
        runs = client.search_runs([experiment.experiment_id])
        return {run.info.run_id: json.dumps([run.data.tags, run.data.metrics]).encode() for run in runs}


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@pytest.mark.skipif(importlib.util.find_spec("wandb") is None, reason="`make test-extras` installs wandb")
class TestWandb(ExporterContract):
    plugin = jrh_export.plugin
    component = "wandb"

    @pytest.fixture(autouse=True)
    def here(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("WANDB_DIR", raising=False)

    def tool_contents(self, base: Path) -> Mapping[str, bytes]:
        """Return what the service would hold: files of one run id are one run."""
        files = sorted((base / "work").glob("wandb/offline-run-*/*.wandb"))
        return {
            file.stem.removeprefix("run-"): json.dumps(_ours(told(file)), sort_keys=True).encode() for file in files
        }


def _ours(found: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Leave out what the library adds: times and versions, whose names begin with `_`, and addresses of files."""
    return {
        part: {key: each for key, each in values.items() if key[0] != "_" and not key.endswith("artifact_path")}
        for part, values in found.items()
    }
