"""Declares the page on which people decide about cases while a run waits, and the stages behind it."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import hookimpl
from jrh.plugins import DeciderSpec, StageSpec

JRH_API_VERSION = 2


@hookimpl
def jrh_deciders() -> Iterable[DeciderSpec]:
    """Declare the review page."""
    yield DeciderSpec(
        name="page",
        summary="people accept, edit or reject cases in the browser, on this machine",
        factory="jrh_review.deciding:Page",
    )


@hookimpl
def jrh_stages() -> Iterable[StageSpec]:
    """Declare the review, and the list of cases that the workbench shows."""
    yield StageSpec(
        name="review",
        summary="what people decided about cases, in the report",
        factory="jrh_review.review_stage:ReviewStage",
        after=("perturb",),
        before=("judge",),
    )
    yield StageSpec(
        name="case-list",
        summary="a row for every case and judge, for `jrh view`",
        factory="jrh_review.case_list:CaseList",
    )
