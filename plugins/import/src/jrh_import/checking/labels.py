"""Read the labels of judges and people: spellings, missing verdicts, and the scale, given or guessed."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from attrs import Factory, frozen
from jrh import JrhError, Mode, Scale, ScaleKind, Status
from jrh.text import clean_text, count_noun
from jrh_interchange import NULL_TEXTS, WHOLE_LABEL, fold_label, infer_scale, missing_texts

from jrh_import.checking.check_request import CheckRequest
from jrh_import.tables import Table

_NUMBER: Final = re.compile(r"[-+]?(\d+([.,]\d*)?|[.,]\d+)([eE][-+]?\d+)?")
_POSITIVE: Final = ("yes", "true", "1", "pass", "positive", "correct", "good")
_TIES: Final = ("tie", "equal", "draw", "both", "neither")
_MOST_LEVELS: Final = 101
"""0 to 100 is a scale, 0 to 1000 is not."""
_MOST_LABELS: Final = 50
_MOST_STRANGE: Final = 20
"""More texts that only a judge uses are replies, not labels."""
_FEWEST_LEVELS: Final = 3
_MOST_NAMED: Final = 5
_SHOWN: Final = 3


@frozen(kw_only=True)
class Labels:
    """How the texts of a table are read."""

    scale: Scale
    description: str
    """The scale in words, with where it comes from."""
    written: Mapping[str, str] = Factory(dict)
    """Text in the file -> label, where they differ in more than case and white space."""
    missing: Mapping[str, Status] = Factory(dict)
    """Text in a judge's column -> status."""
    notes: tuple[str, ...] = ()


def read_labels(table: Table, request: CheckRequest) -> Labels:
    """Find the scale, and how each text is read.

    Case and white space around a label do not matter, and 4.0 is 4: the most frequent spelling names the label.

    Raises:
        JrhError: people gave no label, the texts are no labels, or a judge uses none of the labels of people.
    """
    human = _counts(table, (request.human,))
    judged = _counts(table, request.judges)
    if not human:
        rows = count_noun(len(table.rows), "row")
        raise JrhError(f"column '{clean_text(request.human)}' has no label in any of {rows}")
    missing = missing_texts(judged, human, request.missing)
    verdicts = _select(judged, lambda text: text.strip() not in missing)
    scale, guessed = _scale(human, verdicts, request)
    if request.scale is None:
        _check_common(table, request, missing)
    written, notes = _spellings(human + verdicts, scale)
    nulls = _select(human, lambda text: fold_label(text) in NULL_TEXTS)
    if nulls:
        used = _quote_counts(nulls)
        notes.append(f"People use {used} as a label; blank these cells if they mean that there is none.")
    kind = f"{scale.kind.value} {_range(scale)}"
    return Labels(
        scale=scale,
        description=f"Scale: {kind} ({guessed})",
        written=written,
        missing={"": Status.UNPARSABLE, **missing},
        notes=(*notes, *_off_scale(verdicts, scale, written), *_judge_only(verdicts, human, scale, written)),
    )


def _counts(table: Table, columns: Sequence[str]) -> Counter[str]:
    """Count the texts of columns as they are written; blank cells are none."""
    texts = (row[column] for row in table.rows for column in columns)
    return Counter(text for text in texts if text.strip())


def _select(texts: Counter[str], wanted: Callable[[str], bool]) -> Counter[str]:
    return Counter({text: count for text, count in texts.items() if wanted(text)})


def _check_common(table: Table, request: CheckRequest, missing: Mapping[str, Status]) -> None:
    """Check that each judge uses a label of people; a judge and people with one label each may just disagree.

    Numbers are exempt: they are levels of one scale.
    """
    human = _names(_counts(table, (request.human,)))
    for judge in request.judges:
        used = _names(_select(_counts(table, (judge,)), lambda text: text.strip() not in missing))
        numeric = all(_NUMBER.fullmatch(name) for name in (*used, *human))
        if used and not used.keys() & human.keys() and len(used) + len(human) > 2 and not numeric:  # noqa: PLR2004
            theirs, ours = _vocabulary(used), _vocabulary(human)
            raise JrhError(
                f"no label in common: column '{clean_text(judge, 60)}' has {theirs}, "
                f"column '{clean_text(request.human, 60)}' has {ours}\n"
                "If they mean the same, describe the table in an import file that maps one to the other, such as "
                f"`labels: {{{_quotation(next(iter(used.values())))}: {_quotation(next(iter(human.values())))}}}`, and "
                "use `jrh import`. If not, list all labels with --scale; each verdict is then a disagreement"
            )


def _vocabulary(names: Mapping[str, str]) -> str:
    shown = sorted(names.values())[:_MOST_NAMED]
    more = len(names) - len(shown)
    return ", ".join(f"'{clean_text(name, 40)}'" for name in shown) + (f" and {more} more" if more else "")


def _quotation(name: str) -> str:
    return json.dumps(clean_text(name, 40), ensure_ascii=False)


def _scale(human: Counter[str], judged: Counter[str], request: CheckRequest) -> tuple[Scale, str]:
    if request.scale is not None:
        return _read_scale(request.scale, request), "--scale"
    kinds = {fold_label(text) for text in human}
    both = kinds | {fold_label(text) for text in judged}
    if len(both) < 2:  # noqa: PLR2004 - one label is no scale
        (label,) = both
        shown = clean_text(label, 40)
        raise JrhError(f"people and judges use only the label '{shown}'; name the other labels with --scale")
    if all(_NUMBER.fullmatch(kind) for kind in kinds):
        ordinal = _level_scale(kinds, judged, request)
        if ordinal is not None:
            return ordinal
    return _label_scale(human, judged, request)


def _read_scale(text: str, request: CheckRequest) -> Scale:
    kind, colon, parameters = text.partition(":")
    name = kind.strip().casefold()
    if not colon and name == ScaleKind.PAIRWISE.value:
        return Scale.of_pairs()
    if not colon or name not in {known.value for known in ScaleKind}:
        return infer_scale(text, (), Mode.POINTWISE, str(request.path))
    if name == ScaleKind.PAIRWISE.value:
        return Scale.of_pairs(tie=parameters.strip() or None)
    parts = tuple(part.strip() for part in parameters.split(",") if part.strip())
    if name == ScaleKind.ORDINAL.value and len(parts) == 1:
        return infer_scale(parts[0], (), Mode.POINTWISE, str(request.path))
    if len(parts) < 2:  # noqa: PLR2004 - one label is no scale
        raise JrhError(f"--scale: write `ordinal: 1-5`, `labels: YES, NO` or `pairwise`; got '{clean_text(text)}'")
    return Scale(kind=ScaleKind(name), labels=parts)


def _level_scale(kinds: set[str], judged: Counter[str], request: CheckRequest) -> tuple[Scale, str] | None:
    """Return an ordinal scale if the labels of people are three or more whole numbers; None if they are a code."""
    numbers = {fold_label(text) for text in judged if _NUMBER.fullmatch(text.strip())}
    broken = sorted(kind for kind in kinds | numbers if not WHOLE_LABEL.fullmatch(kind))
    levels = sorted(int(kind) for kind in kinds | numbers if WHOLE_LABEL.fullmatch(kind))
    # 0 and 1, or 1 and 2, are codes of two labels: no order follows from them.
    if len(kinds | numbers) < _FEWEST_LEVELS:
        return None
    # Rounding is a decision about the scale: the user makes it.
    if broken:
        raise JrhError(
            f"{count_noun(len(broken), 'label')} of '{clean_text(request.human)}' and the judges are numbers that are "
            f"not whole, such as {broken[0]}; round or bin them first"
        )
    low, high = levels[0], levels[-1]
    if high - low >= _MOST_LEVELS:
        raise JrhError(
            f"the labels are numbers from {low} to {high}; a scale has at most {_MOST_LEVELS} levels: bin them first"
        )
    why = f"guessed from {len(kinds | numbers)} distinct whole numbers; --scale to change"
    return Scale.of_levels(low, high), why


def _label_scale(human: Counter[str], judged: Counter[str], request: CheckRequest) -> tuple[Scale, str]:
    """Return a scale of the labels that people or judges use, in their most frequent spelling, sorted."""
    kinds = {fold_label(text) for text in human}
    strange = {fold_label(text): text for text in judged if fold_label(text) not in kinds}
    # Free text, or an id: the wrong column.
    if len(kinds) > _MOST_LABELS:
        raise JrhError(
            f"column '{clean_text(request.human)}' has {len(kinds):,} distinct labels, such as "
            f"'{clean_text(next(iter(human)), 40)}'; a scale has at most {_MOST_LABELS}: is it the right column?"
        )
    if len(strange) > _MOST_STRANGE:
        raise JrhError(
            f"the judges give {len(strange):,} texts that no person uses, such as "
            f"'{clean_text(next(iter(strange.values())), 40)}': they are replies, not labels. "
            "Extract the labels first, or name them with --scale"
        )
    names = _names(human + judged)
    folded = set(names)
    ties = folded - {"a", "b"}
    # Any further label could be a third option, which needs --scale.
    if {"a", "b"} <= folded and len(ties) <= 1 and ties <= set(_TIES):
        tie = names[ties.pop()] if ties else None
        return Scale.of_pairs(tie=tie), "guessed from the labels A and B; --scale to change"
    # By custom the first of two labels is the positive one.
    labels = tuple(sorted(names.values(), key=lambda label: (label.casefold() not in _POSITIVE, label)))
    return Scale.of_labels(*labels), f"guessed from {len(labels)} distinct labels; --scale to change"


def _names(texts: Counter[str]) -> dict[str, str]:
    """Return the most frequent spelling of every label, the first in the file of several."""
    counts: dict[str, Counter[str]] = {}
    for text, count in texts.items():
        counts.setdefault(fold_label(text), Counter())[text.strip()] += count
    return {
        folded: folded if WHOLE_LABEL.fullmatch(folded) else spelled.most_common(1)[0][0]
        for folded, spelled in counts.items()
    }


def _spellings(texts: Counter[str], scale: Scale) -> tuple[dict[str, str], list[str]]:
    """Return text -> label where `Scale.match` does not find it, and notes about labels spelled in several ways."""
    labels = {fold_label(label): label for label in scale.labels}
    spellings: dict[str, Counter[str]] = {}
    written = {}
    for text, count in texts.items():
        label = labels.get(fold_label(text))
        if label is not None and text != label:
            spellings.setdefault(label, Counter())[text] += count
            # The import matches the other spellings itself.
            if scale.match(text) != label:
                written[text] = label
    notes = [f"Also read as '{clean_text(label)}': {_quote_counts(counts)}." for label, counts in spellings.items()]
    return written, notes


def _off_scale(verdicts: Counter[str], scale: Scale, written: Mapping[str, str]) -> Iterator[str]:
    """Say which verdicts are not on the scale."""
    off = _select(verdicts, lambda text: scale.match(written.get(text, text)) is None)
    if off:
        total = count_noun(sum(off.values()), "verdict")
        yield f"{total} not on the scale, counted as missing: {_quote_counts(off)}."


def _judge_only(verdicts: Counter[str], human: Counter[str], scale: Scale, written: Mapping[str, str]) -> Iterator[str]:
    """Say which labels without order no person uses: they may be labels, or a way of not answering."""
    used = {fold_label(text) for text in human}
    new = _select(verdicts, lambda text: fold_label(text) not in used and bool(scale.match(written.get(text, text))))
    # A level that people never used is still a level.
    if new and not scale.ordered:
        yield f"No person uses {_quote_counts(new)}: it counts as a disagreement, or as missing with --missing."


def _quote_counts(texts: Counter[str]) -> str:
    shown = [f"'{_quote(text)}' ({count:,})" for text, count in texts.most_common(_SHOWN)]
    more = len(texts) - len(shown)
    return ", ".join([*shown, *([f"and {more} more"] if more else [])])


def _quote(text: str) -> str:
    """Return a text for a note; white space around it stays visible."""
    before, after = (" " * (text != stripped) for stripped in (text.lstrip(), text.rstrip()))
    return f"{before}{clean_text(text, 40)}{after}"


def _range(scale: Scale) -> str:
    if scale.ordered and all(WHOLE_LABEL.fullmatch(label) for label in scale.labels):
        return f"{scale.labels[0]} to {scale.labels[-1]}"
    return clean_text(", ".join(f"'{label}'" if "," in label else label for label in scale.labels), 200)
