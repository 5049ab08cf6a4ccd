"""Define the commands `jrh view`, `jrh review` and `jrh label`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import click
from jrh.text import FiniteRange

_Command = TypeVar("_Command", bound=Callable[..., Any])
_SERVING: Final = (
    click.option("--open", "open_browser", is_flag=True, help="Open the browser."),
    click.option(
        "--port", type=click.IntRange(0, 65535), default=0, help="Port to listen on. Default: a random free one."
    ),
    click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Address to listen on."),
    click.option("--allow-remote", is_flag=True, help="Allow an address that other machines can reach. Not encrypted."),
)


def _serving_options(command: _Command) -> _Command:
    """Add the options of every command that serves pages."""
    for option in reversed(_SERVING):
        command = option(command)
    return command


@click.command("view")
@click.argument(
    "run_dirs", nargs=-1, metavar="[RUN_DIR]...", type=click.Path(path_type=Path, exists=True, file_okay=False)
)
@_serving_options
def view(run_dirs: tuple[Path, ...], open_browser: bool, port: int, host: str, allow_remote: bool) -> int:
    """Look at runs in the browser, on this machine.

    Shows RUN_DIR, or every run below it; by default the runs below the working directory. Prints an address with a
    one-time token and serves until Ctrl-C. Read-only; makes no model calls and no request to anywhere.
    """
    from jrh_review.runs import Runs
    from jrh_review.serving import Place, serve

    runs = Runs(run_dirs or (Path(),))
    serve(runs, Place.checked(host, port, allow_remote=allow_remote), open_browser=open_browser)
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
    type=click.Choice(["random", "disagreement", "influence"]),
    help="Which cases come first and are more likely to be sampled. Default: random.",
)
@click.option("--export", type=click.Path(path_type=Path, dir_okay=False), help="Write the decisions as CSV and exit.")
@click.option(
    "--import", "table", type=click.Path(path_type=Path, dir_okay=False, exists=True), help="Read a CSV file and exit."
)
@_serving_options
def review(
    run_dir: Path,
    reviewers: tuple[str, ...],
    tests: tuple[str, ...],
    sample: int | None,
    seed: int | None,
    first: str | None,
    export: Path | None,
    table: Path | None,
    open_browser: bool,
    port: int,
    host: str,
    allow_remote: bool,
) -> int:
    """Accept, edit or reject a run's perturbed cases in the browser, on this machine.

    Prints an address with a one-time token and serves until Ctrl-C. Every decision is stored in the run directory
    before the page says "saved". Makes no model calls. No other jrh process can write to the run meanwhile.
    """
    from jrh_review.desk import review_desk
    from jrh_review.options import First, QueueRequest
    from jrh_review.start_review import checked_names, export_to, import_from, serve_review

    names = checked_names(reviewers)
    asked = bool(tests or sample is not None or seed is not None or first is not None)
    order = First(first or "random")
    request = QueueRequest(tests=tests, sample=sample, seed=seed or 0, first=order) if asked else None
    with review_desk(run_dir) as desk:
        desk.make_queue(request)
        if table is not None:
            import_from(desk, table, names)
        if export is not None:
            export_to(desk, export, names)
        if table is None and export is None:
            serve_review(desk, run_dir, names, (host, port), allow_remote=allow_remote, open_browser=open_browser)
    return 0


@click.command("label")
@click.argument("suite", metavar="SUITE", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "--name",
    "names",
    multiple=True,
    metavar="NAME",
    help="Who labels; repeat it for further people, each in their own browser. Default: labeller.",
)
@click.option(
    "--labels", type=click.Path(path_type=Path, dir_okay=False), help="File of the labels. Default: SUITE.labels.jsonl."
)
@click.option(
    "--repeats",
    type=FiniteRange(0, 0.5),
    metavar="SHARE",
    help="Share of the items shown to each person twice. Default: 0.1.",
)
@click.option("--seed", type=int, metavar="SEED", help="Seed of the order of items and options. Default: 0.")
@click.option("--plugins", metavar="LIST", default="", help="Allow-list of plugins, as for `jrh run`.")
@click.option(
    "--export", type=click.Path(path_type=Path, dir_okay=False), help="Write the gold labels, or NAME's sheet, as CSV."
)
@click.option(
    "--import",
    "table",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="Read NAME's sheet and exit.",
)
@_serving_options
def label(
    suite: Path,
    names: tuple[str, ...],
    labels: Path | None,
    repeats: float | None,
    seed: int | None,
    plugins: str,
    export: Path | None,
    table: Path | None,
    open_browser: bool,
    port: int,
    host: str,
    allow_remote: bool,
) -> int:
    """Label a suite's items in the browser, blind, by one person or several.

    Prints an address with a one-time token and serves until Ctrl-C. Every label is in the file before the page says
    "saved". A suite reads the file under `data: {labels_from: FILE}`. Makes no model calls.
    """
    from jrh import read_items

    from jrh_review.labelling import label_desk
    from jrh_review.person_labels import LabelSettings
    from jrh_review.start_label import default_path, export_to, import_from, say_agreement, serve_labels
    from jrh_review.start_review import checked_names

    known = checked_names(names, "--name")
    path = labels or default_path(suite)
    settings = None
    if seed is not None or repeats is not None:
        settings = LabelSettings(seed=seed or 0, repeats=LabelSettings().repeats if repeats is None else repeats)
    with label_desk(path, settings) as desk:
        desk.read(read_items(suite, plugins=[each for each in plugins.split(",") if each]))
        if table is not None:
            import_from(desk, table, known)
        if export is not None:
            export_to(desk, export, known)
        if export is not None and not known:
            say_agreement(desk)
        if table is None and export is None:
            where = (host, port)
            serve_labels(desk, suite.stem, known, where, allow_remote=allow_remote, open_browser=open_browser)
    return 0
