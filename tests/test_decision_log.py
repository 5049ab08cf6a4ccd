"""JSS of a decision log: jrh-import reads it, jrh-prompts measures it."""

from __future__ import annotations

import json

import pytest
from jrh import MetricContext, RecordTable
from jrh_import.decisions import read_log
from jrh_import.options import JudgeSenseOptions
from jrh_prompts.options import SensitivityOptions
from jrh_prompts.sensitivity import TemplateSensitivity
from jrh_testing import prompt_pair_row


def decided(number, a, b, **more):
    return {**prompt_pair_row(number), "decision_a": a, "decision_b": b, **more}


def write(path, rows):
    path.write_text("\n".join(json.dumps(each) for each in rows), encoding="utf-8")
    return path.name


def test_jss_of_a_log_needs_no_model(tmp_path):
    path = tmp_path / "log.jsonl"
    write(path, [decided(1, "YES", "NO"), decided(2, "NO", "NO"), decided(3, "NO", "NO"), decided(4, "NO", "hm")])
    log = read_log(path, JudgeSenseOptions(scale="YES,NO", off_scale=True))
    table = RecordTable.from_records(log.records)
    context = MetricContext(tasks={task.name: task for task in log.tasks}, resamples=100)
    found = {
        each.name: each for each in TemplateSensitivity(SensitivityOptions()).measure(table, context) if not each.cell
    }
    assert found["jss"].estimate == pytest.approx(2 / 3)
    assert dict(found["jss"].missing) == {"off_scale": 1}
