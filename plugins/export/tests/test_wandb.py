"""A run in Weights & Biases, offline: the file that `wandb sync` uploads is read back."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import jrh
import pytest
from jrh_export.rows import rows, rows_by_key
from jrh_interchange import export_run

from .wandb_file import told as told_file

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("default"),
    pytest.mark.skipif(find_spec("wandb") is None, reason="`make test-extras` installs wandb"),
]
KEY: Final = "do-not-show-me-" + "0" * 30


def test_the_numbers_read_back_are_those_of_the_run(
    run_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WANDB_API_KEY", KEY)
    told = list(export_run(run_dir, "wandb", {"directory": str(tmp_path)}))
    (path,) = tmp_path.glob("wandb/offline-run-*/*.wandb")
    assert told[1] == f"Nothing was sent. To upload it: wandb sync {path.parent}"
    config, summary = told_file(path).values()

    assert (config["jrh.suite"], config["jrh.simulated"]) == ("answers", "planted")
    with jrh.open_report(run_dir) as report:
        found = [(key, row) for key, row in rows_by_key(report) if row["estimate"] is not None]
        assert len(found) >= 3
        for key, row in found:
            assert " simulated/" in key
            names = {"": "estimate", "/low": "low", "/high": "high", "/trials": "trials", "/missing": "missing"}
            assert {end: summary[f"{key}{end}"] for end in names} == {end: row[name] for end, name in names.items()}
        (table,) = (tmp_path / "wandb").glob("**/measures*.table.json")
        assert json.loads(table.read_text())["data"] == [list(row.values()) for row in rows(report)]
    everything = [each.read_bytes() for each in (tmp_path / "wandb").rglob("*") if each.is_file()]
    assert not any(KEY.encode() in content for content in everything)


def test_online_without_a_service_is_one_sentence(
    run_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WANDB_API_KEY", KEY)
    monkeypatch.setenv("WANDB_BASE_URL", "http://127.0.0.1:9")
    with pytest.raises(jrh.JrhError, match=r"^Weights & Biases: ") as refused:
        list(export_run(run_dir, "wandb", {"directory": str(tmp_path), "mode": "online", "timeout": 2}))
    assert KEY not in str(refused.value)
