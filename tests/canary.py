"""Run a command with a canary key in its environment, then look for the key in everything the command left behind.

    python tests/canary.py [--at-least FILES] COMMAND [ARGUMENT ...]

The command gets directories of its own for temporary files and caches. Afterwards all their files and what the command
printed are searched, byte by byte, for either half of the key (so that a truncated key is found, and one that a page
of a database cuts in two) and for its base64 form. The exit code is the command's, or 1 if the key is found or if too
few files were written for the search to mean anything.
"""

from __future__ import annotations

import argparse
import base64
import os
import secrets
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

VARIABLES: Final = {"JRH_TEST_KEY": "canary-", "OPENAI_API_KEY": "sk-canary-"}
"""Environment variable -> how its key begins."""
FILES: Final = 300
"""Files that the whole test suite writes at least."""
LEFT_IN_PLACE: Final = (".pytest_cache", ".hypothesis")
"""Directories under the current one that pytest writes to."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command, search, and return the exit code."""
    options = _parser().parse_args(arguments)
    keys = {name: prefix + secrets.token_hex(16) for name, prefix in VARIABLES.items()}
    work = Path(tempfile.mkdtemp(prefix="jrh-canary-"))
    recorded = work / "output"
    code = run(options.command, environment(keys, work), recorded)
    written = [path for path in files_under([work]) if path != recorded]
    in_place = files_under(Path.cwd() / name for name in LEFT_IN_PLACE)
    leaks = list(search([recorded, *written, *in_place], needles(keys.values())))
    return conclude(code, leaks, searched=len(written), at_least=options.at_least, work=work)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="canary.py", description="Run a command and look for the key it was given.")
    parser.add_argument("--at-least", type=int, default=FILES, help="files that must have been written")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    return parser


def environment(keys: Mapping[str, str], work: Path) -> dict[str, str]:
    """Return this process's environment with the keys, and with directories that nobody else writes to."""
    folders = {"TMPDIR": work / "tmp", "XDG_CACHE_HOME": work / "cache"}
    for folder in folders.values():
        folder.mkdir()
    added = shlex.join(["--basetemp", str(work / "pytest")])
    return {
        **os.environ,
        **keys,
        **{name: str(folder) for name, folder in folders.items()},
        "PYTEST_ADDOPTS": f"{os.environ.get('PYTEST_ADDOPTS', '')} {added}".strip(),
    }


def run(command: Sequence[str], env: Mapping[str, str], recorded: Path) -> int:
    """Run the command; what it prints is passed on and recorded."""
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        # Ctrl-C reaches the command as well; it decides when to end, and the search comes after it.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        assert process.stdout is not None
        with recorded.open("wb") as record:
            while chunk := process.stdout.read1():
                record.write(chunk)
                sys.stdout.buffer.write(chunk)
                sys.stdout.buffer.flush()
    return process.returncode


def files_under(places: Iterable[Path]) -> Iterator[Path]:
    """Yield all files, in a stable order."""
    for place in places:
        yield from (path for path in sorted(place.rglob("*")) if path.is_file() and not path.is_symlink())


def needles(keys: Iterable[str]) -> list[bytes]:
    """Return what to look for: each key's random part in halves, and the whole key in base64 at every alignment."""
    found = []
    for key in keys:
        random = key.rpartition("-")[2].encode()
        found += [random[: len(random) // 2], random[len(random) // 2 :]]
        for shift in range(3):
            # The first and the last characters depend on what stands around the key.
            found.append(base64.b64encode(b"\0" * shift + key.encode())[4:-4])
    return found


def search(files: Iterable[Path], wanted: Sequence[bytes]) -> Iterator[Path]:
    """Yield the files that hold something wanted."""
    for path in files:
        content = path.read_bytes()
        if any(needle in content for needle in wanted):
            yield path


def conclude(code: int, leaks: Sequence[Path], *, searched: int, at_least: int, work: Path) -> int:
    """Say what was found, tidy up, and return the exit code."""
    if leaks:
        print(f"canary: the key is in {len(leaks)} places; they are kept:")
        for path in leaks:
            print(f"canary:   {path}")
        return 1
    shutil.rmtree(work, ignore_errors=True)
    if searched < at_least and code == 0:
        print(
            f"canary: only {searched} files were written, at least {at_least} were expected: the search shows nothing"
        )
        return 1
    print(f"canary: the key is not in what was printed and in none of {searched:,} files")
    return code


if __name__ == "__main__":
    sys.exit(main())
