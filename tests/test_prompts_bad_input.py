"""Bad input about how a judge is asked: one clear message each, before anything is spent (point 4)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jrh_testing import Project
from support.suites import simulated_suite, write_items, write_suite

pytestmark = pytest.mark.inside

PAIRWISE = {"task": {"scale": {"pairwise": True}}}


def said(project: Project, **changes: Any) -> list[str]:
    """Run a suite that has to be refused; return the lines of the message."""
    write_suite(project, simulated_suite(**changes))
    outcome = project.run("run", "suite.yaml", "--run-dir", "run")
    assert outcome.exit_code == 2, outcome.output
    assert "Traceback" not in outcome.output
    assert not (project.path / "run").exists()
    return outcome.stderr.splitlines()


def test_a_template_without_the_response_field(project: Project) -> None:
    write_items(project, 2)
    project.write("blind.j2", "Is '{{ request }}' answered well? YES or NO.")
    lines = said(project, tests=[{"templates": {"templates": {"blind": {"text": {"file": "blind.j2"}}}}}])
    assert len(lines) == 1
    assert lines[0].startswith("jrh: template 'blind' does not show response, which a pointwise judge must see")
    assert lines[0].endswith("insert {{ response }}")


def test_two_templates_with_the_same_text(project: Project) -> None:
    write_items(project, 2)
    templates = {"one": {"text": "Right? {{ response }}"}, "two": {"text": "Right?\n{{ response }}"}}
    (line,) = said(project, tests=[{"templates": {"templates": templates}}])
    assert "'one' and 'two' have the same text (ignoring white space)" in line


def test_a_label_map_that_is_no_bijection(project: Project) -> None:
    write_items(project, 2)
    templates = {"odd": {"text": "{{ response }}", "labels": {"YES": "NO", "NO": "NO"}}}
    (line,) = said(project, tests=[{"templates": {"templates": templates}}])
    assert "template 'odd': labels: YES and NO both mean 'NO'; map exactly one label to each label" in line


def test_a_pairwise_item_with_one_response(project: Project) -> None:
    rows = [{"id": "1", "response_a": "one", "response_b": "two"}, {"id": "2", "response_a": "one"}]
    project.write("items.jsonl", "\n".join(map(json.dumps, rows)))
    lines = said(project, tests=["option-order"], **PAIRWISE)
    assert len(lines) == 1
    assert "items.jsonl:2" in lines[0]
    assert "response_b" in lines[0]


def test_a_pair_file_with_a_missing_column(project: Project) -> None:
    row = {
        "pair_id": "1",
        "task_type": "t",
        "prompt_a": "x one",
        "response_being_judged": "one",
        "ground_truth_label": "",
    }
    project.write("pairs.jsonl", json.dumps(row))
    lines = said(
        project, data={"source": "paired-prompts", "path": "pairs.jsonl"}, tests=[{"templates": {"from_items": True}}]
    )
    assert len(lines) == 1
    assert "pairs.jsonl: no column 'prompt_b'; did you mean 'prompt_a'?" in lines[0]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"inventory": "factualty"}, "Did you mean 'factuality'?"),
        ({"inventory": "coherence"}, "the inventory 'coherence' asks pointwise judges for 1, 2, 3, 4, 5"),
        ({}, "no template for task 'trial'"),
        ({"templates": {"a b": {"text": "{{ response }}"}}}, "names consist of letters, digits"),
    ],
)
def test_templates_that_do_not_exist_or_do_not_fit(project: Project, options: dict[str, Any], expected: str) -> None:
    write_items(project, 2)
    assert expected in "\n".join(said(project, tests=[{"templates": options}]))
