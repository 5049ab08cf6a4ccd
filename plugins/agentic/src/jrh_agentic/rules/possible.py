"""Represent the possible edits of a rule and apply a choice of them to a transcript."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from attrs import evolve, frozen
from jrh import derive_seed
from jrh.text import TranscriptMessage
from jrh_authoring import apply_edits

from jrh_agentic.diffs import MOST_RECORDED, Edit, diff
from jrh_agentic.messages import Messages


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
    for each in sorted(possible, key=lambda each: (derive_seed(seed, each.key), each.key)):
        if len(chosen) == count:
            break
        if calls.isdisjoint(each.calls) and not any(
            _touch(new, old) for new in each.splices for old in spans[new.place]
        ):
            chosen.append(each)
            calls.update(each.calls)
            for splice in each.splices:
                spans[splice.place].append(splice)
    return chosen


def apply(messages: Messages, chosen: Sequence[Possible], what: str) -> tuple[Messages, tuple[Edit, ...]]:
    """Return the transcript with the edits made, and their descriptions, in the order of the transcript."""
    edited = _edited(messages, chosen)
    number: dict[int, int] = {}
    for place, message in enumerate(edited):
        if message is not None:
            number[place] = len(number) + 1
    made = []
    for count, each in enumerate(sorted(chosen, key=lambda each: (_place(each), each.key))):
        place = _place(each)
        shown = diff(messages[place], _edited(messages, [each])[place]) if count < MOST_RECORDED else ""
        made.append(Edit(was=place + 1, message=number.get(place), what=what, diff=shown))
    return tuple(message for message in edited if message is not None), tuple(made)


def _place(each: Possible) -> int:
    return each.splices[0].place if each.splices else each.calls[0][0]


def _touch(one: Splice, other: Splice) -> bool:
    """Return whether two changes of one text meet; two that put something in at one point do not."""
    return one.start < other.end and other.start < one.end


def _edited(messages: Messages, chosen: Sequence[Possible]) -> list[TranscriptMessage | None]:
    edited: list[TranscriptMessage | None] = [*messages]
    for place, text in _texts(messages, chosen).items():
        edited[place] = evolve(messages[place], content=text)
    for place in {place for each in chosen for place in each.results}:
        edited[place] = None
    gone = {call for each in chosen for call in each.calls}
    for place in sorted({place for place, _ in gone}):
        calls = enumerate(messages[place].tool_calls)
        kept = tuple(call for number, call in calls if (place, number) not in gone)
        edited[place] = evolve(messages[place], tool_calls=kept) if kept else None
    return edited


def _texts(messages: Messages, chosen: Sequence[Possible]) -> dict[int, str]:
    splices: dict[int, list[Splice]] = {}
    for each in chosen:
        for splice in each.splices:
            splices.setdefault(splice.place, []).append(splice)
    for own in splices.values():
        own.sort(key=lambda splice: splice.new)
    return {place: apply_edits(messages[place].content, own) for place, own in splices.items()}
