"""Run the command line. It imports a command only when called, so that `jrh --help` is fast.

- This module: the group of commands, exit codes, and what is printed of an error. Start here.
- `run_command.py`, `report_command.py`, `plugins_command.py`: the commands of jrh, one in each.
- `plugin_commands.py`: the commands that plugins add, listed without importing them.
- `shared_options.py`: options that several commands have, also those of plugins, and `--env-file`.

Commands are thin: what they do is in `jrh.running`, and what they print goes through `jrh.text.terminal`.
"""

from __future__ import annotations

import errno
import gc
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from io import StringIO
from typing import TYPE_CHECKING, Any, Final

import click

from jrh.cli import plugin_commands
from jrh.errors import JrhError
from jrh.text import terminal
from jrh.version import __version__

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

COMMANDS: Final = {
    "run": ("start", "Run a suite and report. Run it again to continue."),
    "report": ("look", "Rewrite the reports of a run and print the terminal one."),
    "plugins": ("extend", "List installed components and plugins that failed to load."),
}
"""Command -> what a person wants with it, and its line in the help; the command itself is `command` in the module of
its name."""
OF_THE_MACHINE: Final = {
    errno.ENAMETOOLONG: "choose a shorter path",
    errno.EMFILE: "allow more open files with `ulimit -n`",
    errno.ENFILE: "the machine has too many open files",
    errno.ENOSPC: "free some space, or set TMPDIR to another directory",
    errno.EDQUOT: "free some of your quota, or set TMPDIR to another directory",
}
"""Errors of the operating system that no code of jrh is to blame for -> what to do."""
COLLECT_AFTER: Final = 10_000
"""Threshold of the garbage collector. A run keeps most objects until its end, so Python's default of 700 triggers
useless collections, which take 5% of a run's time."""


class LazyGroup(plugin_commands.ExtendedGroup):
    """The commands of `jrh`, each imported when it is called."""

    own_commands = COMMANDS

    def extra_commands(self) -> Mapping[str, list[EntryPoint]]:
        """Return the commands of plugins."""
        return plugin_commands.plugin_commands()

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name in COMMANDS:
            # Before plugins: their command of the same name cannot replace one of jrh, and nothing installed has to be
            # read.
            command: click.Command = import_module(f"jrh.cli.{cmd_name}_command").command
            return command
        return super().get_command(ctx, cmd_name)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]}, invoke_without_command=True)
@click.version_option(version=__version__, prog_name="jrh")
@click.pass_context
def cli(context: click.Context) -> None:
    """Stress-test LLM judges: how far can a judge be trusted, how sure are we, and what did it cost."""
    if context.obj is not None:
        context.obj()
    if context.invoked_subcommand is None:
        _welcome(context)


def _welcome(context: click.Context) -> None:
    """Print the commands that a beginner needs: a list of twenty answers no question."""
    group = context.command
    assert isinstance(group, LazyGroup)
    formatter = context.make_formatter()
    formatter.write_text(group.help or "")
    formatter.write_paragraph()
    with formatter.indentation():
        listed = sorted(group.listed_commands().items())
        formatter.write_dl([(f"jrh {name}", line) for name, (purpose, line) in listed if purpose == "start"])
    formatter.write_paragraph()
    formatter.write_text("All commands: jrh --help. One of them: jrh COMMAND --help.")
    terminal.say(formatter.getvalue().rstrip("\n"))
    context.exit(2)  # as click does: a script whose command is empty has failed


def main(args: list[str] | None = None) -> None:
    """Run the command line as the only task of this process, and exit with its code."""
    gc.disable()  # imports make no garbage worth a look
    code = invoke(args, _collect_again)
    gc.freeze()  # Python collects several times while it ends, a tenth of a small run; its memory is given back anyway
    sys.exit(code)


def _collect_again() -> None:
    """Collect garbage from now on, and leave out what was imported: it stays until the end."""
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER)
    gc.enable()


def invoke(args: list[str] | None = None, imported: Callable[[], None] | None = None) -> int:
    """Run the command line; expected errors become one message and exit code 2, bugs a traceback without locals.

    `imported` is called when the command has been imported, before it does anything.
    """
    try:
        # Not standalone: click would print errors its own way, and exit with codes of its own.
        code: Any = cli.main(args=args, prog_name="jrh", standalone_mode=False, obj=imported)
    except (Exception, KeyboardInterrupt) as error:
        return _show_error(error)
    return code if isinstance(code, int) else 0


def _show_error(error: BaseException) -> int:
    """Print why the command ended, and return its exit code."""
    match error:
        case click.exceptions.Exit():
            return error.exit_code
        case click.ClickException():
            terminal.tell(_usage(error))
            code = 2
        case JrhError():
            terminal.tell(f"jrh: {error}")
            code = error.exit_code
        case KeyboardInterrupt() | click.Abort():
            terminal.tell("jrh: interrupted")
            code = 130
        case OSError() if error.errno in OF_THE_MACHINE:
            where = f" ('{str(error.filename)[:100]}')" if error.filename else ""
            terminal.tell(f"jrh: {error.strerror}{where}; {OF_THE_MACHINE[error.errno]}")
            code = 2
        case BrokenPipeError():  # the reader closed the pipe, as `head` does
            # Python flushes the stream at its end, and would print another error.
            sys.stdout = sys.__stdout__ = None  # type: ignore[misc]
            code = 1
        case _:
            import traceback

            terminal.tell(f"jrh: {''.join(traceback.format_exception(error))}")
            code = 1
    return code


def _usage(error: click.ClickException) -> str:
    """Return what click says about wrong arguments."""
    text = StringIO()
    error.show(file=text)
    return text.getvalue().rstrip("\n")
