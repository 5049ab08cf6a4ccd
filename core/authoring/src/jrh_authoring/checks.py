"""Check an item before perturbing it, and a text before making a draft of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from attrs import frozen
from jrh.errors import JrhError
from jrh.plugins.protocols import BuildContext, Validator
from jrh.values.cases import Draft, Skip
from jrh.values.items import Item
from jrh.values.json_values import Json
from jrh.values.option_values import ValidatorName


def texts_of(item: Item, fields: Sequence[str]) -> dict[str, str] | Skip:
    """Return the texts of these fields of an item, or a skip with the reason."""
    texts: dict[str, str] = {}
    for name in fields:
        text = item.fields.get(name)
        if not isinstance(text, str):
            return Skip(reason=f"field '{name}' is not text")
        if not text.strip():
            return Skip(reason=f"field '{name}' is empty")
        texts[name] = text
    return texts


@frozen
class Checks:
    """Run validators on every new text before it becomes a draft, so that the perturber can try again."""

    validators: Mapping[str, Validator]

    @classmethod
    def of(cls, names: Sequence[ValidatorName], context: BuildContext) -> Checks:
        """Look up the validators.

        Raises:
            JrhError: one does not exist, or needs all drafts at once.
        """
        validators: dict[str, Validator] = {}
        for name in names:
            validator: object = context.validator(name)
            if not isinstance(validator, Validator):
                raise JrhError(
                    f"'{name}' needs all drafts at once, so it cannot be used under `checks`; move it to `validate`"
                )
            validators[name] = validator
        return cls(validators)

    async def rejection(self, item: Item, draft: Draft) -> str:
        """Return the reason of the first validator that rejects the draft; empty if all accept it."""
        for validator in self.validators.values():
            validation = await validator.validate(item, draft)
            if not validation.accepted:
                return validation.reason or "rejected by a check"
        return ""

    async def checked(self, item: Item, draft: Draft) -> Draft | Skip:
        """Return the draft, or a skip with the reason of its rejection."""
        reason = await self.rejection(item, draft)
        return Skip(reason=reason, variant=draft.variant, details=draft.details) if reason else draft

    async def checked_once(self, item: Item, outcomes: Iterable[Draft | Skip], *, alike: str) -> list[Draft | Skip]:
        """Check every draft of one variant, and skip drafts with the same texts as an earlier one.

        Args:
            item: the item of the drafts.
            outcomes: drafts and skips in order, such as one per strength.
            alike: reason for skipping a draft with the same texts.
        """
        found: list[Draft | Skip] = []
        made: list[Mapping[str, Json]] = []
        for outcome in outcomes:
            if isinstance(outcome, Skip):
                found.append(outcome)
            elif outcome.fields in made:
                found.append(Skip(reason=alike, variant=outcome.variant))
            else:
                made.append(outcome.fields)
                found.append(await self.checked(item, outcome))
        return found
