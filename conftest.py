"""What holds for all tests: how hypothesis searches, that byte code is kept, and that no contract is shown twice.

Also what makes them fast: metadata are read once, studies run where they are asked for, slow files come first.
"""

import gc
import math
import os
import sys
from itertools import groupby
from operator import attrgetter
from pathlib import Path

import pytest
from hypothesis import settings

# No deadline, which a busy machine would break. In CI the same examples every time.
settings.register_profile("search", deadline=None)
settings.register_profile("repeat", deadline=None, derandomize=True, database=None)
settings.register_profile("quick", deadline=None, max_examples=25)  # for `make quick`; the default is 100
settings.load_profile("repeat" if os.environ.get("CI") else "search")

# Several hundred tests start the program. Container images switch byte code off, which makes every one of these
# processes compile jrh and its libraries again: a third of the time that a run of all tests takes.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# Workers of xdist get the width of the terminal, which would change what programs print in a pipe.
os.environ.pop("COLUMNS", None)
sys.dont_write_bytecode = False

# Collecting makes millions of objects that live to the end: searching them for garbage takes a sixth of its time.
gc.disable()

ROOT = Path(__file__).parent
sys.path.insert(0, str(ROOT / "tests"))  # with --import-mode=importlib pytest leaves the path alone

from support.read_once import remember_entry_points  # noqa: E402

remember_entry_points()

TIMES = ROOT / "tests" / "times.txt"
SLOW = 6.0
"""Seconds of a file that is begun first."""
QUICK = 20.0
"""Milliseconds of a test: `make quick` runs the files whose tests take no more on average, 60 seconds of two cores."""

OF_A_PLUGIN = {"test_declaring_loads_no_other_library"}
OF_A_COMPONENT = {
    "test_the_declaration_can_be_read_twice",
    "test_the_factory_is_declared_by_name_and_can_be_called",
    "test_the_options_are_explained_and_have_defaults",
    "test_a_missing_required_option_is_an_error",
    "test_an_unknown_option_is_an_error",
    "test_the_starter_is_yaml_that_uses_the_component",
}
"""Tests of the contracts whose outcome does not depend on the options that a class gives to the component."""


@pytest.hookimpl(trylast=True)  # after -k and -m, so that the one that is kept is one that runs
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out long studies, and what another class of contract tests shows of the same plugin or component."""
    shown: set[tuple[object, ...]] = set()
    kept: list[pytest.Item] = []
    left_out: list[pytest.Item] = []
    studies = config.getoption("--studies")
    for item in items:
        fact = _fact(item)
        study = item.get_closest_marker("study") is not None
        (left_out if fact in shown or (study and not studies) else kept).append(item)
        if fact:
            shown.add(fact)
    config.hook.pytest_deselected(items=left_out)
    workers = int(getattr(config, "workerinput", {}).get("workercount", 1))
    slow = {name: seconds for name, (seconds, _) in read_times(TIMES).items() if seconds >= SLOW}
    items[:] = order_slow_first(kept, slow, workers)


def read_times(path: Path) -> dict[str, tuple[float, float]]:
    """Return what files and directories take, by their paths: seconds, and milliseconds of a test that is not slow."""
    rows = (line.split() for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    return {name: (float(seconds), math.inf if each == "-" else float(each)) for seconds, each, name in rows}


def find_quick_files(times: dict[str, tuple[float, float]]) -> set[str]:
    """Return the files of `make quick`: those whose tests are cheap, and the cheapest of every other distribution."""
    cheapest: dict[str, str] = {}
    for name, (_, each) in times.items():
        package = "/".join(name.split("/")[:2])
        if package not in cheapest or each < times[cheapest[package]][1]:
            cheapest[package] = name
    of_packages = {name for package, name in cheapest.items() if not package.startswith("tests/")}
    return of_packages | {name for name, (_, each) in times.items() if each <= QUICK}


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With `--quick`, do not even read files whose tests are not cheap. What has not been measured yet is read."""
    if not config.getoption("--quick"):
        return None
    if not _skipped_by_quick:
        times = read_times(TIMES)
        _skipped_by_quick.update({ROOT / name for name in times.keys() - find_quick_files(times)})
    return True if collection_path in _skipped_by_quick else None


_skipped_by_quick: set[Path] = set()


def order_slow_first(items: list[pytest.Item], times: dict[str, float], workers: int) -> list[pytest.Item]:
    """Order tests so that every worker begins with slow files, and only short tests are left for the end.

    `--dist worksteal` gives each worker an equal part of the list, one after the other. Whoever is done takes tests
    from the end of another's part: there they have to be short, or the last one is alone for minutes. A directory that
    is named stays together, since its files share the fixtures of a session.
    """
    by_place: dict[str, list[pytest.Item]] = {}
    for path, of_file in groupby(items, key=attrgetter("path")):
        name = path.relative_to(ROOT)
        places = [place.as_posix() for place in (name, *name.parents)]
        by_place.setdefault(next((place for place in places if place in times), places[0]), []).extend(of_file)
    slow = sorted((name for name in by_place if name in times), key=lambda name: -times[name])
    quick = [item for name, members in by_place.items() if name not in times for item in members]
    parts: list[list[pytest.Item]] = [[] for _ in range(workers)]
    for place, name in enumerate(slow):
        parts[place % workers] += by_place[name]
    for number, part in enumerate(parts):
        missing = max(0, len(items) * (number + 1) // workers - len(items) * number // workers - len(part))
        part.extend(quick[:missing])
        del quick[:missing]
    return [item for part in parts for item in part] + quick


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let `make quick` run cheap files only, and `make campaigns` the long simulation studies too."""
    parser.addoption(
        "--quick", action="store_true", help="run the files with cheap tests only, as tests/times.txt says"
    )
    parser.addoption("--studies", action="store_true", help="run the long simulation studies too, marked `study`")


def _fact(item: pytest.Item) -> tuple[object, ...] | None:
    """Return what a test shows about a declaration: the plugin, the component and the name; None for other tests."""
    plugin = getattr(getattr(item, "cls", None), "plugin", None)
    name = getattr(plugin, "__name__", None)
    if not name or not item.function.__module__.startswith("jrh_testing."):  # type: ignore[attr-defined]
        return None
    if item.name in OF_A_PLUGIN:
        return name, item.name
    if item.name in OF_A_COMPONENT:
        return name, item.cls.role, item.cls.component, item.name  # type: ignore[attr-defined]
    return None


def pytest_collection_finish() -> None:
    """Spare the garbage collector the collected tests, which live to the end anyway."""
    gc.collect()
    gc.freeze()
    gc.enable()
