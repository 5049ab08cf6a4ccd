"""Where a user's cache is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

ENVIRONMENT: Final = "JRH_CACHE_DIR"
"""Environment variable that names another directory."""


def directory() -> Path:
    """Return the directory of the cache: `JRH_CACHE_DIR`, or the user's cache directory."""
    named = os.environ.get(ENVIRONMENT)
    if named:
        return Path(named)
    # Here, so that commands that need no cache do not pay for the import.
    from platformdirs import user_cache_path

    return user_cache_path("jrh", appauthor=False)
