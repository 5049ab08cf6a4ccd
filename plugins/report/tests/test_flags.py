"""Every flag a shipped metric can raise is explained, and the explanation fits the test it is raised in."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from attrs import evolve
from jrh_report.findings import ONE_LABEL, cautions
from jrh_testing import flags_by_name, load_sections

ROOT = Path(__file__).parents[3]
MEASURING = ROOT / "core" / "measuring" / "src"
SOURCES = (ROOT / "core" / "stats" / "src", MEASURING, *sorted((ROOT / "plugins").glob("*/src")))
TOLD_OTHERWISE = {
    "simulated",
    "below",
    "above",
}  # the last two by a note: a threshold outside of what was asked
FLAG = re.compile(r"[a-z]+(-[a-z]+)*")


def trees() -> Iterator[ast.Module]:
    for source in SOURCES:
        if source.parent.name in ("report", "selftest", "gate"):
            continue
        for path in sorted(source.rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            if "flag" in text.casefold():
                yield ast.parse(text)


def written(node: ast.AST) -> Iterator[ast.Constant | ast.Name]:
    """Yield the texts and names an expression is put together from; not what is compared with or handed on."""
    if isinstance(node, ast.Compare | ast.Call | ast.GeneratorExp | ast.Attribute):
        return
    if isinstance(node, ast.Name) or (isinstance(node, ast.Constant) and isinstance(node.value, str)):
        yield node
    for child in ast.iter_child_nodes(node):
        yield from written(child)


def of_function(function: ast.FunctionDef, constants: dict[str, str]) -> Iterator[str]:
    """Yield the flags a function hands on: `flags=` of its calls, and what a function that makes flags returns."""
    local = {
        target.id: node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    handed = [node.value for node in ast.walk(function) if isinstance(node, ast.keyword) and node.arg == "flags"]
    if re.search("flag|constant|degenerate|few_events", function.name):
        handed += [node.value for node in ast.walk(function) if isinstance(node, ast.Return) and node.value]
        handed += [key for node in ast.walk(function) if isinstance(node, ast.Dict) for key in node.keys if key]
    for expression in handed:
        for part in written(expression):
            if isinstance(part, ast.Constant):
                yield part.value
            elif part.id in local:
                yield from (found.value for found in written(local[part.id]) if isinstance(found, ast.Constant))
            elif part.id in constants:
                yield constants[part.id]


def raised() -> set[str]:
    """Return every flag that the sources hand to an estimate or a measure."""
    constants = {
        node.target.id: node.value.value
        for tree in trees()
        for node in tree.body
        if isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Name)
        and isinstance(node.value, ast.Constant)
    }
    functions = [node for tree in trees() for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    found = {flag for function in functions for flag in of_function(function, constants)}
    return {flag for flag in found if isinstance(flag, str) and FLAG.fullmatch(flag)}


def test_the_flags_in_the_sources_are_found() -> None:
    known = {"few-items", "few-clusters", "few-missing", "constant-gold", "constant-reference", "constant-verdicts"}
    known |= {
        "few-events",
        "confounded",
        "negative",
        "cut",
        "degenerate",
        "all-missing",
        "no-interval",
        "conservative",
        "reference-floor",
        "simulated",
    }
    assert known <= raised()


def test_every_flag_that_can_be_raised_is_explained() -> None:
    assert raised() - TOLD_OTHERWISE <= set(flags_by_name())


@pytest.mark.parametrize("answer", ["equivalent", "different", "undecided"])
def test_the_answers_of_an_equivalence_test_are_explained(answer: str) -> None:
    assert "declared margin" in flags_by_name()[answer].meaning


def flagged(report, measure, **fields):
    return load_sections(evolve(report, measures=(measure("as-expected", flags=("constant-gold",), **fields),)))


def test_a_test_that_plants_one_label_is_not_blamed_on_the_gold_labels(report, measure) -> None:
    (line,) = cautions(flagged(report, measure, test="format"), "essays")
    assert line == f"constant-gold (as-expected): {ONE_LABEL} Seen for baseline in format"


def test_one_gold_label_in_the_data_is_said_in_the_reference_and_elsewhere(report, measure) -> None:
    (line,) = cautions(flagged(report, measure, test="reference"), "essays")
    assert flags_by_name()["constant-gold"].meaning in line
    alone = evolve(report, tasks=(evolve(report.tasks[0], gold={"1": 60}),))
    (line,) = cautions(flagged(alone, measure, test="format"), "essays")
    assert flags_by_name()["constant-gold"].meaning in line
