"""Define the options of the perturber `social`."""

from __future__ import annotations

from typing import Final

from attrs import frozen
from attrs.validators import deep_iterable, in_, min_len
from jrh.plugins import option
from jrh_authoring import distinct, repeats_option

# Listed here as well as in `texts.toml`: jrh imports the options at every start, and no start needs the sentences.
KINDS: Final = (
    *("bandwagon", "authority", "sentiment", "gloom", "distraction", "fallacy", "apology", "hedging"),
    *("confidence", "self-certification", "flattery"),
)


@frozen(kw_only=True)
class SocialOptions:
    """Options of the perturber `social`."""

    kinds: tuple[str, ...] = option(
        f"which cues: {', '.join(KINDS)}", min_len(1), distinct, deep_iterable(in_(KINDS)), default=KINDS
    )
    positions: tuple[str, ...] = option(
        "where they go: start, end", min_len(1), distinct, deep_iterable(in_(("start", "end"))), default=("end",)
    )
    doses: tuple[int, ...] = option(
        "numbers of sentences, 1 or 2", min_len(1), distinct, deep_iterable(in_((1, 2))), default=(1,)
    )
    target: str = option(
        "the label of a favourable cue; default: the highest level, the positive label, the option", default=""
    )
    control: bool = option("also ask about neutral sentences of the same length; doubles the calls", default=True)
    repeats: int = repeats_option()
