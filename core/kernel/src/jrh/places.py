"""Where jrh keeps files of its own, and what marks a run directory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

CACHE: Final = "JRH_CACHE_DIR"
"""Environment variable that names another directory for the cache."""
STATE: Final = "JRH_STATE_DIR"
"""Environment variable that names another directory for the user's own records."""
RUN_FILE: Final = "run.sqlite"
"""The store of a run: a directory that holds one is a run directory."""


# Libraries are imported in the functions, so that commands that need no place do not pay for the import.
def cache_directory() -> Path:
    """Return the directory of the cache: `JRH_CACHE_DIR`, or the user's cache directory."""
    if named := os.environ.get(CACHE):
        return Path(named)
    from platformdirs import user_cache_path

    return user_cache_path("jrh", appauthor=False)


def state_directory() -> Path:
    """Return the directory of this user's own records: `JRH_STATE_DIR`, or the user's state directory.

    A cache may be shared, and may travel from job to job; what it holds grants nothing.
    """
    if named := os.environ.get(STATE):
        return Path(named)
    from platformdirs import user_state_path

    return user_state_path("jrh", appauthor=False)


def run_directory_of(path: Path) -> Path | None:
    """Return the run directory that a path is, or lies in, also through links; None outside of any."""
    real = path.resolve()
    return next((place for place in (real, *real.parents) if (place / RUN_FILE).is_file()), None)
