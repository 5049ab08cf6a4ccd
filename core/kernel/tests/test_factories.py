"""Factories that are declared by name: found when a component is built, and one clear error where they are wrong."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from click.testing import CliRunner
from jrh.errors import PluginError
from jrh.plugins.factories import call_factory, find_factory
from jrh.plugins.loading import load_plugins
from jrh.plugins.registry import Entry
from jrh.plugins.specs import NoOptions, PerturberSpec
from jrh_authoring.listing import list_all, module_problem
from jrh_testing import loop_over

DECLARES = """\
from jrh import PerturberSpec, hookimpl

@hookimpl
def jrh_perturbers():
    yield PerturberSpec(name="shout", summary="", factory="acme_work:Shout")
"""
WORK = """\
class Shout:
    def __init__(self, options, context):
        self.options, self.context = options, context

    @classmethod
    def build(cls, options):
        return cls(options, "built")

NUMBER = 3
"""

TOO_NEW = (
    "written for version 3 of the plugin API, but jrh 0.1.0 has version 2: upgrade jrh, or install an older "
    "version of the plugin"
)


def entry(factory: Any) -> Entry[PerturberSpec]:
    spec = PerturberSpec(name="shout", summary="", factory=factory)
    return Entry(spec=spec, distribution="acme", version="0.3", plugin="acme")


@pytest.fixture
def work(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    (tmp_path / "acme_work.py").write_text(WORK)
    (tmp_path / "acme_needs.py").write_text("import a_library_nobody_has\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop("acme_work", None)


@pytest.mark.parametrize(
    ("factory", "context"), [("acme_work:Shout", "context"), ("acme_work:Shout.build", "built"), (dict, None)]
)
def test_a_factory_is_a_name_in_a_module_or_a_callable(work: Any, factory: Any, context: Any) -> None:
    assert "acme_work" not in sys.modules, "declaring has imported the work"
    found = find_factory(entry(factory))
    if context is not None:
        made = call_factory(found, "options", "context")
        assert (made.options, made.context) == ("options", context)


@pytest.mark.parametrize(
    ("factory", "message"),
    [
        ("acme_wrok:Shout", "no module 'acme_wrok' exists"),
        ("acme_wrok.deep.down:Shout", "no module 'acme_wrok' exists"),
        ("acme_work:Shuot", "'acme_work' has no 'Shuot'; did you mean 'Shout'?"),
        ("acme_work:Shout.made", "'acme_work' has no 'Shout.made'"),
        ("acme_work:NUMBER", "'NUMBER' in 'acme_work' is a int and cannot be called"),
    ],
)
def test_a_wrong_name_is_one_error_with_distribution_component_and_string(
    work: Any, factory: str, message: str
) -> None:
    with pytest.raises(PluginError) as caught:
        find_factory(entry(factory))
    said = str(caught.value)
    assert said.startswith(f"'acme/shout' (0.3) cannot be built: its factory is declared as '{factory}'")
    assert message in said


def test_a_library_the_work_needs_is_not_taken_for_a_wrong_name(work: Any) -> None:
    with pytest.raises(ModuleNotFoundError, match="a_library_nobody_has"):
        find_factory(entry("acme_needs:Shout"))


@loop_over("factory", ["acme_work", "acme_work:", "acme work:Shout", ":Shout", "acme_work:Shout()", 3])
def test_what_cannot_be_a_factory_is_refused_where_it_is_declared(factory: Any) -> None:
    with pytest.raises((ValueError, TypeError), match=r"package\.module:Name"):
        entry(factory)


def test_a_factory_takes_options_and_context_or_the_options_alone_or_nothing() -> None:
    def with_default(options: Any, context: Any, extra: int = 0) -> Any:
        return options, context, extra

    assert call_factory(with_default, "o", "c") == ("o", "c", 0)
    assert call_factory(lambda options: options, "o", "c") == "o"
    assert call_factory(lambda: "nothing", "o", "c") == "nothing"
    assert call_factory(lambda *given: given, "o", "c") == ("o", "c")
    assert call_factory(NoOptions, "o", "c") == NoOptions()


def test_a_missing_module_is_found_without_importing_anything(work: Any) -> None:
    assert module_problem(entry("acme_work:Shout")) == ""
    assert module_problem(entry(len)) == ""
    assert "no module 'acme_wrok' exists" in module_problem(entry("acme_wrok:Shout"))
    assert "acme_work" not in sys.modules


def test_plugins_list_shows_a_factory_whose_module_is_missing(site: Any) -> None:
    site.install("acme", DECLARES.replace("acme_work:Shout", "acme_wrok:Shout"))
    done = CliRunner().invoke(list_all, [], standalone_mode=False)
    assert done.return_value == 0
    said = done.output
    assert "1 problem:" in said
    assert "'acme/shout' (1.0) cannot be built" in said


def test_a_local_plugin_may_name_a_factory_in_the_working_directory(
    site: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here.py").write_text(DECLARES.replace("acme_work:Shout", "here_work:Shout"))
    (tmp_path / "here_work.py").write_text(WORK)
    monkeypatch.chdir(tmp_path)
    (found,) = load_plugins(["here:"]).plugins.perturbers
    assert module_problem(found) == ""
    assert find_factory(found).__name__ == "Shout"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("", ""),
        ("JRH_API_VERSION = 1", ""),
        ("JRH_API_VERSION = 2", ""),
        (
            "JRH_API_VERSION = 3",
            TOO_NEW,
        ),
        (
            "JRH_API_VERSION = 0",
            "written for version 0 of the plugin API, but jrh 0.1.0 supports versions 1 to 2: upgrade the plugin",
        ),
        ("JRH_API_VERSION = '1'", "JRH_API_VERSION must be a whole number, got str"),
    ],
)
def test_a_plugin_of_another_api_version_is_refused_with_what_to_do(site: Any, line: str, problem: str) -> None:
    site.install("acme", f"{line}\n{DECLARES}")
    site.install("other", DECLARES)
    loaded = load_plugins()
    assert [each.message for each in loaded.plugins.problems] == [problem] * bool(problem)
    assert [each.distribution for each in loaded.plugins.perturbers] == ["acme"] * (not problem) + ["other"]
    if problem:
        with pytest.raises(PluginError, match="cannot load plugin 'acme'"):
            load_plugins(["acme"])


def test_a_plugin_of_an_older_version_is_loaded_while_that_is_supported(
    site: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.install("acme", f"JRH_API_VERSION = 1\n{DECLARES}")
    monkeypatch.setattr("jrh.plugins.loading.API_VERSION", 3)
    assert [each.distribution for each in load_plugins().plugins.perturbers] == ["acme"]
    monkeypatch.setattr("jrh.plugins.loading.OLDEST_API_VERSION", 2)
    (problem,) = load_plugins().plugins.problems
    assert "written for version 1 of the plugin API" in problem.message
    assert "supports versions 2 to 3: upgrade the plugin" in problem.message
