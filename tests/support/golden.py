"""Golden outputs: what the demo and the suites in `examples/` print and write, with a few items each.

    make golden                                    # writes what has changed, and prints the differences
    gzip -cd tests/golden/demo/report.json.gz      # large files are compressed

They are made from wheels of one version (`installed.py`), so that an edit of the source changes an output only where it
changes what jrh does: component digests enter neither ids nor seeds. To see compressed files in `git diff`:
`git config diff.gzip.textconv "gzip -cd"`.
"""

from __future__ import annotations

import difflib
import gzip
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from attrs import frozen
from jrh_testing import ChatServer

from support import example_program
from support.example_models import Circling, obeying, reading_the_start
from support.example_program import BASE_URL, PROXY, proxy_of
from support.installed import ROOT, install

GOLDEN: Final = ROOT / "tests" / "golden"
REPORTS: Final = ("report.json", "report.md", "report.html")
TERMINAL: Final = "terminal.txt"
COMPRESSED: Final = frozenset({"report.json", "report.html"})
"""A megabyte each, a twentieth of that compressed."""
TOLERANCE: Final = 1e-9
"""Relative. Linear algebra of different processors differs in the last digits."""
ZERO: Final = 1e-12
"""Absolute. What is zero but for rounding has no digit that processors agree on."""
RUN: Final = "run"
_PROGRESS: Final = re.compile(r"^[a-z-]+: (\d+/\d+ (done )?\(run total .*\)|\d+ s so far)\n", re.MULTILINE)
"""Lines of progress hold steps per second, and a stage has one more for every ten seconds that it takes."""
_LINES: Final = 40
_WIDTH: Final = {".json": 400, "": 120}
"""Characters after which a line of a diff is broken, so that it shows the place; a measure is one line of JSON."""


@frozen(kw_only=True)
class Example:
    """How an example is run."""

    commands: Sequence[Sequence[str]]
    """Run one after the other in the directory that holds a copy of `examples/`."""
    run_dir: str = RUN
    model: Callable[[], Any] | None = None
    """Makes what answers at `BASE_URL`; None: the example starts its own server, or needs none."""


def _suite(path: str, *options: str, model: Callable[[], Any] | None = None) -> Example:
    served = ("--set", f"models.judge.base_url={BASE_URL}") if model else ()
    plain = ("--no-cache", "--no-preflight", "--yes")  # models that answer their suite's prompts answer no other
    command = ("jrh", "run", f"examples/{path}", "--run-dir", RUN, *plain, *options, *served)
    return Example(commands=[command], model=model)


def _program(name: str, folder: str, *options: str) -> Example:
    """Describe an example that starts its server and models itself; its suite may write other reports than these."""
    run_dir = f"out/{RUN}"
    program = ("python", f"examples/{name}/run.py", folder, "out", *options)
    return Example(
        commands=[program, ("jrh", "report", run_dir, "--format", "terminal,json,markdown,html")], run_dir=run_dir
    )


_JUDGES_OF_INJECTION: Final = ("--judge", "plain", "--judge", "told", "--judge", "guarded")
EXAMPLES: Final[Mapping[str, Example]] = {
    "agents": _suite("agents.yaml"),
    "consistency": _suite("consistency/suite.yaml", model=Circling),
    "criteria": _program("criteria", "--directory", "--replies", "10"),
    "demo": _suite("demo.yaml"),
    "evidence": _suite("evidence/suite.yaml", model=lambda: reading_the_start),
    "injection": _suite("injection/suite.yaml", *_JUDGES_OF_INJECTION, model=lambda: obeying),
    "judge-reliability-harness": _program("judge-reliability-harness", "--folder", "--items", "6"),
    "judgesense": _program("judgesense", "--folder", "--pairs", "3"),
    "reward": _suite("reward/suite.yaml"),
}
"""Name of the suite or of its directory -> how it is run: with as many items as findings of all severities need.

Size and time follow from the number of measures rather than of items: all together take about a minute of one core.
"""


def make(name: str, programs: Path, directory: Path) -> dict[str, str]:
    """Run an example in an empty directory; return its outputs by the names of their files."""
    example = EXAMPLES[name]
    shutil.copytree(ROOT / "examples", directory / "examples", ignore=shutil.ignore_patterns("__pycache__", "runs"))
    with ExitStack() as stack:
        server = stack.enter_context(ChatServer(example.model())) if example.model else None
        variables = environment(programs, directory) | ({PROXY: proxy_of(server.url)} if server else {})
        printed = [_print(command, programs, directory, variables) for command in example.commands]
    reports = {report: (directory / example.run_dir / report).read_text(encoding="utf-8") for report in REPORTS}
    return {**reports, TERMINAL: "\n".join(printed)}


def _print(command: Sequence[str], programs: Path, directory: Path, variables: Mapping[str, str]) -> str:
    """Run a command; return it with what it prints, as a terminal shows it."""
    program, *words = command
    wrapper = [example_program.__file__] if program == "python" else []
    done = subprocess.run(
        [programs / program, *wrapper, *words],
        cwd=directory,
        env=variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=300,
    )
    shown = f"$ {' '.join(command)}\n{done.stdout}{_PROGRESS.sub('', done.stderr)}"
    return f"{shown}[exit code {done.returncode}]\n" if done.returncode else shown


def environment(programs: Path, directory: Path) -> dict[str, str]:
    """Return all variables that the programs see: nothing of this process enters."""
    return {
        "PATH": f"{programs}{os.pathsep}{os.defpath}",
        "HOME": str(directory / "home"),
        "COLUMNS": "120",
        "NO_COLOR": "1",
        "PYTHONUTF8": "1",
        "TZ": "UTC",
        "OPENBLAS_NUM_THREADS": "1",
    }


def read(name: str, file: str) -> str:
    """Return a stored output; empty where there is none."""
    path = _place(name, file)
    if not path.exists():
        return ""
    content = path.read_bytes()
    return (gzip.decompress(content) if file in COMPRESSED else content).decode()


def write(name: str, file: str, text: str) -> None:
    """Store an output."""
    path = _place(name, file)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode(), mtime=0) if file in COMPRESSED else text.encode())


def _place(name: str, file: str) -> Path:
    return GOLDEN / name / (f"{file}.gz" if file in COMPRESSED else file)


def difference(label: str, stored: str, made: str) -> str:
    """Return a short unified diff of two texts; empty if they are equal, JSON with the tolerance for numbers."""
    if stored == made or (label.endswith(".json") and stored and same(json.loads(stored), json.loads(made))):
        return ""
    lines = [*difflib.unified_diff(_lines(label, stored), _lines(label, made), f"{label} (golden)", label, "", "", 1)]
    more = [f"... {len(lines) - _LINES} more lines"] if len(lines) > _LINES else []
    # Without a line, what differs is white space at the end of lines or the layout of the JSON.
    return "\n".join([*(line.rstrip("\n") for line in lines[:_LINES]), *more]) or f"{label}: white space differs"


def same(one: Any, other: Any) -> bool:
    """Return whether two values out of JSON are equal, numbers within the tolerance."""
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=ZERO)
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def _lines(label: str, text: str) -> list[str]:
    suffix = ".json" if label.endswith(".json") else ""
    lines = "\n".join(_members(text)) if suffix else text
    return re.sub(rf"(.{{{_WIDTH[suffix]}}}\S*) ", r"\1\n", lines).splitlines()


def _members(text: str) -> Iterator[str]:
    """Yield a line for each member of each member of a JSON object, with digits that every processor agrees on."""
    for name, value in (json.loads(text, parse_float=_rounded) if text else {}).items():
        members = value if isinstance(value, list) else [value]
        yield from (f"{name}: {json.dumps(member, ensure_ascii=False)}" for member in members)


def _rounded(number: str) -> float:
    return float(f"{float(number):.10g}")


def differences(name: str, made: Mapping[str, str]) -> Iterator[str]:
    """Yield a short diff for every file of an example that differs from what is stored."""
    for file, text in made.items():
        if found := difference(f"{name}/{file}", read(name, file), text):
            yield found


def main() -> int:
    """Write every output that differs, and print the differences."""
    with tempfile.TemporaryDirectory(prefix="jrh-golden-") as place:
        programs = install(Path(place))
        for name in EXAMPLES:
            print(name, flush=True)
            directory = Path(place) / name
            directory.mkdir()
            made = make(name, programs, directory)
            for file, text in made.items():
                if found := difference(f"{name}/{file}", read(name, file), text):
                    print(found, flush=True)
                    write(name, file, text)
    for path in GOLDEN.iterdir():
        if path.name not in EXAMPLES:
            shutil.rmtree(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
