"""Define the options of the perturber `misspelling`."""

from __future__ import annotations

from enum import Enum

from attrs import frozen
from attrs.validators import and_, deep_iterable, gt, le, min_len
from jrh.plugins import option
from jrh_authoring import ChangedFields, distinct, fields_option


class Slip(Enum):
    """The ways to misspell a word, by the name a suite gives them."""

    KEYBOARD = "keyboard"
    """A key next to the right one."""
    OCR = "ocr"
    """Letters that a scanner confuses, such as `rn` and `m`."""
    CASE = "case"
    """A word typed with Caps Lock on."""
    HOMOPHONES = "homophones"
    """Another word that sounds the same."""
    LOOK_ALIKES = "look-alikes"
    """A letter of another script that looks the same."""


class Where(Enum):
    """Which text is misspelt."""

    RESPONSE = "response"
    """What is judged."""
    REQUEST = "request"
    """What was asked for."""


@frozen(kw_only=True)
class MisspellingOptions:
    """Options of the perturber `misspelling`."""

    variants: tuple[Slip, ...] = option(
        f"ways to misspell; default: all ({', '.join(slip.value for slip in Slip)})",
        min_len(1),
        distinct,
        default=tuple(Slip),
    )
    strengths: tuple[float, ...] = option(
        "rates: shares of the words that can be misspelt in this way, each in (0, 1]",
        min_len(1),
        distinct,
        deep_iterable(member_validator=and_(gt(0), le(1))),
        default=(0.1,),
    )
    where: Where = option("misspell the `response` or the `request`", default=Where.RESPONSE)
    fields: ChangedFields = fields_option()
