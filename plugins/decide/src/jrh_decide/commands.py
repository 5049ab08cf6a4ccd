"""Define the commands `jrh gate-risk` and those that answer other decisions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from jrh.cli.shared_options import plugins_option
from jrh.text import FiniteRange, say


@click.command("gate-risk")
@click.argument("runs", metavar="SUITE_OR_RUN [RUN]...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--rule", "rules", multiple=True, metavar="RULE", help="Rule to check instead of the suite's. Repeatable."
)
@click.option(
    "--loss",
    type=FiniteRange(0.001, 0.5),
    default=0.05,
    show_default=True,
    help="Share of verdicts that a worse judge gets wrong in addition.",
)
@click.option(
    "--target",
    type=FiniteRange(0.005, 0.5),
    default=0.05,
    show_default=True,
    help="Largest probability wanted of a red gate with nothing changed, and of a green one after the loss.",
)
@click.option(
    "--nights", type=click.IntRange(10, 100_000), default=300, show_default=True, help="Simulated nights of an answer."
)
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the simulation.")
@plugins_option
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def gate_risk(
    runs: tuple[Path, ...],
    rules: tuple[str, ...],
    loss: float,
    target: float,
    nights: int,
    seed: int,
    plugins: Sequence[str],
    form: str,
) -> int:
    """Tell how often a gate is red with nothing changed, and green although the judge got worse.

    Simulates nights from the verdicts of stored runs of one suite and puts each to its gate. Red is every exit code but
    0. The file of a suite means its run in runs/. Makes no model calls.
    """
    from jrh_decide.gate_risk import find_gate_risk
    from jrh_decide.gate_risk_text import risk_json, risk_text
    from jrh_decide.stored import run_directory

    found = find_gate_risk(
        [run_directory(run) for run in runs],
        rules=rules,
        loss=loss,
        target=target,
        nights=nights,
        seed=seed,
        plugins=plugins,
    )
    say(risk_json(found) if form == "json" else risk_text(found, runs), nl=False, data=form == "json")
    return 0
