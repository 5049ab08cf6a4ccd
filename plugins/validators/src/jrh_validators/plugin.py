"""What the plugin declares: six validators."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import Scope, ValidatorSpec, hookimpl

from jrh_validators.options import (
    ConsensusOptions,
    DiversityOptions,
    EquivalenceOptions,
    LabelOptions,
    RulesOptions,
)

JRH_API_VERSION = 1


@hookimpl
def jrh_validators() -> Iterable[ValidatorSpec]:
    """Declare the validators."""
    yield ValidatorSpec(
        name="llm-label",
        summary="a model applies the task's own rubric to the draft and has to reach the expected label",
        options=LabelOptions,
        factory="jrh_validators.label:LlmLabel.build",
    )
    yield ValidatorSpec(
        name="llm-equivalence",
        summary="a model says twice, in both orders and with balanced options, that the texts mean the same",
        options=EquivalenceOptions,
        factory="jrh_validators.equivalence:LlmEquivalence.build",
    )
    yield ValidatorSpec(
        name="consensus",
        summary="several validators vote: majority, unanimous, or at least k",
        options=ConsensusOptions,
        factory="jrh_validators.consensus:Consensus.build",
    )
    yield ValidatorSpec(
        name="rules",
        summary="exact rules: words, numbers, names, negations, language and length as in the item",
        options=RulesOptions,
        factory="jrh_validators.rules:Rules",
    )
    yield ValidatorSpec(
        name="facts-kept",
        summary="as rules, but repeating a number or a negation is fine: for texts that become longer or shorter",
        factory="jrh_validators.rules:facts_kept",
    )
    yield ValidatorSpec(
        name="cosine-diversity",
        summary="rejects drafts too near to the items or to the drafts kept before",
        options=DiversityOptions,
        factory="jrh_validators.diversity:CosineDiversity.build",
        scope=Scope.SET,
    )
