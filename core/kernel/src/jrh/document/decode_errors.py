"""Collect conversion errors, with a readable message and the path to each mistake."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, TypeAlias

from cattrs.errors import AttributeValidationNote, BaseValidationError, ForbiddenExtraKeysError

from jrh.document import option_types
from jrh.document.positions import Location, unknown_key
from jrh.errors import JrhError, PluginError

Mistake: TypeAlias = tuple[Location, str]
"""Path relative to the converted value, and the message."""

_COMPARED: Final = re.compile(r"(?s)(Length of )?'\w+' must be (>=|<=|>|<|==) (\S+): (.*)")
_COMPARISONS: Final = {">=": "at least", "<=": "at most", ">": "more than", "<": "less than", "==": "exactly"}


class Mistakes(Exception):
    """Report all mistakes within one value."""

    def __init__(self, found: Sequence[Mistake]) -> None:
        """Keep what was found, in the order of the text."""
        super().__init__("; ".join(message for _, message in found))
        self.found = tuple(found)

    @classmethod
    def of(cls, message: str, *at: str | int) -> Mistakes:
        """Report a single mistake."""
        return cls([(at, message)])


def mistakes_of(error: Exception) -> list[Mistake]:
    """Describe conversion errors in readable messages; re-raise unexpected exceptions, which are bugs."""
    if isinstance(error, Mistakes):
        return list(error.found)
    if isinstance(error, BaseValidationError):
        return [mistake for part in error.exceptions for mistake in _mistakes_of_part(part, error.cl)]
    if isinstance(error, JrhError) and not isinstance(error, PluginError):
        return [((), str(error))]
    if isinstance(error, ValueError | TypeError) and error.args and isinstance(error.args[0], str):
        return [((), _validator_words(error.args[0]))]
    raise error


def _mistakes_of_part(error: Exception, cls: type) -> list[Mistake]:
    if isinstance(error, ForbiddenExtraKeysError):
        known = option_types.field_names(cls)
        return [((key,), unknown_key(key, known)) for key in sorted(map(str, error.extra_fields))]
    notes = [note for note in getattr(error, "__notes__", ()) if isinstance(note, AttributeValidationNote)]
    if not notes:
        return mistakes_of(error)
    name = notes[-1].name
    if isinstance(error, KeyError) and error.args == (name,):
        return [((), f"missing key '{name}'")]
    return [((name, *at), message) for at, message in mistakes_of(error)]


def _validator_words(message: str) -> str:
    """Rewrite the message of an attrs validator for readers who do not know Python."""
    compared = _COMPARED.fullmatch(message)
    if compared is None:
        return re.sub(r"^'\w+' (?=must)", "", message)
    length, comparison, bound, value = compared.groups()
    wanted = f"{_COMPARISONS[comparison]} {bound}"
    return f"the length must be {wanted}, got {value}" if length else f"must be {wanted}, got {value}"
