"""Change only the style of the assistant's texts: layout, white space, punctuation, the order of equal remarks."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from jrh_agentic.messages import Messages
from jrh_agentic.options import Style
from jrh_agentic.rules.possible import Possible, Splice, within

_CODE: Final = re.compile(r"^[ \t]*(`{3,}|~{3,}).*?(?:^[ \t]*\1|\Z)|`[^`\n]*`|https?://\S+", re.DOTALL | re.MULTILINE)
_DATA: Final = re.compile(r"[{}<>|=\\]|^(?:\+|@@)", re.MULTILINE)
"""Signs of data, markup, tables, formulas or patches, where what looks like style may matter."""
_BULLET: Final = re.compile(r"^[-*] (?=[^\W\d_])", re.MULTILINE)
_PARAGRAPHS: Final = re.compile(r"(?<=\S)\n\n(?=\S)")
_SENTENCES: Final = re.compile(r"(?<=[a-z][.!?]) (?=[A-Z])")
_APOSTROPHE: Final = re.compile(r"(?<=[A-Za-z])'(?=[a-z])")
_QUOTED: Final = re.compile(r'(?<![\w"])"(?=\S)([^"\n]{1,200}?)(?<=\S)"(?![\w"])')
_ELLIPSIS: Final = re.compile(r"(?<=[a-z\"')])\.\.\.(?![.\w])")
_LIST: Final = re.compile(r"(?:(?<=\n)|\A)(?:- [^\n]+\n)+- [^\n]+(?=\n|\Z)")
_LOOKED_BACK: Final = 500
"""Characters before a list in which its introduction is looked for."""
_DEPENDENT: Final = re.compile(
    r"\b(?:then|next|first(?:ly)?|second(?:ly)?|third(?:ly)?|last(?:ly)?|final(?:ly)?|before|after(?:wards)?|later|once|now"
    r"|until|when|above|below|previous|following|former|latter|this|that|these|those|it|its|they|them|their|same|also"
    r"|too|again|so|thus|therefore|hence|because|but|however|otherwise|instead|else|step|another|other|both|former)\b|\d",
    re.IGNORECASE,
)
_REFERRING: Final = re.compile(
    r"\b(?:first|second|third|fourth|last|former|latter|top|bottom|above|below|one|ones|two|other|another|both|1st|2nd"
    r"|3rd|option|number|item|bullet|point)\b",
    re.IGNORECASE,
)
_ORDERED: Final = re.compile(
    r"\b(?:order|ordered|steps?|rank(?:ed|ing)?|priorit\w*|sequence|chronolog\w*|timeline|top|sorted|instructions?"
    r"|how to|process|procedure|stages?|from)\b",
    re.IGNORECASE,
)


def possible(messages: Messages, style: Style) -> list[Possible]:
    """Return one edit for each message of the assistant in which the style can change something."""
    edits = []
    settled = _first_free_place(messages) if style is Style.ORDER else 0
    for place, message in enumerate(messages):
        if message.role == "assistant" and place >= settled and not _DATA.search(message.content):
            splices = tuple(
                Splice(place=place, start=start, end=end, new=new)
                for start, end, new in _STYLES[style](message.content)
            )
            if splices:
                edits.append(Possible(key=f"{place}", splices=splices))
    return edits


def _first_free_place(messages: Messages) -> int:
    """Return the place from which on nothing refers to a list by the order of its items, but for lists themselves."""
    referring = (place for place, message in enumerate(messages) if _REFERRING.search(_LIST.sub("", message.content)))
    return max(referring, default=-1) + 1


def _layout(text: str) -> list[tuple[int, int, str]]:
    bullets = [
        (match.start(), match.start() + 1, "*" if match[0][0] == "-" else "-") for match in _outside(text, _BULLET)
    ]
    return sorted(bullets + [(match.end(), match.end(), "\n") for match in _outside(text, _PARAGRAPHS)])


def _whitespace(text: str) -> list[tuple[int, int, str]]:
    return [(match.end(), match.end(), " ") for match in _outside(text, _SENTENCES)]


def _punctuation(text: str) -> list[tuple[int, int, str]]:
    marks = [(match.start(), match.end(), "\u2019") for match in _outside(text, _APOSTROPHE)]
    marks += [(match.start(), match.end(), "\u2026") for match in _outside(text, _ELLIPSIS)]
    for match in _outside(text, _QUOTED):
        marks += [(match.start(), match.start() + 1, "\u201c"), (match.end() - 1, match.end(), "\u201d")]
    return sorted(marks)


def _order(text: str) -> list[tuple[int, int, str]]:
    """Exchange the first two items of every list whose items and introduction know no order."""
    splices = []
    for match in _outside(text, _LIST):
        # The line above a list says whether its order means something, as in "the steps are:".
        introduction = text[max(0, match.start() - _LOOKED_BACK) : match.start()].rstrip().rpartition("\n")[2]
        first, second = match[0].split("\n")[:2]
        if first != second and not _ORDERED.search(introduction) and not _DEPENDENT.search(match[0]):
            splices.append((match.start(), match.start() + len(first) + 1 + len(second), f"{second}\n{first}"))
    return splices


def _outside(text: str, pattern: re.Pattern[str]) -> list[re.Match[str]]:
    """Return the matches that touch no code and no address."""
    code = [match.span() for match in _CODE.finditer(text)]
    # One character more, so that nothing is put directly before code either.
    return [match for match in pattern.finditer(text) if not within(code, match.start(), match.end() + 1)]


_STYLES: Final[Mapping[Style, Callable[[str], list[tuple[int, int, str]]]]] = {
    Style.LAYOUT: _layout,
    Style.WHITESPACE: _whitespace,
    Style.PUNCTUATION: _punctuation,
    Style.ORDER: _order,
}
