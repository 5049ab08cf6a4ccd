"""What the plugin declares: six validators."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import BuildContext, NoOptions, Scope, ValidatorSpec, hookimpl
from jrh.plugins import SetValidator, Validator

from jrh_validators.options import (
    ConsensusOptions,
    DiversityOptions,
    EquivalenceOptions,
    LabelOptions,
    RulesOptions,
)


def _label(options: LabelOptions, context: BuildContext) -> Validator:
    from jrh_validators.label import LlmLabel

    return LlmLabel.build(options, context)


def _equivalence(options: EquivalenceOptions, context: BuildContext) -> Validator:
    from jrh_validators.equivalence import LlmEquivalence

    return LlmEquivalence.build(options, context)


def _consensus(options: ConsensusOptions, context: BuildContext) -> Validator:
    from jrh_validators.consensus import Consensus

    return Consensus.build(options, context)


def _rules(options: RulesOptions, context: BuildContext) -> Validator:  # noqa: ARG001
    from jrh_validators.rules import Rules

    return Rules(options=options)


def _facts_kept(options: NoOptions, context: BuildContext) -> Validator:  # noqa: ARG001
    from jrh_validators.rules import Rules

    return Rules(options=RulesOptions(repeats=True))


def _diversity(options: DiversityOptions, context: BuildContext) -> SetValidator:
    from jrh_validators.diversity import CosineDiversity

    return CosineDiversity(options=options, base=context.base)


@hookimpl
def jrh_validators() -> Iterable[ValidatorSpec]:
    """Declare the validators."""
    yield ValidatorSpec(
        name="llm-label",
        summary="a model applies the task's own rubric to the draft and has to reach the expected label",
        options=LabelOptions,
        factory=_label,
    )
    yield ValidatorSpec(
        name="llm-equivalence",
        summary="a model says twice, in both orders and with balanced options, that the texts mean the same",
        options=EquivalenceOptions,
        factory=_equivalence,
    )
    yield ValidatorSpec(
        name="consensus",
        summary="several validators vote: majority, unanimous, or at least k",
        options=ConsensusOptions,
        factory=_consensus,
    )
    yield ValidatorSpec(
        name="rules",
        summary="exact rules: words, numbers, names, negations, language and length as in the item",
        options=RulesOptions,
        factory=_rules,
    )
    yield ValidatorSpec(
        name="facts-kept",
        summary="as rules, but repeating a number or a negation is fine: for texts that become longer or shorter",
        factory=_facts_kept,
    )
    yield ValidatorSpec(
        name="cosine-diversity",
        summary="rejects drafts too near to the items or to the drafts kept before",
        options=DiversityOptions,
        factory=_diversity,
        scope=Scope.SET,
    )
