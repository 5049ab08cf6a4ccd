"""A run as scores of Langfuse, over its public ingestion API."""

from __future__ import annotations

from pathlib import Path

import jrh
import pytest
from attrs import evolve
from jrh_export import to_langfuse
from jrh_export.options import LangfuseOptions
from jrh_export.rows import rows_by_key
from jrh_export.to_langfuse import Endpoint
from jrh_interchange import export_run
from jrh_testing import loop_over, sample_report

from .conftest import SECRET, Langfuse


def test_every_number_has_its_interval_sizes_and_missing_verdicts(run_dir: Path, langfuse: Langfuse) -> None:
    told = "\n".join(export_run(run_dir, "langfuse"))
    with jrh.open_report(run_dir) as report:
        measures, records = report.measures, report.records
        (trace,) = (body for body in langfuse.bodies.values() if body.get("metadata", {}).get("jrh.suite") == "answers")
        numbers = {body["name"]: body for body in langfuse.bodies.values() if body.get("dataType") == "NUMERIC"}
        assert len(numbers) == sum(each.estimate is not None for each in measures) >= 3
        for (key, row), measure in zip(rows_by_key(report), measures, strict=True):
            if measure.estimate is None:
                assert key not in numbers
                continue
            sent = numbers[key]
            assert (sent["value"], sent["traceId"]) == (measure.estimate, trace["id"])
            assert sent["metadata"] == row
            assert f"n = {measure.n_trials} trials" in sent["comment"]
            assert f"missing {sum(measure.missing.values())}" in sent["comment"]
            assert "simulated judge" in sent["comment"]
            if measure.interval is not None:
                assert f"95% interval {measure.interval.low:.4g} to {measure.interval.high:.4g}" in sent["comment"]
        assert trace["metadata"]["jrh.simulated"] == "planted"
        verdicts = [body for body in langfuse.bodies.values() if body.get("dataType") == "CATEGORICAL"]
        missing = [body for body in verdicts if body["name"].endswith("/missing")]
        assert len(verdicts) == len(records)
        assert 0 < len(missing) == int((~records.equals("status", "ok")).sum())
        assert {body["value"] for body in verdicts} - {body["value"] for body in missing} == {"YES", "NO"}
        assert all(body["name"].startswith("planted simulated/") for body in verdicts)
    assert f"{len(missing)} missing" in told


def test_exporting_again_adds_nothing(run_dir: Path, langfuse: Langfuse) -> None:
    list(export_run(run_dir, "langfuse"))
    before = set(langfuse.bodies)
    list(export_run(run_dir, "langfuse"))
    assert set(langfuse.bodies) == before


def test_verdicts_go_to_the_traces_of_the_items(run_dir: Path, langfuse: Langfuse) -> None:
    list(export_run(run_dir, "langfuse", {"traces": "items"}))
    with jrh.open_report(run_dir) as report:
        items = set(report.records.text("item_id"))
    assert {body["traceId"] for body in langfuse.bodies.values() if body.get("dataType") == "CATEGORICAL"} == items


def test_no_key_is_told(run_dir: Path, langfuse: Langfuse, monkeypatch: pytest.MonkeyPatch) -> None:
    langfuse.answers = [(400, {})]
    with pytest.raises(jrh.JrhError, match="HTTP 400") as refused:
        list(export_run(run_dir, "langfuse"))
    assert "[redacted]" in str(refused.value)
    assert refused.value.__cause__ is None
    monkeypatch.setenv("OTHER_NAME", "sk-another-secret")
    with pytest.raises(jrh.JrhError, match=r"rejects the keys \(HTTP 401\); check both"):
        list(export_run(run_dir, "langfuse", {"secret_key_env": "OTHER_NAME"}))
    assert SECRET not in repr(Endpoint.of("http://127.0.0.1", "pk", SECRET, timeout=1))


@pytest.mark.parametrize("status", [301, 307, 308])
def test_no_redirect_gets_the_keys(run_dir: Path, langfuse: Langfuse, status: int) -> None:
    langfuse.answers = [(status, {"Location": "http://127.0.0.1:9/api/public/ingestion"})]
    with pytest.raises(jrh.JrhError, match=f"HTTP {status}"):
        list(export_run(run_dir, "langfuse"))
    assert langfuse.requests == 1


def test_a_busy_server_is_asked_again(run_dir: Path, langfuse: Langfuse) -> None:
    langfuse.answers = [(429, {"Retry-After": "0"}), (503, {"Retry-After": "0"})]
    assert list(export_run(run_dir, "langfuse", {"verdicts": False}))
    assert langfuse.requests == 3


def test_batches_stay_below_the_limit(langfuse: Langfuse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jrh_export.to_langfuse._LARGEST", 5000)
    report = sample_report()
    list(to_langfuse.LangfuseExporter(LangfuseOptions()).export(report, ()))
    assert langfuse.requests > 5
    assert langfuse.largest <= 5000 + 20
    assert sum(body.get("dataType") == "CATEGORICAL" for body in langfuse.bodies.values()) == len(report.records)


def test_a_part_that_is_refused_is_an_error(langfuse: Langfuse) -> None:
    report = sample_report()
    wrong = evolve(report.measures[0], estimate=True)  # no number
    with pytest.raises(jrh.JrhError, match="rejected 1 of the next: value does not fit"):
        list(to_langfuse.LangfuseExporter(LangfuseOptions()).export(evolve(report, measures=(wrong,)), ()))


@loop_over("host", ["ftp://x", "localhost:3000", "http://", "http://me:pw@host", "http://h ost", "http://[x"])
def test_an_address_that_is_none_is_refused_without_its_password(host: str) -> None:
    with pytest.raises(jrh.JrhError, match="is not the URL of a Langfuse server, such as") as refused:
        Endpoint.of(host, "pk", "sk", timeout=1)
    assert "pw" not in str(refused.value)


def test_missing_keys_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LANGFUSE_SECRET_KEY", raising=False)
    monkeypatch.setenv("LANGFUSE_PUBLIC_KEY", "pk")
    with pytest.raises(jrh.JrhError, match=r"^Langfuse needs its keys: set LANGFUSE_SECRET_KEY$"):
        to_langfuse.LangfuseExporter(LangfuseOptions())
