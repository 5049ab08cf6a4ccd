"""Define the command `jrh plan`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from attrs import evolve
from jrh.cli.shared_options import settings_of, suite_for, suite_options, typed_words
from jrh.text import FiniteRange, count_noun, format_dollars, say, say_next, show

if TYPE_CHECKING:
    from jrh.plugins.loading import Loaded

    from jrh_plan.estimate import Plan
    from jrh_plan.power import Assumptions, Precision


@click.command("plan")
@suite_options
@click.option(
    "--half-width",
    type=FiniteRange(0.001, 0.499),
    default=0.05,
    show_default=True,
    help="Target half-width of the confidence interval; the plan shows how many items that takes.",
)
@click.option(
    "--noise",
    type=FiniteRange(0, 0.5),
    help="Assumed share of pairs of identical questions with different verdicts.  [default: 0.1]",
)
@click.option(
    "--discordance",
    type=FiniteRange(0, 1),
    help="Assumed share of items whose verdict a test changes, for the change of accuracy.  [default: 0.2]",
)
@click.option(
    "--effect",
    type=FiniteRange(0, 1, min_open=True),
    help="Share of items whose verdict a test changes, for the power.  [default: 0.1]",
)
@click.option(
    "--pilot",
    type=click.Path(path_type=Path),
    metavar="RUN_DIR",
    help="Earlier run of the same judges and tests, to take noise, discordance, missing verdicts and call cost from.",
)
def command(
    suite: Path,
    half_width: float,
    noise: float | None,
    discordance: float | None,
    effect: float | None,
    pilot: Path | None,
    **shared: Any,
) -> int:
    """Show cases, calls, cost, detectable effect and power of SUITE. Makes no model calls and needs no key."""
    from jrh_plan.estimate import make_plan
    from jrh_plan.gate_rules import rule_lines
    from jrh_plan.power import Assumptions

    settings = settings_of(**shared)
    request = suite_for(suite, settings)
    plan = make_plan(request)
    show_spending(plan)
    say(f"Plugins: {_name_plugins(request.loaded)}.")
    options = {"noise": noise, "discordance": discordance, "effect": effect}
    stated = {name: value for name, value in options.items() if value is not None}
    assumed = Assumptions(**stated)
    if pilot is not None:
        # What is stated on the command line goes before what the pilot measured.
        assumed = evolve(_read_pilot(pilot, plan, assumed, settings.plugins), **stated)
    show_precision(plan, wished=half_width, assumptions=assumed)
    for line in rule_lines(plan):
        say(f"{line}.")
    for line in plan.shared:
        say(f"Warning: {line}")
    say_next("run", *typed_words(without=("half_width", "noise", "discordance", "effect", "pilot")))
    return 0


def _name_plugins(loaded: Loaded) -> str:
    """Say which plugins are loaded, and from where."""
    from jrh.plugins import shipped_distributions

    local = [f"{plugin.written} (file or module)" for plugin in loaded.local]
    named = {name: name.rpartition(" ")[0] for name in loaded.names}
    shipped = {name for name, distribution in named.items() if distribution in shipped_distributions()}
    others = [f"{name} (installed)" for name in named if name not in shipped and not name.endswith(" local")]
    return ", ".join([f"{count_noun(len(shipped), 'distribution')} of jrh", *others, *local])


def _read_pilot(run_dir: Path, plan: Plan, assumed: Assumptions, plugins: Sequence[str]) -> Assumptions:
    """Print what a pilot run measured, and return it."""
    from jrh import open_report

    from jrh_plan.pilot import read_pilot

    with open_report(run_dir, measure=True, plugins=plugins) as report:
        measured, sentences = read_pilot(str(run_dir), report, plan, assumed)
    for sentence in sentences:
        say(f"{sentence}.")
    return measured


def show_spending(plan: Plan) -> None:
    """Print the plan as a table."""
    from jrh.running import cost_range, number_range
    from rich.table import Table

    from jrh_plan.call_meter import CACHED_FROM, FEWEST_CHARACTERS, MOST_CHARACTERS, MOST_OUTPUT

    for sentence in plan.models_needed:
        say(f"{sentence}.")
    table = Table("component", "role", "task", "test")
    for name in ("cases", "trials", "calls", "prompt tokens", "output tokens", "cost"):
        table.add_column(name, justify="right")
    for line in plan.lines:
        about = "~" if line.estimated else ""
        counts = (f"{about}{line.cases:,}", f"{about}{line.trials:,}") if line.trials else ("", "")
        spent = line.amount
        tokens = (f"<{number:,}" if number else "0" for number in (spent.prompt_high, spent.output_high))
        calls = number_range(f"{spent.low:,}", f"{spent.high:,}")
        table.add_row(line.name, line.role, line.task, line.test, *counts, calls, *tokens, cost_range(spent))
    show(table)
    for sentence in (*plan.changes, *plan.nothing, *plan.stages):
        say(f"{sentence}.")
    total = plan.total
    say(f"Total: {number_range(f'{total.low:,}', f'{total.high:,}')} model calls, cost {cost_range(total)}.")
    if total.cached:
        say(
            f"Of this, prompt caches of the providers may save up to {format_dollars(total.cached)}: the low end\n"
            f"counts prompts of {CACHED_FROM:,} tokens and more at the price of cached ones."
        )
    say(
        "Cached replies are free. Low end: each generated text takes one attempt and no generated case is kept. High\n"
        "end: every attempt is used, every case is kept, and replies are as long as `max_tokens` allows (without it,\n"
        f"{MOST_OUTPUT:,} tokens). The plan assumes {FEWEST_CHARACTERS} to {MOST_CHARACTERS} characters per token."
    )


def show_precision(plan: Plan, *, wished: float, assumptions: Assumptions) -> None:
    """Print what every test can show with its items and repeats, and what would give the target precision and power."""
    from jrh import REFERENCE
    from rich.table import Table

    from jrh_plan.power import POWER, precision

    table = Table("task", "test")
    columns = ("items", "trials per item", f"{plan.level:.0%} interval", f"items for ±{wished:g}", "accuracy change")
    for name in (*columns, f"power to find {assumptions.effect:.0%}", f"for {POWER:.0%} power"):
        table.add_column(name, justify="right")
    # All judges get the same cases, except those that a judge cannot be asked: take the others' number.
    judged = [line for line in plan.lines if line.items]
    tests = sum(1 for line in judged if line.test != REFERENCE)
    # The last of equal keys stays: the judge with the most trials.
    largest = {(line.task, line.test): line for line in sorted(judged, key=lambda line: line.trials)}
    repeats = {task: round(line.trials / line.items) for (task, test), line in largest.items() if test == REFERENCE}
    for line in dict.fromkeys(largest[line.task, line.test] for line in judged):
        about = "~" if line.estimated else ""
        result = precision(
            line.items,
            line.trials,
            clusters=line.clusters,
            wished=wished,
            level=plan.level,
            reference=repeats.get(line.task, 1),
            tests=tests,
            assumptions=assumptions,
        )
        unit = "clusters" if line.clusters < line.items else "items"
        shared = f" in {count_noun(line.clusters, 'cluster')}" if line.clusters < line.items else ""
        needed = f"{result.items_needed:,}{' clusters' if shared else ''}"
        numbers = (f"{line.items:,}{shared}", f"{result.trials_per_item:.3g}", f"±{result.half_width:.2f}", needed)
        change = "none" if result.detectable is None else f"{about}±{result.detectable:.2f}"
        power = "reference asked once" if result.power is None else f"{about}{result.power:.0%}"
        compared = (change, power, _enough(result, unit)) if line.test != REFERENCE else ("-", "-", "-")
        table.add_row(line.task, line.test, *(f"{about}{number}" for number in numbers), *compared)
    show(table)
    missing = f"; {_percent(assumptions.missing)} of verdicts are missing" if assumptions.missing else ""
    say(
        f"Intervals are for a rate of 0.5, where they are widest. Accuracy change: smallest difference from the "
        f"reference found with {POWER:.0%} power.\nPower: probability to report that a test moves verdicts more than "
        f"reruns do, if it changes the verdict on {_percent(assumptions.effect)} of items.\n"
        f"Both are corrected for {count_noun(tests, 'comparison')} (judges x tests, Bonferroni).\n"
        f"Assumptions: two askings of a question differ on {_percent(assumptions.noise)} of items (correlation "
        f"{assumptions.correlation:.2g});\na test changes the verdict on {_percent(assumptions.discordance)} of items, "
        f"in either direction{missing}.\nA change of accuracy takes at least as many changed verdicts, so a smaller "
        "discordance gives the same number;\nthe noise comes on top. Change them with --noise, --discordance and "
        "--effect, or measure them with --pilot.\nWhere a test asks once, jrh uses the "
        "reference's rerun noise, so half of any\nnoise that the test adds counts as a move; asking twice separates "
        "the two."
    )


def _percent(share: float) -> str:
    return f"{100 * share:.3g}%"


def _enough(found: Precision, unit: str) -> str:
    """Write what would give the target power; `-` where it is there already, or nothing does."""
    items = f"{found.enough_items:,} {unit}" if found.enough_items else ""
    askings = f"{found.enough_askings} askings each" if found.enough_askings else ""
    return " or ".join(part for part in (items, askings) if part) or "-"
