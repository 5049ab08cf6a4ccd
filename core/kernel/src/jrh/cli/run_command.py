"""`jrh run`."""

from __future__ import annotations

import math
import shlex
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from attrs import evolve

from jrh.api import execute
from jrh.cli.shared_options import full_option, settings_of, suite_for, suite_options, typed_words
from jrh.errors import JrhError
from jrh.running.cost_question import CostEstimate, cost_question, estimate_cost
from jrh.running.outcome import BUDGET_REACHED, FAILED, RunResult
from jrh.suite.definition import Budget
from jrh.text import FiniteRange, count_noun, format_dollars, terminal
from jrh.values.report import total_spending

if TYPE_CHECKING:
    from jrh.running.progress import Progress

_DOLLARS: Final = "budget.usd="
_WHY_MORE: Final = (
    "jrh: the budget below may exceed the high end of `jrh plan`: it covers the worst case of every call left, which "
    "jrh reserves before it sends a call (a token per byte of the prompt, and the longest reply)."
)


@click.command("run")
@suite_options
@click.option("--yes", "-y", is_flag=True, help="Do not ask for confirmation.")
@click.option(
    "--confirm-above",
    type=FiniteRange(min=0),
    default=1.0,
    show_default=True,
    metavar="USD",
    help="Ask for confirmation before a run that may cost more than this.",
)
@click.option(
    "--no-wait",
    is_flag=True,
    help="Do not wait for the decisions of a review or for batches of calls; end with exit code 3.",
)
@click.option(
    "--executor",
    default="local",
    show_default=True,
    metavar="NAME",
    help="Where to run tests and judges that call no model: local (this process), or a cluster (ray).",
)
@full_option
def command(
    suite: Path, yes: bool, confirm_above: float, no_wait: bool, executor: str, full: bool, **shared: Any
) -> int:
    """Run SUITE and report.

    Run it again to resume. No answered call is repeated.

    Exit codes: 0 done, 1 a rule of the suite's gate fails (or is undecided, with `undecided: 1`), 2 usage or suite
    error, 3 incomplete or a rule not checked, 4 budget reached, 130 interrupted.
    """
    from jrh.running.progress import show_progress

    settings = evolve(settings_of(**shared), full=full, wait=not no_wait, executor=executor)
    request = suite_for(suite, settings)
    estimate = partial(estimate_cost, request)
    if not yes and request.resolved.models:
        _confirm(estimate(), confirm_above)
    printed: list[str] = []
    with show_progress(plain=True) as progress:
        progress.print_answer = partial(_print_first, progress, printed)
        result = execute(request, progress)
    try:
        if not printed:
            _print(result.terminal)
        _show(result, _enough(request.suite.budget, result, estimate))
    except JrhError as error:
        if not result.exit_code:
            raise
        terminal.tell(f"jrh: {error}")  # why the run is not done matters more
    return result.exit_code


def _confirm(total: CostEstimate | None, above: float) -> None:
    """Ask for confirmation before a run that may cost more than `above` dollars or makes many unpriced calls.

    What is compared is the upper end of the estimate.
    """
    what = cost_question(total, above)
    if not what:
        return
    # A script cannot answer, and must not spend more than it was allowed to.
    if not sys.stdin.isatty():
        raise JrhError(
            f"This run may make {what}. "
            "Cannot ask for confirmation (no terminal). Pass --yes, or raise --confirm-above."
        )
    click.confirm(f"Run it ({what})?", abort=True)


def _enough(budget: Budget, result: RunResult, estimate: Callable[[], CostEstimate | None]) -> tuple[str, ...]:
    """Return settings of a budget that suffices for what a reached one left undone, as for `--set`."""
    if result.exit_code != BUDGET_REACHED or result.spent.contradicted:
        return ()  # no budget suffices for a provider that bills more than a call can cost
    left, spent = estimate(), result.spent
    if left is None:
        return ()
    settings = []
    if budget.usd is not None:
        # Never less than the budget there is, which the estimate of the rest may suggest.
        dollars = max(spent.paid + spent.uncertain + left.worst, budget.usd)
        # Rounded up, and a cent more: the printed budget must not fall short of the sum.
        settings.append(f"{_DOLLARS}{math.ceil(dollars * 100 + 1) / 100:.2f}")
    if budget.calls is not None:
        # Failed attempts count as calls: a tenth more than the plan says leaves room for them.
        retries = math.ceil(left.high / 10)
        settings.append(f"budget.calls={max(spent.calls + left.high + retries, budget.calls)}")
    return tuple(settings)


def _print_first(progress: Progress, printed: list[str], text: str) -> None:
    """Print the answer while other reports are still to be made."""
    # What cannot be printed is tried again when all is written, and the error is then that of the command.
    with suppress(JrhError, OSError):
        if not printed:
            progress.stop()
            _print(text)
            printed.append(text)


def _print(text: str) -> None:
    if text:
        terminal.say(text.rstrip("\n"), styled=True)
        terminal.say()


def _show(result: RunResult, budget: Sequence[str]) -> None:
    terminal.say(_spending(result))
    for path in result.files:
        terminal.say(f"Report: {path}")
    for problem in result.problems:  # what went wrong comes last
        terminal.tell(f"jrh: {problem}")
    if result.exit_code:
        terminal.tell(f"jrh: {'' if result.exit_code == FAILED else 'not done: '}{result.message}.")
    if any(setting.startswith(_DOLLARS) for setting in budget):
        terminal.tell(_WHY_MORE)
    if result.exit_code and result.may_continue:
        replaced = [setting.partition("=")[0] for setting in budget]
        words = [*typed_words(replaced=replaced), *(word for setting in budget for word in ("--set", setting))]
        terminal.tell(f"jrh: to continue: {shlex.join(['jrh', 'run', *words])}")
    elif result.report is not None:
        terminal.say_next("view", result.run_dir)


def _spending(result: RunResult) -> str:
    """Say what the replies of the report cost, and what was paid for from this run directory."""
    spent = result.spent
    total = total_spending(result.report.spending if result.report is not None else ())
    priced = f" for {count_noun(total.replies, 'reply', 'replies')}" if total.cost or total.unknown else ""
    cost = f"Cost: {format_dollars(total.cost, total.unknown)}{priced}. " if total.replies else ""
    if not spent.calls:
        # Replies that cost something came from a model: reused from another run, or of a judge that calls it by itself.
        return f"{cost}{'jrh sent no call.' if priced else 'No model was called.'}"
    recent = f" ({format_dollars(spent.paid - spent.earlier)} of it now)" if spent.earlier else ""
    paid = format_dollars(spent.paid, spent.unpriced)
    parts = [f"{cost}Paid: {paid}{recent}, {count_noun(spent.calls, 'call')} sent from this run directory"]
    if result.unknown_calls:
        parts.append(f"{result.unknown_calls} calls interrupted by a kill, outcome unknown")
    if spent.uncertain:
        bounded = " that have an upper bound" if spent.unbounded else ""
        parts.append(f"at most ${spent.uncertain:.4f} more for calls of unknown cost{bounded}")
    return "; ".join(parts) + "."
