"""Define the options of the format test."""

from __future__ import annotations

from enum import Enum

from attrs import frozen
from attrs.validators import and_, deep_iterable, ge, gt, le, min_len
from jrh.plugins import option
from jrh_authoring import ChangedFields, distinct, fields_option, strengths_option


class Layout(Enum):
    """The layout changes, by the name a suite gives them."""

    BLANK_LINES = "blank-lines"
    """Blank lines between sentences, and one more between paragraphs."""
    SPACES = "spaces"
    """Runs of spaces between words of a line."""
    INDENT = "indent"
    """Indentation at line starts."""
    TRAILING = "trailing"
    """Spaces at line ends."""
    CRLF = "crlf"
    """CR LF line breaks instead of LF."""
    WRAP = "wrap"
    """Long lines broken at a width."""
    BULLETS = "bullets"
    """Sentences, or the lines of an unmarked list, as list items."""
    HEADING = "heading"
    """The first sentence of a paragraph set as a heading."""
    CODE_FENCE = "code-fence"
    """The whole text in a code fence."""


class Typo(Enum):
    """The typing errors, by the name a suite gives them."""

    SWAP = "swap"
    """Two neighbouring letters exchanged."""
    DROP = "drop"
    """A letter left out."""
    DOUBLE = "double"
    """A letter typed twice."""
    KEY = "key"
    """The key next to the right one."""
    MIXED = "mixed"
    """One of these four for every word, by the seed."""


@frozen(kw_only=True)
class TypoOptions:
    """Options of the perturber `typos`."""

    variants: tuple[Typo, ...] = option(
        f"typing errors to make: {', '.join(typo.value for typo in Typo)}", min_len(1), distinct, default=(Typo.MIXED,)
    )
    strengths: tuple[float, ...] = option(
        "rates: shares of the words with four letters or more that get one error, each in (0, 1]",
        min_len(1),
        distinct,
        deep_iterable(member_validator=and_(gt(0), le(1))),
        default=(0.05,),
    )
    fields: ChangedFields = fields_option()


@frozen(kw_only=True)
class FormatOptions:
    """Options of the perturber `format`."""

    variants: tuple[Layout, ...] = option(
        f"layout changes to make; default: all ({', '.join(layout.value for layout in Layout)})",
        min_len(1),
        distinct,
        default=tuple(Layout),
    )
    strengths: tuple[float, ...] = strengths_option("shares of the possible places to change, each in (0, 1]")
    fields: ChangedFields = fields_option()
    width: int = option("`wrap` breaks lines longer than this many characters", ge(20), default=72)
