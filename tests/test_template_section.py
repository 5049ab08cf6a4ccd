"""The section on prompt templates of a report, from a decision log: what the tables say is what the log holds."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from typing import Any

import pytest
from jrh_testing import Project, prompt_pair_row

pytestmark = pytest.mark.inside

PROMPTS = {"true": "True?\n{}", "right": "{}\nRight?", "errors": "Any error?\n{}", "sound": "{}\nIs it sound?"}
PAIRS = (("true", "right"), ("right", "errors"), ("sound", "true"), ("sound", "right"))


def verdict(judge: str, name: str, number: int) -> str:
    """Return what a judge answers, as written: steady, constant, or the opposite of itself under `true`."""
    label = number % 2 == 0
    if judge == "constant":
        label = True
    elif judge == "contrary" and name in ("true", "errors"):
        label = not label
    shown = not label if name == "errors" else label
    return "YES" if shown else "NO"


def log(judges: tuple[str, ...]) -> list[dict[str, str]]:
    rows = []
    for judge in judges:
        for number in range(30):
            text = f"text {number:02}"
            for one, other in PAIRS:
                shown = {"prompt_a": PROMPTS[one].format(text), "prompt_b": PROMPTS[other].format(text)}
                told = {"decision_a": verdict(judge, one, number), "decision_b": verdict(judge, other, number)}
                gold = "YES" if number % 2 == 0 else "NO"
                made = prompt_pair_row(number, text=text, ground_truth_label=gold)
                rows.append({**made, **shown, **told, "judge": judge})
    return rows


def reported(project: Project, *judges: str) -> tuple[dict[str, Any], str]:
    lines = [json.dumps(each) for each in log(judges)]
    (project.path / "log.jsonl").write_text("\n".join(lines), encoding="utf-8")
    options = ("--option", "inverted=['Any error?']", "--option", "without=['sound?']")
    done = project.run("import", "log.jsonl", "--from", "judgesense", "--run-dir", "run", *options)
    assert done.exit_code == 0, done.output
    done = project.run("report", "run", "--format", "json,html,markdown")
    assert done.exit_code == 0, done.output
    return json.loads(project.read("run/report.json")), project.read("run/report.html")


def section(page: str, caption: str) -> list[list[str]]:
    """Return the texts of the cells of a table, row by row."""
    body = next(each for each in re.findall(r"<table>.*?</table>", page, re.DOTALL) if f"<caption>{caption}" in each)
    rows = re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL)
    return [
        [
            " ".join(re.sub(r"<[^>]+>", " ", cell).split())
            for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL)
        ]
        for row in rows
    ]


def test_tables_show_raw_corrected_difference_exclusions_and_constant_verdicts_apart(project: Project) -> None:
    _, page = reported(project, "steady", "constant", "contrary")

    whole = section(page, "Agreement between prompt templates")
    assert whole[0] == ["Judge", "Test", "JSS, raw", "JSS, corrected", "difference", "flip rate", "kappa"]
    steady = next(row for row in whole if row[0] == "steady")
    assert [cell.split()[0] for cell in steady[2:6]] == ["0.750", "1.000", "+0.250", "0.000"]
    assert [row[0] for row in whole[1:]] == ["contrary", "steady"]
    constant = section(page, "Judges that give one label")
    assert [row[0] for row in constant[1:]] == ["constant"]
    left = section(page, "Effect of leaving out templates")
    assert left[0] == ["Judge", "Test", "left out", "JSS, all", "JSS, without", "kappa, all", "kappa, without"]
    # contrary: true and errors against right and sound; of the four pairs only sound with right agrees.
    row = next(row for row in left if row[0] == "contrary" and row[2] == "sound?")
    assert [cell.split()[0] for cell in row[3:5]] == ["0.250", "0.000"]
    own = section(page, "Agreement of each template with the others")
    row = next(row for row in own if row[:1] == ["contrary"] and row[2] == "prompt-4")
    assert row[3].split()[0] == "0.500"
    flips = section(page, "Flip rate of each template pair by judge")
    assert flips[0] == ["templates", "Test", "steady", "constant", "contrary"]
    assert [cell.split()[0] for cell in flips[1][2:]] == ["0.000", "0.000", "1.000"]


def test_the_markdown_report_has_the_tables(project: Project) -> None:
    reported(project, "steady", "constant", "contrary")
    text = project.read("run/report.md")

    def rows(title: str) -> list[list[str]]:
        part = text.split(f"**{title}")[1].split("\n**")[0]
        return [[cell.strip() for cell in line.strip("|").split("|")] for line in part.splitlines() if line[:1] == "|"]

    whole = rows("Agreement between prompt templates")
    assert whole[0] == ["Judge", "Test", "JSS, raw", "JSS, corrected", "difference", "flip rate", "kappa"]
    assert [row[0] for row in whole[2:]] == ["contrary", "steady"]
    assert [row[0] for row in rows("Judges that give one label")[2:]] == ["constant"]
    left = rows("Effect of leaving out templates")
    assert [row[3].split()[0] for row in left[2:] if row[0] == "contrary"] == ["0.250", "0.250"]


def test_a_kappa_below_zero_is_a_finding(project: Project) -> None:
    results, _ = reported(project, "steady", "contrary")

    found = [each for each in results["findings"] if each["kind"] == "negative-kappa"]
    assert [each["judge"] for each in found] == ["contrary"]
    kappa = next(
        each["estimate"]
        for each in results["measures"]
        if (each["name"], each["judge"]) == ("template-kappa", "contrary") and not each["cell"]
    )
    assert kappa == pytest.approx(-0.5)  # 30 of 120 pairs agree, both sides are balanced: (0.25 - 0.5) / 0.5


def test_pairs_of_the_paper_are_listed_one_by_one_and_marked(project: Project) -> None:
    report, _ = reported(project, "steady", "contrary")
    assert project.run("report", "run", "--format", "papers", "--set", "papers.formats=[csv]").exit_code == 0
    rows = list(csv.DictReader(io.StringIO(project.read("run/papers/pair-flips.csv"))))
    # Four prompts per text make six pairs; the log lists four of them.
    assert Counter((row["item"], row["listed"]) for row in rows) == Counter(
        {(item, told): number for item in {row["item"] for row in rows} for told, number in (("yes", 4), ("no", 2))}
    )
    shown = {place: f"prompt-{number}" for number, place in enumerate(("true", "right", "errors", "sound"), start=1)}
    listed = {frozenset(row["pair"].split(" | ")) for row in rows if row["listed"] == "yes"}
    assert listed == {frozenset(shown[name] for name in pair) for pair in PAIRS}
    flips = Counter(row["flip"] for row in rows if row["listed"] == "yes")
    measured = {each["cell"]["judges"]: each["estimate"] for each in report["measures"] if each["name"] == "flipped-by"}
    assert measured == pytest.approx({str(number): flips[str(number)] / 120 for number in range(3)})
