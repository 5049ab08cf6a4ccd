"""The pipeline can be read from top to bottom: no module of it depends on more than a handful of others."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Final

import jrh

KERNEL: Final = Path(jrh.__path__[0])
MOST: Final = 15
"""Other modules of jrh that a module of the pipeline, the commands or the Python API may import."""


def imported(source: str) -> set[str]:
    """Return the modules of jrh that a source names in import statements, those for type checkers included."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            place = KERNEL.parent.joinpath(*node.module.split("."))
            for alias in node.names:
                inside = (place / alias.name).is_dir() or (place / f"{alias.name}.py").is_file()
                found.add(f"{node.module}.{alias.name}" if inside else node.module)
    return {name for name in found if name.partition(".")[0] == "jrh"}


def test_no_module_of_the_pipeline_imports_more_than_15_others() -> None:
    paths = [*KERNEL.glob("running/**/*.py"), *KERNEL.glob("cli/*.py"), KERNEL / "api.py"]
    counts = {path.relative_to(KERNEL).as_posix(): len(imported(path.read_text("utf-8"))) for path in paths}
    assert len(counts) > 40
    assert {name: count for name, count in counts.items() if count > MOST} == {}


def test_a_module_counts_once_however_it_is_imported() -> None:
    source = (
        "import jrh.errors\n"
        "from jrh.errors import JrhError\n"
        "from jrh.running.stages import load as loading\n"
        "from jrh.values import Item, Task\n"
        "import jrh_stats\n"
        "def f():\n"
        "    from jrh.hashing import content_id\n"
    )
    assert imported(source) == {"jrh.errors", "jrh.running.stages.load", "jrh.values", "jrh.hashing"}
