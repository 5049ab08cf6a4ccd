"""Planted errors, and a judge that notices three or more of them."""

from __future__ import annotations

import json

import jrh_evidence.plugin
import numpy as np
import pytest
import yaml
from jrh import Item, Mode
from jrh_testing import Inside, build, sample_task

pytestmark = pytest.mark.inside
TEXT = "It was 12 km. It is far. We saw 7 birds. They were grey. It took 30 minutes. It can rain. We ate 4 apples."


async def test_errors_of_a_smaller_dose_are_among_those_of_a_larger_one():
    made = build(jrh_evidence.plugin, "errors", options={"doses": [1, 2, 4, 8]}, task=sample_task(Mode.POINTWISE))
    found = await made.perturb(Item(id="1", fields={"request": "?", "response": TEXT}))
    texts = {each.variant: each.fields["response"] for each in found if hasattr(each, "fields")}
    changed = [
        {n for n, (a, b) in enumerate(zip(TEXT, texts[f"wrong-number*{k}"], strict=True)) if a != b} for k in (1, 2, 4)
    ]
    assert [len(each) for each in changed] == [1, 2, 4]
    assert changed[0] < changed[1] < changed[2]
    assert texts["negation*4"].count(" not") == 4
    assert texts["dropped-sentence*2"].count(".") == TEXT.count(".") - 2
    assert {each.variant: each.reason for each in found if not hasattr(each, "fields")}["wrong-number*8"].startswith(
        "fewer"
    )


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    project = Inside(tmp_path_factory.mktemp("errors"))
    items = [{"id": str(n), "request": "Right?", "response": f"Case {n}. {TEXT}", "label": "YES"} for n in range(24)]
    project.write("items.jsonl", "".join(f"{json.dumps(item)}\n" for item in items))
    suite = {
        "name": "errors",
        "data": {"source": "jsonl", "path": "items.jsonl"},
        "task": {"scale": {"labels": ["YES", "NO"]}},
        "tests": [{"errors": {"kinds": ["wrong-number"], "doses": [1, 2, 4], "implies": "NO"}}],
        "judges": [
            {"judge": "simulated", "name": "late", "notices": 3},
            {"judge": "simulated", "name": "clean", "rerun_noise": 0.05},
        ],
        "reports": ["json", "html"],
        "metrics": ["error-curve"],
    }
    project.write("suite.yaml", yaml.safe_dump(suite))
    done = project.run("run", "suite.yaml", "--yes")
    assert done.exit_code == 0, done.output
    return json.loads(project.read("runs/errors/report.json")), project.read("runs/errors/report.html")


def test_a_judge_that_notices_three_errors_is_told_with_its_threshold(ran):
    report, _ = ran
    found = {f["judge"]: (f["kind"], f["sentence"]) for f in report["findings"] if f["kind"].startswith("errors-")}
    assert found["clean"][0] == "errors-noticed"
    assert found["late"][0] == "errors-missed"
    (half,) = [m for m in report["measures"] if (m["name"], m["judge"]) == ("error-threshold", "late")]
    assert 2 < half["estimate"] < 4


def test_the_page_plots_the_fitted_curve_and_the_threshold(ran):
    report, page = ran
    (at,) = [
        n for n, each in enumerate(report["measures"]) if (each["name"], each["judge"]) == ("error-threshold", "late")
    ]
    half = report["measures"][at]
    assert half["metric"] == "error-curve"
    assert half["curve"]["of"] == "error-noticed"
    # The fitted line is at the height of the threshold where the threshold is.
    line = np.array(half["curve"]["line"])
    assert np.interp(np.log2(half["estimate"]), np.log2(line[:, 0]), line[:, 1]) == pytest.approx(
        half["curve"]["height"], abs=0.02
    )
    assert f'data-plotted="{at}" data-part="estimate"' in page
    points = [n for n, each in enumerate(report["measures"]) if each["name"] == "error-noticed"]
    assert len(points) == 6
    assert all(f'data-plotted="{n}"' in page for n in points)
