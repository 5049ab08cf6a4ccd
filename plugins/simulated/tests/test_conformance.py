"""The contracts of judges and models."""

from __future__ import annotations

from typing import ClassVar

import jrh_simulated.plugin
from jrh_testing import JudgeContract, ModelContract


class TestPerfectJudge(JudgeContract):
    plugin = jrh_simulated.plugin
    component = "simulated"


class TestFlawedJudge(JudgeContract):
    plugin = jrh_simulated.plugin
    component = "simulated"
    options: ClassVar = {
        "accuracy": 0.7,
        "error": "adjacent",
        "position_preference": -0.2,
        "length_preference": 0.3,
        "format_sensitivity": 0.4,
        "meaning_blindness": 0.5,
        "polarity_blindness": 0.6,
        "rerun_noise": 0.3,
        "refusals": 0.1,
        "unparsable": 0.1,
        "timeouts": 0.1,
    }


class TestLabelModel(ModelContract):
    plugin = jrh_simulated.plugin
    component = "simulated"
    other_options: ClassVar = {"labels": ["A", "B"]}


class TestScriptedModel(ModelContract):
    plugin = jrh_simulated.plugin
    component = "simulated"
    options: ClassVar = {"mode": "script", "script": ["one", "two"], "refusals": 0.2, "garbage": 0.2}
    other_options: ClassVar = {"script": ["one", "three"]}
