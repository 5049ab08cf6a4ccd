"""`jrh merge`."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from jrh.text import counted, telling


@click.command("merge")
@click.argument("run_dirs", type=click.Path(path_type=Path, file_okay=False), nargs=-1, required=True)
@click.option(
    "--run-dir", type=click.Path(path_type=Path, file_okay=False), required=True, help="New directory of the whole run."
)
def command(run_dirs: tuple[Path, ...], run_dir: Path) -> int:
    """Put the parts of a run, made with `jrh run --shard K/N`, into one run directory.

    Makes no model calls. Then `jrh run SUITE --run-dir DIR` reports on the whole run: it asks only what no part has.

    Exit codes: 0 done, 2 the directories are not parts of one run, 3 done, but parts are missing or not finished.
    """
    from jrh.running.remembered_plugins import carry_plugins
    from jrh.store.merging import merge

    merged = merge(run_dirs, run_dir)
    carry_plugins(run_dirs, run_dir, merged.suite)
    parts = counted(len(run_dirs), "part")
    telling.say(f"Merged {parts}: {counted(merged.records, 'record')}, {counted(merged.calls, 'call')}.")
    ask = "The next run would ask their questions"
    if merged.missing:
        telling.tell(f"jrh: missing: {', '.join(merged.missing)}. {ask}; a part without items has none.")
    if merged.unfinished:
        telling.tell(f"jrh: not finished: {', '.join(merged.unfinished)}. {ask}.")
    telling.say(f"To report: jrh run SUITE --run-dir {shlex.quote(str(run_dir))}")
    return 3 if merged.missing or merged.unfinished else 0
