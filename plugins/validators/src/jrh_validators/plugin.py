"""Declare the validators."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import Scope, ValidatorSpec, hookimpl

from jrh_validators.options import (
    ConsensusOptions,
    DiversityOptions,
    EquivalenceOptions,
    FallbackOptions,
    LabelOptions,
    RulesOptions,
    SimilarityOptions,
)

JRH_API_VERSION = 2


@hookimpl
def jrh_validators() -> Iterable[ValidatorSpec]:
    """Declare the validators."""
    yield ValidatorSpec(
        name="llm-label",
        summary="accepts a draft if a model that applies the task's rubric reaches the expected label",
        options=LabelOptions,
        factory="jrh_validators.label:LlmLabel.build",
    )
    yield ValidatorSpec(
        name="llm-equivalence",
        summary="accepts a draft if a model finds it equivalent to the original, asked in both orders",
        options=EquivalenceOptions,
        factory="jrh_validators.equivalence:LlmEquivalence.build",
    )
    yield ValidatorSpec(
        name="consensus",
        summary="vote of several validators: majority, unanimous, or at least k",
        options=ConsensusOptions,
        factory="jrh_validators.consensus:Consensus.build",
    )
    yield ValidatorSpec(
        name="fallback",
        summary="asks validators in order until one decides: a second model where the first refuses or fails",
        options=FallbackOptions,
        factory="jrh_validators.consensus:Fallback.build",
    )
    yield ValidatorSpec(
        name="rules",
        summary="exact rules: keep words, numbers, names, negations, language and length",
        options=RulesOptions,
        factory="jrh_validators.rules:Rules",
    )
    yield ValidatorSpec(
        name="facts-kept",
        summary="like rules, but numbers and negations may be repeated: for texts that change length",
        factory="jrh_validators.rules:facts_kept",
    )
    yield ValidatorSpec(
        name="cosine-diversity",
        summary="rejects drafts too similar to an item or to a draft already kept",
        options=DiversityOptions,
        factory="jrh_validators.diversity:CosineDiversity.build",
        scope=Scope.SET,
    )
    yield ValidatorSpec(
        name="cosine-similarity",
        summary="rejects drafts too far from their original, prompt templates included",
        options=SimilarityOptions,
        factory="jrh_validators.diversity:CosineSimilarity.build",
        scope=Scope.SET,
    )
