"""Let validators vote on a draft, people's labels among them, or ask another where the first gives no decision."""

from __future__ import annotations

import csv
from asyncio import gather
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from attrs import evolve, frozen
from jrh import BuildContext, Draft, Item, JrhError, Json, Text, Validation
from jrh.plugins import Validator

from jrh_validators.drafts import reject_undecided, text_changes
from jrh_validators.equivalence import LlmEquivalence
from jrh_validators.label import LlmLabel
from jrh_validators.options import ConsensusOptions, EquivalenceOptions, FallbackOptions, LabelOptions, Rule

PEOPLE: Final = "people"
"""The name under which they vote."""
_SAID: Final = {"YES": True, "NO": False, "UNSURE": None}
_EVERY: Final = ""


@frozen(kw_only=True)
class HumanLabels:
    """Accepts a draft that people labelled YES; without a label, or UNSURE, there is no decision."""

    labels: Mapping[tuple[str, str], bool | None]
    """Item, or empty for all, and variant."""

    @classmethod
    def read(cls, text: Text) -> HumanLabels:
        """Read a csv table with the columns `variant` (of a template: its name) and `label`, and perhaps `item`.

        Raises:
            JrhError: a column is missing, a label is none of YES, NO and UNSURE, or a draft is labelled twice.
        """
        # Strict: a broken quotation would silently swallow the rows after it.
        rows = csv.DictReader(text.content.splitlines(), strict=True)
        lacking = [name for name in ("variant", "label") if name not in (rows.fieldnames or ())]
        if lacking:
            raise JrhError(f"{text.source}:1: the column `{lacking[0]}` is missing; labels need variant and label")
        labels: dict[tuple[str, str], bool | None] = {}
        for row in rows:
            label = (row["label"] or "").strip().upper()
            key = ((row.get("item") or "").strip(), (row["variant"] or "").strip())
            # An empty label is an error and not UNSURE: a forgotten row should be noticed.
            if label not in _SAID:
                raise JrhError(f"{text.source}:{rows.line_num}: '{label[:40]}' is not a label; use YES, NO or UNSURE")
            if key in labels:
                raise JrhError(f"{text.source}:{rows.line_num}: '{key[1]}' is labelled twice; keep one row")
            labels[key] = _SAID[label]
        return cls(labels=labels)

    async def validate(self, item: Item, draft: Draft) -> Validation:
        """Look the draft up: the label for its item, otherwise that for all items. An original needs none."""
        # An unchanged draft is equivalent to itself, and people were not asked about it.
        if text_changes(item, draft) == {}:
            return Validation(accepted=True)
        said = self.labels.get((item.id, draft.variant), self.labels.get((_EVERY, draft.variant)))
        if said is None:
            return reject_undecided("no label by people", {})
        return Validation(accepted=said, score=float(said), reason="" if said else "people say: not equivalent")


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
        voters = build_voters("consensus", options, context)
        if options.labels is not None:
            voters[PEOPLE] = HumanLabels.read(options.labels)
        if len(voters) < 2:  # noqa: PLR2004 - one voter is no vote
            raise JrhError(
                "consensus needs at least two voters; name models under `equivalence_by` or `label_by`, `validators`, "
                "or `labels` by people"
            )
        needed = _required_votes(options, len(voters))
        if needed > len(voters):
            raise JrhError(f"consensus: k is {needed}, but there are {len(voters)} voters")
        return cls(voters=voters, needed=needed)

    async def validate(self, item: Item, draft: Draft) -> Validation:
        """Let all voters decide and count; the score is the share of voters that accept."""
        decisions = await gather(*(voter.validate(item, draft) for voter in self.voters.values()))
        votes = {name: _vote(decision) for name, decision in zip(self.voters, decisions, strict=True)}
        # Absent votes count against it: two of five voters are no majority because the other three failed.
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
        # With `k` of half the voters or less, two labels may both have enough.
        return enough[0] if len(enough) == 1 else None


def build_voters(
    component: str, options: ConsensusOptions | FallbackOptions, context: BuildContext
) -> dict[str, Validator]:
    """Build the validators that another one asks, by the name under which its details have them.

    Raises:
        JrhError: one is named twice, or decides about all drafts at once.
    """
    pairs = list(_voters(component, options, context))
    voters = dict(pairs)
    if len(voters) != len(pairs):
        raise JrhError(f"{component}: a voter is named twice; name every validator and model once")
    return voters


def _voters(
    component: str, options: ConsensusOptions | FallbackOptions, context: BuildContext
) -> Iterator[tuple[str, Validator]]:
    for model in options.equivalence_by:
        yield f"llm-equivalence({model})", LlmEquivalence.build(EquivalenceOptions(model=model), context)
    for model in options.label_by:
        yield f"llm-label({model})", LlmLabel.build(LabelOptions(model=model), context)
    for name in options.validators:
        validator: Any = context.validator(name)
        # A vote is about one draft; what compares all of them has no answer yet.
        if not isinstance(validator, Validator):
            raise JrhError(f"{component}: '{name}' decides about all drafts at once and cannot vote on one")
        yield name, validator


def _required_votes(options: ConsensusOptions, voters: int) -> int:
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


@frozen(kw_only=True)
class Fallback:
    """Takes the decision of the first validator that has one.

    A refusal, a failure and an unreadable reply are no decisions; a rejection is one. The details name the validator
    that decided, and why those before it did not.
    """

    validators: Mapping[str, Validator]

    @classmethod
    def build(cls, options: FallbackOptions, context: BuildContext) -> Fallback:
        """Build the validators.

        Raises:
            JrhError: there are fewer than two, or one is named twice.
        """
        validators = build_voters("fallback", options, context)
        if len(validators) < 2:  # noqa: PLR2004 - one has nothing to fall back on
            raise JrhError(
                "fallback needs at least two validators; name models under `equivalence_by` or `label_by`, "
                "or `validators`"
            )
        return cls(validators=validators)

    async def validate(self, item: Item, draft: Draft) -> Validation:
        """Ask one after the other, and stop at the first decision."""
        without: dict[str, Json] = {}
        for name, validator in self.validators.items():
            found = await validator.validate(item, draft)
            # A rejection is a decision: asking on until one accepts would choose the verdict.
            if not found.details.get("undecided"):
                return evolve(found, details={**found.details, "decided_by": name, "undecided_before": without})
            without[name] = found.reason
        return reject_undecided("no validator decided", {"undecided_before": without})
