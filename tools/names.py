"""Count what reads badly in names and comments.

    python tools/names.py [--all | --short] [DIRECTORY ...]

Over the source of all distributions, from the syntax tree: functions whose name begins with a participle (`told_by`,
`moved`), variables named by a word that is no noun (`found`, `each`), and lines of comments per 100 lines of code.
`--all` prints every offender. `--short` prints files below 130 lines of code that one other file of their distribution
imports: places to look at, not faults. `tests/test_names.py` holds the bounds.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from lines_of_code import lines_of_code, read_lines

ROOT = Path(__file__).resolve().parents[1]
GROUPS = ("core", "plugins", "plugins-contrib")


def words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


#: Words in "-ed" and "-ing" that are verbs or nouns of their own, not participles.
NO_PARTICIPLES = words(
    """
    embed exceed feed need proceed red seed speed succeed shed weed anything binding bring building ceiling encoding
    everything grading grouping heading learning loading mapping meaning nothing padding pairing parsing pricing
    ranking rating reading reasoning ring routing sampling scoring setting something spacing spelling spending
    standing string thing thinking timing warning wording writing
    """
)
IRREGULAR = words(
    """
    begun bought bound broken brought built caught chosen cut dealt done drawn driven fallen felt found forgotten
    frozen given gone grown held hidden kept known laid left lost made meant met paid said seen sent shown spent
    spoken stood taken thought told torn understood woken won worn written
    """
)
NO_NOUNS = words(
    """
    found each told own now one made kept given asked said seen whole rest nobody others
    """
)
FEW_LINES = 130
#: Comments that speak to tools.
DIRECTIVES = ("# type:", "# noqa", "# pragma", "#!", "# fmt", "# mypy")


def main(arguments: list[str]) -> int:
    """Print the counts of every distribution and, with `--all`, what they count."""
    places = [Path(place).resolve() for place in arguments if not place.startswith("--")] or list(distributions())
    if "--short" in arguments:
        print(*(line for place in places for line in short_files(place)), sep="\n")
        return 0
    print("  comments per 100   participle-first functions   words that are no nouns")
    for place in places:
        report = Report()
        for path in source_files(place):
            report.add(path)
        print(report.line(str(place.relative_to(ROOT))))
        if "--all" in arguments:
            print(*report.offenders, sep="\n")
    return 0


class Report:
    """Counts over files, and the place of everything counted."""

    def __init__(self) -> None:
        self.code = self.comments = self.functions = self.variables = 0
        self.participles: list[str] = []
        self.no_nouns: list[str] = []

    def add(self, path: Path) -> None:
        """Count one file."""
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        place = path.relative_to(ROOT)
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                self.functions += 1
                if begins_with_participle(node.name):
                    self.participles.append(f"{place}:{node.lineno}: def {node.name}")
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.variables += 1
                if node.id.strip("_") in NO_NOUNS:
                    self.no_nouns.append(f"{place}:{node.lineno}: {node.id}")
        code, comments = read_lines(text, tree)
        # No directive to a tool, no interpreter line.
        self.comments += sum(not comment.startswith(DIRECTIVES) for comment in comments)
        self.code += code

    @property
    def offenders(self) -> list[str]:
        """Place and name of every name counted."""
        return [*self.participles, *self.no_nouns]

    def line(self, name: str) -> str:
        """The counts in one line."""
        comments = 100 * self.comments / max(self.code, 1)
        functions = 100 * len(self.participles) / max(self.functions, 1)
        variables = 100 * len(self.no_nouns) / max(self.variables, 1)
        counts = (
            f"{comments:5.1f} ({self.comments} of {self.code})",
            f"{functions:5.1f}% ({len(self.participles)} of {self.functions})",
            f"{variables:5.1f}% ({len(self.no_nouns)} of {self.variables})",
        )
        return "   ".join((*counts, name))


def begins_with_participle(name: str) -> bool:
    """Whether the first word of a name is a past or present participle."""
    word = name.strip("_").partition("_")[0].lower()
    if word in NO_PARTICIPLES:
        return False
    return word in IRREGULAR or (len(word) > len("need") and word.endswith(("ed", "ing")))


def short_files(place: Path) -> Iterator[str]:
    """Describe files of few lines with a single importer in their distribution."""
    modules = {module_name(path): path for path in source_files(place)}
    importers: dict[str, set[Path]] = {name: set() for name in modules}
    for path in modules.values():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                imported = {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
            elif isinstance(node, ast.Import):
                imported = {alias.name for alias in node.names}
            else:
                continue
            for name in imported & importers.keys():
                importers[name].add(path)
    for name, path in modules.items():
        number = lines_of_code(path.read_text(encoding="utf-8"))
        if number < FEW_LINES and len(importers[name]) == 1 and path.name != "__init__.py":
            (importer,) = importers[name]
            yield f"{number:4} {path.relative_to(ROOT)} <- {importer.name}"


def module_name(path: Path) -> str:
    """The name by which a file of a `src` directory is imported."""
    parts = path.with_suffix("").parts
    return ".".join(parts[parts.index("src") + 1 :]) if "src" in parts else path.stem


def distributions() -> Iterator[Path]:
    """Directories of all distributions."""
    for group in GROUPS:
        yield from sorted(path.parent for path in (ROOT / group).glob("*/pyproject.toml"))


def source_files(place: Path) -> Iterator[Path]:
    """Python files of a distribution or directory that are no tests."""
    base = place / "src" if (place / "src").is_dir() else place
    yield from (path for path in sorted(base.rglob("*.py")) if "tests" not in path.relative_to(place).parts)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
