"""Runs in this process whose plugins are identified as releases are, although they are installed editable."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch


@contextmanager
def as_released() -> Iterator[None]:
    """Identify installed plugins by their version alone.

    An editable install is identified by the digest of its source, which enters ids, and ids enter seeds: every edit of
    a comment would draw other answers, and one in twenty of all 95% intervals would miss what was planted.
    """
    with patch("jrh.plugins.loading.editable_source", lambda *_: ()):
        yield
