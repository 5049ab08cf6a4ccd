"""Slow files are begun first, by every worker; `make quick` has tests of every distribution; measured files exist."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from support.scripts import load_script

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def configuration() -> ModuleType:
    return load_script(ROOT / "conftest.py", "root_conftest")


def items(*names: str) -> list[Any]:
    return [SimpleNamespace(path=ROOT / name, name=f"{name}-{number}") for name in names for number in range(2)]


def test_every_measured_file_exists(configuration: ModuleType) -> None:
    times = configuration.read_times(configuration.TIMES)
    assert len(times) > 400
    assert [name for name in times if not (ROOT / name).exists()] == []


def test_quick_tests_are_cheap_and_every_distribution_has_some(configuration: ModuleType) -> None:
    quick = configuration.find_quick_files(configuration.read_times(configuration.TIMES))
    assert len(quick) > 150
    packages = {path.parent.relative_to(ROOT).as_posix() for path in ROOT.glob("[cp]*/*/pyproject.toml")}
    with_tests = {package for package in packages if [*(ROOT / package).glob("tests/**/test_*.py")]}
    assert {"core/kernel", "plugins/scaffold"} < with_tests
    assert with_tests - {"/".join(name.split("/")[:2]) for name in quick} == set()


def test_quick_files_are_those_below_the_limit_and_the_cheapest_of_a_distribution(configuration: ModuleType) -> None:
    times = {"core/a/cheap.py": 9.0, "core/a/dear.py": 21.0, "plugins/b/dear.py": 70.0, "plugins/b/dearer.py": 80.0}
    quick = configuration.find_quick_files(
        {name: (1.0, each) for name, each in times.items()} | {"tests/c.py": (1.0, 21.0)}
    )
    assert quick == {"core/a/cheap.py", "plugins/b/dear.py"}


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_every_worker_begins_with_slow_files_and_no_test_is_lost(configuration: ModuleType, workers: int) -> None:
    given = items("a.py", "b.py", "slow.py", "c.py", "slower.py", "d.py", "slowest.py", "e.py")
    times = {"slow.py": 1.0, "slower.py": 2.0, "slowest.py": 3.0}
    ordered = configuration.order_slow_first(given, times, workers)
    assert sorted(item.name for item in ordered) == sorted(item.name for item in given)
    # `--dist worksteal` cuts the list into equal parts.
    starts = [ordered[len(given) * number // workers].path.name for number in range(workers)]
    assert starts == ["slowest.py", "slower.py", "slow.py"][:workers]
    assert {item.path.name for item in ordered[-2:]}.isdisjoint(times)


def test_a_directory_that_is_named_stays_together(configuration: ModuleType) -> None:
    given = items("pages/a.py", "slow.py", "quick.py", "pages/b.py")
    ordered = configuration.order_slow_first(given, {"pages": 2.0, "slow.py": 3.0}, 1)
    assert [item.path.name for item in ordered[::2]] == ["slow.py", "a.py", "b.py", "quick.py"]


def test_more_slow_tests_than_a_part_holds_are_not_lost_either(configuration: ModuleType) -> None:
    given = items("quick.py", "slow.py", "slow.py", "slow.py")
    ordered = configuration.order_slow_first(given, {"slow.py": 1.0}, 2)
    assert sorted(item.name for item in ordered) == sorted(item.name for item in given)
    assert ordered[-1].path.name == "quick.py"
