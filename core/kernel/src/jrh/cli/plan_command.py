"""`jrh plan`, and the confirmation before a run that may cost money."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from jrh.api import default_run_dir, resolve
from jrh.cli.shared_options import settings_of, suite_options
from jrh.cli.telling import say
from jrh.errors import JrhError
from jrh.plugins.loading import Loaded, load_plugins
from jrh.running.outcome import Settings
from jrh.text import counted, format_dollars

if TYPE_CHECKING:
    from jrh.running.call_meter import Amount
    from jrh.running.cost_estimate import Plan
    from jrh.suite.resolved import ResolvedSuite

MANY_CALLS: Final = 10_000
"""Above this many calls of unknown price, a run asks for confirmation."""


@click.command("plan")
@suite_options
@click.option(
    "--half-width",
    type=click.FloatRange(0.001, 0.499),
    default=0.05,
    show_default=True,
    help="Target half-width of the confidence interval; the plan shows how many items that takes.",
)
def command(suite: Path, half_width: float, **shared: Any) -> int:
    """Show cases, calls, cost and detectable effect of SUITE. Makes no model calls and needs no key."""
    settings = settings_of(**shared)
    loaded = load_plugins(settings.plugins)
    resolved = resolve(suite, loaded, settings)
    plan = make(resolved, loaded, settings)
    show(plan)
    show_precision(plan, wished=half_width, level=resolved.suite.level)
    for line in plan.shared:
        say(f"Warning: {line}")
    return 0


def make(resolved: ResolvedSuite, loaded: Loaded, settings: Settings) -> Plan:
    """Make the plan of a run."""
    from jrh.running.cost_estimate import make_plan

    return make_plan(resolved, loaded, settings.run_dir or default_run_dir(resolved), settings)


def show(plan: Plan) -> None:
    """Print the plan as a table."""
    from rich.table import Table

    from jrh.cli.console import console
    from jrh.running.call_meter import FEWEST_CHARACTERS, MOST_CHARACTERS, MOST_OUTPUT

    table = Table("component", "role", "task", "test")
    for name in ("cases", "trials", "calls", "prompt tokens", "output tokens", "cost"):
        table.add_column(name, justify="right")
    for line in plan.lines:
        about = "~" if line.estimated else ""
        counts = (f"{about}{line.cases:,}", f"{about}{line.trials:,}") if line.trials else ("", "")
        spent = line.amount
        tokens = (f"<{number:,}" if number else "0" for number in (spent.prompt_high, spent.output_high))
        calls = between(f"{spent.low:,}", f"{spent.high:,}")
        table.add_row(line.name, line.role, line.task, line.test, *counts, calls, *tokens, _cost(spent))
    console().print(table)
    for sentence in plan.changes:
        say(f"{sentence}.")
    for sentence in plan.nothing:
        say(f"{sentence}.")
    total = plan.total
    say(f"Total: {between(f'{total.low:,}', f'{total.high:,}')} model calls, cost {_cost(total)}.")
    click.echo(
        "Cached replies are free. Low end: every text is asked for once and no written case is kept. High end: all\n"
        "attempts are used, every case is kept, and replies are as long as `max_tokens` allows (without it, "
        f"{MOST_OUTPUT:,}\ntokens). A token is taken to have {FEWEST_CHARACTERS} to {MOST_CHARACTERS} characters."
    )


def between(low: str, high: str) -> str:
    """Write a range; one number if both ends are equal."""
    return high if low == high else f"{low} to {high}"


def _cost(amount: Amount) -> str:
    """Write a range of costs; calls of unknown price are never free."""
    if amount.unpriced and amount.unpriced == amount.high:
        return "unknown"
    known = between(format_dollars(amount.cost_low), format_dollars(amount.cost_high))
    return f"{known} + up to {counted(amount.unpriced, 'call')} of unknown price" if amount.unpriced else known


def show_precision(plan: Plan, *, wished: float, level: float) -> None:
    """Print the precision of every test with its items and repeats, and the items that the target precision needs."""
    from rich.table import Table

    from jrh.cli.console import console
    from jrh.running.power import CORRELATION, DISCORDANT, POWER, precision
    from jrh.text.numbers import counted
    from jrh.values.types import REFERENCE

    table = Table("task", "test")
    for name in ("items", "trials per item", f"{level:.0%} interval", "detectable change", f"items for ±{wished:g}"):
        table.add_column(name, justify="right")
    # All judges get the same cases, except those that a judge cannot be asked: take the others' number.
    judged = [line for line in plan.lines if line.items]
    largest = {(line.task, line.test): line for line in sorted(judged, key=lambda line: line.trials)}
    for line in dict.fromkeys(largest.get((line.task, line.test)) for line in judged):
        if line is None:
            continue
        about = "~" if line.estimated else ""
        found = precision(line.items, line.trials, clusters=line.clusters, wished=wished, level=level)
        change = "-" if line.test == REFERENCE or found.detectable is None else f"{about}{found.detectable:.2f}"
        shared = f" in {counted(line.clusters, 'cluster')}" if line.clusters < line.items else ""
        numbers = (f"{line.items:,}{shared}", f"{found.trials_per_item:.3g}", f"±{found.half_width:.2f}")
        table.add_row(
            line.task,
            line.test,
            *(f"{about}{number}" for number in numbers),
            change,
            f"{about}{found.items_needed:,}{' clusters' if shared else ''}",
        )
    console().print(table)
    click.echo(
        f"Intervals are for a rate of 0.5, where they are widest. Detectable change: smallest difference from the "
        f"reference found with {POWER:.0%} power.\nAssumptions: two trials of an item correlate {CORRELATION:g}; "
        f"a test changes the verdict on {DISCORDANT:.0%} of items."
    )


def confirm(resolved: ResolvedSuite, loaded: Loaded, settings: Settings, above: float) -> None:
    """Ask for confirmation before a run that may cost more than `above` dollars or makes many unpriced calls.

    What is compared is the upper end of the plan.
    """
    plan = make(resolved, loaded, settings)
    total = plan.total
    if total.cost_high <= above and total.unpriced <= MANY_CALLS:
        return
    what = f"up to {counted(total.high, 'model call')}, cost {_cost(total)}"
    if not sys.stdin.isatty():
        raise JrhError(
            f"This run may make {what}. "
            "Cannot ask for confirmation (no terminal). Pass --yes, or raise --confirm-above."
        )
    show(plan)
    click.confirm(f"Run it ({what})?", abort=True)
