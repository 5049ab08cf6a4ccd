"""Define the command `jrh compare`."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import click
from jrh.text import FiniteRange, say, say_next, tell

if TYPE_CHECKING:
    from jrh_measuring.comparing.sides import Side

NOTHING = 3
"""Exit code if there is nothing to compare."""


@click.command("compare")
@click.argument("sides", nargs=-1, required=True, metavar="RUN[:JUDGE]...")
@click.option("--judge", "judges", multiple=True, metavar="NAME", help="Only this judge. Repeatable.")
@click.option("--test", "tests", multiple=True, metavar="NAME", help="Only this test. Repeatable.")
@click.option(
    "--margin",
    type=FiniteRange(0, 1, min_open=True),
    metavar="SHARE",
    help="Equivalence margin: the largest negligible difference.",
)
@click.option("--flips", type=click.IntRange(0, 1000), default=10, show_default=True, help="Flips listed per pair.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "markdown", "json"]),
    default="table",
    show_default=True,
    help="Output format.",
)
@click.option("--full", is_flag=True, help="All rows, also where the table takes more than a screen.")
def command(
    sides: tuple[str, ...],
    judges: tuple[str, ...],
    tests: tuple[str, ...],
    margin: float | None,
    flips: int,
    form: str,
    full: bool,
) -> int:
    """Compare runs, or the judges of a run, pairwise on the same cases.

    Several runs are compared judge by judge with the first one; RUN:JUDGE names one judge, and a single RUN compares
    its judges. Differences are after minus before. Read-only; makes no model calls.

    Exit codes: 0 compared, 2 usage error, 3 nothing to compare: no cases in common, other data or
    another scale, or no score on both sides.
    """
    # Imported here and not above: `jrh --help` loads every command.
    from jrh_measuring.comparing.sides import open_sides

    from jrh_compare.comparing import compare
    from jrh_compare.rendering import as_json, markdown, terminal

    with ExitStack() as stack:
        pairs = open_sides(sides, judges, stack)
        comparison = compare(pairs, margin=margin, tests=tests, most_flips=flips)
    renderers = {"markdown": markdown, "json": as_json}
    text = renderers[form](comparison) if form in renderers else terminal(comparison, full=full)
    say(text, nl=False, data=form != "table")
    _say_changes(pairs)
    if comparison.has_score:
        if form == "table":
            say_next("view", pairs[-1][-1].run.path)
        return 0
    why = "no case has a score on both sides" if comparison.case_count else "the sides have no cases in common"
    tell(f"jrh: {why}; nothing was compared")
    return NOTHING


def _say_changes(pairs: list[tuple[Side, Side]]) -> None:
    """Say on the error stream whose code has changed since its run; once, and of several runs in which."""
    from jrh.running import code_changes

    runs = list(dict.fromkeys(side.run.path for pair in pairs for side in pair))
    changed: dict[str, list[str]] = {}
    for run in runs:
        for sentence in code_changes(run):
            changed.setdefault(sentence, []).append(str(run))
    for sentence, of_runs in changed.items():
        tell(f"{', '.join(of_runs)}: {sentence}." if len(runs) > 1 else f"{sentence}.")
