"""Every public name of jrh is documented, stands on the reference page, and is used."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

import jrh
from jrh_testing import loop_over
from support.scripts import load_script

ROOT = Path(__file__).resolve().parents[1]
MOST = 61
"""Names at the root of jrh, besides `__version__` and `API_VERSION`."""


def _load() -> ModuleType:
    return load_script(ROOT / "tools" / "reference.py")


reference = _load()
NAMES = sorted(
    (package, name, module) for package, names in reference.public_names().items() for name, module in names.items()
)
every_name = loop_over("public", NAMES, ids=lambda public: f"{public[0]}.{public[1]}")


def test_the_root_has_what_plugin_authors_and_notebooks_need_and_no_more() -> None:
    assert len(set(jrh.__all__) - {"__version__", "API_VERSION"}) <= MOST


def test_no_name_is_public_in_two_packages() -> None:
    names = [name for _, name, _ in NAMES]
    assert sorted(names) == sorted(set(names))


@every_name
def test_a_public_name_has_a_docstring(public: tuple[str, str, str]) -> None:
    package, name, module = public
    assert getattr(importlib.import_module(package), name) is not None
    assert reference.first_line(module, name), f"{module}.{name} has no docstring"


def test_the_reference_page_is_current() -> None:
    assert reference.page() == reference.PAGE.read_text(encoding="utf-8"), "run `make reference`"


@loop_over(
    "package", ["jrh", "jrh_measuring", "jrh_authoring", "jrh_chat", "jrh_interchange", "jrh_stats", "jrh_testing"]
)
def test_the_reference_page_has_every_name_that_a_package_exports(package: str) -> None:
    """The packages' own `__all__`, not the files the page is made from."""
    text = reference.PAGE.read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| `(\w+)[^\n]*` \| (.*) \|$", text.partition(f"\n## {package}\n")[2].partition("\n## ")[0], re.M
    )
    exported = set(importlib.import_module(package).__all__) - {"__version__", "API_VERSION"}
    assert sorted(exported - {name for name, _ in rows}) == []
    assert [name for name, what in rows if not what.strip()] == []


@every_name
def test_a_public_name_is_used_by_a_plugin_or_explained_in_the_docs(public: tuple[str, str, str]) -> None:
    package, name, module = public
    if module == "jrh.errors":
        return  # raised by jrh, to be caught
    assert (package, name) in _imported() or name in _words(), f"nobody uses {package}.{name}"


@cache
def _imported() -> frozenset[tuple[str, str]]:
    """Return what plugins and jrh_testing import, from where."""
    return frozenset(_imports([*ROOT.glob("plugins*/*/src/**/*.py"), *ROOT.glob("core/testing/src/**/*.py")]))


def _imports(paths: list[Path]) -> Iterator[tuple[str, str]]:
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                yield from ((node.module, alias.name) for alias in node.names)
                # jrh_testing is part of the kernel's repository and imports from the modules themselves.
                yield from ((node.module.rpartition(".")[0], alias.name) for alias in node.names)


@cache
def _words() -> frozenset[str]:
    """Return the words of the documentation that are written as code, the reference page excepted."""
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("*/*/README.md")]
    texts = [path.read_text(encoding="utf-8") for path in pages if path != reference.PAGE]
    code = [part for text in texts for part in re.findall(r"```.*?```|`[^`\n]+`", text, re.DOTALL)]
    return frozenset(word for part in code for word in re.findall(r"\w+", part))
