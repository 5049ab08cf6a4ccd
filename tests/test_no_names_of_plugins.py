"""No string of the kernel, the engine of findings, gate, compare, report, plan or the workbench is a plugin's name.

A string that names another distribution's measure, flag, finding, section or component is an import in disguise, and
import-linter does not see it. Components have names of one word, such as `json`, that say too many other things: of
these only names with a hyphen count.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

from jrh.plugins.loading import load_plugins
from jrh_testing import loop_over

ROOT: Final = Path(__file__).resolve().parents[1]
PLACES: Final = {
    "kernel": (ROOT / "core" / "kernel" / "src", "jrh-core"),
    "measuring": (ROOT / "core" / "measuring" / "src", "jrh-measuring"),
    "gate": (ROOT / "plugins" / "gate" / "src", "jrh-gate"),
    "compare": (ROOT / "plugins" / "compare" / "src", "jrh-compare"),
    "report": (ROOT / "plugins" / "report" / "src", "jrh-report"),
    "plan": (ROOT / "plugins" / "plan" / "src", "jrh-plan"),
    "review": (ROOT / "plugins" / "review" / "src", "jrh-review"),
}
COMPONENTS: Final = (
    "data_sources", "perturbers", "validators", "judges", "parsers", "metrics", "models", "reporters", "stages",
    "modes", "importers", "exporters", "executors",
)  # fmt: skip


def named(entries: Iterable[Any]) -> Iterator[tuple[str, str]]:
    return ((entry.spec.name, entry.distribution) for entry in entries)


@cache
def declared() -> dict[str, frozenset[str]]:
    """Return every name of a measure, flag, finding, section or hyphenated component -> who declares it."""
    plugins = load_plugins().plugins
    components = [each for kind in COMPONENTS for each in named(getattr(plugins, kind)) if "-" in each[0]]
    measures = [(each.name, metric.distribution) for metric in plugins.metrics for each in metric.spec.measures]
    kinds = [(kind.name, rule.distribution) for rule in plugins.findings for kind in rule.spec.kinds]
    names: dict[str, set[str]] = {}
    for name, by in (*components, *measures, *kinds, *named(plugins.sections), *named(plugins.flags)):
        names.setdefault(name, set()).add(by)
    return {name: frozenset(by) for name, by in names.items()}


@cache
def modules(root: Path) -> tuple[ast.Module, ...]:
    return tuple(ast.parse(path.read_text(encoding="utf-8")) for path in sorted(root.rglob("*.py")))


def strings(root: Path) -> Iterator[str]:
    """Yield the strings of all modules, without docstrings."""
    for tree in modules(root):
        said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
                yield node.value


@cache
def own_words(root: Path) -> frozenset[str]:
    """Return the fields of all classes and the values of all enums: columns, suite keys, statuses and roles."""
    found: set[str] = set()
    for tree in modules(root):
        for cls in (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)):
            enum = any(isinstance(base, ast.Name) and base.id.endswith("Enum") for base in cls.bases)
            for line in cls.body:
                if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
                    found.add(line.target.id)
                if enum and isinstance(line, ast.Assign) and isinstance(line.value, ast.Constant):
                    found.add(str(line.value.value))
    return frozenset(found)


def foreign(place: str) -> set[str]:
    root, own = PLACES[place]
    words = own_words(PLACES["kernel"][0]) | own_words(root)
    return {text for text in strings(root) if own not in declared().get(text, {own}) and text not in words}


def test_the_names_are_known() -> None:
    assert len(declared()) > 300
    assert {"excess-disagreement", "few-events", "moves-more-than-reruns", "option-order", "equivalent"} <= set(
        declared()
    )
    assert {"missing", "evidence", "agreement"} <= own_words(PLACES["kernel"][0])


@loop_over("place", PLACES)
def test_a_distribution_names_nothing_that_another_declares(place: str) -> None:
    """If this fails: ask for a role, or declare what is read."""
    assert foreign(place) == set()
