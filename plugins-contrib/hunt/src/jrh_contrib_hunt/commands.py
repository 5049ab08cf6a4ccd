"""Define the command `jrh hunt`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from jrh import JrhError
from jrh.text import FiniteRange, say, tell


@click.command("hunt")
@click.argument("suite", type=click.Path(path_type=Path))
@click.option(
    "--budget",
    type=click.IntRange(1, 1_000_000),
    default=200,
    show_default=True,
    metavar="CALLS",
    help="Maximum number of calls.",
)
@click.option("--usd", type=FiniteRange(min=0), metavar="USD", help="Maximum dollars.  [default: the suite's budget]")
@click.option("--judge", default="", metavar="NAME", help="The judge to attack.  [default: the suite's only judge]")
@click.option("--task", default="", metavar="NAME", help="The task to attack.  [default: the suite's only task]")
@click.option("--referee", default="", metavar="NAME", help="A judge of the suite that decides whether quality rose.")
@click.option("--writer", default="", metavar="MODEL", help="A model of the suite that writes further attacks.")
@click.option("--target", default="", metavar="LABEL", help="The label attacks ask for.  [default: the best one]")
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Seed of the split into searched and held-out items."
)
@click.option(
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    help="Run directory of the hunt.  [default: runs/<suite file>-hunt]",
)
@click.option(
    "--exploits",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Suite to write, with a test per exploit.  [default: <suite file>.exploits.yaml next to the suite]",
)
@click.option("--plugins", metavar="A,B", default="", help="Load only these plugins. FILE.py loads a local plugin.")
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Override a suite value. Repeatable.")
def command(
    suite: Path,
    judge: str,
    task: str,
    output: Path | None,
    exploits: Path | None,
    plugins: str,
    overrides: tuple[str, ...],
    **settings: Any,
) -> int:
    """Search for text that raises the verdicts of a judge of SUITE although quality does not rise.

    Tries known attacks on a few items, composes the best, and confirms them on items that the search has not seen,
    against harmless text of the same length. Writes every exploit as a test of a new suite. The same command continues
    a hunt that was stopped; no answered call is repeated.

    Exit codes: 0 no exploit, 1 exploits found, 2 usage or suite error, 3 incomplete, 4 budget reached, 130 interrupted.
    """
    from jrh_authoring import read_suite

    from jrh_contrib_hunt.arena import RunArena, Stopped, Where
    from jrh_contrib_hunt.exploits import as_json, report_lines, write_suite
    from jrh_contrib_hunt.hunting import hunt

    loaded = tuple(filter(None, plugins.split(",")))
    document, judges = read_suite(suite, plugins=loaded, overrides=overrides)
    stem = suite.stem
    if task:
        chosen = _task(task, document)
        document, overrides = {**document, "tasks": [chosen]}, (*overrides, f"tasks={json.dumps([chosen])}")
        stem = f"{stem}.{re.sub('[^A-Za-z0-9_-]', '-', task)}"
    where = Where(
        suite=suite,
        run_dir=output or Path("runs") / f"{stem}-hunt",
        judge=_judge(judge, judges, settings["referee"]),
        plugins=loaded,
        overrides=overrides,
        document=document,
        **settings,
    )
    try:
        arena = RunArena.of(where)
        result = hunt(arena, where.budget, seed=where.seed)
    except Stopped as stop:
        tell(f"jrh: not done: {stop}. The same command continues.")
        return stop.exit_code
    for line in report_lines(result, where.judge, where.budget):
        say(line)
    arena.finish(as_json(result, where.judge, where.budget, where.seed))
    if result.exploits:
        path = exploits or suite.with_name(f"{stem}.exploits.yaml")
        write_suite(result, document, where.target, path, arena.suffixes)
        say(f"Wrote {path}. Next: jrh run {path}")
    return 1 if result.exploits else 0


def _task(name: str, document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a task that the suite lists.

    Raises:
        JrhError: it lists none of that name.
    """
    listed: dict[str, Mapping[str, Any]] = {str(task.get("name", "")): task for task in document.get("tasks") or ()}
    if name not in listed:
        names = f"it lists: {', '.join(filter(None, listed))}" if any(listed) else "it lists none under `tasks`"
        raise JrhError(f"the suite has no task '{name}'; {names}.")
    return listed[name]


def _judge(stated: str, judges: tuple[str, ...], referee: str) -> str:
    """Return the judge to attack.

    Raises:
        JrhError: no judge of the suite has a stated name, or several could be meant.
    """
    listed = f"The suite has: {', '.join(judges)}."
    for name in filter(None, (stated, referee)):
        if name not in judges:
            raise JrhError(f"the suite has no judge '{name}'. {listed}")
    left = [name for name in judges if name != referee]
    if stated and stated == referee:
        raise JrhError(f"the referee '{referee}' is also the judge under attack; name another judge")
    if not stated and len(left) != 1:
        raise JrhError(f"name the judge to attack with --judge. {listed}")
    return stated or left[0]
