"""No option takes a number that is none: `nan` lies within every range that click checks."""

import click
from click.testing import CliRunner
from jrh.cli import cli
from jrh.text import FiniteRange
from jrh_testing import loop_over


def commands():
    with click.Context(cli) as context:
        for name in cli.list_commands(context):
            yield name, cli.get_command(context, name)


def options():
    """Return every option that takes a number with decimals, of every command."""
    for name, command in commands():
        for group in [command, *getattr(command, "commands", {}).values()]:
            for each in group.params:
                if isinstance(each.type, click.types.FloatParamType):
                    yield name, each


def test_every_option_that_takes_a_number_with_decimals_refuses_what_is_none():
    found = {(name, each.opts[0]): each.type for name, each in options()}
    assert {
        ("plan", "--noise"),
        ("gate", "--allow-missing"),
        ("check", "--at-least"),
        ("run", "--confirm-above"),
    } <= set(found)
    assert {key for key, kind in found.items() if not isinstance(kind, FiniteRange)} == set()


@loop_over("number", ["nan", "NaN", "inf", "-inf"])
@loop_over(
    "arguments",
    [
        ("plan", "suite.yaml", "--noise"),
        ("plan", "suite.yaml", "--effect"),
        ("plan", "suite.yaml", "--half-width"),
        ("plan", "suite.yaml", "--discordance"),
        ("gate", "run", "--allow-missing"),
        ("compare", "run", "--margin"),
        ("run", "suite.yaml", "--confirm-above"),
    ],
    ids=lambda arguments: f"{arguments[0]} {arguments[-1]}",
)
def test_such_a_number_is_one_message(arguments, number):
    done = CliRunner().invoke(cli, [*arguments, number])
    assert done.exit_code == 2
    assert f"Invalid value for '{arguments[-1]}': {number} is not a finite number." in done.output


def test_numbers_out_of_range_are_refused_as_before():
    done = CliRunner().invoke(cli, ["gate", "run", "--allow-missing", "1"])
    assert (done.exit_code, "is not in the range 0<=x<1" in done.output) == (2, True)
