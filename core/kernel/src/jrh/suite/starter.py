"""A new suite, put together from what the installed plugins suggest."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jrh.errors import JrhError
from jrh.plugins.registry import Plugins, Registry


def starter_suite(plugins: Plugins, name: str) -> str:
    """Return a commented suite made of the components' own starters.

    Raises:
        JrhError: no data source, or no judge, suggests anything.
    """
    sources = _starters(plugins.data_sources)
    judges = _starters(plugins.judges)
    if not sources or not judges:
        raise JrhError(
            "nothing to start with: no installed plugin suggests a data source and a judge; install the standard "
            "plugins (`pip install jrh`), or see `jrh plugins list`"
        )
    parts = [
        "# A suite for `jrh run`. Every component's options: `jrh plugins show NAME`.",
        f"name: {re.sub(r'[^A-Za-z0-9._-]+', '-', name).strip('-') or 'suite'}",
        "# Everything random follows from this number.\nseed: 0",
        sources[0].rstrip("\n"),
        "# Each test changes what the judge sees and tells what a reliable judge does then.",
        "tests:" + _entries(_starters(plugins.perturbers)),
        "judges:" + _entries(judges),
    ]
    return "\n\n".join(parts).replace(" then.\n\ntests:", " then.\ntests:") + "\n"


def write_suite(path: Path, text: str, *, force: bool) -> None:
    """Write a new suite.

    Raises:
        JrhError: the path is a directory, the file exists and `force` is not given, or it cannot be written.
    """
    if path.is_dir():
        raise JrhError(f"'{path}' is a directory; name a file, such as {path / 'suite.yaml'}")
    try:
        with path.open("w" if force else "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise JrhError(f"'{path}' exists already; use --force to overwrite it") from None
    except OSError as error:
        raise JrhError(f"cannot write '{path}': {error.strerror or error}") from error


def _starters(registry: Registry[Any]) -> list[str]:
    return [entry.spec.starter for entry in registry if entry.spec.starter]


def _entries(starters: Iterable[str]) -> str:
    lines = [line for starter in starters for line in starter.strip("\n").splitlines()]
    return "\n" + "\n".join(f"  {line}" if line else "" for line in lines) if lines else " []"
