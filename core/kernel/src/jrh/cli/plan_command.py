"""`jrh plan`, and the confirmation before a run that may cost money."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from jrh.api import default_run_dir, resolve
from jrh.cli.shared_options import settings_of, suite_options
from jrh.errors import JrhError
from jrh.plugins.loading import Loaded, load_plugins
from jrh.running.outcome import Settings

if TYPE_CHECKING:
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
    """Show cases, calls, cost and detectable effect of SUITE, per judge and test. Makes no model calls."""
    settings = settings_of(**shared)
    loaded = load_plugins(settings.plugins)
    resolved = resolve(suite, loaded, settings)
    plan = _plan(resolved, loaded, settings)
    show(plan)
    show_precision(plan, wished=half_width, level=resolved.suite.level)
    for line in plan.shared:
        click.echo(f"Warning: {line}")
    return 0


def _plan(resolved: ResolvedSuite, loaded: Loaded, settings: Settings) -> Plan:
    from jrh.running.cost_estimate import make_plan

    return make_plan(resolved, loaded, settings.run_dir or default_run_dir(resolved))


def show(plan: Plan) -> None:
    """Print the plan as a table."""
    from rich.table import Table

    from jrh.cli.console import console

    table = Table("judge", "task", "test")
    for name in ("cases", "trials", "calls", "prompt tokens", "output tokens", "cost"):
        table.add_column(name, justify="right")
    for line in plan.lines:
        about = "~" if line.estimated else ""
        numbers = (line.cases, line.trials, line.calls, line.prompt_tokens, line.output_tokens)
        table.add_row(line.judge, line.task, line.test, *(f"{about}{number:,}" for number in numbers), _cost(line.cost))
    console().print(table)
    for sentence in plan.changes:
        click.echo(f"{sentence}.")
    total = _cost(plan.cost)
    click.echo(f"At most {plan.calls:,} model calls by judges, cost {total}; cached replies are free.")
    click.echo("Prompt tokens are estimated from a sample; output tokens are the models' maximum.")
    if plan.generated:
        tests = ", ".join(plan.generated)
        click.echo(f"Not included (written or validated by a model, so unknown until the run): cases of {tests}.")


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
    largest = {(line.task, line.test): line for line in sorted(plan.lines, key=lambda line: line.trials) if line.items}
    for line in dict.fromkeys(largest.get((line.task, line.test)) for line in plan.lines):
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


def _cost(cost: float | None) -> str:
    return "unknown" if cost is None else f"${cost:,.4f}"


def confirm(resolved: ResolvedSuite, loaded: Loaded, settings: Settings, above: float) -> None:
    """Ask for confirmation before a run that may cost more than `above` dollars or makes many unpriced calls."""
    plan = _plan(resolved, loaded, settings)
    costly = plan.cost > above if plan.cost is not None else plan.calls > MANY_CALLS
    if not costly:
        return
    what = f"up to {plan.calls:,} model calls, cost {_cost(plan.cost)}"
    if not sys.stdin.isatty():
        raise JrhError(
            f"This run may make {what}. "
            "Cannot ask for confirmation (no terminal). Pass --yes, or raise --confirm-above."
        )
    show(plan)
    click.confirm(f"Run it ({what})?", abort=True)
