"""Makes text that came from somewhere else harmless in LaTeX; `jrh` itself does so for terminals and Markdown."""

from __future__ import annotations

import re
from typing import Final

from jrh.text import clean_text

_LATEX: Final = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"{\char34}",
    "[": "{[}",  # after a line end it would begin an optional argument
    "]": "{]}",
    "*": "{*}",  # so would this
    "`": r"\textasciigrave{}",
}
_LIGATURE: Final = re.compile(r"-(?=-)|'(?=')|[?!](?=`)")
"""What would become one sign with its successor."""


def latex(text: str, limit: int = 120) -> str:
    """Return the text so that LaTeX prints it: no command, no comment, no mathematics, no optional argument."""
    escaped = "".join(_LATEX.get(character, character) for character in clean_text(text, limit))
    return _LIGATURE.sub(r"\g<0>{}", escaped)
