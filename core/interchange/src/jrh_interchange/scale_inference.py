"""Find the scale of a data file without a task: from the command line, or inferred from its labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from jrh import JrhError, Mode, Scale, ScaleKind

_MOST_LEVELS: Final = 100


def infer_scale(written: str | None, golds: Sequence[str | None], mode: Mode, source: str) -> Scale:
    """Return the scale given on the command line, or infer it from the gold labels.

    Args:
        written: `1-6`, `YES,NO` or `ordinal: poor, fair, good`; None: infer it from the labels.
        golds: the gold labels of the items, None if unlabelled.
        mode: for pairwise tasks, the labels are A and B, and a third label is the tie.
        source: the file's name for messages.

    Raises:
        JrhError: the text is not a scale, or none can be inferred from the labels.
    """
    labels = sorted(dict.fromkeys(gold for gold in golds if gold is not None))
    if written is not None:
        return _read_scale(written)
    # The options are A and B whatever people chose; one further label can only be the tie.
    if mode is Mode.PAIRWISE:
        ties = [label for label in labels if label not in ("A", "B")]
        return Scale.of_pairs(tie=ties[0] if len(ties) == 1 else None)
    # A single number may be one label of any scale; two give a range, with the levels between them that no item has.
    numbers = [int(label) for label in labels if label.isdecimal()]
    if labels and len(numbers) == len(labels) and min(numbers) < max(numbers) < _MOST_LEVELS:
        return Scale.of_levels(min(numbers), max(numbers))
    if len(labels) > 1:
        return Scale.of_labels(*labels)
    raise JrhError(f"{source}: cannot infer the scale from the labels ({', '.join(labels) or 'none'}); pass --scale")


def _read_scale(text: str) -> Scale:
    kind, colon, levels = text.partition(":")
    if colon and kind.strip().casefold() == ScaleKind.ORDINAL.value and "," in levels:
        return Scale(kind=ScaleKind.ORDINAL, labels=tuple(part.strip() for part in levels.split(",") if part.strip()))
    low, dash, high = text.partition("-")
    if dash and low.strip().isdecimal() and high.strip().isdecimal():
        return Scale.of_levels(int(low), int(high))
    labels = tuple(part.strip() for part in text.split(",") if part.strip())
    if labels == ("A", "B"):
        return Scale.of_pairs()
    if len(labels) < 2:  # noqa: PLR2004 - one label is no scale
        raise JrhError(f"--scale: write 1-6, or labels such as YES,NO; got '{text}'")
    return Scale.of_labels(*labels)
