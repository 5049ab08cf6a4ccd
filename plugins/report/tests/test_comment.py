"""The Markdown report as a comment on a pull request: 65,536 characters, whatever the run."""

from __future__ import annotations

import re
from itertools import product

import pytest
from attrs import evolve
from jrh import Scale, Task
from jrh.values import TaskSummary, spending_of
from jrh_measuring import comment_length
from jrh_testing import sample_report

pytestmark = pytest.mark.slow

MOST = 65_536
LONG = ("judge " * 1000, "&" * 5000, "😀" * 5000, "|_*" * 2000, "<b>" * 2000)


def crowded(report, measure, long: str, *, tasks: int = 6, judges: int = 20, tests: int = 25):
    """Return a report of thousands of measures with names of thousands of characters."""
    names = [f"task {number} {long}" for number in range(tasks)]
    who = [f"judge {number} {long}" for number in range(judges)]
    where = ["reference", *(f"test {number} {long}" for number in range(tests - 1))]
    found = [
        measure(name, judge=judge, task=task, test=test, flags=(f"flag {long}",), note=long, missing={long: 3})
        for name, task, judge, test in product(("as-expected", "flip-rate"), names, who, where)
    ]
    found += [measure(f"measure {number} {long}", judge=who[0], task=names[0], test=where[0]) for number in range(300)]
    found += [
        measure("audit", judge="", task=task, cell={"problem": "constant-gold"}, note=long)
        for task in names
        for _ in range(9)
    ]
    scale = Scale.of_labels("YES", "NO")
    costs = tuple(
        evolve(report.costs[0], judge=judge, task=task, test=test) for judge, task, test in product(who, names, where)
    )
    return evolve(
        report,
        suite=long,
        run_id=long,
        version=long,
        judges=tuple(who),
        simulated=frozenset(who),
        tests=tuple(where),
        tasks=tuple(
            TaskSummary(task=Task(name=name, scale=scale), items=9, labelled=9, gold={"YES": 9}) for name in names
        ),
        measures=tuple(found),
        notes=tuple(f"{number} {long}" for number in range(200)),
        attrition=tuple(
            evolve(report.attrition[0], task=task, test=test, rejected={long: 4})
            for task, test in product(names, where)
        ),
        costs=costs,
        spending=tuple(map(spending_of, costs)),
        faults=tuple(evolve(report.faults[0], model=f"{number} {long}") for number in range(300)),
        components=tuple(
            evolve(report.components[0], name=f"{number} {long}", options={long: long}) for number in range(300)
        ),
    )


@pytest.mark.parametrize("long", LONG, ids=lambda text: text[:4])
def test_thousands_of_measures_with_long_names_fit(render, report, measure, long) -> None:
    text = render("markdown", crowded(report, measure, long))

    assert MOST * 0.75 < comment_length(text) <= MOST
    assert text.startswith("# Reliability report: ")
    assert text.count("<details>") == text.count("</details>")
    assert "Shortened to stay within 65,536 characters; all measures are in report.json. Left out as a whole:" in text
    for number in range(6):
        assert f"## Task task {number}" in text


def test_a_hundred_tasks_fit_and_the_last_ones_are_named(render, report, measure) -> None:
    text = render("markdown", crowded(report, measure, "x" * 400, tasks=100, judges=2, tests=3))

    assert comment_length(text) <= MOST
    assert "## Task task 0" in text
    assert "Shortened to stay" in text


@pytest.mark.parametrize("most", [8000, 20_000])
def test_a_smaller_limit_is_kept(render, report, measure, most) -> None:
    text = render("markdown", crowded(report, measure, "x"), characters=most)

    assert most * 0.6 < comment_length(text) <= most
    assert f"within {most:,} characters" in text


def test_what_matters_most_stands_first(render, report) -> None:
    text = render("markdown", report)
    places = [
        text.index(part)
        for part in (
            "All 960 planned trials have a record.",
            "Caution:",
            "| baseline | reference | 0.710",
            "The prices of model 'mini' are not known.",
            "## Missing verdicts",
            "\n## Cost\n",
            "## Cases",
            "<summary>Cost per test</summary>",
            "## Every measure",
        )
    ]

    assert places == sorted(places)
    assert "Shortened" not in text


def test_folded_parts_are_those_that_are_long_and_not_needed_at_first(render, report) -> None:
    folded = re.findall(r"<summary>(.*?)</summary>", render("markdown", report))

    assert folded[:3] == [
        "Cost in every test: Cost of verdicts and of a point of accuracy in every test",
        "Cost per test",
        "Made of",
    ]
    assert folded[3:] == ["as-expected", "rerun-disagreement", "agreement", "flip-rate", "self-kappa"]


def test_the_sample_report_is_not_shortened(render) -> None:
    assert "Shortened" not in render("markdown", sample_report())
