"""Let several validators vote on a draft."""

from __future__ import annotations

from asyncio import gather
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from attrs import frozen
from jrh import BuildContext, Draft, Item, JrhError, ModelName, Validation, ValidatorName
from jrh.plugins import Validator

from jrh_validators.equivalence import LlmEquivalence
from jrh_validators.label import LlmLabel
from jrh_validators.options import ConsensusOptions, EquivalenceOptions, LabelOptions, Rule
from jrh_validators.people import PEOPLE, HumanLabels


@frozen(kw_only=True)
class Consensus:
    """Accepts a draft that enough of the voters accept.

    A voter without a decision (a refusal, a failure, an unreadable reply) has not voted and does not count towards the
    required number. The details list the votes in the order of the voters, so that agreement over all drafts can be
    computed.
    """

    voters: Mapping[str, Validator]
    needed: int

    @classmethod
    def build(cls, options: ConsensusOptions, context: BuildContext) -> Consensus:
        """Build the voters.

        Raises:
            JrhError: There are fewer than two voters, one is named twice, or `k` exceeds their number.
        """
        voters = named_voters("consensus", options.equivalence_by, options.label_by, options.validators, context)
        if options.labels is not None:
            voters[PEOPLE] = HumanLabels.read(options.labels)
        if len(voters) < 2:  # noqa: PLR2004 - one voter is no vote
            raise JrhError(
                "consensus needs at least two voters; name models under `equivalence_by` or `label_by`, `validators`, "
                "or `labels` by people"
            )
        needed = _needed(options, len(voters))
        if needed > len(voters):
            raise JrhError(f"consensus: k is {needed}, but there are {len(voters)} voters")
        return cls(voters=voters, needed=needed)

    async def validate(self, item: Item, draft: Draft) -> Validation:
        """Let all voters decide and count; the score is the share of voters that accept."""
        decisions = await gather(*(voter.validate(item, draft) for voter in self.voters.values()))
        votes = {name: _vote(decision) for name, decision in zip(self.voters, decisions, strict=True)}
        in_favour = sum(vote is True for vote in votes.values())
        accepted = in_favour >= self.needed
        return Validation(
            accepted=accepted,
            score=in_favour / len(votes),
            reason="" if accepted else f"accepted by fewer than {self.needed} of {len(votes)} voters",
            label=self._label(decisions),
            details={
                "votes": votes,
                "agreement": _agreement(votes.values()),
                "reasons": {name: decision.reason for name, decision in zip(votes, decisions, strict=True)},
            },
        )

    def _label(self, decisions: Sequence[Validation]) -> str | None:
        """Return the label that enough voters reached, where there is exactly one."""
        reached = Counter(decision.label for decision in decisions if decision.label is not None)
        enough = [label for label, count in reached.items() if count >= self.needed]
        return enough[0] if len(enough) == 1 else None


def named_voters(
    component: str,
    equivalence_by: Sequence[ModelName],
    label_by: Sequence[ModelName],
    validators: Sequence[ValidatorName],
    context: BuildContext,
) -> dict[str, Validator]:
    """Build the validators that another one asks, by the name under which its details have them.

    Raises:
        JrhError: one is named twice, or decides about all drafts at once.
    """
    pairs = list(_voters(component, equivalence_by, label_by, validators, context))
    voters = dict(pairs)
    if len(voters) != len(pairs):
        raise JrhError(f"{component}: a voter is named twice; name every validator and model once")
    return voters


def _voters(
    component: str,
    equivalence_by: Sequence[ModelName],
    label_by: Sequence[ModelName],
    validators: Sequence[ValidatorName],
    context: BuildContext,
) -> Iterator[tuple[str, Validator]]:
    for model in equivalence_by:
        yield f"llm-equivalence({model})", LlmEquivalence.build(EquivalenceOptions(model=model), context)
    for model in label_by:
        yield f"llm-label({model})", LlmLabel.build(LabelOptions(model=model), context)
    for name in validators:
        validator: Any = context.validator(name)
        if not isinstance(validator, Validator):
            raise JrhError(f"{component}: '{name}' decides about all drafts at once and cannot vote on one")
        yield name, validator


def _needed(options: ConsensusOptions, voters: int) -> int:
    if options.rule is Rule.AT_LEAST and options.k is not None:
        return options.k
    return voters if options.rule is Rule.UNANIMOUS else voters // 2 + 1


def _vote(decision: Validation) -> bool | None:
    return None if decision.details.get("undecided") else decision.accepted


def _agreement(votes: Iterable[bool | None]) -> float | None:
    """Return the share of pairs of votes that agree (Fleiss' P_i), or None with fewer than two votes."""
    cast = [vote for vote in votes if vote is not None]
    n = len(cast)
    if n < 2:  # noqa: PLR2004 - a pair
        return None
    yes = sum(cast)
    return (yes * (yes - 1) + (n - yes) * (n - yes - 1)) / (n * (n - 1))
