"""Run `jrh` in a process that may do less: no writing where the mode forbids it, no large files, a tiny disk."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from jrh_testing import Outcome, Project, Running

# Root may write everywhere. A process that starts another without these two capabilities makes it obey file modes;
# the tests must not depend on who runs them.
_OBEYING_MODES = """
import ctypes, os, sys
if os.geteuid() == 0:
    libc = ctypes.CDLL(None, use_errno=True)
    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        if libc.prctl(24, capability, 0, 0, 0):  # PR_CAPBSET_DROP
            sys.exit("cannot drop capabilities")
os.execv(sys.executable, [sys.executable, "-m", "jrh", *sys.argv[1:]])
"""

_WITH_SMALL_FILES = """
import os, resource, sys
size = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
os.execv(sys.executable, [sys.executable, "-m", "jrh", *sys.argv[2:]])
"""


def run_obeying_modes(project: Project, *arguments: str) -> Outcome:
    """Run `jrh` so that it cannot write what its user's permissions forbid, even for root."""
    return _run(project, [sys.executable, "-c", _OBEYING_MODES, *arguments])


def run_with_small_files(project: Project, size: int, *arguments: str) -> Outcome:
    """Run `jrh` so that no file can grow beyond so many bytes."""
    return _run(project, [sys.executable, "-c", _WITH_SMALL_FILES, str(size), *arguments])


def run_on_tiny_disk(project: Project, kilobytes: int, kept: Path, commands: Sequence[Sequence[str]]) -> list[Outcome]:
    """Run `jrh` several times with `disk` as a file system of so many kilobytes, and keep a copy of what is on it.

    The file system is mounted in a name space of its own and vanishes with it.
    """
    (project.path / "disk").mkdir()
    script = f"mount -t tmpfs -o size={kilobytes}k tmpfs disk\n"
    for place, command in enumerate(commands):
        streams = [shlex.quote(f"{kept}/{place}.{name}") for name in ("out", "err", "code")]
        words = shlex.join((sys.executable, "-m", "jrh", *command))
        script += f"{words} >{streams[0]} 2>{streams[1]}; echo $? >{streams[2]}\n"
    script += f"cp -r disk/. {shlex.quote(str(kept))}/\n"
    done = _run(project, ["unshare", "--mount", "sh", "-c", script])
    assert done.exit_code == 0, done.output
    return [
        Outcome(
            exit_code=int((kept / f"{place}.code").read_text()),
            stdout=(kept / f"{place}.out").read_text(),
            stderr=(kept / f"{place}.err").read_text(),
            duration=0.0,
        )
        for place in range(len(commands))
    ]


def can_mount() -> bool:
    """Tell whether this process may mount a file system."""
    if shutil.which("unshare") is None:
        return False
    probe = ["unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    return subprocess.run(probe, capture_output=True, check=False).returncode == 0


def _run(project: Project, command: Sequence[str]) -> Outcome:
    with Running(command, project.path, project.env) as running:
        return running.wait()
