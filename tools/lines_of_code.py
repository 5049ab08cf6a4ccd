"""Count lines of code: `python tools/lines_of_code.py` prints a table by distribution, and by package of the kernel.

A line counts if it holds code: blank lines, comments and docstrings cost nothing, and tests are left out.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections import Counter
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
_LAYOUT: Final = (
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
)


def lines_of_code(source: str) -> int:
    """Return the number of lines that hold code."""
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _LAYOUT:
            code.update(range(token.start[0], token.end[0] + 1))
    return len(code - _docstrings(ast.parse(source)))


def _docstrings(tree: ast.Module) -> set[int]:
    """Return the lines of texts that are statements: docstrings, and the explanations below a field or a constant."""
    return {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }


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
