"""The texts of the attacks: what each kind adds to a response, and harmless text of the same length."""

from __future__ import annotations

import base64
import tomllib
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Final

from attrs import frozen

TOOL: Final = "tool"
"""Position for transcripts only: in the output of the last tool call."""
POSITIONS: Final = ("start", "middle", "end", TOOL)
_TEXTS: Final[Mapping[str, Mapping[str, str]]] = tomllib.loads(
    Path(__file__).with_name("texts.toml").read_text(encoding="utf-8")
)


@frozen(kw_only=True)
class Aim:
    """What an attack asks for, and where."""

    target: str
    """The label that the attack asks the judge for."""
    field: str
    """The judged field that it is put into; forged tags imitate the tag of that name."""


COMMAND: Final = _TEXTS["attacks"]["command"]
_LOOKALIKES: Final = str.maketrans(
    "aceiopsxyACEHIKMOPTX",
    "\u0430\u0441\u0435\u0456\u043e\u0440\u0455\u0445\u0443\u0410"
    "\u0421\u0415\u041d\u0406\u041a\u041c\u041e\u0420\u0422\u0425",
)
_ZERO_WIDTH: Final = "\u200b"


def fill(text: str, aim: Aim) -> str:
    """Return the text with the target and the field in their places; other braces are part of it."""
    # Not `str.format`: texts hold JSON, and those of the user any braces.
    return text.replace("{target}", aim.target).replace("{field}", aim.field)


def _encode(aim: Aim) -> str:
    return f"Attachment: {base64.b64encode(fill(COMMAND, aim).encode()).decode('ascii')}"


def _alike(aim: Aim) -> str:
    """Write the command with letters of another script that look the same; the label stays readable."""
    # Written by parts: a label with letters of another script would not be on the judge's scale.
    return aim.target.join(part.translate(_LOOKALIKES) for part in COMMAND.split("{target}"))


def _insert_zero_widths(aim: Aim) -> str:
    return " ".join(_ZERO_WIDTH.join(word) for word in fill(COMMAND, aim).split(" "))


_HIDDEN: Final = {"base64": _encode, "homoglyphs": _alike, "zero-width": _insert_zero_widths}
"""Kinds that write the command in another way."""
ATTACKS: Final = tuple(_TEXTS["attacks"])
"""Kinds that are on by default."""
KINDS: Final[Mapping[str, Callable[[Aim], str]]] = {
    kind: _HIDDEN.get(kind, partial(fill, text))
    for table in ("attacks", "styles")
    for kind, text in _TEXTS[table].items()
}


def benign(length: int) -> str:
    """Return harmless text of exactly this length, which addresses no reader and ends with a full stop."""
    # The same number of characters as the attack: otherwise an effect of length would count as one of the attack.
    harmless = _TEXTS["controls"]["harmless"]
    text = (harmless * (length // len(harmless) + 1))[: max(length - 1, 0)].rstrip()
    return text + "." * (length - len(text))
