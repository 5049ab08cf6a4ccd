"""What a perturber asks of an item before it works, and of a text before it is a draft."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from attrs import frozen

from jrh.errors import JrhError
from jrh.plugins.protocols import BuildContext, Validator
from jrh.values.types import Draft, Item, Json, Skip, ValidatorName


def texts_of(item: Item, fields: Sequence[str]) -> dict[str, str] | Skip:
    """Return the texts of these fields of an item, or why the item cannot be treated."""
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
    """Validators that every new text has to pass before it is a draft, so that another attempt can be made."""

    validators: Mapping[str, Validator]

    @classmethod
    def of(cls, names: Sequence[ValidatorName], context: BuildContext) -> Checks:
        """Find the validators.

        Raises:
            JrhError: one does not exist, or decides about all drafts at once.
        """
        validators: dict[str, Validator] = {}
        for name in names:
            validator: object = context.validator(name)
            if not isinstance(validator, Validator):
                raise JrhError(
                    f"'{name}' decides about all drafts at once; name it under `validate`, not under `checks`"
                )
            validators[name] = validator
        return cls(validators)

    async def rejection(self, item: Item, draft: Draft) -> str:
        """Return the reason of the first validator that rejects the draft, or the empty text."""
        for validator in self.validators.values():
            validation = await validator.validate(item, draft)
            if not validation.accepted:
                return validation.reason or "rejected by a check"
        return ""

    async def checked(self, item: Item, draft: Draft) -> Draft | Skip:
        """Return the draft, or a skip with the reason why it is rejected."""
        reason = await self.rejection(item, draft)
        return Skip(reason=reason, variant=draft.variant, details=draft.details) if reason else draft

    async def checked_once(self, item: Item, outcomes: Iterable[Draft | Skip], *, alike: str) -> list[Draft | Skip]:
        """Return the outcomes of one variant with every draft checked; one with the texts of an earlier one is a skip.

        Args:
            item: what they were made of.
            outcomes: in order, such as one per strength.
            alike: why a draft with the same texts is skipped.
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
