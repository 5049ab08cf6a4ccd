"""Judges with a planted behaviour: every output of jrh gives the same numbers, and they are the planted ones.

The truths are counted from the log by plain Python, not by a measure of jrh.
"""

from __future__ import annotations

import csv
import html
import io
import json
import re
import shutil
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import jrh
import pytest
from attrs import frozen
from jrh_testing import Outcome, Project
from support.inside import call
from support.pages import read_page, same_number
from support.suites import simulated_suite, write_items

REPORTS = ["terminal", "markdown", "json", "html", "csv"]
COMPARED = ("agreement", "gold-accuracy", "as-expected")
"""What `jrh compare` shows of both sides."""
Row = dict[str, object]
Truths = dict[tuple[str, str, str], Fraction | int]
"""(measure, judge, test) -> what was planted."""


@frozen(kw_only=True)
class World:
    """A log or a suite, and what has to be found in it."""

    task: dict[str, Any]
    rows: tuple[Row, ...] = ()
    suite: dict[str, Any] | None = None
    truths: Truths
    clusters: int | None = None
    """Clusters behind the items, where there are fewer."""


def _pairs(answer: Callable[[str, int], str]) -> Iterator[Row]:
    """Ask a judge about ten pairs in both orders, twice; the log has no variant, and spells the orders its own way."""
    for number in range(10):
        better = "AB"[number % 2]
        for order in ("ab", "ba"):
            shown = better if order == "ab" else {"A": "B", "B": "A"}[better]
            for repeat in range(2):
                yield {
                    "item": f"pair-{number}",
                    "test": "reference" if order == "ab" else "swapped",
                    "option_order": order,
                    "repeat": repeat,
                    "gold": better,
                    "label": answer(shown, number),
                }


def _questions(copies: int, wrong: int) -> Iterator[Row]:
    """Ask six questions, each entered several times, and err on some of the questions wherever they stand."""
    for number in range(6):
        gold = ("YES", "NO")[number % 2]
        for copy in range(copies):
            label = gold if number >= wrong else {"YES": "NO", "NO": "YES"}[gold]
            yield {
                "item": f"q{number}-{copy}",
                "group": f"q{number}",
                "test": "reference",
                "repeat": 0,
                "gold": gold,
                "label": label,
            }


def _essays() -> Iterator[Row]:
    """Grade twenty essays, all rightly, and again after a change of layout."""
    for number in range(20):
        level = str(1 + number % 5)
        for test in ("reference", "format"):
            yield {"item": f"e{number}", "test": test, "repeat": 0, "gold": level, "label": level}


def _silences() -> Iterator[Row]:
    """Ask thirty questions twice and once more in other words; every third answer there is missing."""
    for number in range(30):
        gold = ("YES", "NO")[number % 2]
        for repeat in range(2):
            yield {"item": f"i{number}", "test": "reference", "repeat": repeat, "gold": gold, "label": gold}
        label = "" if number % 3 == 0 else {"YES": "NO", "NO": "YES"}[gold] if number % 5 == 0 else gold
        yield {"item": f"i{number}", "test": "paraphrase", "repeat": 0, "gold": gold, "label": label}


PAIRWISE = {"scale": {"pairwise": True}}
YES_NO = {"scale": {"labels": ["YES", "NO"]}}
WORLDS = {
    "always the first option": World(
        task=PAIRWISE,
        rows=tuple(_pairs(lambda _shown, _number: "A")),
        truths={
            ("gold-accuracy", "judge", "reference"): Fraction(1, 2),
            ("gold-accuracy", "judge", "swapped"): Fraction(1, 2),
            ("rerun-disagreement", "judge", "reference"): 0,
            ("flip-rate", "judge", "swapped"): 1,
            ("excess-disagreement", "judge", "swapped"): 1,
            ("agreement", "judge", "swapped"): 0,
            ("swap-consistency", "judge", "swapped"): 0,
            ("position-bias", "judge", "swapped"): 1,
        },
    ),
    "always right, in both orders": World(
        task=PAIRWISE,
        rows=tuple(_pairs(lambda shown, _number: shown)),
        truths={
            ("gold-accuracy", "judge", "reference"): 1,
            ("gold-accuracy", "judge", "swapped"): 1,
            ("rerun-disagreement", "judge", "reference"): 0,
            ("flip-rate", "judge", "swapped"): 0,
            ("excess-disagreement", "judge", "swapped"): 0,
            ("swap-consistency", "judge", "swapped"): 1,
            ("position-bias", "judge", "swapped"): 0,
        },
    ),
    "six questions behind sixty rows": World(
        task=YES_NO,
        rows=tuple(_questions(10, wrong=1)),
        truths={("gold-accuracy", "judge", "reference"): Fraction(5, 6)},
        clusters=6,
    ),
    "twenty essays graded rightly": World(
        task={"scale": {"ordinal": [1, 5]}},
        rows=tuple(_essays()),
        truths={
            ("gold-accuracy", "judge", "reference"): 1,
            ("mean-absolute-error", "judge", "reference"): 0,
            ("bias", "judge", "reference"): 0,
            ("flip-rate", "judge", "format"): 0,
        },
    ),
    "answers that are missing": World(
        task=YES_NO,
        rows=tuple(_silences()),
        truths={
            # Of thirty items ten are missing; of the other twenty those divisible by five are wrong: 5, 10, 20, 25.
            ("gold-accuracy", "judge", "paraphrase"): Fraction(4, 5),
            ("flip-rate", "judge", "paraphrase"): Fraction(1, 5),
            ("missing", "judge", "paraphrase"): Fraction(1, 3),
            ("gold-accuracy", "judge", "reference"): 1,
        },
    ),
    "a run of an always-first judge": World(
        task={},
        suite={
            "name": "log",
            "data": {"source": "jsonl", "path": "pairs.jsonl"},
            "task": {"instruction": "Which is better?", **PAIRWISE},
            "tests": ["option-order", {"format": {"variants": ["spaces"]}}],
            "judges": [{"judge": "simulated", "name": "judge", "position_preference": 1.0}],
            "seed": 3,
            "resamples": 200,
        },
        truths={
            ("gold-accuracy", "judge", "reference"): Fraction(1, 2),
            ("flip-rate", "judge", "option-order"): 1,
            ("agreement", "judge", "option-order"): 0,
            ("excess-disagreement", "judge", "option-order"): 1,
            ("swap-consistency", "judge", "option-order"): 0,
            ("position-bias", "judge", "option-order"): 1,
            ("flip-rate", "judge", "format"): 0,
        },
    ),
    "a run of a judge that misses what changed": World(
        task={},
        suite=simulated_suite(
            name="log",
            tests=[{"format": {"variants": ["spaces"]}}, {"label-flip": {"variants": ["negation"]}}],
            judges=[{"name": "judge", "judge": "simulated", "meaning_blindness": 1.0}],
            reports=["terminal", "markdown", "json", "html", "csv"],
            reference={"repeats": 2},
        ),
        truths={
            ("gold-accuracy", "judge", "reference"): 1,
            ("gold-accuracy", "judge", "format"): 1,
            ("as-expected", "judge", "format"): 1,
            ("as-expected", "judge", "label-flip"): 0,
            ("flip-rate", "judge", "label-flip"): 0,
        },
    ),
}


@frozen(kw_only=True)
class Written:
    """What jrh wrote about a world."""

    world: World
    project: Project
    report: dict[str, Any]
    output: Outcome

    def whole(self) -> list[tuple[int, dict[str, Any]]]:
        """Return the measures of whole tests, with their places in the report."""
        return [(place, each) for place, each in enumerate(self.report["measures"]) if not each["cell"]]

    def measure(self, name: str, judge: str, test: str) -> dict[str, Any]:
        """Return one of them."""
        found = [each for _, each in self.whole() if (each["name"], each["judge"], each["test"]) == (name, judge, test)]
        assert len(found) == 1, f"{name} of {judge} in {test}: {len(found)} measures"
        return found[0]


@pytest.fixture(scope="module", params=WORLDS)
def written(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Written:
    world = WORLDS[request.param]
    project = Project(tmp_path_factory.mktemp("world"))
    if world.suite is None:
        _write_log(project, world)
        done = call(project, "import", "log.json", "--run-dir", "run")
        assert done.exit_code == 0, done.output
        done = call(project, "report", "run", "--format", "terminal,markdown,json,html,csv")
    else:
        write_items(project, [f"This is not answer number {place:03}." for place in range(24)])
        project.write("pairs.jsonl", "".join(_pair(number) for number in range(12)))
        project.write(
            "suite.json", json.dumps(world.suite | {"reports": ["terminal", "markdown", "json", "html", "csv"]})
        )
        done = call(project, "run", "suite.json", "--run-dir", "run", "--no-cache", "--yes")
    assert done.exit_code == 0, done.output
    report = json.loads((project.path / "run" / "report.json").read_text(encoding="utf-8"))
    return Written(world=world, project=project, report=report, output=done)


def _pair(number: int) -> str:
    item = {
        "id": f"pair-{number}",
        "request": f"Which number is larger than {number}?",
        "response_a": f"The first answer says {number + 1} with a reason.",
        "response_b": f"The second answer says {number - 1} with a reason.",
        "label": "AB"[number % 2],
    }
    return json.dumps(item) + "\n"


def _write_log(project: Project, world: World) -> None:
    names = list(dict.fromkeys(name for row in world.rows for name in row))
    table = io.StringIO()
    writer = csv.DictWriter(table, names)
    writer.writeheader()
    writer.writerows(world.rows)
    project.write("log.csv", table.getvalue())
    description = {
        "name": "log",
        "path": "log.csv",
        "task": {"instruction": "Judge it.", **world.task},
        "columns": {name: name for name in names},
        "values": {"judge": "judge"},
        "presented": "option_order" in names,
        "missing": {"": "unparsable"},
        "resamples": 200,
    }
    project.write("log.json", json.dumps(description))


def test_the_planted_numbers_are_found(written: Written) -> None:
    for (name, judge, test), truth in written.world.truths.items():
        measure = written.measure(name, judge, test)
        assert measure["estimate"] == pytest.approx(float(truth), abs=1e-9), (name, test)
        interval = measure["interval"]
        assert interval is None or interval["low"] - 1e-9 <= float(truth) <= interval["high"] + 1e-9


def test_clusters_stand_beside_items(written: Written) -> None:
    for _, measure in written.whole():
        assert 0 <= measure["n_clusters"] <= measure["n_items"] <= max(measure["n_trials"], measure["n_items"])
        if written.world.clusters is not None and measure["n_items"] == len(written.world.rows):
            assert measure["n_clusters"] == written.world.clusters
            assert f"in {written.world.clusters} clusters" in written.output.stdout


def test_the_page_has_the_numbers_of_the_report(written: Written) -> None:
    page = read_page((written.project.path / "run" / "report.html").read_text(encoding="utf-8"))
    measures = written.report["measures"]
    shown = set()
    for node in page.all(having="data-measure"):
        place = node.attributes["data-measure"]
        estimates = node.all("span", kind="e")
        if not place.isdigit() or not estimates:
            continue
        measure = measures[int(place)]
        shown.add((measure["name"], measure["judge"], measure["test"]))
        _same(estimates[0].text, [span.text for span in node.all("span", kind="i")], measure)
    for name, judge, test in written.world.truths:
        if name in ("gold-accuracy", "excess-disagreement", "agreement"):
            assert (name, judge, test) in shown, f"{name}[{test}]"


def _same(estimate: str, intervals: list[str], measure: dict[str, Any]) -> None:
    if measure["estimate"] is None:
        assert estimate.startswith("not estimable"), measure
        return
    assert same_number(estimate, measure["estimate"]), (estimate, measure)
    if intervals and measure["interval"]:
        low, high = intervals[0].strip("[]").split(", ")
        assert same_number(low, measure["interval"]["low"]), (intervals, measure)
        assert same_number(high, measure["interval"]["high"]), (intervals, measure)


def test_the_gate_decides_on_the_numbers_of_the_report(written: Written) -> None:
    usable = [
        measure
        for _, measure in written.whole()
        if measure["interval"] and measure["unit"] == "proportion" and measure["judge"]
    ]
    assert usable
    rules = [f"{each['name']}[{each['test']}, judge={each['judge']}] >= 0" for each in usable if each["test"]]
    arguments = [part for rule in rules for part in ("--rule", rule)]
    done = call(written.project, "gate", "run", *arguments, "--json", "gate.json", "--allow-missing", "0.9")
    assert "Traceback" not in done.output
    checks = json.loads((written.project.path / "gate.json").read_text())["checks"]
    assert len(checks) >= len(rules)
    for check in checks:
        found = check["measure"]
        stated = written.measure(found["name"], check["judge"], check["test"])
        assert (found["estimate"], found["low"], found["high"]) == (
            stated["estimate"],
            stated["interval"]["low"],
            stated["interval"]["high"],
        )
        assert (found["trials"], found["items"], found["clusters"]) == (
            stated["n_trials"],
            stated["n_items"],
            stated["n_clusters"],
        )


def test_compare_shows_the_numbers_of_the_report(written: Written) -> None:
    copy = written.project.path / "copy"
    if not copy.exists():
        shutil.copytree(written.project.path / "run", copy)
    done = call(written.project, "compare", "run", "copy", "--format", "json")
    assert done.exit_code == 0, done.output
    compared = 0
    for pair in json.loads(done.stdout)["pairs"]:
        for row in pair["rows"]:
            if row["measure"] not in COMPARED:
                continue
            stated = written.measure(row["measure"], "judge", row["test"])
            if row["first"] is None or stated["estimate"] is None:
                continue
            assert (row["first"], row["second"]) == pytest.approx((stated["estimate"],) * 2, abs=1e-9), row
            compared += 1
    assert compared


def test_markdown_has_the_numbers_of_the_report(written: Written) -> None:
    text = (written.project.path / "run" / "report.md").read_text(encoding="utf-8")
    for name, judge, test in written.world.truths:
        measure = written.measure(name, judge, test)
        if measure["estimate"] is None:
            continue
        number = rf"{measure['estimate']:.3f}"
        assert re.search(rf"{re.escape(test)}[^\n]*{re.escape(number)}", text.replace("\\", "")), (name, test, number)


def test_python_has_the_numbers_of_the_report(written: Written) -> None:
    with jrh.open_run(written.project.path / "run", measure=True) as run:
        found = [(each.name, each.judge, each.test, each.estimate) for each in run.measures]
    stated = [(each["name"], each["judge"], each["test"], each["estimate"]) for each in written.report["measures"]]
    assert found == stated


def test_every_output_tells_the_same_findings(written: Written) -> None:
    stated = written.report["findings"]
    assert stated
    folder = written.project.path / "run"
    page = read_page((folder / "report.html").read_text(encoding="utf-8")).text
    markdown = html.unescape((folder / "report.md").read_text(encoding="utf-8")).replace("\\", "")
    terminal = " ".join(written.output.stdout.split())
    for finding in stated:
        # Markdown tells whole sentences; the page and the terminal put the numbers of several places in one list.
        assert finding["sentence"] in markdown
        if finding["judge"] or finding["severity"] in ("bad", "warning"):
            # "10 of 90 trials returned no verdict (unparsable 10)": on the page a table has the statuses.
            assert finding["statement"].partition(" (")[0].lower() in page.lower()
        if finding["severity"] == "bad":
            assert finding["statement"] in terminal
            assert all(f"{basis['value']} {basis['interval']}".strip() in terminal for basis in finding["basis"][:1])
