"""Everything that ACME adds to jrh. Only declarations: the work is imported when a suite asks for it."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import DataSourceSpec, JudgeSpec, MetricSpec, Mode, ModelSpec, hookimpl
from jrh.plugins import FlagSpec, KindSpec, MeasureInfo, ModeSpec, RuleSpec, SectionSpec
from jrh.values import FlagEffect

from acme_judge.options import FalsePassOptions, JudgeOptions, RubricTask, ServiceOptions, StoreOptions

JRH_API_VERSION = 2
OLD_RUBRIC = "acme-old-rubric"


@hookimpl
def jrh_models() -> Iterable[ModelSpec]:
    """Declare the service: jrh's gateway gives it cache, budget, limits and retries."""
    yield ModelSpec(
        name="acme-service",
        summary="ACME's grading service, with tokens that expire and a price of its own",
        options=ServiceOptions,
        factory="acme_judge.service:build",
    )


@hookimpl
def jrh_judges() -> Iterable[JudgeSpec]:
    """Declare the judge that asks the service."""
    yield JudgeSpec(
        name="acme",
        summary="ACME's grader: a rubric's name and a response go in, a grade comes out",
        options=JudgeOptions,
        factory="acme_judge.judge:build",
        modes=frozenset({Mode.POINTWISE}),
        reads_prompt=False,
    )


@hookimpl
def jrh_modes() -> Iterable[ModeSpec]:
    """Declare tasks whose instruction, rubric and scale come from the rubric store."""
    yield ModeSpec(
        name="acme", summary="a rubric of ACME's store", options=RubricTask, factory="acme_judge.store:RubricMode"
    )


@hookimpl
def jrh_data_sources() -> Iterable[DataSourceSpec]:
    """Declare the responses that people graded by a rubric."""
    yield DataSourceSpec(
        name="acme-store",
        summary="responses in ACME's rubric store with the grades of its people",
        options=StoreOptions,
        factory="acme_judge.store:GradedResponses",
    )


@hookimpl
def jrh_metrics() -> Iterable[MetricSpec]:
    """Declare the number that a release depends on."""
    yield MetricSpec(
        name="acme-false-pass",
        summary="how often a judge passes what people failed",
        options=FalsePassOptions,
        factory="acme_judge.release:FalsePass",
        measures=(
            MeasureInfo(
                name="acme-false-pass",
                formula="P(verdict = last label | gold = first label)",
                rate=True,
                flags=(OLD_RUBRIC,),
            ),
        ),
    )


@hookimpl
def jrh_flags() -> Iterable[FlagSpec]:
    """Declare the doubt that no measure of jrh knows of."""
    yield FlagSpec(
        name=OLD_RUBRIC,
        meaning="more than a fifth of these responses were graded by people under an older version of the rubric.",
        effect=FlagEffect.WEAKENS,
    )


@hookimpl
def jrh_findings() -> Iterable[RuleSpec]:
    """Declare the rule: its claim is part of the report's one family, so it does not raise the error rate."""
    yield RuleSpec(
        name="acme-release",
        summary="whether a judge passes more than ACME accepts of what people failed",
        factory="acme_judge.release:build_rule",
        reads=("acme-false-pass",),
        kinds=(KindSpec(name="acme-false-pass"),),
    )


@hookimpl
def jrh_sections() -> Iterable[SectionSpec]:
    """Declare the table that ACME's release meeting looks at."""
    yield SectionSpec(
        name="acme-release",
        summary="false passes of every judge under every test",
        title="ACME: what would be released by mistake",
        reads=("acme-false-pass",),
        factory="acme_judge.release:build_section",
    )
