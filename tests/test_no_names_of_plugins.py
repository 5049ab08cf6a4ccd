"""No string of the kernel, the engine of findings, gate, compare, report, plan or the workbench is a plugin's name.

A string that names another distribution's measure, flag, finding or section is an import in disguise, and
import-linter does not see it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import pytest
from jrh.plugins.loading import load_plugins

ROOT = Path(__file__).resolve().parents[1]
PLACES: Final = {
    "kernel": (ROOT / "core" / "kernel" / "src", "jrh-core"),
    "measuring": (ROOT / "core" / "measuring" / "src", "jrh-measuring"),
    "gate": (ROOT / "plugins" / "gate" / "src", "jrh-gate"),
    "compare": (ROOT / "plugins" / "compare" / "src", "jrh-compare"),
    "report": (ROOT / "plugins" / "report" / "src", "jrh-report"),
    "plan": (ROOT / "plugins" / "plan" / "src", "jrh-plan"),
    "review": (ROOT / "plugins" / "review" / "src", "jrh-review"),
}
WORDS: Final = frozenset({"missing", "undecided", "equivalent", "different", "negative", "few", "robust", "audit"})
"""Declared names that are words of the language as well."""


@cache
def declared() -> dict[str, frozenset[str]]:
    """Return every hyphenated name of a measure, flag, finding or section -> the distributions that declare it."""
    plugins = load_plugins().plugins
    names: dict[str, set[str]] = {}
    for metric in plugins.metrics:
        for info in metric.spec.measures:
            names.setdefault(info.name, set()).add(metric.distribution)
    for rule in plugins.findings:
        for kind in rule.spec.kinds:
            names.setdefault(kind.name, set()).add(rule.distribution)
    for section in plugins.sections:
        names.setdefault(section.spec.name, set()).add(section.distribution)
    for flag in plugins.flags:
        names.setdefault(flag.spec.name, set()).add(flag.distribution)
    return {name: frozenset(by) for name, by in names.items() if "-" in name and name not in WORDS}


def strings(root: Path) -> Iterator[str]:
    """Yield the strings of all modules, without docstrings."""
    for path in sorted(root.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
                yield node.value


def foreign(place: str) -> set[str]:
    root, own = PLACES[place]
    return {text for text in strings(root) if text in declared() and own not in declared()[text]}


def test_the_names_are_known() -> None:
    assert len(declared()) > 100
    assert {"excess-disagreement", "few-events", "moves-more-than-reruns"} <= set(declared())


@pytest.mark.parametrize("place", PLACES)
def test_a_distribution_names_nothing_that_another_declares(place: str) -> None:
    """If this fails: ask for a role, or declare what is read."""
    assert foreign(place) == set()
