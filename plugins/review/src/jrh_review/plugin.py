"""Declares the stages in which people decide about cases, the list of cases, and what a report says of decisions."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import hookimpl
from jrh.plugins import SectionSpec, StageSpec

from jrh_review.options import GoldFrom, LabelsFrom, Review

JRH_API_VERSION = 2


@hookimpl
def jrh_stages() -> Iterable[StageSpec]:
    """Declare the review, and the list of cases that the workbench shows."""
    yield StageSpec(
        name="people-labels",
        summary="gold labels from a file of people's labels",
        key="labels_from",
        of_data=True,
        options=LabelsFrom,
        factory="jrh_review.person_labels:PeopleLabels",
        after=("load",),
        before=("perturb",),
    )
    yield StageSpec(
        name="judged-gold",
        summary="gold labels from a judge's own grading of the originals",
        key="gold_from",
        of_data=True,
        options=GoldFrom,
        factory="jrh_review.judged_gold:JudgedGold",
        after=("load",),
        before=("perturb",),
    )
    yield StageSpec(
        name="review",
        summary="People decide about the cases before a judge is asked. Default: no review.",
        key="review",
        options=Review,
        factory="jrh_review.review_stage:ReviewStage",
        after=("perturb",),
        before=("judge",),
    )
    yield StageSpec(
        name="case-list",
        summary="a row for every case and judge, for `jrh view`",
        factory="jrh_review.listed_cases:CaseList",
    )
    yield StageSpec(
        name="review-order",
        summary="People decide about the cases before a judge is asked. Default: no review.",
        key="review",
        options=Review,
        factory="jrh_review.review_stage:QueueByVerdicts",
        after=("judge", "case-list"),
    )


@hookimpl
def jrh_sections() -> Iterable[SectionSpec]:
    """Declare the section on decisions."""
    yield SectionSpec(
        name="review",
        summary="what people decided about cases",
        title="Review",
        factory="jrh_review.review_report:ReviewSection",
    )
