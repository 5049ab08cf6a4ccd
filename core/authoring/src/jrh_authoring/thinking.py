"""Cut what a model thought out of what it answered."""

from __future__ import annotations

import re

_BLOCKS = "think|thinking|thoughts?|reasoning|reflection|scratchpad|analysis"
_TAG = re.compile(
    rf"[<◁](?P<close>/?)(?P<name>{_BLOCKS})(?:\s[^<>\n]{{0,80}})?[>▷]|\[(?P<close_2>/?)(?P<name_2>THINK)\]",
    re.IGNORECASE,
)
# The format of models that write several channels into one reply.
_FINAL_CHANNEL = "<|channel|>final<|message|>"
_CHANNEL = "<|channel|>"
_CONTROL = re.compile(r"<\|[a-z_]{1,20}\|>")


def without_thinking(text: str) -> str | None:
    """Return a reply without its thinking blocks; None if it ends inside of one.

    From an opening tag to the first closing tag of the same name, and everything before a closing tag that has no
    opening one (some chat templates write the opening tag into the prompt). A reply that ends inside a block has no
    answer. Of a channelled reply only the final channel is returned.
    """
    if _CHANNEL in text:
        _, marker, final = text.rpartition(_FINAL_CHANNEL)
        return _CONTROL.split(final, maxsplit=1)[0] if marker else None
    parts: list[str] = []
    position = 0
    inside: str | None = None
    for tag in _TAG.finditer(text):
        name = (tag["name"] or tag["name_2"]).casefold()
        closing = bool(tag["close"] or tag["close_2"])
        if inside is not None:
            if closing and name == inside:
                inside = None
                position = tag.end()
        # The opening tag was part of the prompt: all up to here was thinking.
        elif closing:
            parts.clear()
            position = tag.end()
        else:
            parts.append(text[position : tag.start()])
            inside = name
    if inside is not None:
        return None
    parts.append(text[position:])
    return "\n".join(parts)
