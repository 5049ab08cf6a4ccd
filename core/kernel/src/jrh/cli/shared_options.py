"""Options that several commands share, and the file of `--env-file`."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Collection
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click
from click.core import ParameterSource

from jrh.errors import JrhError
from jrh.text import terminal

if TYPE_CHECKING:
    from dotenv.parser import Binding

    from jrh.plugins.loading import Loaded
    from jrh.running.outcome import RunRequest, Settings
    from jrh.suite.resolved import Shard

_MOST: Final = 10
"""Maximum number of reported lines; the message only counts the others."""


def read_environment(path: Path) -> None:
    """Set the variables of the file that are not set already.

    Comments, blank lines, `export` and quotes are allowed; nothing is interpolated. Any other line is named
    by its number alone, because it may hold a key.

    Raises:
        JrhError: the file cannot be read, or a line is expected KEY=VALUE.
    """
    from dotenv.parser import parse_stream

    variables: dict[str, str] = {}
    wrong: list[str] = []
    for binding in parse_stream(io.StringIO(_text(path))):
        if binding.key is None and not binding.error:
            continue  # a comment, or blank lines
        if binding.error or binding.key is None or binding.value is None or "=" in binding.key:
            # By number: the text of the line may be a key.
            wrong.append(f"--env-file: {path}:{_line(binding)}: expected KEY=VALUE")
        else:
            variables[binding.key] = binding.value
    if wrong:
        more = [f"and {len(wrong) - _MOST} more lines"] if len(wrong) > _MOST else []
        what_to_do = "Write one KEY=VALUE per line, with matching quotes or none; # starts a comment."
        raise JrhError("\n".join([*wrong[:_MOST], *more, what_to_do]))
    for name, value in variables.items():
        # After all lines were checked: a file with a mistake sets nothing.
        os.environ.setdefault(name, value)


def _text(path: Path) -> str:
    try:
        # Some editors begin a file with a byte order mark, which would become a part of the first name.
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise JrhError(f"--env-file: no such file: '{path}'") from None
    except OSError as error:
        raise JrhError(f"--env-file: cannot read '{path}': {error.strerror or type(error).__name__}") from error
    except UnicodeDecodeError:
        raise JrhError(f"--env-file: '{path}' is not UTF-8 text; save it as UTF-8") from None
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise JrhError(f"--env-file: {path}:{line}: contains a NUL character; save the file as UTF-8 text")
    return text


def _line(binding: Binding) -> int:
    """Return the line of a binding; python-dotenv counts the white space before it as part of it."""
    written = binding.original.string
    before = written[: len(written) - len(written.lstrip())]
    return binding.original.line + before.count("\n")


F = TypeVar("F", bound=Callable[..., Any])


def _shard(_context: click.Context, _parameter: click.Parameter, value: str | None) -> Shard | None:
    if value is None:
        return None
    from jrh.running.from_python import read_shard

    return read_shard(value)


def suite_options(function: F) -> F:
    """Add the suite argument and the options that select parts of it."""
    decorators = (
        click.argument("suite", type=click.Path(path_type=Path)),
        plugins_option,
        click.option("--judge", "judges", multiple=True, metavar="NAME", help="Only this judge. Repeatable."),
        click.option("--test", "tests", multiple=True, metavar="NAME", help="Only this test. Repeatable."),
        click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Use at most N items per task."),
        click.option(
            "--shard",
            callback=_shard,
            metavar="K/N",
            help="Run part K of N, in a run directory of its own, with 1/N of the budget. `jrh merge` joins the parts.",
        ),
        click.option(
            "--set",
            "overrides",
            multiple=True,
            metavar="KEY=VALUE",
            help="Override a suite value, such as data.sample.n=10. Repeatable.",
        ),
        click.option(
            "--run-dir",
            type=click.Path(path_type=Path, file_okay=False),
            help="Directory of the run's store and reports.  [default: runs/<suite name>]",
        ),
        click.option(
            "--env-file",
            type=click.Path(path_type=Path),
            help="File of KEY=VALUE lines (python-dotenv format). Variables already set take precedence.",
        ),
        click.option("--no-cache", is_flag=True, help="Do not reuse or share cached replies of other runs."),
        click.option(
            "--no-preflight", is_flag=True, help="Do not ask every model once before the first stage of the run."
        ),
    )
    # The last decorator that is applied comes first in the help.
    for decorator in reversed(decorators):
        function = decorator(function)
    return function


def plugins_option(function: F) -> F:
    """Add `--plugins` and `--only`: the command gets both as one argument, `plugins`."""

    @wraps(function)
    def with_plugins(*args: Any, plugins: str, only: str | None, **others: Any) -> Any:
        from jrh.plugins.loading import OnlyPlugins

        # An empty `--only`, as of an unset variable, is the smallest list and not none.
        names = split_names(f"{plugins},{only or ''}")
        return function(*args, plugins=names if only is None else OnlyPlugins(names), **others)

    listed = click.option("--only", metavar="A,B", help="Load exactly these (and those of --plugins).")
    return click.option(
        "--plugins",
        metavar="A,B",
        default="",
        help="Load jrh's own plugins and these (distributions or entry points), and no others. FILE.py or module:attr "
        "loads a local plugin.",
    )(listed(with_plugins))  # type: ignore[return-value]


def full_option(function: F) -> F:
    """Add `--full`."""
    return click.option("--full", is_flag=True, help="Print all tables, not the findings in brief.")(function)


def split_names(written: str) -> tuple[str, ...]:
    """Split a list of names."""
    return tuple(part.strip() for part in written.split(",") if part.strip())


def typed_words(*, without: Collection[str] = (), replaced: Collection[str] = ()) -> list[str]:
    """Return what was typed behind the current command: a different option would be a different run.

    Args:
        without: parameters to leave out.
        replaced: keys of `KEY=VALUE` to leave out.
    """
    context, words = click.get_current_context(), list[str]()
    for parameter in context.command.params:
        name, option = parameter.name or "", parameter.opts[:1] if isinstance(parameter, click.Option) else []
        # Only what was typed: defaults and the environment are there the next time, too.
        if name not in without and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            for value in map(str, context.params[name] if parameter.multiple else [context.params[name]]):
                if value.partition("=")[0] not in replaced:
                    words += option if getattr(parameter, "is_flag", False) else [*option, value]
    return words


def settings_of(*, env_file: Path | None, no_cache: bool, no_preflight: bool, **others: Any) -> Settings:
    """Turn the shared options into settings, and read the environment file; `others` are called like the settings."""
    # Before anything is built: components read their keys from the environment.
    if env_file is not None:
        read_environment(env_file)
    from jrh.running.outcome import ENDING, Settings

    return Settings(use_cache=not no_cache, preflight=not no_preflight, signals=ENDING, **others)


def suite_for(suite: Path, settings: Settings) -> RunRequest:
    """Return the run of a suite with these settings, and say which plugins its run directory remembered."""
    from jrh.running.from_python import build_request
    from jrh.running.remembered_plugins import load_for_suite

    return build_request(suite, settings, tell_remembered(load_for_suite(suite, settings)))


def tell_remembered(loaded: Loaded) -> Loaded:
    """Say which plugins the run directory remembered; return what was loaded."""
    for sentence in loaded.remarks:
        terminal.tell(f"jrh: {sentence}.")
    return loaded
