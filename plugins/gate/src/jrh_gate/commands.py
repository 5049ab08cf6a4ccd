"""Define the command `jrh gate`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from jrh.cli.shared_options import plugins_option
from jrh.text import FiniteRange, say, say_next, tell

if TYPE_CHECKING:
    from jrh.running import RunState
    from jrh_measuring.gating.checking import Checked, Terms

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command("gate")
@click.argument("run_dir", metavar="RUN", type=click.Path(path_type=Path))
@click.option(
    "--rule", "rules", multiple=True, metavar="RULE", help="Rule to check instead of the suite's. Repeatable."
)
@click.option(
    "--allow-missing",
    type=FiniteRange(0, 1, max_open=True),
    metavar="SHARE",
    help="Share of trials per judge and test that may lack a verdict.  [default: the suite's, or 0]",
)
@click.option(
    "--undecided",
    type=click.Choice(["0", "1", "5"]),
    help="Exit code if a rule is undecided.  [default: the suite's, or 5]",
)
@plugins_option
@click.option("--junit", type=_FILE, help="Write JUnit XML; creates missing directories.")
@click.option("--json", "as_json", type=_FILE, help="Write JSON.")
@click.option("--markdown", type=_FILE, help="Write Markdown for a pull request comment.")
def command(
    run_dir: Path,
    rules: tuple[str, ...],
    allow_missing: float | None,
    undecided: str | None,
    plugins: Sequence[str],
    junit: Path | None,
    as_json: Path | None,
    markdown: Path | None,
) -> int:
    """Check the run in the directory RUN against rules such as "as-expected[label-flip] >= 0.9".

    A rule holds when a one-sided confidence limit meets the threshold, fails when the other limit misses it, and is
    undecided otherwise. Every look at new verdicts of the same run is counted and makes the limits stricter. Without
    --rule the rules are those of the suite (`gate: {rules: [...]}`) when it was run.

    Exit codes, first match: 2 usage or suite error; 1 a rule fails; 130 run interrupted; 4 budget reached; 3 run
    incomplete or too many verdicts missing; 5 a rule is undecided; 0 all rules hold.
    """
    from jrh.running import code_changes
    from jrh_measuring.documents import write_whole

    from jrh_gate.console import console_text
    from jrh_gate.json_file import gate_json
    from jrh_gate.junit import junit as junit_xml
    from jrh_gate.markdown import markdown as markdown_text

    checked = _check_run(run_dir, rules, allow_missing, undecided, plugins)
    if junit is not None:
        write_whole(junit, junit_xml(checked))
    if as_json is not None:
        write_whole(as_json, gate_json(checked).encode())
    if markdown is not None:
        write_whole(markdown, markdown_text(checked).encode())
    say(console_text(checked), nl=False)
    for sentence in code_changes(run_dir) if checked.run_id else ():  # else nothing is stored yet
        tell(f"{sentence}.")
    if checked.run_id:
        say_next("view", run_dir)
    return checked.exit_code


def _check_run(
    run_dir: Path, rules: tuple[str, ...], allow_missing: float | None, undecided: str | None, plugins: Sequence[str]
) -> Checked:
    # Imported here and not above: `jrh --help` loads every command.
    from jrh import JrhError, open_report
    from jrh.errors import EmptyStoreError
    from jrh.running import RunState, run_state
    from jrh_measuring import one_sided_measures, take_look
    from jrh_measuring.gating.checking import Terms, check

    if run_dir.is_file():
        raise JrhError(f"'{run_dir}' is a file; `jrh gate` takes a run directory, which `jrh run` prints")
    try:
        state = run_state(run_dir)
    except EmptyStoreError:  # the process was killed before it wrote anything
        return check(RunState(suite=run_dir.name), None, Terms())
    terms = _terms(state, rules, allow_missing, undecided)
    try:
        # Before the rules are checked: a look counts even if a rule of it turns out to be a mistake.
        look = take_look(run_dir)
        with open_report(run_dir, measure=True, plugins=plugins) as report:
            return check(state, report, terms, look, lambda rates: one_sided_measures(run_dir, rates, plugins))
    except EmptyStoreError:
        return check(state, None, terms)


def _terms(state: RunState, rules: tuple[str, ...], allow_missing: float | None, undecided: str | None) -> Terms:
    """Combine the requirements; the command line overrides the suite."""
    from jrh import JrhError
    from jrh_measuring import GateOptions, parse_rule
    from jrh_measuring.gating.checking import Terms

    section = state.sections.get("gate") or {}
    gate = GateOptions(**{**section, "rules": tuple(section.get("rules", ()))})
    written = rules or gate.rules
    if not written:
        raise JrhError(
            'no rules to check; pass --rule "as-expected[format] >= 0.9", or write '
            "`gate: {rules: [...]}` in the suite and run it again"
        )
    return Terms(
        rules=tuple(parse_rule(rule) for rule in written),
        allow_missing=gate.allow_missing if allow_missing is None else allow_missing,
        undecided=gate.undecided if undecided is None else int(undecided),
    )
