"""Define the command `jrh court`."""

from __future__ import annotations

from pathlib import Path

import click
from jrh.cli.shared_options import typed_words
from jrh.text import count_noun, say, say_next, tell

_CASES, _SEED = 60, 1


@click.command("court")
@click.argument("run", metavar="RUN", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--docket",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where cases and rulings are kept.  [default: RUN.court]",
)
@click.option("--judge", default="", metavar="NAME", help="The judge; needed where the run has several.")
@click.option("--task", default="", metavar="NAME", help="The task; needed where the run has several.")
@click.option(
    "--cases", type=click.IntRange(2, 100_000), help=f"Cases to draw, half of them agreements.  [default: {_CASES}]"
)
@click.option("--seed", type=int, help=f"Seed of the draw.  [default: {_SEED}]")
@click.option(
    "--write-labels",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write a new file of corrected labels, for `data: {corrected_by: FILE}`.",
)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def court(
    run: Path,
    docket: Path | None,
    judge: str,
    task: str,
    cases: int | None,
    seed: int | None,
    write_labels: Path | None,
    form: str,
) -> int:
    """Tell whether the judge, the label or the rubric is at fault where judge and people disagree.

    The first call draws disagreements and agreements, which `jrh label` shows to referees: both verdicts in random
    order, without a name. Further calls say what the rulings mean for all items of the run. Makes no model calls.
    """
    from jrh import JrhError

    from jrh_court.corrections import find_corrections, write_corrections
    from jrh_court.court_text import court_json, court_text
    from jrh_court.docket import docket_directory, has_docket, label_suite, make_docket, read_docket, read_rulings
    from jrh_court.estimates import weigh_rulings

    directory = docket or docket_directory(run)
    if has_docket(directory):
        found = read_docket(run, directory)
        wanted = {
            "--judge": judge or found.judge,
            "--task": task or found.task,
            "--seed": found.seed if seed is None else seed,
        }
        if cases is not None or list(wanted.values()) != [found.judge, found.task, found.seed]:
            raise JrhError(
                f"the cases in '{directory}' are drawn (judge {found.judge}, task {found.task}, seed {found.seed}); "
                "leave out --judge, --task, --cases and --seed, or draw others with --docket DIRECTORY"
            )
    else:
        found = make_docket(
            run, directory, judge=judge, task=task, cases=cases or _CASES, seed=_SEED if seed is None else seed
        )
    rulings = read_rulings(directory, found)
    if write_labels is not None:
        corrections = find_corrections(found, rulings)
        write_corrections(corrections, write_labels)
        tell(f"Wrote {count_noun(len(corrections.labels), 'corrected label')} to {write_labels}.")
    answer = weigh_rulings(found, rulings)
    say(court_json(answer) if form == "json" else court_text(answer), nl=False, data=form == "json")
    if form == "text":
        names = [*answer.referees.names, *(name for name in ("ann", "bob") if name not in answer.referees.names)]
        if len(found.cases) * max(len(answer.referees.names), 2) > sum(answer.referees.ruled):
            known = names[: max(len(answer.referees.names), 2)]
            say_next("label", label_suite(directory), *(word for name in known for word in ("--name", name)))
        elif write_labels is None:
            say_next("court", *typed_words(), "--write-labels", "labels.json")
        else:
            say_next("view", run)
    return 0
