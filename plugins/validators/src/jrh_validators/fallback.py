"""Ask another validator where the first gives no decision."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import evolve, frozen
from jrh import BuildContext, Draft, Item, JrhError, Json, Validation
from jrh.plugins import Validator

from jrh_validators.consensus import named_voters
from jrh_validators.options import FallbackOptions
from jrh_validators.undecided import undecided


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
        validators = named_voters("fallback", options.equivalence_by, options.label_by, options.validators, context)
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
            if not found.details.get("undecided"):
                return evolve(found, details={**found.details, "decided_by": name, "undecided_before": without})
            without[name] = found.reason
        return undecided("no validator decided", {"undecided_before": without})
