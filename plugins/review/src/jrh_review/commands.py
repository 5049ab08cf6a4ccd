"""Define the commands `jrh view`, `jrh review` and `jrh label`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import click
from jrh.cli.shared_options import plugins_option
from jrh.text import FiniteRange

_SERVING: Final = (
    click.option("--open", "open_browser", is_flag=True, help="Open the browser."),
    click.option(
        "--port", type=click.IntRange(0, 65535), default=0, help="Port to listen on. Default: a random free one."
    ),
    click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Address to listen on."),
    click.option("--allow-remote", is_flag=True, help="Allow an address that other machines can reach. Not encrypted."),
)
_FILE: Final = click.Path(path_type=Path, dir_okay=False)
_TABLE: Final = click.Path(path_type=Path, dir_okay=False, exists=True)


def _add_serving_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of every command that serves pages."""
    for option in reversed(_SERVING):
        command = option(command)
    return command


@click.command("view")
@click.argument(
    "run_dirs", nargs=-1, metavar="[RUN_DIR]...", type=click.Path(path_type=Path, exists=True, file_okay=False)
)
@_add_serving_options
def view(run_dirs: tuple[Path, ...], **serving: Any) -> int:
    """Look at runs in the browser, on this machine.

    Shows RUN_DIR, or every run below it; by default the runs below the working directory. Prints an address with a
    one-time token and serves until Ctrl-C. Read-only; makes no model calls and no request to anywhere.
    """
    # Imported here: `jrh --help` lists this command, and must not load a web server for it.
    from jrh_review.runs import Runs
    from jrh_review.serving import serve

    serve(Runs(run_dirs or (Path(),)), **serving)
    return 0


@click.command("review")
@click.argument("run_dir", metavar="RUN_DIR", type=click.Path(path_type=Path))
@click.option(
    "--reviewer",
    "reviewers",
    multiple=True,
    metavar="NAME",
    help="Who reviews; give it twice for two people, each in their own browser. Default: reviewer.",
)
@click.option("--tests", multiple=True, metavar="TEST", help="Review cases of this test only; may be repeated.")
@click.option("--sample", type=click.IntRange(1), metavar="N", help="Review N cases drawn at random. Default: all.")
@click.option("--seed", type=int, metavar="SEED", help="Seed of the sample. Default: 0.")
@click.option(
    "--first",
    type=click.Choice(["random", "disagreement"]),
    help="Which cases come first and are more likely to be sampled. Default: random.",
)
@click.option("--export", type=_FILE, help="Write everybody's decisions, or NAME's sheet, as CSV and exit.")
@click.option("--import", "table", type=_TABLE, help="Read NAME's sheet and exit.")
@_add_serving_options
def review(
    run_dir: Path,
    reviewers: tuple[str, ...],
    tests: tuple[str, ...],
    sample: int | None,
    seed: int | None,
    first: str | None,
    export: Path | None,
    table: Path | None,
    **serving: Any,
) -> int:
    """Accept, edit or reject a run's perturbed cases in the browser, on this machine.

    Prints an address with a one-time token and serves until Ctrl-C. Every decision is stored in the run directory
    before the page says "saved". Makes no model calls. No other jrh process can write to the run meanwhile.
    """
    from jrh_review.desk import review_desk
    from jrh_review.desk_commands import check_names, use_review_desk
    from jrh_review.options import First, QueueRequest

    names = check_names(reviewers)
    is_new_queue = bool(tests or sample is not None or seed is not None or first is not None)
    order = First(first or "random")
    # None continues with the queue that is there; any option asks for a new one.
    request = QueueRequest(tests=tests, sample=sample, seed=seed or 0, first=order) if is_new_queue else None
    with review_desk(run_dir) as desk:
        desk.make_queue(request)
        use_review_desk(desk, run_dir, names, table, export, serving)
    return 0


@click.command("label")
@click.argument("suite", metavar="SUITE", type=_TABLE)
@click.option(
    "--name",
    "names",
    multiple=True,
    metavar="NAME",
    help="Who labels; repeat it for further people, each in their own browser. Default: labeller.",
)
@click.option("--labels", type=_FILE, help="File of the labels. Default: SUITE.labels.jsonl.")
@click.option(
    "--repeats",
    type=FiniteRange(0, 0.5),
    metavar="SHARE",
    help="Share of the items shown to each person twice. Default: 0.1.",
)
@click.option("--seed", type=int, metavar="SEED", help="Seed of the order of items and options. Default: 0.")
@plugins_option
@click.option("--export", type=_FILE, help="Write the gold labels, or NAME's sheet, as CSV.")
@click.option("--import", "table", type=_TABLE, help="Read NAME's sheet and exit.")
@_add_serving_options
def label(
    suite: Path,
    names: tuple[str, ...],
    labels: Path | None,
    repeats: float | None,
    seed: int | None,
    plugins: Sequence[str],
    export: Path | None,
    table: Path | None,
    **serving: Any,
) -> int:
    """Label a suite's items in the browser, blind, by one person or several.

    Prints an address with a one-time token and serves until Ctrl-C. Every label is in the file before the page says
    "saved". A suite reads the file under `data: {labels_from: FILE}`. Makes no model calls.
    """
    from jrh import read_items

    from jrh_review.desk_commands import check_names, use_label_desk
    from jrh_review.labelling import label_desk
    from jrh_review.person_labels import LabelSettings

    known = check_names(names, "--name")
    # None keeps what the file was made with: other repeats would change what people have already seen.
    settings = None
    if seed is not None or repeats is not None:
        settings = LabelSettings(seed=seed or 0, repeats=LabelSettings().repeats if repeats is None else repeats)
    with label_desk(labels or suite.with_name(f"{suite.stem}.labels.jsonl"), settings) as desk:
        desk.read(read_items(suite, plugins=plugins))
        use_label_desk(desk, suite, known, table, export, serving)
    return 0
