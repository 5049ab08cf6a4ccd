"""Define the commands `jrh merge`, `jrh backup` and `jrh salvage`."""

from __future__ import annotations

import shlex
from pathlib import Path

import click
from jrh.text import count_noun, say, say_next, tell


@click.command("merge")
@click.argument("run_dirs", type=click.Path(path_type=Path, file_okay=False), nargs=-1, required=True)
@click.option(
    "--run-dir", type=click.Path(path_type=Path, file_okay=False), required=True, help="New directory of the whole run."
)
def merge(run_dirs: tuple[Path, ...], run_dir: Path) -> int:
    """Put the parts of a run, made with `jrh run --shard K/N`, into one run directory.

    Makes no model calls. Then `jrh run SUITE --run-dir DIR` reports on the whole run: it asks only what no part has.

    Exit codes: 0 done, 2 the directories are not parts of one run, 3 done, but parts are missing or not finished.
    """
    from jrh_shards.merging import merge_runs

    merged = merge_runs(run_dirs, run_dir)
    parts = count_noun(len(run_dirs), "part")
    say(f"Merged {parts}: {count_noun(merged.records, 'record')}, {count_noun(merged.calls, 'call')}.")
    ask = "The next run would ask their questions"
    if merged.missing:
        tell(f"jrh: missing: {', '.join(merged.missing)}. {ask}; a part without items has none.")
    if merged.unfinished:
        tell(f"jrh: not finished: {', '.join(merged.unfinished)}. {ask}.")
    say_next("run", "SUITE", "--run-dir", run_dir)  # where the suite is, no part knows
    return 3 if merged.missing or merged.unfinished else 0


@click.command("backup")
@click.argument("run_dir", metavar="RUN", type=click.Path(path_type=Path, file_okay=False))
@click.argument("target", type=click.Path(path_type=Path, file_okay=False), required=False)
def backup(run_dir: Path, target: Path | None) -> int:
    """Copy RUN, which may be going on, to the new directory TARGET (default: RUN-backup). Makes no model calls.

    The copy is a run directory: report on it, or continue it. Every checksum in it is compared.

    Exit codes: 0 copied, 2 no run, a damaged one, or the target has files.
    """
    from jrh_shards.backing_up import back_up_run

    target = target or run_dir.resolve().with_name(f"{run_dir.resolve().name}-backup")
    records = back_up_run(run_dir, target)
    say(f"Backed up: {count_noun(records, 'record')}, all checksums right.")
    say(f"To continue it in place of the run: jrh run SUITE --run-dir {shlex.quote(str(target))}")
    say_next("report", target)
    return 0


@click.command("salvage")
@click.argument("run_dir", type=click.Path(path_type=Path, file_okay=False))
def salvage(run_dir: Path) -> int:
    """Copy what can be read of the damaged run in RUN_DIR to RUN_DIR-salvaged. Makes no model calls.

    The damaged run stays as it is. Exit codes: 0 copied, 2 the run cannot be opened at all.
    """
    from jrh_shards.salvaging import salvage_run

    target = run_dir.resolve().with_name(f"{run_dir.resolve().name}-salvaged")
    salvaged = salvage_run(run_dir, target)
    counts = ", ".join(f"{salvaged.kept[name]:,} {name}" for name in ("items", "cases", "calls", "records"))
    say(f"Saved: {counts}.")
    for name, count in salvaged.changed.items():
        if name == "calls":
            say(f"Saved without what changed after jrh wrote it: {count_noun(count, 'call')}.")
        else:
            say(f"Left out: {count_noun(count, 'row')} of {name} that changed after jrh wrote them.")
    if salvaged.broken:
        say(f"Not readable to the end: {', '.join(salvaged.broken)}.")
    say("Records, replies and texts have checksums: what is saved is what jrh wrote.")
    where = shlex.quote(str(target))
    say(
        f"To ask only the lost questions again, run the suite with --run-dir {where}: saved calls are not paid for "
        "again."
    )
    say_next("report", target)
    return 0
