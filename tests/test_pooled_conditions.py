"""What is a rerun is decided by the whole condition: records that name no variant pool no conditions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from jrh_testing import Inside, Project
from support.looking import report

ITEMS = 40
STEADY = 12
"""Items on which a judge is right in both orders, where an interval needs items that differ."""
HEADER = "item,judge,test,order,template,temperature,case,label,gold"
IMPORT = """\
name: log
path: log.csv
task: {mode: pairwise, instruction: Which is better?, scale: {pairwise: true}}
columns: {item: item, judge: judge, test: test, option_order: order, template: template, temperature: temperature,
  case: case, label: label, gold: gold}
"""
OTHER = {"A": "B", "B": "A"}


def rows(test: str, level: str, *, flips: bool, order: str = "", case: bool = False) -> Iterator[str]:
    """Yield two identical reruns of every item under one level; a flip is the other label than the gold one."""
    template, temperature = (level, "") if level.startswith("t") else ("", level)
    for item in range(ITEMS):
        gold = "AB"[item % 2]
        said = OTHER[gold] if flips else gold
        name = f"{item}/{test}/{level}/{order}" if case else ""
        yield from [f"i{item},judge,{test},{order},{template},{temperature},{name},{said},{gold}"] * 2


def always_first(test: str, *, case: bool = False, steady: int = 0) -> Iterator[str]:
    """Yield a judge that says the first option in both orders, labels canonical; it is right on `steady` items."""
    for order, first in (("AB", "A"), ("BA", "B")):
        for item in range(ITEMS):
            gold = "AB"[item % 2]
            said = gold if item < steady else first
            name = f"{item}/{test}/{order}" if case else ""
            yield from [f"i{item},judge,{test},{order},,,{name},{said},{gold}"] * 2


def imported(project: Project, lines: list[str]) -> dict[tuple[str, str], Mapping[str, object]]:
    """Import a log without variants; return (measure, test) -> the measure of the whole test."""
    project.write("log.csv", "\n".join([HEADER, *lines]) + "\n")
    project.write("log.yaml", IMPORT + "count_repeats: true\n")
    assert project.run("import", "log.yaml", "--run-dir", "run").exit_code == 0
    assert project.run("report", "run", "--format", "json").exit_code == 0
    document = json.loads((project.path / "run" / "report.json").read_text())
    return {(each["name"], each["test"]): each for each in document["measures"] if not each["cell"]}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Inside(tmp_path)


@pytest.mark.parametrize("case", [False, True], ids=["no case ids", "case ids"])
@pytest.mark.parametrize("apart", [False, True], ids=["one test", "with a reference"])
def test_both_orders_of_a_judge_that_always_says_first_are_no_reruns(project: Project, case: bool, apart: bool) -> None:
    lines = [*always_first("option-order", case=case)]
    if apart:
        lines += [line for line in always_first("reference", case=case) if ",AB," in line]
    found = imported(project, lines)
    assert found["rerun-disagreement", "reference"]["estimate"] == 0.0
    assert found["flip-rate", "option-order"]["estimate"] == 1.0
    assert found["excess-disagreement", "option-order"]["estimate"] == 1.0
    assert found["swap-consistency", "option-order"]["estimate"] == 0.0
    assert found["position-bias", "option-order"]["estimate"] == 1.0
    assert found["first-position-rate", "option-order"]["estimate"] == 1.0
    # Every item turns, so an interval of a difference has nothing to vary; the limits of a rate are exact.
    gate = project.run("gate", "run", "--rule", "flip-rate[option-order] < 0.05")
    assert gate.exit_code == 1, gate.stdout


@pytest.mark.parametrize("case", [False, True], ids=["no case ids", "case ids"])
@pytest.mark.parametrize("apart", [False, True], ids=["one test", "with a reference"])
def test_a_gate_on_the_excess_fails_a_judge_that_mostly_says_first(project: Project, case: bool, apart: bool) -> None:
    lines = [*always_first("option-order", case=case, steady=STEADY)]
    if apart:
        lines += [line for line in always_first("reference", case=case, steady=STEADY) if ",AB," in line]
    found = imported(project, lines)
    assert found["excess-disagreement", "option-order"]["estimate"] == pytest.approx(1 - STEADY / ITEMS)
    gate = project.run("gate", "run", "--rule", "excess-disagreement[option-order] < 0.05")
    assert gate.exit_code == 1, gate.stdout


def test_a_reference_logged_in_both_orders_holds_two_conditions(project: Project) -> None:
    found = imported(project, [*always_first("reference")])
    assert found["rerun-disagreement", "reference"]["estimate"] == 0.0
    assert found["swap-consistency", "reference"]["estimate"] == 0.0
    assert found["gold-accuracy", "reference"]["estimate"] == 0.5
    (note,) = [each for each in report(project, "run")["notes"] if "several" in each]
    assert note.startswith("The reference rows of an item hold several option orders (AB, BA).")


def test_every_test_is_compared_with_the_reference_of_its_own_order(project: Project) -> None:
    crossed = [line.replace("reference", "format") for line in always_first("reference")]
    found = imported(project, [*always_first("reference"), *crossed])
    assert found["flip-rate", "format"]["estimate"] == 0.0
    assert found["excess-disagreement", "format"]["estimate"] == 0.0


@pytest.mark.parametrize("plain", ["", "t0"], ids=["unnamed", "named"])
def test_templates_without_variant_are_no_reruns_of_each_other(project: Project, plain: str) -> None:
    lines = [*rows("reference", plain, flips=False), *rows("templates", "t1", flips=True)]
    lines += [*rows("templates", "t2", flips=False)]
    found = imported(project, lines)
    assert found["rerun-disagreement", "reference"]["estimate"] == 0.0
    assert found["rerun-disagreement", "templates"]["estimate"] == 0.0
    assert found["excess-disagreement", "templates"]["estimate"] == 0.5
    assert found["flip-rate", "templates"]["estimate"] == 0.5


def test_temperatures_without_variant_are_no_reruns_of_each_other(project: Project) -> None:
    lines = [*rows("reference", "", flips=False), *rows("stochastic", "0", flips=False)]
    lines += [*rows("stochastic", "1", flips=True)]
    found = imported(project, lines)
    assert found["rerun-disagreement", "stochastic"]["estimate"] == 0.0
    assert found["excess-disagreement", "stochastic"]["estimate"] == 0.5


def test_a_test_that_states_no_level_keeps_its_trials(project: Project) -> None:
    found = imported(project, [*rows("reference", "", flips=False), *rows("format", "", flips=True)])
    assert found["flip-rate", "format"]["estimate"] == 1.0
    assert found["flip-rate", "format"]["n_items"] == ITEMS


def crossed(said: Callable[[str, str, str], str], *, items: int = ITEMS) -> list[str]:
    """Yield both orders under two templates; `said` turns (order, template, gold) into the canonical label."""
    asked = [(item, order, template) for item in range(items) for order in OTHER_ORDER for template in ("t1", "t2")]
    return [
        f"i{item},judge,reference,{order},{template},,,{said(order, template, 'AB'[item % 2])},{'AB'[item % 2]}"
        for item, order, template in asked
    ]


OTHER_ORDER = {"AB": "A", "BA": "B"}
"""The canonical label of the option shown first."""
NAMES = ("swap-consistency", "position-bias", "right-in-both-orders", "template-flip-rate", "jss")
FOLLOWS_ORDER = dict(zip(NAMES, (0.0, 1.0, 0.0, 0.0, 1.0), strict=True))
FOLLOWS_TEMPLATE = dict(zip(NAMES, (1.0, 0.0, 0.5, 1.0, 0.0), strict=True))
RIGHT = dict(zip(NAMES, (1.0, 0.0, 1.0, 0.0, 1.0), strict=True))


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (lambda order, _, __: OTHER_ORDER[order], FOLLOWS_ORDER),
        (lambda _, template, __: {"t1": "A", "t2": "B"}[template], FOLLOWS_TEMPLATE),
        (lambda _, __, gold: gold, RIGHT),
    ],
    ids=["always first", "template decides", "right"],
)
def test_orders_crossed_with_templates_are_compared_one_factor_at_a_time(
    project: Project, said: Callable[[str, str, str], str], expected: Mapping[str, float]
) -> None:
    found = imported(project, crossed(said))
    assert {name: found[name, "reference"]["estimate"] for name in expected} == expected
    assert found["swap-consistency", "reference"]["n_items"] == ITEMS


POLARITY = """\
name: log
path: log.csv
task: {mode: pointwise, instruction: Right?, scale: {labels: ["YES", "NO"]}}
columns: {item: item, judge: judge, test: test, polarity: polarity, label: label}
"""


@pytest.mark.parametrize("test", ["polarity", "inverted-question"])
@pytest.mark.parametrize("blind", [True, False], ids=["always YES", "reads it"])
def test_a_judge_that_overlooks_the_inversion_is_found(project: Project, blind: bool, test: str) -> None:
    lines = ["item,judge,test,polarity,label"]
    for item in range(ITEMS):
        said = "YES" if blind else ("YES", "NO")[item % 2]
        turned = {"YES": "NO", "NO": "YES"}[said] if blind else said
        lines += [f"i{item},judge,reference,positive,{said}", f"i{item},judge,{test},inverted,{turned}"]
    project.write("log.csv", "\n".join(lines) + "\n")
    project.write("log.yaml", POLARITY)
    assert project.run("import", "log.yaml", "--run-dir", "run").exit_code == 0
    assert project.run("report", "run", "--format", "json").exit_code == 0
    found = [each for each in report(project, "run")["findings"] if each["kind"] == "polarity-blindness"]
    assert [each["tests"] for each in found] == ([[test]] if blind else [])
    assert all(each["sentence"].startswith("Overlooks that the question is inverted: ") for each in found)


def test_a_log_of_both_orders_has_a_reference_row_and_no_note_that_it_has_none(project: Project) -> None:
    found = imported(project, [*always_first("option-order")])
    assert found["gold-accuracy", "reference"]["n_items"] == ITEMS
    assert "No reference condition" not in str(report(project, "run")["notes"])
