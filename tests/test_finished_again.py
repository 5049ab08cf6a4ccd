"""A finished run that is run again writes the same report, and after an edit that of a new run."""

from __future__ import annotations

import pytest
from jrh_testing import Inside
from support.looking import report_bytes

pytestmark = pytest.mark.inside

SUITE = """\
name: again
data: {{source: examples, dataset: factual, sample: {{n: {items}, seed: 1}}}}
task: {{instruction: Is the answer accurate?, scale: {{labels: ["YES", "NO"]}}}}
tests: [{{format: {{variants: [spaces]}}}}]
judges: [{{judge: simulated, name: {judge}, accuracy: 0.8, rerun_noise: 0.1}}]
"""


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Inside:
    project = Inside(tmp_path_factory.mktemp("again"))
    run(project)
    return project


def run(project: Inside, *, where: str = "run", items: int = 12, judge: str = "steady") -> None:
    (project.path / "suite.yaml").write_text(SUITE.format(items=items, judge=judge), encoding="utf-8")
    outcome = project.run("run", "suite.yaml", "--run-dir", where)
    assert outcome.exit_code == 0, outcome.output


def test_a_finished_run_writes_the_same_report_again(done: Inside) -> None:
    before = report_bytes(done, "run")
    run(done)
    assert done.run("report", "run").exit_code == 0
    assert report_bytes(done, "run") == before


@pytest.mark.parametrize("edit", [{"items": 14}, {"judge": "other"}, {"items": 11}])
def test_after_an_edit_the_report_is_that_of_a_new_run(done: Inside, edit: dict[str, object]) -> None:
    run(done, where="edited")
    run(done, where="edited", **edit)  # type: ignore[arg-type]
    run(done, where=f"new-{edit}", **edit)  # type: ignore[arg-type]
    assert report_bytes(done, "edited") == report_bytes(done, f"new-{edit}")
    run(done, where="edited")
    assert report_bytes(done, "edited") == report_bytes(done, "run")
