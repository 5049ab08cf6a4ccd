"""Write `docs/reference.md`: every public name of jrh, jrh_stats and jrh_testing, with its signature and first line.

    python tools/reference.py [--check]

Public are the names in the `__init__.pyi` of `jrh` and of its public packages, and those that public modules define.
`tests/test_public_names.py` fails where this has not been run.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
PAGE: Final = ROOT / "docs" / "reference.md"
KERNEL: Final = ROOT / "core" / "kernel" / "src"
MODULES: Final[Mapping[str, frozenset[str]]] = {
    "jrh.errors": frozenset(),
    "jrh.hashing": frozenset({"ID_LENGTH", "T", "canonical_json", "is_plain", "texts_id"}),
}
"""Public modules, each without what it defines for the kernel alone; what is public at the root is listed there."""
COMPANIONS: Final = (
    "authoring/src/jrh_authoring/__init__.pyi",
    "chat/src/jrh_chat/__init__.pyi",
    "interchange/src/jrh_interchange/__init__.pyi",
    "measuring/src/jrh_measuring/__init__.pyi",
    "stats/src/jrh_stats/__init__.pyi",
    "testing/src/jrh_testing/__init__.pyi",
)
"""Where the other distributions of the core list their public names, below `core`."""
INTRODUCTION: Final = """\
# Reference

Every public name of the distributions of the core, with its signature and the first line of its docstring;
`help(jrh.Item)` shows the rest.
`make reference` writes this page from the docstrings. [Versions of the plugin API](hooks.md#versions-of-the-plugin-api)
says what may change, and when.
"""
PURPOSE: Final[Mapping[str, str]] = {
    "jrh": "What plugin authors and notebooks need.",
    "jrh_authoring": "For authors of suites, perturbers and validators: texts by a model, checks, edits by rules.",
    "jrh.errors": "What can go wrong.",
    "jrh.hashing": "Ids and seeds that follow from content.",
    "jrh_interchange": "For commands that turn verdicts from elsewhere into a run directory.",
    "jrh_measuring": "For authors of metrics and reports: score records, build measures, format numbers, escape text.",
    "jrh.models": "For authors of model providers: statuses of replies, routing, settings that a model refuses.",
    "jrh.plugins": "Protocols and declarations that are needed less often: what a component looks like to jrh.",
    "jrh.running": "For commands that start or inspect a run.",
    "jrh.store": "For commands that copy runs: rows of stores, checked as they are read.",
    "jrh.suite": "For commands that read parts of a suite.",
    "jrh.text": "Transcripts, redaction, the terminal.",
    "jrh.values": "Values that reports, events and metrics carry besides those at the root.",
    "jrh_chat": "For authors of model providers: write requests, read a provider's reply and translate its errors.",
    "jrh_stats": "Estimates, intervals, tests and power as pure functions over arrays; nothing of jrh is imported.",
    "jrh_testing": "For tests of plugins: contracts, projects, fakes, servers on loopback.",
}
_LONGEST: Final = 150


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page, or with `--check` fail where it is out of date."""
    parser = argparse.ArgumentParser(prog="reference.py", description="Write docs/reference.md.")
    parser.add_argument("--check", action="store_true", help="change nothing; fail if the page is out of date")
    check = parser.parse_args(arguments).check
    text = page()
    if PAGE.is_file() and PAGE.read_text(encoding="utf-8") == text:
        return 0
    if check:
        print("docs/reference.md is out of date; run `make reference`", file=sys.stderr)
        return 1
    PAGE.write_text(text, encoding="utf-8")
    return 0


def public_names() -> dict[str, dict[str, str]]:
    """Return the public names: package -> name -> the module that defines it."""
    found: dict[str, dict[str, str]] = {}
    for stub in sorted(KERNEL.glob("jrh/**/__init__.pyi")):
        package = ".".join(stub.parent.relative_to(KERNEL).parts)
        found[package] = _imported(stub, package)
    for module, private in MODULES.items():
        tree = ast.parse((KERNEL / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8"))
        names = {name for name, _ in _defined(tree) if not name.startswith("_")}
        found[module] = dict.fromkeys(names - private - found["jrh"].keys(), module)
    return dict(sorted(found.items()))


def companions() -> dict[str, dict[str, str]]:
    """Return the public names of the other distributions of the core: package -> name -> the module that defines it."""
    paths = [ROOT / "core" / each for each in COMPANIONS]
    return {path.parent.name: _imported(path, path.parent.name) for path in paths}


def _imported(path: Path, package: str) -> dict[str, str]:
    """Return the names that a package imports from its own modules, with these modules."""
    return {
        alias.name: node.module if node.module.startswith(f"{package}.") else f"{package}.{node.module}"
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom) and node.module and node.module != "__future__"
        for alias in node.names
    }


def page() -> str:
    """Return the page."""
    parts = [INTRODUCTION]
    for package, names in (public_names() | companions()).items():
        parts.append(f"\n## {package}\n\n{PURPOSE[package]}\n\n| name | what it is |\n|---|---|\n")
        for name, module in sorted(names.items(), key=lambda pair: pair[0].lower()):
            parts.append(f"| {_signature(import_module(module), name)} | {first_line(module, name)} |\n")
    return "".join(parts)


def first_line(module: str, name: str) -> str:
    """Return the first line of the docstring of a name; empty where it has none."""
    text = docstring_of(import_module(module), name)
    return re.sub(r"(?<!\\)\|", r"\\|", " ".join(text.split("\n\n")[0].split()))


def docstring_of(module: ModuleType, name: str) -> str:
    """Return the docstring of a class or function, or the string below a constant or a type."""
    value = getattr(module, name)
    if inspect.isclass(value) or inspect.isroutine(value):
        return (inspect.getdoc(value) or "") if value.__doc__ else ""
    tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
    return next((text for defined, text in _defined(tree) if defined == name), "")


def _defined(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the names that a module defines, with their docstrings."""
    for node, after in zip(tree.body, [*tree.body[1:], None], strict=True):
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name, ast.get_docstring(node) or ""
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                below = after.value if isinstance(after, ast.Expr) else None
                text = below.value if isinstance(below, ast.Constant) and isinstance(below.value, str) else ""
                yield name, inspect.cleandoc(text)


def _signature(module: ModuleType, name: str) -> str:
    value: Any = getattr(module, name)
    if not (inspect.isclass(value) or inspect.isroutine(value)):
        return f"`{name}`"
    try:
        shown = str(inspect.signature(value))
    except (TypeError, ValueError):
        return f"`{name}`"
    if inspect.isclass(value):
        shown = re.sub(r" -> None$", "", shown)
        if getattr(value, "_is_protocol", False) or issubclass(value, BaseException) or hasattr(value, "__members__"):
            shown = ""
    shown = re.sub(r"(: |-> )'([^']*)'", r"\1\2", shown)  # annotations are text, and shown in quotes
    shown = re.sub(r"<(?:class '[\w.]*?(\w+)'|([A-Z]\w+\.\w+): [^<>]*)>", r"\1\2", shown)  # classes and enum members
    shown = re.sub(r"NOTHING|<[^<>]*>", "...", shown)
    shown = re.sub(r"\b(?:[a-z_]+\.)+([A-Z])", r"\1", shown)
    if len(shown) > _LONGEST:
        shown = _names_only(value)
    return f"`{name}{shown}`".replace("|", r"\|")


def _names_only(value: Any) -> str:
    """Return a long signature without its types and defaults."""
    marks = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    parts: list[str] = []
    for parameter in inspect.signature(value).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in "".join(parts):
            parts.append("*")
        default = "" if parameter.default is parameter.empty else "=..."
        parts.append(f"{marks.get(parameter.kind, '')}{parameter.name}{default}")
    shown = ", ".join(parts)
    return f"({shown})" if len(shown) <= _LONGEST else f"({shown[:_LONGEST].rpartition(', ')[0]}, ...)"


if __name__ == "__main__":
    sys.exit(main())
