"""Commands that plugins bring: listed without an import, loaded when called, and contained when broken."""

from types import SimpleNamespace

import click
import pytest
from click.testing import CliRunner
from jrh.cli import COMMANDS as COMMANDS_OF_THE_KERNEL
from jrh.cli import cli, invoke, plugin_commands
from jrh.plugins.entry_points import COMMANDS


class Point:
    """An entry point of a made-up distribution."""

    def __init__(self, name, command, distribution="acme", line="Do what acme does."):
        self.name = name
        self.value = f"{distribution}.{name}"
        self.command = command
        self.loaded = 0
        self.dist = SimpleNamespace(name=distribution, version="0.3", metadata={"Summary": line})

    def load(self):
        self.loaded += 1
        if isinstance(self.command, BaseException):
            raise self.command
        return self.command


@pytest.fixture
def brings(monkeypatch):
    def install(*points):
        monkeypatch.setattr("importlib.metadata.entry_points", lambda *, group: points if group == COMMANDS else ())

    return install


@click.command("greet")
def greet():
    """Greet."""
    click.echo("hello")
    return 0


def test_a_command_of_a_plugin_is_listed_without_being_imported(brings):
    point = Point("greet", greet)
    brings(point)
    shown = CliRunner().invoke(cli, ["--help"]).output
    assert "Further commands:" in shown
    assert "Do what acme does." in shown
    assert point.loaded == 0


def test_two_commands_of_one_plugin_each_say_what_they_do_without_being_imported(brings, monkeypatch, tmp_path):
    (tmp_path / "acme_greetings.py").write_text(
        'raise SystemExit("imported")\n\n'
        'def greet():\n    """Greet the judges\n    of a run.\n\n    At length.\n    """\n\n'
        "def quiet():\n    pass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    points = [Point(name, greet) for name in ("greet", "quiet", "gone")]
    for point, module in zip(points, ("acme_greetings", "acme_greetings", "acme.nowhere"), strict=True):
        point.module, point.attr, point.value = module, point.name, f"{module}:{point.name}"
    brings(*points)
    shown = CliRunner().invoke(cli, ["--help"]).output
    assert "greet  Greet the judges of a run.\n" in shown
    assert "quiet  Do what acme does.\n" in shown
    assert "gone   Do what acme does.\n" in shown
    assert [point.loaded for point in points] == [0, 0, 0]


def test_the_line_of_a_command_alone_in_its_plugin_says_what_the_command_does():
    brought = {name: plugin_commands.summary_of(points) for name, points in plugin_commands.plugin_commands().items()}
    assert brought["export"].startswith("Bring the run in the directory RUN into another tool")
    assert brought["hunt"].startswith("Search for text that raises the verdicts of a judge")


def test_no_two_commands_have_the_same_line_in_the_help():
    brought = {name: plugin_commands.summary_of(points) for name, points in plugin_commands.plugin_commands().items()}
    lines = [*(line for _, line in COMMANDS_OF_THE_KERNEL.values()), *brought.values()]
    assert sorted(lines) == sorted(set(lines))


def test_a_command_of_a_plugin_is_called(brings, capsys):
    brings(Point("greet", greet))
    assert invoke(["greet"]) == 0
    assert capsys.readouterr().out == "hello\n"


def test_the_kernels_own_commands_win_and_do_not_look_at_plugins(brings, monkeypatch):
    def refuse():
        raise AssertionError("asked for plugins")

    monkeypatch.setattr(plugin_commands, "plugin_commands", refuse)
    assert "Run SUITE and report" in CliRunner().invoke(cli, ["run", "--help"]).output


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (ImportError("No module named 'torch'"), "cannot be loaded: ImportError: No module named 'torch'"),
        (SystemExit(3), "cannot be loaded: SystemExit"),
        ("not a command", "is a str, not a click command"),
    ],
)
def test_a_broken_command_is_an_error_that_names_the_plugin(brings, capsys, command, message):
    brings(Point("greet", command))
    assert invoke(["greet"]) == 2
    told = capsys.readouterr().err
    assert "'greet' of acme 0.3" in told
    assert message in told


def test_two_plugins_with_one_command_are_an_error_that_names_both(brings, capsys):
    brings(Point("greet", greet), Point("greet", greet, distribution="other"))
    assert invoke(["greet"]) == 2
    assert "acme 0.3, other 0.3" in capsys.readouterr().err


def test_a_misspelt_command_of_a_plugin_is_suggested(brings, capsys):
    brings(Point("greet", greet))
    assert invoke(["gret"]) == 2
    assert "Did you mean 'greet'?" in capsys.readouterr().err


def test_commands_are_listed_by_what_a_person_wants_and_called_without_it(brings, capsys):
    brings(Point("decide.greet", greet), Point("hail", greet), Point("elsewhere.hidden", greet))
    shown = CliRunner().invoke(cli, ["--help"]).output
    assert shown.index("Start:") < shown.index("  run ") < shown.index("Look:") < shown.index("  report ")
    assert shown.index("Decide:") < shown.index("  greet ") < shown.index("Extend:")
    assert shown.index("Further commands:") < shown.index("  hail ")
    assert "hidden" not in shown
    assert invoke(["greet"]) == 0
    assert capsys.readouterr().out == "hello\n"


def test_two_plugins_with_one_command_clash_whatever_they_are_for(brings, capsys):
    brings(Point("decide.greet", greet), Point("look.greet", greet, distribution="other"))
    assert invoke(["greet"]) == 2
    assert "the command 'greet' is provided by several plugins: acme 0.3, other 0.3" in capsys.readouterr().err


def test_without_a_command_only_what_a_beginner_needs_is_told(brings, capsys):
    brings(Point("start.greet", greet), Point("look.hail", greet))
    assert invoke([]) == 2
    shown = capsys.readouterr().out
    assert "jrh greet  Do what acme does." in shown
    assert "jrh run " in shown
    assert "hail" not in shown
    assert "jrh report" not in shown
    assert "jrh --help" in shown
