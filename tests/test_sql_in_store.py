"""Every SQL statement of the project stands in the kernel's store: whoever changes a table has one package to read."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = ("core/*/src", "plugins/*/src", "plugins-contrib/*/src")
STORE = ROOT / "core/kernel/src/jrh/store"
KEYWORDS = "ALTER|ATTACH|BEGIN|COMMIT|CREATE|DELETE|DROP|INSERT|PRAGMA|REPLACE|ROLLBACK|SELECT|UPDATE|VACUUM|WITH"
STATEMENT = re.compile(rf"\s*({KEYWORDS})\b")


def modules() -> list[Path]:
    return sorted(path for pattern in SOURCES for source in ROOT.glob(pattern) for path in source.rglob("*.py"))


def nodes(path: Path, word: str) -> Iterator[ast.AST]:
    """Yield the nodes of a module; none where its text has no such word, which most have not."""
    text = path.read_text(encoding="utf-8")
    return ast.walk(ast.parse(text)) if re.search(word, text) else iter(())


def statements(path: Path) -> Iterator[str]:
    """Yield the string constants of a module, the parts of f-strings too, that begin as SQL does."""
    for node in nodes(path, rf"\b({KEYWORDS})\b"):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and STATEMENT.match(node.value):
            yield f"{path.relative_to(ROOT)}:{node.lineno}: {node.value[:60]}"


def imports(path: Path) -> Iterator[str]:
    """Yield what a module that names sqlite imports."""
    for node in nodes(path, "sqlite3"):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def test_no_sql_stands_outside_the_store() -> None:
    found = [(path, line) for path in modules() for line in statements(path)]
    assert [line for path, line in found if STORE not in path.parents] == []
    assert len([line for path, line in found if STORE in path.parents]) > 20, "the search finds what is there"


def test_only_the_store_speaks_to_sqlite() -> None:
    speaking = [path for path in modules() if "sqlite3" in set(imports(path))]
    assert [path for path in speaking if STORE not in path.parents] == []
    assert STORE / "database.py" in speaking
