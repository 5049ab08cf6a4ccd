"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from jrh.plugins.loading import Loaded
from jrh.running.from_python import default_run_dir, resolve
from jrh.running.outcome import ENDING, Settings
from jrh.suite.resolved import ResolvedSuite
from jrh.suite.shard import Shard
from jrh.text import telling

F = TypeVar("F", bound=Callable[..., Any])


def _shard(_context: click.Context, _parameter: click.Parameter, value: str | None) -> Shard | None:
    if value is None:
        return None
    shard = Shard.read(value)
    if shard is None:
        raise click.BadParameter(f"'{value}' is not a part of a run; write K/N, such as 3/8")
    return shard


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
    for decorator in reversed(decorators):
        function = decorator(function)
    return function


def plugins_option(function: F) -> F:
    """Add `--plugins`."""
    return click.option(
        "--plugins",
        metavar="A,B",
        default="",
        help="Load only these plugins (distributions or entry points). FILE.py or module:attr loads a local plugin.",
    )(function)


def full_option(function: F) -> F:
    """Add `--full`."""
    return click.option("--full", is_flag=True, help="Print all tables, not the findings in brief.")(function)


def allowed(plugins: str) -> tuple[str, ...]:
    """Split the value of `--plugins`."""
    return tuple(part.strip() for part in plugins.split(",") if part.strip())


def settings_of(
    *,
    plugins: str,
    judges: tuple[str, ...],
    tests: tuple[str, ...],
    limit: int | None,
    shard: Shard | None,
    overrides: tuple[str, ...],
    run_dir: Path | None,
    env_file: Path | None,
    no_cache: bool,
    no_preflight: bool,
) -> Settings:
    """Turn the shared options into settings, and read the environment file."""
    if env_file is not None:
        from jrh.cli.env_file import read_environment

        read_environment(env_file)
    return Settings(
        run_dir=run_dir,
        plugins=allowed(plugins),
        overrides=overrides,
        judges=judges,
        tests=tests,
        limit=limit,
        shard=shard,
        use_cache=not no_cache,
        preflight=not no_preflight,
        signals=ENDING,
    )


def loaded_for(suite: Path, settings: Settings) -> Loaded:
    """Load the plugins for a suite, and say which of them its run directory remembered."""
    from jrh.running.remembered_plugins import load_for_suite

    return told(load_for_suite(suite, settings))


def suite_for(suite: Path, settings: Settings) -> tuple[ResolvedSuite, Loaded, Path]:
    """Return a suite as a run with these settings has it, its plugins, and its run directory."""
    loaded = loaded_for(suite, settings)
    resolved = resolve(suite, loaded, settings)
    return resolved, loaded, settings.run_dir or default_run_dir(resolved)


def told(loaded: Loaded) -> Loaded:
    """Say which plugins the run directory remembered; return what was loaded."""
    for sentence in loaded.unasked:
        telling.tell(f"jrh: {sentence}.")
    return loaded
