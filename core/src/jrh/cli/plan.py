"""`jrh plan`, and the question before a run that may cost something."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from jrh.cli.options import settings_of, suite_options
from jrh.errors import JrhError
from jrh.loading import Loaded, load_plugins
from jrh.outcome import Settings
from jrh.runs import default_run_dir, resolve

if TYPE_CHECKING:
    from jrh.plan import Plan
    from jrh.resolve import ResolvedSuite

MANY_CALLS: Final = 10_000
"""Calls of unknown price above which a run asks first."""


@click.command("plan")
@suite_options
def command(suite: Path, **shared: Any) -> int:
    """Show what a run of SUITE would do: cases, calls, tokens and cost per judge and test. Nothing is spent."""
    settings = settings_of(**shared)
    loaded = load_plugins(settings.plugins)
    show(_plan(resolve(suite, loaded, settings), loaded, settings))
    return 0


def _plan(resolved: ResolvedSuite, loaded: Loaded, settings: Settings) -> Plan:
    from jrh.plan import make_plan

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
    total = _cost(plan.cost)
    click.echo(f"At most {plan.calls:,} model calls by judges, cost {total}; what is cached costs nothing.")
    click.echo("Prompt tokens are estimated from a sample; output tokens are the most the models may write.")
    if plan.generated:
        tests = ", ".join(plan.generated)
        click.echo(f"Written or validated by a model, so not known yet and not in the sums: cases of {tests}.")


def _cost(cost: float | None) -> str:
    return "unknown" if cost is None else f"${cost:,.4f}"


def confirm(resolved: ResolvedSuite, loaded: Loaded, settings: Settings, above: float) -> None:
    """Ask before a run that may cost more than `above` dollars, or makes very many calls of unknown price."""
    plan = _plan(resolved, loaded, settings)
    costly = plan.cost > above if plan.cost is not None else plan.calls > MANY_CALLS
    if not costly:
        return
    what = f"up to {plan.calls:,} model calls, cost {_cost(plan.cost)}"
    if not sys.stdin.isatty():
        raise JrhError(f"this run may make {what}; nobody is here to ask: use --yes, or raise --confirm-above")
    show(plan)
    click.confirm(f"Run it ({what})?", abort=True)
