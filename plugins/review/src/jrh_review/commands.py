"""Define the command `jrh view`."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("view")
@click.argument(
    "run_dirs", nargs=-1, metavar="[RUN_DIR]...", type=click.Path(path_type=Path, exists=True, file_okay=False)
)
@click.option("--open", "open_browser", is_flag=True, help="Open the browser.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port to listen on. Default: a random free one.")
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Address to listen on.")
@click.option("--allow-remote", is_flag=True, help="Allow an address that other machines can reach. Not encrypted.")
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
