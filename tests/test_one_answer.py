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
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from urllib.request import Request, urlopen
from xml.etree import ElementTree as ET

import jrh
import pytest
from attrs import frozen
from jrh import Measure
from jrh_measuring import (
    format_estimate,
    format_interval,
    format_items,
    format_measure,
    format_missing,
    measures_by_role,
)
from jrh_review.stored_runs import LENSES
from jrh_testing import Outcome, Project, call
from support.pages import Node, read_page, same_number
from support.suites import write_items
from support.workbench import workbench
from support.worlds import WORLDS, World

SCALES = {
    json.dumps({"labels": ["YES", "NO"]}): "labels: YES, NO",
    json.dumps({"labels": ["YES", "NO"], "positive": "NO"}): "labels: YES, NO",
    json.dumps({"ordinal": [1, 5]}): "ordinal: 1-5",
    json.dumps({"pairwise": True}): "pairwise",
    json.dumps({"pairwise": {"options": 3}}): "labels: A, B, C",
}
"""Scales as `jrh check` takes them; three options are labels to it."""
REPORTS = ["terminal", "markdown", "json", "html", "csv"]
FULL = ("gold-accuracy", "as-expected", "flip-rate", "rerun-disagreement", "gold-kappa", "agreement")
"""What the tables of `jrh report --full` show."""
COMPARED = ("agreement", "gold-accuracy", "as-expected")
"""What `jrh compare` shows of both sides."""


@frozen(kw_only=True)
class Written:
    """What jrh wrote about a world."""

    world: World
    project: Project
    report: dict[str, Any]
    output: Outcome
    full: str
    """All tables on the terminal."""

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
    for name, text in world.files.items():
        project.write(name, text)
    if world.suite is None:
        if not world.importer:
            _write_log(project, world)
        done = call(project, "import", *(world.importer or ("log.json",)), "--run-dir", "run")
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
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "240")
        full = call(project, "report", "run", "--format", "terminal", "--full")
    return Written(world=world, project=project, report=report, output=done, full=full.stdout)


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
    _write_table(project, "log.csv", world.rows)
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


def _write_table(project: Project, name: str, rows: Sequence[Mapping[str, object]]) -> None:
    table = io.StringIO()
    writer = csv.DictWriter(table, list(dict.fromkeys(name for row in rows for name in row)))
    writer.writeheader()
    writer.writerows(rows)
    project.write(name, table.getvalue())


def _shown(measure: dict[str, Any], digits: int) -> str:
    """Write an estimate as every output has to: a difference with its sign, a share never as none or all."""
    value = measure["estimate"]
    signed = "+" if measure["unit"].startswith("difference") and value > 0 else ""
    return f"{signed}{value:.{digits}f}"


def test_the_planted_numbers_are_found(written: Written) -> None:
    for (name, judge, test), truth in written.world.truths.items():
        measure = written.measure(name, judge, test)
        assert measure["estimate"] == pytest.approx(float(truth), abs=1e-9), (name, test)
        interval = measure["interval"]
        assert interval is None or interval["low"] - 1e-9 <= float(truth) <= interval["high"] + 1e-9


def test_clusters_stand_beside_items(written: Written) -> None:
    items = written.world.items or len(written.world.rows)
    for _, measure in written.whole():
        assert 0 <= measure["n_clusters"] <= measure["n_items"] <= max(measure["n_trials"], measure["n_items"])
        if written.world.clusters is not None and measure["n_items"] == items:
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


@pytest.mark.parametrize("written", ["answers that are missing"], indirect=True)
def test_a_cell_has_the_same_number_and_words_wherever_it_is_shown(written: Written) -> None:
    """JSON, page, notebook, workbench, Markdown and terminal: every measure that each of them shows."""
    folder = written.project.path / "run"
    with jrh.open_report(folder, measure=True) as report:
        measures = report.measures
    for measure, stated in zip(measures, written.report["measures"], strict=True):
        assert (measure.estimate, measure.n_items, dict(measure.missing)) == (
            *(stated["estimate"], stated["n_items"], stated["missing"]),
        )
    texts = {
        "page": (folder / "report.html").read_text(encoding="utf-8"),
        "notebook": jrh.open_run(folder)._repr_html_(),
    }
    wholes: dict[str, set[int]] = {}
    for name, text in texts.items():
        for node in read_page(text).all(having="data-measure"):
            if node.attributes["data-measure"].isdigit() and node.all("span", kind="e"):
                measure = measures[int(node.attributes["data-measure"])]
                assert _parts(node, "e", "i", "n", "m") in _words(measure), (name, measure)
                wholes.setdefault(name, set()).add(int(node.attributes["data-measure"]))
    assert wholes["page"] >= wholes["notebook"]
    assert any(measures[place].missing for place in wholes["notebook"])

    cells = {(each.name, each.judge, each.test): each for each in measures if not each.cell}
    roles = measures_by_role()
    shown = {lens.key: {place[0] for place in cells} & set(roles[lens.key]) for lens in LENSES}
    pages = _workbench(folder.parent, [key for key in shown if shown[key]])
    assert {"agreement", "expectation", "change"} <= pages.keys()
    for key, text in pages.items():
        links = [link for link in read_page(text).all("a", having="href") if link.all("span", kind="e")]
        assert links, key
        for link in links:
            place = parse_qs(urlsplit(link.attributes["href"]).query)
            named = [cells.get((name, *place["judge"], *place["test"])) for name in shown[key]]
            lost = link.all("span", kind="n")[1].text.partition(";")[0] if "missing" in link.text else ""
            assert (*_parts(link, "e", "i", "n"), lost) in [words for each in named if each for words in _words(each)]

    markdown = html.unescape((folder / "report.md").read_text(encoding="utf-8")).replace("\\", "")
    for (name, _, test), measure in cells.items():
        if name in FULL and measure.estimate is not None:
            assert re.search(rf"{test}[^\n]*\| {re.escape(format_measure(measure, 3))}", markdown), (name, test)
            line, place = next(
                (line, found.start())
                for line in written.full.splitlines()
                if re.search(rf" {test} ", line)
                for found in re.finditer(rf"(?<= ){re.escape(format_estimate(measure, 2))}(?= |$)", line)
                if _below(written.full, line, found.start()).startswith(format_measure(measure, 2))
            )
            assert line[place:].startswith(format_estimate(measure, 2))


def _parts(node: Node, *kinds: str) -> tuple[str, ...]:
    """Return the texts of the first span of each kind in a cell; empty where there is none."""
    return tuple(spans[0].text if (spans := node.all("span", kind=kind)) else "" for kind in kinds)


def _words(measure: Measure) -> list[tuple[str, ...]]:
    """Return how a cell may read, with two or three decimals: estimate, interval, items, and what is missing."""
    sizes = format_items(measure), format_missing(measure)
    return [(format_estimate(measure, digits), format_interval(measure, digits), *sizes) for digits in (2, 3)]


def _below(text: str, line: str, place: int) -> str:
    """Return the cell of a table on the terminal that begins in a line, in one line."""
    lines = text.splitlines()
    rows = lines[lines.index(line) :][:6]
    return " ".join(re.split(r"  |$", row[place:])[0] for row in rows)


def _workbench(folder: Path, lenses: Sequence[str]) -> dict[str, str]:
    """Return the page of the run under each lens of the heat map."""
    with workbench(folder) as bench:
        session = bench.sessions.enter(bench.sessions.token)
        assert session is not None
        headers = {"cookie": f"jrh-{bench.base.rpartition(':')[2]}={session.key}"}
        requests = {key: Request(f"{bench.base}/run/run?lens={key}", headers=headers) for key in lenses}
        return {key: urlopen(request, timeout=20).read().decode() for key, request in requests.items()}


def _same(estimate: str, intervals: list[str], measure: dict[str, Any]) -> None:
    if measure["estimate"] is None:
        assert estimate.startswith("not estimable"), measure
        return
    assert same_number(estimate, measure["estimate"]), (estimate, measure)
    if intervals and measure["interval"]:
        # Where missing verdicts widen an interval, the one that decides comes second.
        low, high = intervals[0].rpartition("[")[2].strip("]").split(", ")
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
    files = ("--json", "gate.json", "--junit", "gate.xml", "--markdown", "gate.md")
    done = call(written.project, "gate", "run", *arguments, *files, "--allow-missing", "0.9")
    assert "Traceback" not in done.output
    cases = {case.get("name", ""): case for case in ET.parse(written.project.path / "gate.xml").iter("testcase")}
    markdown = (written.project.path / "gate.md").read_text(encoding="utf-8").replace("\\", "")
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
        number = f"{stated['estimate']:.4f}".rstrip("0").rstrip(".")
        (case,) = [ET.tostring(each, "unicode") for name, each in cases.items() if name.startswith(check["rule"])]
        for text in (case, markdown, done.stdout):
            assert re.search(rf"(?<![\d.]){re.escape(number)}(, limits | \[)", text), (check["rule"], number)


def test_a_check_of_the_reference_rows_shows_the_numbers_of_the_report(written: Written) -> None:
    rows = [row for row in written.world.rows if row["test"] == "reference"]
    if not rows:
        pytest.skip("a run has no table to check")
    _write_table(written.project, "table.csv", rows)
    columns = {"repeat": "--repeat", "group": "--group"}
    given = [part for name, option in columns.items() if name in rows[0] for part in (option, name)]
    scale = ("--scale", SCALES[json.dumps(written.world.task["scale"])])
    asked = ("check", "table.csv", "--judge", "label", "--human", "gold", "--item", "item", *given, *scale)
    found = call(written.project, *asked, "--format", "json")
    assert found.exit_code == 0, found.output
    text = call(written.project, *asked).stdout
    measures = {each["name"]: each for each in json.loads(found.stdout)["measures"] if not each["cell"]}
    compared = 0
    for name, judge, test in written.world.truths:
        # `jrh check` cannot be told the positive label.
        if test != "reference" or name not in measures or name.startswith("false-"):
            continue
        stated, checked = written.measure(name, judge, test), measures[name]
        assert checked["estimate"] == pytest.approx(stated["estimate"], abs=1e-12), name
        assert checked["n_clusters"] == stated["n_clusters"]
        compared += 1
        if name == "gold-accuracy":
            assert f"rate of agreement {_shown(stated, 2)} [" in text
    assert compared


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
            stated = written.measure(row["measure"], written.world.judge, row["test"])
            if row["first"] is None or stated["estimate"] is None:
                continue
            assert (row["first"], row["second"]) == pytest.approx((stated["estimate"],) * 2, abs=1e-9), row
            compared += 1
    assert compared


def test_markdown_has_the_numbers_of_the_report(written: Written) -> None:
    text = (written.project.path / "run" / "report.md").read_text(encoding="utf-8").replace("\\", "")
    for name, judge, test in written.world.truths:
        number = re.escape(_shown(written.measure(name, judge, test), 3))
        assert re.search(rf"{re.escape(test)}[^\n]*[ |]{number}\b", text), (name, test, number)


def test_the_tables_of_the_terminal_have_the_numbers_of_the_report(written: Written) -> None:
    for name, judge, test in written.world.truths:
        if name in FULL:
            number = re.escape(_shown(written.measure(name, judge, test), 2))
            assert re.search(rf"{re.escape(test)}[^\n]* {number}\b", written.full), (name, test, number)


def test_tables_for_papers_have_the_numbers_of_the_report(written: Written) -> None:
    settings = ("--set", "latex.digits=4", "--set", "latex.tests=1")
    done = call(written.project, "report", "run", "--format", "latex", *settings)
    assert done.exit_code == 0, done.output
    text = (written.project.path / "run" / "tables.tex").read_text(encoding="utf-8").replace("$-$", "-")
    for name, judge, test in written.world.truths:
        if name != "missing":  # it stands beside every other number, as a count
            number = re.escape(_shown(written.measure(name, judge, test), 4))
            assert re.search(rf"\n{judge}[^\n]* & {number} ", text), (name, test, number)


def test_python_has_the_numbers_of_the_report(written: Written) -> None:
    with jrh.open_report(written.project.path / "run", measure=True) as run:
        found = [(each.name, each.judge, each.test, each.estimate) for each in run.measures]
    stated = [(each["name"], each["judge"], each["test"], each["estimate"]) for each in written.report["measures"]]
    assert found == stated


def test_every_output_tells_the_same_findings(written: Written) -> None:
    stated = written.report["findings"]
    assert stated
    assert set(written.world.told) <= {each["kind"] for each in stated}
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
