"""Options of the perturbers, the metrics and the source."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from attrs import field, frozen
from attrs.validators import and_, deep_iterable, ge, in_, le, min_len
from jrh import ModelName, Text
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

    text: Text | None = field(default=None, metadata={"help": "the evidence: one text for all items"})
    column: str = field(default="", metadata={"help": "or the column or field of an item that holds its evidence"})
    pattern: str = field(
        default="", metadata={"help": "or a regular expression that finds it in the judged text, exactly once"}
    )
    model: ModelName | None = field(
        default=None,
        metadata={
            "help": "or a model that writes it for every item, to imply the label `implies`: a name from the suite's "
            "`models`"
        },
    )
    attempts: int = field(
        default=3, validator=and_(ge(1), le(20)), metadata={"help": "model: attempts per item until one is usable"}
    )
    lengths: tuple[int, ...] = field(
        default=(1_000, 4_000, 16_000),
        validator=[min_len(1), deep_iterable(and_(ge(_SHORTEST), le(_LONGEST))), distinct],
        metadata={"help": "lengths of the whole text, 100 to 200,000 tokens of four characters"},
    )
    depths: tuple[float, ...] = field(
        default=(0.0, 0.25, 0.5, 0.75, 1.0),
        validator=[min_len(1), deep_iterable(and_(ge(0), le(1))), distinct],
        metadata={"help": "depths at which the evidence is planted, from 0 (start) to 1 (end)"},
    )
    implies: str = field(
        default="",
        metadata={
            "help": "the label that the evidence implies; `step`: the number of the message that holds it; "
            "default: that the verdict changes"
        },
    )
    otherwise: str = field(default="", metadata={"help": "the label that is right without the evidence"})
    place: str = field(
        default="text",
        validator=in_(PLACES),
        metadata={"help": "transcripts: plant it in the `text` of an agent's message, or in the result of a `tool`"},
    )
    filler: Text | None = field(
        default=None, metadata={"help": "text to lengthen with; default: neutral text written by rule"}
    )
    own: bool = field(default=False, metadata={"help": "lengthen with repetitions of the item's own other text"})
    repeats: int = repeats_option()
    field: str = field(default="", metadata={"help": "the judged field to lengthen; default: the first"})


@frozen(kw_only=True)
class ErrorsOptions:
    """Options of the perturber `errors`."""

    kinds: tuple[str, ...] = field(
        default=ERRORS,
        validator=[min_len(1), deep_iterable(in_(ERRORS)), distinct],
        metadata={"help": f"which errors: {', '.join(ERRORS)}"},
    )
    doses: tuple[int, ...] = field(
        default=(1, 2, 4, 8),
        validator=[min_len(1), deep_iterable(and_(ge(1), le(100))), distinct],
        metadata={"help": "how many errors, 1 to 100"},
    )
    implies: str = field(
        default="", metadata={"help": "the label that is right with errors; default: that the verdict changes"}
    )
    repeats: int = repeats_option()


@frozen(kw_only=True)
class FailureOptions:
    """Options of the source `failed-runs`."""

    path: Path = field(metadata={"help": "a folder of JSON files, one per run, or one file with a list of runs"})
    gold: str = field(
        default="step",
        validator=in_(("step", "agent")),
        metadata={"help": "gold label: the `step` that failed, counted from 1 as judges see it, or the `agent`"},
    )
