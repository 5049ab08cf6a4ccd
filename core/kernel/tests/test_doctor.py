"""`jrh plugins doctor` and `jrh plugins list --json`: what is installed, and what is wrong with it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from jrh.cli import COMMANDS
from jrh.cli.plugins_command import command
from jrh.plugins.loading import load_plugins
from jrh_authoring.commands import doctor
from jrh_authoring.doctor import problems
from jrh_authoring.listing import list_all

GOOD = """\
from jrh import ParserSpec, hookimpl

class Parser:
    def parse(self, reply, scale): ...

@hookimpl
def jrh_parsers():
    yield ParserSpec(name="{name}", summary="reads", factory=Parser)

@hookimpl
def jrh_run_finished(event):
    pass
"""


def told() -> list[str]:
    return list(problems(load_plugins(), list(COMMANDS)))


def add(site: Any, distribution: str, file: str, text: str, version: str = "1.0") -> None:
    """Add lines to what is known of an installed distribution."""
    path: Path = site.path / f"{distribution.replace('-', '_')}-{version}.dist-info" / file
    path.write_text(path.read_text() + text)


def declares(spec: str, more: str = "") -> str:
    return f"from jrh import ParserSpec, hookimpl\n{more}\n@hookimpl\ndef jrh_parsers():\n    yield {spec}\n"


def messages() -> list[str]:
    return [problem.message for problem in load_plugins().plugins.problems]


def test_a_sound_environment_has_no_problem(site: Any) -> None:
    site.install("acme", GOOD.format(name="acme"))
    assert told() == []
    done = CliRunner().invoke(doctor, [], standalone_mode=False)
    assert (done.return_value, "No problems." in done.output) == (0, True)
    assert "jrh_parsers, jrh_run_finished" in done.output


def test_what_did_not_load_and_what_clashes_is_told(site: Any) -> None:
    site.install("acme", GOOD.format(name="same"))
    site.install("zeta", GOOD.format(name="same"))
    site.install("gone", "import a_module_nobody_has")
    lost = 'ParserSpec(name="lost", summary="reads", factory="a_module_nobody_has:build")'
    site.install("lost", declares(lost))
    for name in ("acme", "zeta"):
        add(site, name, "entry_points.txt", "[jrh.commands]\ngreet = x:y\nplugins.new = x:y\n")
    add(site, "zeta", "entry_points.txt", "run = x:y\n")
    found = told()
    missing = "ModuleNotFoundError: No module named 'a_module_nobody_has' (gone.py, line 1)"
    lost = "'lost/lost' (1.0) cannot be built: its factory is declared as 'a_module_nobody_has:build', "
    assert found == [
        f"gone 1.0: 'gone' did not load fully: {missing}",
        f"{lost}and no module 'a_module_nobody_has' exists",
        "parser 'same' comes from several plugins: write acme/same or zeta/same in the suite",
        "the command 'greet' comes from several plugins: acme 1.0, zeta 1.0; uninstall one",
        "the command 'plugins new' comes from several plugins: acme 1.0, zeta 1.0; uninstall one",
        "zeta 1.0: jrh has its own command 'run' and never calls this one",
    ]


def test_the_list_as_json_names_hooks_components_and_problems(site: Any) -> None:
    site.install("acme", GOOD.format(name="mine"), version="2.5")
    site.install("gone", "1 / 0")
    done = CliRunner().invoke(list_all, ["--json"], standalone_mode=False)
    found = json.loads(done.output)
    assert found["plugins"] == [
        {
            "plugin": "acme",
            "distribution": "acme",
            "version": "2.5",
            "hooks": ["jrh_parsers", "jrh_run_finished"],
            "components": [{"role": "parser", "name": "mine", "summary": "reads"}],
        }
    ]
    assert [each["message"] for each in found["problems"]] == ["ZeroDivisionError: division by zero (gone.py, line 1)"]


def test_a_plugin_is_blamed_also_where_the_backport_of_metadata_loads_it(site: Any) -> None:
    """Libraries such as litellm import it, and Python then finds all distributions through it."""
    pytest.importorskip("importlib_metadata")
    site.install("gone", "1 / 0")
    assert told() == ["gone 1.0: 'gone' did not load fully: ZeroDivisionError: division by zero (gone.py, line 1)"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            "Plain",
            "jrh_parsers: 'p': options=Plain is not an attrs class; decorate it with @attrs.frozen(kw_only=True)",
        ),
        ("{}", "jrh_parsers: 'p': options= must be a class, got dict"),
    ],
)
def test_options_that_are_no_attrs_class_are_one_sentence(site: Any, given: str, message: str) -> None:
    site.install(
        "acme", declares(f'ParserSpec(name="p", summary="", factory=print, options={given})', "class Plain: ...")
    )
    assert messages() == [f"{message} (acme.py, line 3)"]
    assert len(load_plugins().plugins.parsers) == 0


@pytest.mark.parametrize("name", ["My Parser", "", "-p", "é"])
def test_a_name_that_is_none_is_one_sentence(site: Any, name: str) -> None:
    site.install("acme", declares(f'ParserSpec(name="{name}", summary="", factory=print)'))
    told = f"the name {name!r} must begin with a-z or 0-9, and continue with these, '.', '_' and '-'"
    assert messages() == [f"jrh_parsers: ValueError: {told} (acme.py, line 5)"]


def test_a_plugin_adds_a_command_to_the_group_of_plugins(site: Any) -> None:
    site.install("acme", "import click\n@click.command('hail')\ndef hail():\n    click.echo('hailed')\n")
    add(site, "acme", "entry_points.txt", "[jrh.commands]\nplugins.hail = acme:hail\n")
    assert "hail" in CliRunner().invoke(command, ["--help"]).output
    assert CliRunner().invoke(command, ["hail"]).output == "hailed\n"
