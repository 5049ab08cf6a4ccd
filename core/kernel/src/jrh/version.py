"""The version of jrh, in one place."""

from __future__ import annotations


def version() -> str:
    """Return the installed version of the kernel."""
    from importlib.metadata import version as installed

    return installed("jrh-core")
