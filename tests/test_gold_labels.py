"""The gold labels of a run: agreement beyond chance, the positive label, where the labels come from."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from jrh_testing import Inside, Project, loop_over

GOLD = ["YES"] * 40 + ["NO"] * 20
SAID = ["YES"] * 36 + ["NO"] * 4 + ["NO"] * 14 + ["YES"] * 6
"""4 of 40 YES are missed, 6 of 20 NO are called YES."""
IMPORT = """\
name: log
path: log.csv
task: {instruction: Is it right?, scale: {labels: [YES, NO]%s}}
columns: {item: item, judge: judge, label: label, gold: gold}
"""
SUITE = """\
name: log
data: {source: csv, path: items.csv, columns: {id: item, request: item, response: item, label: gold}}
task: {instruction: Is it right?, scale: {labels: [YES, NO], positive: NO}}
judges: [simulated]
metrics: {add: [error-rates: {positive: %s}]}
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Inside(tmp_path)
    rows = [f"i{item},mini,{said},{gold}" for item, (said, gold) in enumerate(zip(SAID, GOLD, strict=True))]
    project.write("log.csv", "\n".join(["item,judge,label,gold", *rows]) + "\n")
    return project


def imported(project: Project, declared: str = "") -> dict[str, float]:
    """Import the log; return the estimates of the whole reference condition."""
    project.write("log.yaml", IMPORT % (f", positive: {declared}" if declared else ""))
    done = project.run("import", "log.yaml", "--run-dir", "run")
    assert done.exit_code == 0, done.output
    for form in ("json", "markdown", "html"):
        assert project.run("report", "run", "--format", form).exit_code == 0
    document = json.loads((project.path / "run" / "report.json").read_text())
    return {each["name"]: each["estimate"] for each in document["measures"] if not each["cell"]}


def test_kappa_with_gold_is_one_number_in_every_output(project: Project) -> None:
    from sklearn.metrics import cohen_kappa_score

    found = imported(project)
    kappa = cohen_kappa_score(GOLD, SAID)
    terminal = project.run("report", "run", "--full", env={"COLUMNS": "200"})
    markdown, page = ((project.path / "run" / name).read_text() for name in ("report.md", "report.html"))

    assert found["gold-kappa"] == pytest.approx(kappa)
    for text, digits in ((terminal.stdout, 2), (markdown, 3)):
        assert "Agreement with gold beyond chance" in text
        assert f"{kappa:.{digits}f}" in text
    assert "Agreement with gold beyond chance" in page
    assert f"{kappa:.3f}" in page
    assert project.run("gate", "run", "--rule", f"gold-kappa >= {kappa - 0.3:.3f}").exit_code == 0
    assert project.run("gate", "run", "--rule", "gold-kappa >= 0.95").exit_code == 1


@pytest.fixture
def log_run(project: Project) -> Project:
    """Provide a project with an imported run."""
    imported(project)
    return project


@loop_over(
    ("dropped", "metric", "instead"),
    [
        ("gold-mcc", "gold-kappa", "which MCC follows"),
        ("concordance", "gold-kappa", "equal to CCC"),
        ("kendall-tau-b", "ordinal-association", "spearman"),
        ("fleiss-kappa", "judge-agreement", "krippendorff-alpha"),
        ("pabak", "judge-agreement", "krippendorff-alpha"),
        ("gwet-ac1", "judge-agreement", "krippendorff-alpha"),
        ("calibration-p", "calibration", "the interval of its measure calibration-error"),
        ("prevalence-rogan-gladen", "corrected-prevalence", "prevalence-prediction-powered"),
        ("kappa-linear", "self-kappa", "quadratic on ordinal scales"),
        ("kappa-quadratic", "self-kappa", "quadratic on ordinal scales"),
        ("gold-kappa-quadratic", "gold-kappa", "quadratic on ordinal scales"),
        ("kappa", "self-kappa", "the same judge's verdicts in the reference condition"),
        ("kappa", "gold-kappa", "with the gold labels"),
        ("absolute-error", "ordinal-errors", "mean-absolute-error"),
        ("exact-accuracy", "gold-accuracy", "equal to the gold label"),
        ("template-kappa-raw", "template-sensitivity", "jss-raw"),
        ("score-ranking-tau-b", "score-ranking", "on which both agree"),
        ("icc-2-k", "judge-agreement", "icc-2-1"),
        ("score-concordance", "criteria-score", "score-icc"),
    ],
)
def test_a_measure_that_is_dropped_is_refused_with_what_replaces_it(
    log_run: Project, dropped: str, metric: str, instead: str
) -> None:
    done = log_run.run("gate", "run", "--rule", f"{dropped} >= 0.5")
    assert done.exit_code == 2
    (sentence,) = [line for line in done.stderr.splitlines() if f"there is no measure '{dropped}'" in line]
    assert metric in sentence
    assert instead in sentence


LEVELS = """\
name: log
path: log.csv
task: {instruction: How good is it?, scale: {ordinal: [1, 5]}}
columns: {item: item, judge: judge, label: label, gold: gold}
metrics: {add: [{ordinal-association: {also: [%s]}}]}
"""


@pytest.mark.parametrize(("also", "made"), [("", False), ("pearson", True)])
def test_a_measure_on_request_is_made_where_its_metric_is_asked_for_it_by_name(
    project: Project, also: str, made: bool
) -> None:
    rows = [f"i{item},mini,{1 + item % 5},{1 + item // 2 % 5}" for item in range(30)]
    project.write("log.csv", "\n".join(["item,judge,label,gold", *rows]) + "\n")
    project.write("log.yaml", LEVELS % also)
    done = project.run("import", "log.yaml", "--run-dir", "run")
    assert done.exit_code == 0, done.output
    gate = project.run("gate", "run", "--rule", "pearson >= -1")
    assert gate.exit_code == (0 if made else 2), gate.output
    assert made or "{METRIC: {also: [MEASURE]}}" in gate.stderr


def test_a_name_that_no_metric_makes_on_request_is_refused(project: Project) -> None:
    project.write("log.csv", "item,judge,label,gold\ni1,mini,1,2\n")
    project.write("log.yaml", LEVELS % "pearsn")
    done = project.run("import", "log.yaml", "--run-dir", "run")
    assert done.exit_code == 2
    assert "no such measure is made on request: 'pearsn'\nDid you mean 'pearson'?" in done.stderr


def test_the_declared_positive_label_is_that_of_the_whole_report(project: Project) -> None:
    default = imported(project)
    declared = imported(project, "NO")

    assert (default["false-positive-rate"], default["false-negative-rate"]) == (6 / 20, 4 / 40)
    assert (declared["false-positive-rate"], declared["false-negative-rate"]) == (4 / 40, 6 / 20)
    page, markdown = ((project.path / "run" / name).read_text() for name in ("report.html", "report.md"))
    assert "The positive label is NO." in page
    assert "labels YES, NO (positive: NO)" in markdown


def test_a_metric_that_contradicts_the_declared_label_is_one_error_before_the_run(project: Project) -> None:
    project.write("items.csv", "item,gold\na,YES\nb,NO\n")
    project.write("suite.yaml", SUITE % "YES")
    refused = project.run("plan", "suite.yaml")

    assert refused.exit_code == 2
    assert refused.stderr.count("contradicts the positive label 'NO' of task 'log'") == 1
    project.write("suite.yaml", SUITE % "NO")
    assert project.run("plan", "suite.yaml").exit_code == 0


MODELS = """\
name: answers
data: {source: csv, path: items.csv%s,
  columns: {id: item, request: item, response: text, label: gold, author: writer%s}}
task: {instruction: Is it right?, scale: {labels: [YES, NO]}}
models:
  mini: {provider: openai-http, model: gpt-4o-mini, base_url: "http://127.0.0.1:9/v1"}
judges:
  - {name: mini, judge: llm, model: mini}
  - {name: planted, judge: simulated}
"""


@pytest.fixture
def answers(tmp_path: Path) -> Project:
    project = Inside(tmp_path)
    rows = [f"i{item},text {item},{gold},gpt-3.5-turbo,model:gpt-4o" for item, gold in enumerate(GOLD)]
    project.write("items.csv", "\n".join(["item,text,gold,writer,source", *rows]) + "\n")
    return project


@pytest.mark.parametrize("how", ["constant", "column"])
def test_labels_and_responses_of_the_judges_family_are_told_before_the_run(answers: Project, how: str) -> None:
    written = (", gold_source: 'model:gpt-4o'", "") if how == "constant" else ("", ", gold_source: source")
    answers.write("suite.yaml", MODELS % written)
    for command in ("audit", "plan"):
        told = " ".join(answers.run(command, "suite.yaml").output.split())
        assert "The gold labels of all 60 items come from gpt-4o, of the same family (openai)" in told, told
        assert "gpt-3.5-turbo wrote responses of all 60 items" in told
        assert "planted: The gold" not in told


def test_agreement_with_labels_of_a_model_is_never_called_accuracy(answers: Project) -> None:
    suite = MODELS.replace("  - {name: mini, judge: llm, model: mini}\n", "")
    answers.write("suite.yaml", suite % (", gold_source: 'model:gpt-4o'", ""))
    done = answers.run("run", "suite.yaml", "--run-dir", "run", "--yes")
    assert done.exit_code == 0, done.output
    for form in ("markdown", "html", "plots", "csv"):
        assert answers.run("report", "run", "--format", form).exit_code == 0
    full = answers.run("report", "run", "--full", env={"COLUMNS": "200"}).stdout
    markdown, page = ((answers.path / "run" / name).read_text() for name in ("report.md", "report.html"))

    assert "labels by the model gpt-4o" in full
    assert "labels by the model gpt-4o" in markdown
    for text in (done.output, full, markdown):
        # The names of measures and options stay: `gold-accuracy`, `accuracy=0.8`.
        assert not re.findall(r"(?<!-)\b[Aa]ccuracy\b(?![-=])", text)
    assert "agreement with model labels" in full.lower()
    assert "agreement with model labels" in markdown
    assert "Agreement with model labels" in page
    assert "gold accuracy" not in page.lower()
    assert "gold accuracy" not in (answers.path / "run" / "plots" / "index.txt").read_text()
    assert '"gold_source"' in (answers.path / "run" / "records.csv").read_text().splitlines()[0]


@pytest.mark.parametrize("how", ["value", "column"])
def test_an_import_says_where_its_gold_labels_come_from(project: Project, how: str) -> None:
    lines = (project.path / "log.csv").read_text().splitlines()
    project.write("log.csv", "\n".join([f"{lines[0]},by", *(f"{line},Model: gpt-4o" for line in lines[1:])]) + "\n")
    stated = "values: {gold_source: 'model:gpt-4o'}\n" if how == "value" else ""
    column = ", gold_source: by" if how == "column" else ""
    project.write("import.yaml", IMPORT.replace("gold: gold}", f"gold: gold{column}}}") % "" + stated)
    done = project.run("import", "import.yaml", "--run-dir", "run")
    assert done.exit_code == 0, done.output
    full = project.run("report", "run", "--full", env={"COLUMNS": "200"}).stdout
    assert "labels by the model gpt-4o" in full
    assert "agreement with model labels" in full.lower()
    assert "gold accuracy" not in full.lower()
    project.write("import.yaml", IMPORT % "" + "values: {gold_source: nobody}\n")
    done = project.run("import", "import.yaml", "--run-dir", "other")
    assert done.exit_code == 2
    assert "'nobody' is not a source of gold labels; accepted: people, one-person, model" in done.stderr


def test_an_unknown_source_of_labels_is_refused_with_its_line(answers: Project) -> None:
    answers.write("suite.yaml", MODELS % (", gold_source: crowd", ""))
    refused = answers.run("plan", "suite.yaml")

    assert refused.exit_code == 2
    assert "'crowd' is not a source of gold labels" in refused.stderr
    assert "suite.yaml:2" in refused.stderr


PAIRS = """\
name: pairs
data: {source: csv, path: pairs.csv}
task: {instruction: Which is better?, scale: {pairwise: true}}
tests: [identical-options]
judges: [baseline]
"""


def test_a_judge_that_abstains_where_nothing_is_expected_does_not_stop_the_gate(tmp_path: Path) -> None:
    project = Inside(tmp_path)
    rows = [
        f"p{number},Say {number},a long and careful answer {number},short,{'AB'[number % 2]}"
        if number % 2 == 0
        else f"p{number},Say {number},short,a long and careful answer {number},B"
        for number in range(40)
    ]
    project.write("pairs.csv", "\n".join(["id,request,response_a,response_b,label", *rows]) + "\n")
    project.write("suite.yaml", PAIRS)
    done = project.run("run", "suite.yaml", "--run-dir", "run", "--yes")
    assert done.exit_code == 0, done.output
    held = project.run("gate", "run", "--rule", "gold-accuracy[reference] >= 0.6")

    assert held.exit_code == 0, held.output
    assert "verdicts are missing" not in held.output
