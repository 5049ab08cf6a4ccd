"""Find the stored run that an argument means."""

from __future__ import annotations

from pathlib import Path

from jrh import JrhError
from jrh_interchange import read_values


def run_directory(path: Path) -> Path:
    """Return the directory of a run: the path itself, or where the suite in that file runs by default.

    Raises:
        JrhError: the file is no suite, or was not run here.
    """
    if not path.exists():
        raise JrhError(f"'{path}' does not exist: pass a run directory, or a file")
    if not path.is_file():
        return path
    try:
        value = read_values(path)
    except JrhError:
        value = None
    name = value.get("name") if isinstance(value, dict) else None
    if not isinstance(name, str) or not name:
        raise JrhError(f"'{path}' is no suite with a name; pass the directory of a run, which `jrh run` prints")
    directory = Path("runs") / name
    if not directory.is_dir():
        raise JrhError(f"the suite in '{path}' has no run in '{directory}'; run it: jrh run {path}")
    return directory
