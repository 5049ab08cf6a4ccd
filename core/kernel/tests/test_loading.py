"""Plugins are loaded one by one, and none can stop another."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from jrh.errors import JrhError, PluginError
from jrh.plugins.loading import Events, Loaded, OnlyPlugins, load_plugins, shipped_distributions
from jrh.values.events import RunStarted

GOOD = """\
from jrh import PerturberSpec, hookimpl

@hookimpl
def jrh_perturbers():
    yield PerturberSpec(name="{name}", summary="", factory=lambda options, context: None)
"""


def good(name: str) -> str:
    return GOOD.replace("{name}", name)


def names(loaded: Loaded) -> list[str]:
    return [entry.qualified for entry in loaded.plugins.perturbers]


def messages(loaded: Loaded) -> list[str]:
    return [problem.message for problem in loaded.plugins.problems]


def test_every_installed_plugin_is_loaded_in_the_order_of_its_distribution(site: Any) -> None:
    site.install("zebra", good("stripes"))
    site.install("apple", good("core"), version="2.5")
    loaded = load_plugins()
    assert names(loaded) == ["apple/core", "zebra/stripes"]
    assert loaded.names == ("apple 2.5", "zebra 1.0")
    assert messages(loaded) == []


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("import a_module_nobody_has", "ModuleNotFoundError: No module named 'a_module_nobody_has'"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("def broken(:", "SyntaxError"),
        (
            "from jrh import hookimpl\n@hookimpl\ndef jrh_perturbers():\n    raise RuntimeError('no\\n  luck')",
            "jrh_perturbers: RuntimeError: no luck",
        ),
        (
            "from jrh import hookimpl\n@hookimpl\ndef jrh_perturbers():\n    yield 'format'",
            "jrh_perturbers yields str, not PerturberSpec",
        ),
        (
            (
                "from jrh import hookimpl, ParserSpec\n@hookimpl\ndef jrh_perturbers():\n"
                "    yield ParserSpec(name='p', summary='', factory=print)"
            ),
            "jrh_perturbers yields ParserSpec, not PerturberSpec",
        ),
        ("from jrh import hookimpl\n@hookimpl\ndef jrh_perturbers(config):\n    return []", "PluginValidationError"),
        (
            "from jrh import hookimpl\n@hookimpl\ndef jrh_perturbers():\n    return None",
            "jrh_perturbers: TypeError: it must return or yield PerturberSpec, got NoneType",
        ),
        (
            (
                "from itertools import repeat\nfrom jrh import hookimpl, PerturberSpec\n@hookimpl\n"
                "def jrh_perturbers():\n"
                "    return repeat(PerturberSpec(name='one', summary='', factory=print))"
            ),
            "jrh_perturbers: ValueError: it declares more than 10,000 components",
        ),
        (
            (
                "from jrh import hookimpl, PerturberSpec\n@hookimpl\ndef jrh_perturbers():\n"
                "    yield PerturberSpec(name='Not A Name', summary='', factory=print)"
            ),
            "jrh_perturbers: ValueError",
        ),
    ],
)
def test_a_broken_plugin_is_a_problem_with_its_name_and_the_others_still_load(
    site: Any, source: str, message: str
) -> None:
    site.install("acme-broken", source)
    site.install("acme-good", good("fine"))
    site.install("aaa-first", good("first"))
    loaded = load_plugins()
    assert names(loaded) == ["aaa-first/first", "acme-good/fine"]
    (problem,) = loaded.plugins.problems
    assert (problem.distribution, problem.version, problem.plugin) == ("acme-broken", "1.0", "acme-broken")
    assert problem.message.startswith(message)
    assert "\n" not in problem.message


def test_what_a_hook_declares_beside_a_mistake_still_counts(site: Any) -> None:
    site.install(
        "acme-half",
        """
        from jrh import ParserSpec, PerturberSpec, hookimpl

        @hookimpl
        def jrh_perturbers():
            yield PerturberSpec(name="one", summary="", factory=print)
            yield 2
            yield PerturberSpec(name="three", summary="", factory=print)

        @hookimpl
        def jrh_parsers():
            raise ValueError("later")
        """,
    )
    loaded = load_plugins()
    assert names(loaded) == ["acme-half/one", "acme-half/three"]
    assert sorted(messages(loaded)) == [
        "jrh_parsers: ValueError: later (acme_half.py, line 12)",
        "jrh_perturbers yields int, not PerturberSpec (acme_half.py, line 4)",
    ]


def test_a_hook_that_declares_a_name_twice_is_reported_and_the_first_one_counts(site: Any) -> None:
    site.install(
        "acme-twice",
        """
        from jrh import PerturberSpec, hookimpl

        @hookimpl
        def jrh_perturbers():
            yield PerturberSpec(name="same", summary="first", factory=print)
            yield PerturberSpec(name="same", summary="second", factory=print)
        """,
    )
    loaded = load_plugins()
    assert [entry.spec.summary for entry in loaded.plugins.perturbers] == ["first"]
    assert messages(loaded) == ["jrh_perturbers declares 'same' twice; only the first one is used"]


@pytest.mark.parametrize(("name", "owner"), [("extra", "acme-one 1.0"), ("judge", "jrh itself")])
def test_a_second_stage_of_a_name_is_a_problem_of_its_plugin_and_the_first_one_runs(
    site: Any, name: str, owner: str
) -> None:
    declared = """
        from jrh import hookimpl
        from jrh.plugins import StageSpec

        @hookimpl
        def jrh_stages():
            yield StageSpec(name="NAME", summary="", factory=print)
        """
    site.install("acme-one", declared.replace("NAME", "extra"))
    site.install("acme-two", declared.replace("NAME", name))
    loaded = load_plugins()
    assert [entry.qualified for entry in loaded.plugins.stages] == ["acme-one/extra"]
    assert [problem.distribution for problem in loaded.plugins.problems] == ["acme-two"]
    assert messages(loaded) == [f"jrh_stages declares '{name}', which {owner} has; it is not used"]


def test_the_same_name_in_two_distributions_vanishes_in_neither(site: Any) -> None:
    site.install("acme-one", good("format"))
    site.install("acme-two", good("format"))
    loaded = load_plugins()
    assert names(loaded) == ["acme-one/format", "acme-two/format"]
    with pytest.raises(JrhError, match="write one of acme-one/format, acme-two/format"):
        loaded.plugins.perturbers.find("format")


def test_a_misspelt_hook_is_reported_with_the_right_name(site: Any) -> None:
    site.install("acme-typo", "from jrh import hookimpl\n@hookimpl\ndef jrh_pertubers():\n    return []\n")
    site.install("acme-unmarked-typo", "def jrh_judgse():\n    return []\n")
    found = {problem.distribution: problem.message for problem in load_plugins().plugins.problems}
    assert found == {
        "acme-typo": "unknown hook 'jrh_pertubers'; did you mean 'jrh_perturbers'?",
        "acme-unmarked-typo": "unknown hook 'jrh_judgse'; did you mean 'jrh_judges'?",
    }


def test_a_hook_without_its_marker_is_reported_and_not_called(site: Any) -> None:
    site.install("acme-bare", "def jrh_perturbers():\n    raise AssertionError('called')\n")
    assert messages(load_plugins()) == ["'jrh_perturbers' lacks @hookimpl, so it is never called"]


def test_helpers_whose_names_only_begin_like_hooks_are_no_mistake(site: Any) -> None:
    site.install("acme-helper", "def jrh_xyzzy_quux_helper():\n    return 1\njrh_version = '1'\n")
    assert messages(load_plugins()) == []


def test_one_distribution_may_have_several_entry_points(site: Any) -> None:
    (site.path / "second_module.py").write_text(good("second"))
    module = site.install("acme-many", good("first"), points={"one": "acme_many", "two": "second_module"})
    loaded = load_plugins()
    assert module == "acme_many"
    assert names(loaded) == ["acme-many/first", "acme-many/second"]
    assert loaded.names == ("acme-many 1.0",)
    assert names(load_plugins(["two"])) == ["acme-many/second"]


def test_an_allow_list_loads_nothing_else_not_even_its_module(site: Any) -> None:
    site.install("acme-wanted", good("wanted"))
    unwanted = site.install("acme-unwanted", good("unwanted"))
    loaded = load_plugins(["acme-wanted"])
    assert names(loaded) == ["acme-wanted/wanted"]
    assert unwanted not in sys.modules


def test_a_list_of_plugins_adds_to_those_that_jrh_ships_and_only_leaves_those_out(
    site: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("jrh-shipped", "acme-wanted", "acme-unwanted"):
        site.install(name, good(name.partition("-")[2]))
    # What is shipped is read from what the distribution `jrh` requires.
    monkeypatch.setattr("jrh.plugins.loading.shipped_distributions", lambda: frozenset({"jrh-shipped"}))
    assert names(load_plugins(["acme-wanted"])) == ["acme-wanted/wanted", "jrh-shipped/shipped"]
    assert names(load_plugins(OnlyPlugins(["acme-wanted"]))) == ["acme-wanted/wanted"]
    assert len(names(load_plugins())) == 3
    assert names(load_plugins(OnlyPlugins())) == [], "an empty list, as of an unset variable, loads nothing"
    with pytest.raises(JrhError, match=r"^--only: unknown plugin 'acme-wantd'"):
        load_plugins(OnlyPlugins(["acme-wantd"]))


def test_the_shipped_distributions_are_those_that_jrh_requires_also_for_its_extras() -> None:
    shipped = shipped_distributions()
    assert {"jrh-sources", "jrh-litellm", "jrh-measuring"} <= shipped
    assert not {"jrh-contrib-shout", "jrh-contrib-hunt"} & shipped


def test_an_unknown_name_in_the_allow_list_gets_the_close_one(site: Any) -> None:
    site.install("acme-format", good("format"))
    with pytest.raises(JrhError) as raised:
        load_plugins(["acme-fromat"])
    assert str(raised.value) == (
        "--plugins: unknown plugin 'acme-fromat'\nDid you mean 'acme-format'? Installed: acme-format."
    )


def test_a_plugin_that_was_named_and_is_broken_is_fatal(site: Any) -> None:
    site.install("acme-broken", "import a_module_nobody_has")
    assert len(messages(load_plugins())) == 1
    with pytest.raises(
        PluginError, match=r"cannot load plugin 'acme-broken'.*acme-broken 1\.0 \(ModuleNotFoundError: .*nobody"
    ):
        load_plugins(["acme-broken"])


def test_a_file_is_a_plugin_and_leaves_out_others_that_jrh_does_not_ship(site: Any, tmp_path: Path) -> None:
    site.install("acme-installed", good("installed"))
    local = tmp_path / "my_local.py"
    local.write_text(good("mine"))
    loaded = load_plugins([str(local)])
    assert names(loaded) == ["my-local/mine"]
    assert loaded.names[-1] == "my-local local"


def test_a_file_beside_an_allow_list_is_loaded_with_what_is_listed_only(site: Any, tmp_path: Path) -> None:
    site.install("acme-one", good("one"))
    site.install("acme-two", good("two"))
    local = tmp_path / "extra.py"
    local.write_text(good("extra"))
    assert names(load_plugins(["acme-two", str(local)])) == ["acme-two/two", "extra/extra"]


def test_attrs_and_annotations_work_in_a_local_file(site: Any, tmp_path: Path) -> None:
    local = tmp_path / "typed.py"
    local.write_text(
        "from __future__ import annotations\n"
        "from dataclasses import dataclass\n"
        "from attrs import frozen\n"
        "from jrh import PerturberSpec, hookimpl\n"
        "@dataclass\nclass Inner:\n    n: int = 1\n"
        "@frozen\nclass Options:\n    n: int = Inner().n\n"
        "@hookimpl\ndef jrh_perturbers():\n"
        "    yield PerturberSpec(name='typed', summary='', options=Options, factory=print)\n"
    )
    assert names(load_plugins([str(local)])) == ["typed/typed"]


def test_a_missing_file_is_named(site: Any) -> None:
    with pytest.raises(JrhError, match=r"--plugins: no such file: 'nowhere/mine\.py'"):
        load_plugins(["nowhere/mine.py"])


def test_a_local_file_that_breaks_is_fatal_because_it_was_named(site: Any, tmp_path: Path) -> None:
    local = tmp_path / "bad.py"
    local.write_text("raise ValueError('half written')")
    with pytest.raises(PluginError, match="ValueError: half written"):
        load_plugins([str(local)])


def test_an_object_of_a_module_in_the_working_directory_is_a_plugin(
    site: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "objects_for_jrh.py").write_text(
        "from jrh import PerturberSpec, hookimpl\n"
        "class Plugin:\n"
        "    @hookimpl\n"
        "    def jrh_perturbers(self):\n"
        "        yield PerturberSpec(name='from-object', summary='', factory=print)\n"
        "plugin = Plugin()\n"
    )
    monkeypatch.chdir(work)
    before = list(sys.path)
    loaded = load_plugins(["objects_for_jrh:plugin"])
    assert names(loaded) == ["objects-for-jrh/from-object"]
    assert sys.path == before
    with pytest.raises(PluginError, match="AttributeError"):
        load_plugins(["objects_for_jrh:nothing"])


def test_a_module_that_is_named_twice_is_loaded_once_and_reported(site: Any) -> None:
    site.install("acme-double", good("same"), points={"one": "acme_double", "two": "acme_double"})
    loaded = load_plugins()
    assert names(loaded) == ["acme-double/same"]
    assert [problem.plugin for problem in loaded.plugins.problems] == ["two"]


def test_events_reach_every_plugin_even_after_one_raised(site: Any, tmp_path: Path) -> None:
    listener = "from jrh import hookimpl\nheard = []\n@hookimpl\ndef jrh_run_started(event):\n    heard.append(event)\n"
    first = site.install("acme-a", listener)
    site.install("acme-b", "from jrh import hookimpl\n@hookimpl\ndef jrh_run_started(event):\n    1 / 0\n")
    last = site.install("acme-c", listener)
    reported: list[tuple[str, str, str]] = []
    events = Events(load_plugins().manager, lambda *what: reported.append(what))
    event = RunStarted(run_id="r", suite="s", run_dir=tmp_path)
    events.tell("jrh_run_started", event)
    assert sys.modules[first].heard == [event]
    assert sys.modules[last].heard == [event]
    assert reported == [("jrh_run_started", "acme-b:acme-b", "ZeroDivisionError: division by zero (acme_b.py, line 4)")]


def test_an_event_hook_may_take_no_argument(site: Any, tmp_path: Path) -> None:
    module = site.install(
        "acme-quiet", "from jrh import hookimpl\nn = []\n@hookimpl\ndef jrh_run_started():\n    n.append(1)\n"
    )
    events = Events(load_plugins().manager, lambda *what: pytest.fail(str(what)))
    events.tell("jrh_run_started", RunStarted(run_id="r", suite="s", run_dir=tmp_path))
    assert sys.modules[module].n == [1]


def test_it_is_known_whether_anybody_listens(site: Any) -> None:
    site.install("acme-ear", "from jrh import hookimpl\n@hookimpl\ndef jrh_record_committed(event):\n    pass\n")
    events = Events(load_plugins().manager, lambda *what: None)
    assert events.listens("jrh_record_committed")
    assert not events.listens("jrh_run_finished")
