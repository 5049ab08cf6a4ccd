"""The contracts that the judges and the metric hold."""

from __future__ import annotations

from typing import ClassVar

import jrh_reward.plugin
import pytest
from attrs import evolve
from jrh import Mode, Record, Scale, Task
from jrh_testing import JudgeContract, MetricContract, RuleContract, sample_records, sample_task

SCORE = "def score(question):\n    return len(str(question['fields'])) % 7 - 3.0\n"


class TestFunction(JudgeContract):
    plugin = jrh_reward.plugin
    component = "score-function"
    options: ClassVar = {"function": "rm.py:score"}
    required_options = ("function",)
    files: ClassVar = {"rm.py": SCORE}


class TestProbability(TestFunction):
    options: ClassVar = {"function": "rm.py:score", "decide": {"probability": "logistic"}}
    task = sample_task(Mode.PAIRWISE, Scale.of_pairs())


class TestHttp(JudgeContract):
    plugin = jrh_reward.plugin
    component = "score-http"
    options: ClassVar = {"url": "http://127.0.0.1:9/score"}
    required_options = ("url",)

    @pytest.fixture(autouse=True)
    def endpoint(self, monkeypatch, scoring_server):
        monkeypatch.setattr(type(self), "options", {"url": scoring_server})


class TestScoreQuality(MetricContract):
    plugin = jrh_reward.plugin
    component = "score-quality"

    def records_of(self, task: Task) -> tuple[Record, ...]:
        """Give every verdict a score that follows its label, with some noise."""
        places = {label: place for place, label in enumerate(task.scale.labels)}
        return tuple(
            record
            if record.canonical is None
            else evolve(record, score=places[record.canonical] + (sum(map(ord, record.trial_id)) % 13) / 5)
            for record in sample_records(task)
        )


class TestScores(RuleContract):
    plugin = jrh_reward.plugin
    component = "scores"
