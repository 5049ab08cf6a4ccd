"""What holds for all tests: how hypothesis searches, that byte code is kept, and that no contract is shown twice."""

import gc
import os
import sys

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
sys.dont_write_bytecode = False

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
    """Leave out what another class of contract tests shows of the same plugin or component."""
    shown: set[tuple[object, ...]] = set()
    kept: list[pytest.Item] = []
    repeated: list[pytest.Item] = []
    for item in items:
        fact = _fact(item)
        (repeated if fact in shown else kept).append(item)
        if fact:
            shown.add(fact)
    config.hook.pytest_deselected(items=repeated)
    items[:] = kept


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
    """Spare the garbage collector the 8,000 collected tests, which live to the end anyway."""
    gc.collect()
    gc.freeze()
