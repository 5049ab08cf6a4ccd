"""Count the negations of an English text."""

from __future__ import annotations

import re
from typing import Final

_NEGATION: Final = re.compile(
    r"""\b(?:
      not | no | never | none | nobody | nothing | nowhere | neither | nor | cannot | without | hardly
    | scarcely | barely
    | [a-z]+n['\u2019]t
    | (?:ai|are|ca|could|did|does|do|had|has|have|is|must|need|should|was|were|wo|would)nt
    )\b""",
    re.VERBOSE | re.IGNORECASE,
)


def negations(text: str) -> int:
    """Count the negations of a text.

    Counted: not, no, never, none, nobody, nothing, nowhere, neither, nor, cannot, without, hardly, scarcely, barely,
    and auxiliaries that end in n't, also without the apostrophe (dont, isnt). Prefixes (impossible) are none.
    """
    return sum(1 for _ in _NEGATION.finditer(text))
