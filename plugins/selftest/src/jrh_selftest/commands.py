"""Define the command `jrh selftest`."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click
from jrh.text import say, say_next, tell

from jrh_selftest.findings import Finding

if TYPE_CHECKING:
    from jrh.plugins import Metric

    from jrh_selftest.studies import Plan

FAILED = 1
"""Exit code if a check fails that is not known to."""


@click.command("selftest")
@click.option(
    "--full",
    is_flag=True,
    help="1000 to 4000 studies instead of 100 (250 for tests that are sure), and several times as many designs.",
)
@click.option("--studies", type=click.IntRange(min=20), help="Studies per check.")
@click.option("--seed", type=int, default=0, show_default=True, help="Random seed.")
@click.option("--plugins", metavar="A,B", default="", help="Test the metrics of these plugins, as for `jrh run`.")
@click.option(
    "--replace",
    "replacements",
    multiple=True,
    metavar="METRIC=OTHER",
    help="Test the metric OTHER as if it were METRIC. Repeatable.",
)
@click.option("--only", multiple=True, metavar="METRIC", help="Check only this metric. Repeatable.")
@click.option("--world", "worlds", multiple=True, metavar="NAME", help="Check only this world or design. Repeatable.")
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    help="Worker processes; does not affect the result.  [default: all processors with --full, otherwise 1]",
)
@click.option("--runs/--no-runs", default=True, help="Also run whole suites over simulated judges.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="A table of all checks, or the same as JSON.",
)
def command(
    full: bool,
    studies: int | None,
    seed: int,
    plugins: str,
    replacements: tuple[str, ...],
    only: tuple[str, ...],
    worlds: tuple[str, ...],
    jobs: int | None,
    runs: bool,
    form: str,
) -> int:
    """Check the installed measures against simulated judges with planted truth.

    For every measure: is the estimate unbiased, and do 95% confidence intervals cover the planted value 95% of the
    time? For every test: the false-alarm rate without an effect and the power with one. Exit code 1 if a check fails
    whose failure is not known. Everything is simulated; makes no model calls.
    """
    from joblib import cpu_count

    from jrh_selftest.findings import Verdict
    from jrh_selftest.studies import FULL, QUICK, Plan

    allowed = tuple(part.strip() for part in plugins.split(",") if part.strip())
    stand_ins = _stand_ins(replacements)
    plan = Plan(
        studies=studies or (FULL if full else QUICK),
        full=full,
        seed=seed,
        metrics=_metrics(allowed, stand_ins, only),
        stand_ins=stand_ins,
        only=frozenset(only),
        worlds=frozenset(worlds),
        tell=_tell if form == "table" else lambda _: None,
        # Half a minute of work is not worth starting processes for.
        jobs=jobs or (cpu_count() if full else 1),
    )
    findings = list(_findings(plan, allowed, runs=runs and not only and not worlds))
    say(table_text(findings) if form == "table" else _as_json(findings), nl=False, data=form != "table")
    failed = [finding for finding in findings if finding.verdict is Verdict.FAIL and not finding.known]
    if form == "table":
        for finding in failed:
            tell(f"jrh: {finding.where}: {finding.name}: {finding.reason}")
        counts = Counter(finding.verdict.value for finding in findings)
        verdicts = ", ".join(f"{count} {name}" for name, count in counts.items())
        say(f"{len(findings)} checks on simulated data: {verdicts}.")
        say_next("plugins", "doctor")
    return FAILED if failed else 0


def _findings(plan: Plan, plugins: tuple[str, ...], *, runs: bool) -> Iterator[Finding]:
    from jrh_selftest.runs import run_findings
    from jrh_selftest.studies import all_findings

    yield from all_findings(plan)
    if runs:
        plan.tell("whole runs")
        # Real runs in a directory of their own, without the cache: nothing of them is kept.
        with tempfile.TemporaryDirectory(prefix="jrh-selftest-") as folder:
            yield from run_findings(Path(folder), plugins, plan.seed)


def _tell(what: str) -> None:
    tell(f"simulating: {what}")


def _metrics(plugins: tuple[str, ...], stand_ins: Mapping[str, str], only: tuple[str, ...]) -> Mapping[str, Metric]:
    from jrh import JrhError
    from jrh_measuring import load_metrics

    from jrh_selftest.checks import ON_REQUEST

    metrics = dict(load_metrics(plugins=plugins))
    for name, options in ON_REQUEST.items():
        with suppress(JrhError):  # a missing metric is a finding, not an error
            metrics |= load_metrics((name,), plugins=plugins, options={name: options})
    if stand_ins:
        replacements = load_metrics(tuple(stand_ins.values()), plugins=plugins)
        metrics |= {name: replacements[other] for name, other in stand_ins.items()}
    # A misspelt name would check nothing, and pass.
    unknown = [name for name in only if name not in metrics]
    if unknown:
        raise JrhError(f"--only: unknown metric '{unknown[0]}'; available: {', '.join(metrics)}")
    return metrics


def _stand_ins(replacements: Iterable[str]) -> Mapping[str, str]:
    stand_ins = {}
    for text in replacements:
        name, equals, other = text.partition("=")
        if not equals or not name or not other:
            raise click.BadParameter(f"write METRIC=OTHER, got '{text}'", param_hint="--replace")
        stand_ins[name] = other
    return stand_ins


def _as_json(findings: Sequence[Finding]) -> str:
    import attrs

    rows = [attrs.asdict(finding) for finding in findings]
    return json.dumps(rows, indent=2, default=lambda verdict: verdict.value) + "\n"


_WIDTH = 170
_HEADER = (
    *("where", "measure", "of", "studies", "nominal", "all", "unflagged", "flagged", "below", "above", "width"),
    *("verdict", "why"),
)
_TEXTS = ("where", "measure", "of", "verdict", "why")


def table_text(findings: Sequence[Finding]) -> str:
    """Return the table: what each row is judged by, in percent.

    `all` is the coverage over all studies, the false-alarm rate or the power; `unflagged` the coverage of the studies
    without a flag; `below` and `above` are the shares of their intervals that miss the planted value on that side;
    `width` is in widths of the narrowest interval. The last column is left out where no finding has a reason.
    """
    from jrh_measuring import terminal_text
    from rich.table import Table

    table = Table(title="Simulated judges with planted truth")
    explained = any(finding.reason for finding in findings)
    for name in _HEADER if explained else _HEADER[:-1]:
        table.add_column(name, justify="left" if name in _TEXTS else "right")
    for finding in findings:
        table.add_row(*_cells(finding)[: len(_HEADER) if explained else -1])
    return terminal_text([table], _WIDTH)


def _cells(finding: Finding) -> tuple[str, ...]:
    # A single run has no coverage: the table shows its estimate next to the planted value.
    planted = finding.kind == "run" and finding.planted is not None
    return (
        finding.where,
        finding.name,
        "coverage" if finding.kind == "interval" else finding.kind,
        str(finding.studies),
        f"{finding.planted:.3f}" if planted else _percent(finding.nominal if finding.least is None else finding.least),
        f"{finding.estimated:.3f}" if planted and finding.estimated is not None else _percent(finding.rate),
        _percent(finding.rate_without_flag),
        _percent(finding.flagged),
        _percent(finding.too_low),
        _percent(finding.too_high),
        "" if finding.width is None else f"{finding.width:.2f}",
        finding.verdict.value,
        "; ".join(part for part in (finding.reason, finding.known) if part),
    )


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f}"
