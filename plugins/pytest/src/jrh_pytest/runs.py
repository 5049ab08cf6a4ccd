"""Run suites for tests, and hold them against rules."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from importlib.metadata import entry_points
from io import StringIO
from pathlib import Path
from typing import Any, Final

import jrh
import pytest
from jrh import JrhError, content_id
from jrh.errors import CostNotAgreedError
from jrh.running import RunResult

_HOLDS, _UNDECIDED = 0, 5
"""Exit codes of `jrh gate`; every other one fails a test."""
_RUNS: Final = pytest.StashKey[dict[str, RunResult]]()


def run_of(item: pytest.Item, options: Mapping[str, Any]) -> RunResult:
    """Return the run of a suite, made once per session; a suite that costs too much skips the test."""
    runs = item.config.stash.setdefault(_RUNS, {})
    settings = dict(options)
    suite = settings.pop("suite", None)
    if suite is None:
        raise pytest.UsageError("judge_gate: name the suite, such as suite='suite.yaml'")
    if isinstance(suite, str | Path):
        suite = item.path.parent / suite
    # A suite in a file is known by its path, one built in a test by the object itself.
    identity = str(suite) if isinstance(suite, Path) else f"mapping {id(suite)}"
    key = content_id(identity, sorted((name, repr(value)) for name, value in settings.items()))
    if key not in runs:
        spend = item.config.getoption("--jrh-spend")
        # The test may name its own directory.
        settings.setdefault("run_dir", _directory(item, key))
        try:
            # A hundred tests of one suite pay for one run.
            runs[key] = jrh.run(suite, quiet=True, confirm=spend, **settings)
        except CostNotAgreedError as error:
            pytest.skip(f"{error.what}: more than --jrh-spend allows (${spend:.2f})")
        except JrhError as error:
            pytest.fail(str(error), pytrace=False)
    return runs[key]


def check(item: pytest.Item, rules: Sequence[str], options: Mapping[str, Any]) -> None:
    """Hold the run of a suite against rules; fail or skip the test where they do not hold."""
    result = run_of(item, options)
    code, output = _gate(result.run_dir, rules)
    if code == _HOLDS:
        return
    lines = [line for line in output.splitlines() if not line.startswith("Next: ")]
    *lines, conclusion = lines  # pytest's summary shows the first line
    text = "\n".join([conclusion, *lines, f"run: {result.run_dir}"])
    if code == _UNDECIDED:
        item.user_properties.append(("judge gate", "undecided"))
        choice = item.config.getoption("--jrh-undecided")
        if choice == "pass":
            return
        if choice == "skip":
            pytest.skip(text)
    pytest.fail(text, pytrace=False)


def _directory(item: pytest.Item, key: str) -> Path:
    """Return where a suite is run: in pytest's cache, so that the next session asks only what changed."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")  # one run directory has one writer
    cache = getattr(item.config, "cache", None)
    place = Path(cache.mkdir("jrh")) if cache is not None else item.path.parent / ".jrh"
    return place / f"{key[:16]}{worker}"


def _gate(run_dir: Path, rules: Sequence[str]) -> tuple[int, str]:
    """Call `jrh gate`; return its exit code and its output."""
    # Plugins do not import each other: the gate is called as its command.
    (gate,) = (point for point in entry_points(group="jrh.commands") if point.name.rpartition(".")[2] == "gate")
    named = [word for rule in rules for word in ("--rule", rule)]
    with redirect_stdout(StringIO()) as output, redirect_stderr(StringIO()):
        try:
            code = gate.load().main([str(run_dir), *named], "jrh gate", standalone_mode=False)
        except JrhError as error:
            pytest.fail(str(error), pytrace=False)
    return int(code), output.getvalue()
