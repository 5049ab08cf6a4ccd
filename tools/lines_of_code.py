"""Count lines of code: `python tools/lines_of_code.py` prints a table by distribution, and by package of the kernel.

A line counts if it holds code: blank lines, comments and docstrings cost nothing, and tests are left out.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
_TEXTS_AND_COMMENTS: Final = re.compile(
    r'''"""(?:\\[\s\S]|[^\\])*?"""'''
    r"""|'{3}(?:\\[\s\S]|[^\\])*?'{3}"""
    r"""|"(?:\\[\s\S]|[^"\\\n])*"|'(?:\\[\s\S]|[^'\\\n])*'|#[^\n]*"""
)


@cache
def lines_of_code(source: str) -> int:
    """Return the number of lines that hold code."""
    return read_lines(source, ast.parse(source))[0]


def read_lines(source: str, tree: ast.Module) -> tuple[int, list[str]]:
    """Return the number of lines that hold code, and the comments."""
    comments: list[str] = []

    def replace(part: re.Match[str]) -> str:
        if part[0].startswith("#"):
            comments.append(part[0])
            return ""
        # A blank line of a text is a line of code.
        return "\n".join("text" for _ in part[0].split("\n"))

    # Not the tokens, which take ten times as long to read.
    lines = _TEXTS_AND_COMMENTS.sub(replace, source).split("\n")
    code = {number for number, line in enumerate(lines, start=1) if line.strip()}
    return len(code - _docstrings(tree)), comments


def _docstrings(tree: ast.Module) -> set[int]:
    """Return the lines of texts that are statements: docstrings, and the explanations below a field or a constant."""
    return {
        line
        for node in _statements(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the statements inside another, and their own: expressions, which are most of a tree, hold none."""
    for block in ("body", "orelse", "finalbody", "handlers", "cases"):
        for statement in getattr(node, block, ()):
            yield statement
            yield from _statements(statement)


def by_distribution() -> Counter[str]:
    """Return the lines of code of every distribution, such as `core/kernel`."""
    counts: Counter[str] = Counter()
    for place in ("core", "plugins", "plugins-contrib"):
        for path in (ROOT / place).glob("*/src/**/*.py"):
            counts["/".join(path.relative_to(ROOT).parts[:2])] += lines_of_code(path.read_text(encoding="utf-8"))
    return counts


def by_package() -> Counter[str]:
    """Return the lines of code of every package of the kernel; `.` means the modules at its root."""
    counts: Counter[str] = Counter()
    kernel = ROOT / "core" / "kernel" / "src" / "jrh"
    for path in kernel.rglob("*.py"):
        parts = path.relative_to(kernel).parts
        counts[parts[0] if len(parts) > 1 else "."] += lines_of_code(path.read_text(encoding="utf-8"))
    return counts


def main() -> None:
    """Print the table."""
    counts = by_distribution()
    for name, number in [*sorted(counts.items()), ("all", sum(counts.values()))]:
        print(f"{number:7,}  {name}")
    for name, number in by_package().most_common():
        print(f"{number:7,}  core/kernel: {name}")


if __name__ == "__main__":
    main()
