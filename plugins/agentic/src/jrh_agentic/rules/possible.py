"""Find values of a text, represent the possible edits of a rule, and apply a choice of them to a transcript."""

from __future__ import annotations

import random
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from attrs import evolve, frozen
from jrh import derive_seed
from jrh.text import TranscriptMessage
from jrh_authoring import apply_edits

from jrh_agentic.messages import MOST_RECORDED, Edit, Messages, diff

_VALUE: Final = re.compile(r"(?<![\w])[A-Za-z0-9]+(?:[-./:,_][A-Za-z0-9]+)*(?![\w])", re.ASCII)
_ISO_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_TIME: Final = re.compile(r"\d{1,2}:\d{2}(?::\d{2})?", re.ASCII)
_OTHER_DATE: Final = re.compile(r"\d{1,2}[./-]\d{1,2}[./-]\d{2,4}", re.ASCII)
# A short value may have no free neighbour, so the search has to end.
_DRAWS: Final = 20
_LONGEST: Final = 60
_LETTER: Final = re.compile(r"[^\W\d_]")


def values_of(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the values of a text with their spans: runs of ASCII letters and digits with at least two digits.

    A single digit is a list number or a count more often than a value that somebody looked up.
    """
    for match in _VALUE.finditer(text):
        value = match[0]
        separate = not _letter_at(text, match.start() - 1) and not _letter_at(text, match.end())
        if separate and len(value) <= _LONGEST and sum(map(str.isdigit, value)) >= 2:  # noqa: PLR2004
            yield match.start(), match.end(), value


def within(spans: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    """Return whether the characters from `start` to `end` touch one of the spans, which are in order and apart."""
    place = bisect_left(spans, end, key=lambda span: span[0]) - 1
    return place >= 0 and spans[place][1] > start


def another(value: str, seed: int, everything: str) -> str | None:
    """Return a value of the same form that does not stand in the text `everything`, or None where none was found."""
    # Only `random()` is used below: Python promises its sequence for every version.
    draws = random.Random(f"{seed} {value}")  # noqa: S311 - a seeded choice, no secret
    for _ in range(_DRAWS):
        new = _change_digits(value, draws)
        if new != value and new not in everything:
            return new
    return None


def _letter_at(text: str, place: int) -> bool:
    """Return whether a place has a letter of any script: the value is then part of a longer word."""
    return 0 <= place < len(text) and bool(_LETTER.match(text[place]))


def _change_digits(value: str, draws: random.Random) -> str:
    if _ISO_DATE.fullmatch(value):
        # Every month has a 28th.
        return f"{value[:-2]}{1 + int(draws.random() * 28):02}"
    if _TIME.fullmatch(value):
        hours, minutes = value.split(":")[:2]
        return value.replace(f"{hours}:{minutes}", f"{hours}:{int(draws.random() * 60):02}", 1)
    digits = [place for place, letter in enumerate(value) if letter.isdigit()]
    place = digits[-1] if _OTHER_DATE.fullmatch(value) else digits[int(draws.random() * len(digits))]
    # A leading zero would give the number another form.
    low = 1 if place == digits[0] else 0
    digit = str(low + int(draws.random() * (10 - low)))
    return value[:place] + digit + value[place + 1 :]


@frozen(kw_only=True)
class Splice:
    """Replace the characters from `start` to `end` of a message's text with `new`."""

    place: int
    """0-based place of the message."""
    start: int
    end: int
    new: str


@frozen(kw_only=True)
class Possible:
    """One edit that could be made: texts changed, or calls taken out with their results."""

    key: str
    """Tells it apart from the rule's other edits."""
    splices: tuple[Splice, ...] = ()
    """All in one message, none touching another."""
    calls: tuple[tuple[int, int], ...] = ()
    """Places of the calls that are taken out: message, and call within it."""
    results: tuple[int, ...] = ()
    """Places of the results that are taken out with them."""


def choose(possible: Sequence[Possible], count: int, seed: int) -> list[Possible]:
    """Choose so many by seed, none touching another, or fewer where there are not so many.

    The choice of fewer is always the beginning of the choice of more.
    """
    chosen: list[Possible] = []
    calls: set[tuple[int, int]] = set()
    spans: defaultdict[int, list[Splice]] = defaultdict(list)
    # Each edit has a rank of its own, so that one more possible edit does not reorder the others.
    for edit in sorted(possible, key=lambda edit: (derive_seed(seed, edit.key), edit.key)):
        if len(chosen) == count:
            break
        if calls.isdisjoint(edit.calls) and not any(
            _touch(new, old) for new in edit.splices for old in spans[new.place]
        ):
            chosen.append(edit)
            calls.update(edit.calls)
            for splice in edit.splices:
                spans[splice.place].append(splice)
    return chosen


def apply(messages: Messages, chosen: Sequence[Possible], what: str) -> tuple[Messages, tuple[Edit, ...]]:
    """Return the transcript with the edits made, and their descriptions, in the order of the transcript."""
    edited = _apply_edits(messages, chosen)
    number: dict[int, int] = {}
    for place, message in enumerate(edited):
        if message is not None:
            number[place] = len(number) + 1
    edits = []
    for count, edit in enumerate(sorted(chosen, key=lambda edit: (_place(edit), edit.key))):
        place = _place(edit)
        # Diffs beyond those that a draft lists would be computed for nothing.
        shown = diff(messages[place], _apply_edits(messages, [edit])[place]) if count < MOST_RECORDED else ""
        edits.append(Edit(was=place + 1, message=number.get(place), what=what, diff=shown))
    return tuple(message for message in edited if message is not None), tuple(edits)


def _place(each: Possible) -> int:
    return each.splices[0].place if each.splices else each.calls[0][0]


def _touch(one: Splice, other: Splice) -> bool:
    """Return whether two changes of one text meet; two that put something in at one point do not."""
    return one.start < other.end and other.start < one.end


def _apply_edits(messages: Messages, chosen: Sequence[Possible]) -> list[TranscriptMessage | None]:
    edited: list[TranscriptMessage | None] = [*messages]
    splices: defaultdict[int, list[Splice]] = defaultdict(list)
    for edit in chosen:
        for splice in edit.splices:
            splices[splice.place].append(splice)
    for place, changes in splices.items():
        # Two texts put in at one point come in the order of their words, whatever was chosen first.
        changes.sort(key=lambda splice: splice.new)
        edited[place] = evolve(messages[place], content=apply_edits(messages[place].content, changes))
    # After the texts, because a message that loses its calls or its result is removed as a whole.
    for place in {place for edit in chosen for place in edit.results}:
        edited[place] = None
    gone = {call for edit in chosen for call in edit.calls}
    for place in sorted({place for place, _ in gone}):
        calls = enumerate(messages[place].tool_calls)
        remaining = tuple(call for number, call in calls if (place, number) not in gone)
        edited[place] = evolve(messages[place], tool_calls=remaining) if remaining else None
    return edited
