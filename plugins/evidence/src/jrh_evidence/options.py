"""Options of the perturbers, the metrics and the source."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from attrs import frozen
from attrs.validators import and_, deep_iterable, ge, in_, le, min_len
from jrh import ModelName, Text
from jrh.plugins import option
from jrh_authoring import distinct, repeats_option

CHARACTERS_PER_TOKEN: Final = 4
"""Lengths are stated in tokens of four characters each: judges differ in how they count, lengths must not."""
PLACES: Final = ("text", "tool")
STEP: Final = "step"
ERRORS: Final = ("wrong-number", "negation", "dropped-sentence")
_LONGEST: Final = 200_000
_SHORTEST: Final = 100


@frozen(kw_only=True)
class EvidenceOptions:
    """Options of the perturber `evidence`."""

    text: Text | None = option("the evidence: one text for all items", default=None)
    column: str = option("or the column or field of an item that holds its evidence", default="")
    pattern: str = option("or a regular expression that finds it in the judged text, exactly once", default="")
    model: ModelName | None = option(
        "or a model that writes it for every item, to imply the label `implies`: a name from the suite's `models`",
        default=None,
    )
    attempts: int = option("model: attempts per item until one is usable", and_(ge(1), le(20)), default=3)
    lengths: tuple[int, ...] = option(
        "lengths of the whole text, 100 to 200,000 tokens of four characters",
        min_len(1),
        deep_iterable(and_(ge(_SHORTEST), le(_LONGEST))),
        distinct,
        default=(1_000, 4_000, 16_000),
    )
    depths: tuple[float, ...] = option(
        "depths at which the evidence is planted, from 0 (start) to 1 (end)",
        min_len(1),
        deep_iterable(and_(ge(0), le(1))),
        distinct,
        default=(0.0, 0.25, 0.5, 0.75, 1.0),
    )
    implies: str = option(
        "the label that the evidence implies; `step`: the number of the message that holds it; "
        "default: that the verdict changes",
        default="",
    )
    otherwise: str = option("the label that is right without the evidence", default="")
    place: str = option(
        "transcripts: plant it in the `text` of an agent's message, or in the result of a `tool`",
        in_(PLACES),
        default="text",
    )
    filler: Text | None = option("text to lengthen with; default: neutral text written by rule", default=None)
    own: bool = option("lengthen with repetitions of the item's own other text", default=False)
    repeats: int = repeats_option()
    field: str = option("the judged field to lengthen; default: the first", default="")


@frozen(kw_only=True)
class ErrorsOptions:
    """Options of the perturber `errors`."""

    kinds: tuple[str, ...] = option(
        f"which errors: {', '.join(ERRORS)}", min_len(1), deep_iterable(in_(ERRORS)), distinct, default=ERRORS
    )
    doses: tuple[int, ...] = option(
        "how many errors, 1 to 100", min_len(1), deep_iterable(and_(ge(1), le(100))), distinct, default=(1, 2, 4, 8)
    )
    implies: str = option("the label that is right with errors; default: that the verdict changes", default="")
    repeats: int = repeats_option()


@frozen(kw_only=True)
class FailureOptions:
    """Options of the source `failed-runs`."""

    path: Path = option("a folder of JSON files, one per run, or one file with a list of runs")
    gold: str = option(
        "gold label: the `step` that failed, counted from 1 as judges see it, or the `agent`",
        in_(("step", "agent")),
        default="step",
    )
