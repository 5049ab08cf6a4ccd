"""Declares the page on which people decide about cases while a run waits."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import hookimpl
from jrh.plugins import DeciderSpec

JRH_API_VERSION = 1


@hookimpl
def jrh_deciders() -> Iterable[DeciderSpec]:
    """Declare the review page."""
    yield DeciderSpec(
        name="page",
        summary="people accept, edit or reject cases in the browser, on this machine",
        factory="jrh_review.deciding:Page",
    )
