import pytest
from jrh_testing import Inside

WRONG = '''
"""A metric with a wrong interval: the spread of bootstrap means over trials, as if it were a confidence interval."""

import numpy as np
from jrh import REFERENCE, Interval, Measure, MetricSpec, hookimpl


class WrongAsExpected:
    def measure(self, records, context):
        for test in records.categories("test"):
            rows = records.where(records.equals("test", test) & records.equals("status", "ok"))
            right = np.array([a == b for a, b in zip(rows.text("canonical"), rows.text("gold"))], dtype=float)
            if not len(right):
                continue
            generator = np.random.default_rng(context.seed)
            means = generator.choice(right, (200, len(right))).mean(axis=1)
            estimate, spread = right.mean() + {shift}, means.std() * {factor}
            yield Measure(
                name="wrong-as-expected", judge="planted", task=rows.text("task")[0], test=test, estimate=estimate,
                interval=Interval(low=estimate - spread, high=estimate + spread, method="spread"),
                n_trials=len(right), n_items=len(right),
            )


@hookimpl
def jrh_metrics():
    yield MetricSpec(name="wrong-as-expected", summary="wrong on purpose", factory=lambda *_: WrongAsExpected())
'''


@pytest.fixture
def project(tmp_path):
    return Inside(tmp_path)


@pytest.fixture
def wrong(project):
    """Return a function that writes the local plugin with a factor on its interval and a shift of its estimate."""

    def write(factor="1.0", shift="0.0"):
        project.write("wrong.py", WRONG.replace("{factor}", factor).replace("{shift}", shift))
        return project

    return write
