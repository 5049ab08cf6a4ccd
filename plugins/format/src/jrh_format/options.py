"""Define the options of the format test."""

from __future__ import annotations

from enum import Enum

from attrs import field, frozen
from attrs.validators import deep_iterable, ge, gt, le, min_len
from jrh_authoring import ChangedFields, distinct


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


@frozen(kw_only=True)
class FormatOptions:
    """Options of the perturber `format`."""

    variants: tuple[Layout, ...] = field(
        default=tuple(Layout),
        validator=[min_len(1), distinct],
        metadata={"help": f"layout changes to make; default: all ({', '.join(layout.value for layout in Layout)})"},
    )
    strengths: tuple[float, ...] = field(
        default=(1.0,),
        validator=[min_len(1), distinct, deep_iterable(member_validator=[gt(0), le(1)])],
        metadata={"help": "shares of the possible places to change, each in (0, 1]"},
    )
    fields: ChangedFields = field(
        default=ChangedFields.BOTH,
        metadata={"help": "pairwise tasks: change `both` responses, only the `first` or only the `second`"},
    )
    width: int = field(
        default=72, validator=ge(20), metadata={"help": "`wrap` breaks lines longer than this many characters"}
    )
