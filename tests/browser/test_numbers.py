"""Every number of the page is the number of report.json (point 3)."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from support.pages import Node, read_page, same_number


@pytest.fixture(params=["demo", "essays", "pairs"])
def run_dir(request: pytest.FixtureRequest) -> Path:
    found: Path = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def document(run_dir: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((run_dir / "report.json").read_text(encoding="utf-8"))
    return found


@pytest.fixture
def page(run_dir: Path) -> Node:
    return read_page((run_dir / "report.html").read_text(encoding="utf-8"))


def at(document: Any, pointer: str) -> Any:
    for part in pointer.strip("/").split("/"):
        document = document[int(part)] if isinstance(document, list) else document[part]
    return document


def part(node: Node, kind: str) -> str:
    found = node.all("span", kind=kind)
    return found[0].text if found else ""


def test_every_estimate_interval_size_and_gap_is_that_of_its_measure(page: Node, document: dict[str, Any]) -> None:
    cells = page.all(having="data-measure")
    assert len(cells) > 40
    for cell in cells:
        measure = document["measures"][int(cell.attributes["data-measure"])]
        estimate = part(cell, "e")
        if measure["estimate"] is None:
            assert estimate.startswith("not estimable")
        else:
            assert same_number(estimate, measure["estimate"]), (estimate, measure)
        if measure["interval"] is None or measure["estimate"] is None:
            assert part(cell, "i") == ""
        else:
            low, high = part(cell, "i").strip("[]").split(", ")
            assert same_number(low, measure["interval"]["low"]), (low, measure)
            assert same_number(high, measure["interval"]["high"]), (high, measure)
        assert part(cell, "n").partition(" ")[0] == str(measure["n_items"])
        missing = sum(measure["missing"].values())
        assert part(cell, "m").partition(" ")[0] == (str(missing) if missing else "")


def test_no_estimate_stands_without_its_measure(page: Node) -> None:
    marked = {id(span) for cell in page.all(having="data-measure") for span in cell.all("span", kind="e")}
    assert marked == {id(span) for span in page.all("span", kind="e")}


JSS = {"raw": "jss-raw", "corrected": "jss"}


def test_each_cell_of_a_heat_map_is_the_measure_of_its_row_and_column(page: Node, document: dict[str, Any]) -> None:
    seen = 0
    for part_of_task in page.all(having="data-lens"):
        for table in part_of_task.all("table", kind="heat"):
            tests = [head.text.removesuffix(" *") for head in table.all("thead")[0].all("th")[1:]]
            names: set[str] = set()
            for row in table.all("tbody")[0].all("tr"):
                judge = row.all("th")[0].text.removesuffix(" simulated")
                for column, cell in zip(tests, row.all("td"), strict=True):
                    if "data-measure" in cell.attributes:
                        measure = document["measures"][int(cell.attributes["data-measure"])]
                        before, _, last = column.rpartition(": ")
                        if last in JSS:  # columns of one test, or of each
                            assert measure["name"] == JSS[last]
                            last = before or measure["test"]
                        elif before:
                            assert measure["task"] == before
                        assert (measure["judge"], measure["test"], measure["cell"]) == (judge, last, {})
                        names.add(measure["name"])
                        seen += 1
            assert len(names) == 1 or names in ({"as-expected", "gold-accuracy"}, set(JSS.values()))
    assert seen > 15


def test_stated_facts_and_sums_are_those_of_the_document(page: Node, document: dict[str, Any]) -> None:
    facts = page.all(having="data-json")
    assert len(facts) > 3
    for fact in facts:
        value = at(document, fact.attributes["data-json"])
        if "data-key" in fact.attributes:
            value = value[fact.attributes["data-key"]]
        assert same_number(fact.text, value), fact


def captioned(page: Node, start: str) -> list[Node]:
    return [table for table in page.all("table") if table.all("caption")[0].text.startswith(start)]


def test_costs_and_tokens_are_those_of_their_lines(page: Node, document: dict[str, Any]) -> None:
    tables = captioned(page, "Cost per test")
    # Simulated judges spend nothing: a run of them alone has no lines.
    assert bool(tables) == bool(document["spending"])
    rows = [[cell.text for cell in row.all("th") + row.all("td")] for table in tables for row in table.all("tr")[1:]]
    for line in document["spending"]:
        (row,) = [
            each
            for each in rows
            if each[0].startswith(line["name"]) and each[1:4] == [line["role"], line["task"], line["test"]]
        ]
        assert same_number(row[4], line["replies"])
        if line["unknown"] < line["replies"]:
            assert ("of unknown price" in row[5]) == bool(line["unknown"])
            assert same_number(row[5].split(" + ")[0], line["cost"])


def test_what_accuracy_costs_follows_from_cost_and_interval(page: Node, document: dict[str, Any]) -> None:
    tables = captioned(page, "What ")
    assert tables
    for table in tables:
        for row in table.all("tbody")[0].all("tr"):
            cells = row.all("td")
            accuracy = document["measures"][int(cells[0].attributes["data-measure"])]
            key = accuracy["judge"], accuracy["task"], "reference"
            (line,) = [each for each in document["costs"] if (each["judge"], each["task"], each["test"]) == key]
            half_width = (accuracy["interval"]["high"] - accuracy["interval"]["low"]) / 2
            needed = math.ceil(accuracy["n_items"] * (half_width / 0.05) ** 2)
            thousand, point, _, items, certainty = (cell.text for cell in cells[1:])
            assert same_number(items.removeprefix("about "), needed)
            if line["unknown"]:
                assert {thousand, point, certainty} == {"unknown"}
                continue
            (task,) = [each for each in document["tasks"] if each["task"]["name"] == accuracy["task"]]
            price = 1000 * line["cost"] / line["trials"]
            assert float(thousand.strip("$")) == pytest.approx(price, rel=1e-3)
            assert float(certainty.strip("$")) == pytest.approx(line["cost"] / task["items"] * needed, rel=1e-3)
            assert point == "not estimable" or float(point.strip("$")) == pytest.approx(
                price / (100 * accuracy["estimate"]), rel=1e-3
            )


def test_plots_stand_at_the_measures_they_draw(page: Node, document: dict[str, Any]) -> None:
    """Place on the axis is an affine function of the estimate; it is found from two marks and holds for all."""
    drawn = 0
    for plot in page.all("svg"):
        if plot.attributes["data-plot"] != "forest":
            continue
        marks = [node for node in plot.all(having="data-plotted") if node.attributes["data-part"] == "estimate"]
        estimates = [document["measures"][int(mark.attributes["data-plotted"])]["estimate"] for mark in marks]
        points = list(zip(estimates, [float(mark.all("use")[0].attributes["x"]) for mark in marks], strict=True))
        if len({estimate for estimate, _ in points}) > 1:
            (first, x_first), (last, x_last) = min(points), max(points)
            slope = (x_last - x_first) / (last - first)
            assert slope > 0
            for estimate, x in points:
                assert x == pytest.approx(x_first + slope * (estimate - first), abs=0.01)
            drawn += len(points)
    assert drawn > 10


def test_attrition_and_missing_verdicts_are_those_of_the_document(page: Node, document: dict[str, Any]) -> None:
    tables = {table.all("caption")[0].text: table for table in page.all("table")}
    attrition = next(table for caption, table in tables.items() if caption.startswith("Cases"))
    rows = [[cell.text for cell in (row.all("th") + row.all("td"))] for row in attrition.all("tbody")[0].all("tr")]
    assert [row[:5] for row in rows] == [
        [line["task"], line["test"], str(line["items"]), str(line["drafted"]), str(line["kept"])]
        for line in document["attrition"]
    ]
    missing = sum(
        sum(measure["missing"].values())
        for measure in document["measures"]
        if measure["name"] == "missing" and not measure["cell"]
    )
    found = next((table for caption, table in tables.items() if caption.startswith("Missing verdicts")), None)
    shown = [int(cell.text) for row in found.all("tbody")[0].all("tr") for cell in row.all("td")[1:]] if found else [0]
    assert sum(shown) == missing


def panel_tables(page: Node) -> list[Node]:
    """Return the tables by judge and test, and the confusion matrices."""
    names = ("section-option-order", "section-prompt-templates", "section-false-verdicts", "section-beyond-chance")
    sections = [
        each
        for each in page.all("section")
        if each.attributes["id"] in ("section-gold-levels", "section-confusion", *names)
    ]
    tables = [table for section in sections for table in section.all("table")]
    return [table for table in tables if "heat" not in table.attributes.get("class", "")]


def test_each_cell_of_a_panel_is_the_measure_of_its_row_and_column(page: Node, document: dict[str, Any]) -> None:
    seen = 0
    for table in panel_tables(page):
        heads = [head.text for head in table.all("thead")[0].all("th")]
        for row in table.all("tbody")[0].all("tr"):
            cells = row.all("th") + row.all("td")
            for head, cell in zip(heads, cells, strict=True):
                if "data-measure" not in cell.attributes:
                    continue
                measure = document["measures"][int(cell.attributes["data-measure"])]
                if "matrix" in table.attributes.get("class", ""):
                    assert measure["cell"] == {
                        "right": cells[0].text.removesuffix(" simulated"),
                        "verdict": head.removeprefix("verdict "),
                    }
                    caption = table.all("caption")[0].text.replace(" (simulated)", "")
                    assert f"Confusion matrix: {measure['judge']}, {measure['test']}." in caption
                elif heads[0] == "templates":  # a column for each judge
                    assert cells[0].text.removesuffix(" simulated") == measure["cell"]["pair"]
                    assert cells[1].text == measure["test"]
                    assert head.removesuffix(" (simulated)") == measure["judge"]
                    assert measure["name"] == "template-flip-rate"
                elif not measure["judge"]:  # of all judges together
                    assert cells[0].text == measure["test"]
                else:
                    assert cells[0].text.removesuffix(" simulated") == measure["judge"]
                    assert cells[1].text == measure["test"]
                    assert measure["cell"] == ({"pair": cells[2].text} if heads[2] == "templates" else {})
                assert f"ask {measure['task']}." in table.all("caption")[0].text
                seen += 1
    assert seen > 10


SECTIONS = {
    "section-stated-probabilities": {"brier", "calibration-error", "reliability"},
    "section-variance": {"variance", "generalizability", "dependability", "cheapest-design"},
    "section-interactions": {"interaction"},
    "section-panel": {
        *("krippendorff-alpha", "icc-2-1"),
        *("panel-accuracy", "panel-mean-absolute-error", "effective-judges", "error-correlation"),
    },
}


def measures_of(section: Node, document: dict[str, Any]) -> list[tuple[list[str], str, dict[str, Any]]]:
    """Return what stands before each measure in its row, the heading of its column, and the measure."""
    found = []
    for table in section.all("table"):
        heads = [head.text for head in table.all("thead")[0].all("th")]
        for row in table.all("tbody")[0].all("tr"):
            cells = row.all("th") + row.all("td")
            assert len(cells) == len(heads)
            before = [cell.text for cell in cells if "data-measure" not in cell.attributes]
            for head, cell in zip(heads, cells, strict=True):
                if "data-measure" in cell.attributes:
                    measure = document["measures"][int(cell.attributes["data-measure"])]
                    assert f"Task {measure['task']}." in table.all("caption")[0].text
                    found.append((before, head, measure))
    return found


def test_the_sections_hold_the_measures_of_their_kind_and_all_of_them(demo: Path) -> None:
    document = json.loads((demo / "report.json").read_text(encoding="utf-8"))
    page = read_page((demo / "report.html").read_text(encoding="utf-8"))
    for key, names in SECTIONS.items():
        (section,) = (each for each in page.all("section") if each.attributes["id"] == key)
        shown = measures_of(section, document)
        assert {measure["name"] for _, _, measure in shown} == names
        whole = [
            measure
            for measure in document["measures"]
            if measure["name"] in names
            and (bool(measure["judge"]) == (key in ("section-stated-probabilities", "section-interactions")))
        ]
        assert sorted(map(str, (measure for _, _, measure in shown))) == sorted(map(str, whole))


def test_each_measure_of_a_section_stands_where_it_belongs(demo: Path) -> None:
    document = json.loads((demo / "report.json").read_text(encoding="utf-8"))
    page = read_page((demo / "report.html").read_text(encoding="utf-8"))
    shown = [
        each
        for section in page.all("section")
        if section.attributes["id"] in SECTIONS
        for each in measures_of(section, document)
    ]
    assert len(shown) > 100
    for before, head, measure in shown:
        said = " · ".join(before).replace(" simulated", "").replace(" (simulated)", "")
        if measure["judge"]:
            assert before[0].removesuffix(" simulated") == measure["judge"]
        if measure["name"] == "reliability":
            assert before[-2] == measure["cell"]["stated"]
            assert same_number(before[-1], float(measure["note"].removeprefix("mean stated probability ")))
            assert before[1:-2] in ([], [measure["test"]])
        elif measure["judge"] or measure["name"] in HEADINGS:
            assert measure["test"] in said.split(" · ")
            assert head == HEADINGS[measure["name"]]
        for value in measure["cell"].values():
            assert all(word in said for word in value.replace(":", " by ").split(" & ")), (said, measure)


HEADINGS = {
    "brier": "Brier score",
    "calibration-error": "calibration error (ECE)",
    "interaction": "interaction, difference of shares",
    "krippendorff-alpha": "Krippendorff's alpha",
    "icc-2-1": "ICC(2,1)",
}


def test_simulated_judges_are_marked_in_every_section(demo: Path) -> None:
    document = json.loads((demo / "report.json").read_text(encoding="utf-8"))
    page = read_page((demo / "report.html").read_text(encoding="utf-8"))
    assert document["simulated"]
    seen = 0
    for section in page.all("section"):
        for table in section.all("table") if section.attributes["id"] in SECTIONS else ():
            caption = table.all("caption")[0].text
            for row in table.all("tbody")[0].all("tr"):
                measures = [
                    document["measures"][int(cell.attributes["data-measure"])]
                    for cell in row.all(having="data-measure")
                ]
                if any("simulated" in measure["flags"] for measure in measures):
                    assert "simulated" in f"{caption} {row.text}"
                    seen += 1
    assert seen > 50


def test_every_flag_is_explained_in_its_section(page: Node) -> None:
    seen = set()
    for section in page.all("section"):
        used = {flag for part in section.all("span", kind="f") for flag in part.text.split(", ")}
        assert used <= {term.text for term in section.all("dt")}
        seen |= used
    assert seen


def test_a_run_without_such_measures_has_none_of_the_sections(pairs: Path) -> None:
    page = read_page((pairs / "report.html").read_text(encoding="utf-8"))
    links = {link.attributes["href"] for link in page.all("a")}
    assert not {section.attributes["id"] for section in page.all("section")} & set(SECTIONS)
    assert not links & {f"#{key}" for key in SECTIONS}


PANELS = {
    "demo": ("quadratic kappa with gold (CCC)", "Spearman", "MAE", "FPR", "verdict 5"),
    "essays": ("JSS, raw", "JSS, corrected", "templates", "quadratic kappa with gold (CCC)"),
    "pairs": ("same choice in both orders", "position bias", "identical options: first place"),
}


def test_every_panel_has_the_measures_of_its_kind(page: Node, request: pytest.FixtureRequest) -> None:
    filled = {
        head.text
        for table in panel_tables(page)
        for column, head in enumerate(table.all("thead")[0].all("th"))
        if any(
            cell.text for row in table.all("tbody")[0].all("tr") for cell in (row.all("th") + row.all("td"))[column:]
        )
    }
    name = request.node.callspec.params["run_dir"]
    assert set(PANELS[name]) <= filled


def test_the_judge_that_prefers_a_place_is_found_out(pairs: Path) -> None:
    page = read_page((pairs / "report.html").read_text(encoding="utf-8"))
    said = {card.all("h3")[0].text: card.text for card in page.all("article", kind="answer")}
    assert "Prefers the first option" in said["first simulated"]
    assert "Prefers" not in said["steady simulated"]
    assert "Accuracy equivalent to the reference within ±0.3" in said["steady simulated"]
