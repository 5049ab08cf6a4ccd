"""What every new text has to pass, whoever wrote it."""

from __future__ import annotations

from collections.abc import Mapping

from jrh import BuildContext, Draft, Item, JrhError, Skip, Validator, ValidatorName


def texts_of(item: Item, fields: tuple[str, ...]) -> dict[str, str] | Skip:
    """Return the texts to rewrite, or why the item cannot be treated."""
    texts: dict[str, str] = {}
    for name in fields:
        text = item.fields.get(name)
        if not isinstance(text, str):
            return Skip(reason=f"field '{name}' is not text")
        if not text.strip():
            return Skip(reason=f"field '{name}' is empty")
        texts[name] = text
    return texts


def build_checks(names: tuple[ValidatorName, ...], context: BuildContext) -> dict[str, Validator]:
    """Find the validators.

    Raises:
        JrhError: one does not exist, or decides about all drafts at once.
    """
    checks: dict[str, Validator] = {}
    for name in names:
        validator: object = context.validator(name)
        if not isinstance(validator, Validator):
            raise JrhError(f"'{name}' decides about all drafts at once; name it under `validate`, not under `checks`")
        checks[name] = validator
    return checks


async def rejection(checks: Mapping[str, Validator], item: Item, draft: Draft) -> str:
    """Return the reason of the first validator that rejects the draft, or the empty text."""
    for validator in checks.values():
        validation = await validator.validate(item, draft)
        if not validation.accepted:
            return validation.reason or "rejected by a check"
    return ""
