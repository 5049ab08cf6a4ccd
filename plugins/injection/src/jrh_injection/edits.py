"""The notation of an attack, `command@end`, and its way into a text or a transcript."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from attrs import evolve, frozen
from jrh import JrhError, Json, read_transcript
from jrh_authoring import Attack, AttackEdit

from jrh_injection.texts import KINDS, POSITIONS, TOOL, Aim, benign, fill

_MOST_DOSES: Final = 20
_EDIT: Final = re.compile(r"(?P<kind>[a-z0-9-]+)(?:@(?P<position>[a-z]+))?(?:\*(?P<dose>\d{1,2}))?")
NO_TOOL: Final = "no tool output to put text into"
NO_TEXT: Final = "a judged field has no text"


def read_attack(text: str, suffixes: Sequence[str] = ()) -> Attack:
    """Read `command@end`, `plea@start*3` or several of these joined by a plus sign.

    Raises:
        JrhError: a kind or a position is unknown, or a dose is not from 1 to 20.
    """
    # Composed attacks go in from left to right, each around what the one before put there.
    return Attack(edits=tuple(_edit(part.strip(), suffixes) for part in text.split("+")))


def suffix_kinds(suffixes: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the user's own suffixes: `suffix-1`, `suffix-2`, ..."""
    return tuple(f"suffix-{number}" for number in range(1, len(suffixes) + 1))


def _edit(text: str, suffixes: Sequence[str]) -> AttackEdit:
    match = _EDIT.fullmatch(text)
    known = (*KINDS, *suffix_kinds(suffixes))
    if match is None or match["kind"] not in known:
        raise JrhError(f"attacks: '{text}' is not an attack; write KIND@POSITION. Kinds: {', '.join(known)}")
    position, dose = match["position"] or "end", int(match["dose"] or 1)
    if position not in POSITIONS:
        raise JrhError(f"attacks: '{text}' has an unknown position; known positions: {', '.join(POSITIONS)}")
    if not 1 <= dose <= _MOST_DOSES:
        raise JrhError(f"attacks: the dose of '{text}' must be from 1 to {_MOST_DOSES}")
    return AttackEdit(kind=match["kind"], position=position, dose=dose)


@frozen(kw_only=True)
class Writer:
    """Puts attacks, or harmless text of the same length, into judged fields."""

    suffixes: tuple[str, ...] = ()
    """The user's own texts, `{target}` and `{field}` still in them."""

    @cached_property
    def _by_kind(self) -> Mapping[str, str]:
        return dict(zip(suffix_kinds(self.suffixes), self.suffixes, strict=True))

    def text(self, edit: AttackEdit, aim: Aim, *, control: bool = False) -> str:
        """Return what one edit puts in, repeated as often as its dose says."""
        template = self._by_kind.get(edit.kind)
        once = KINDS[edit.kind](aim) if template is None else fill(template, aim)
        attack_text = "\n\n".join([once] * edit.dose)
        return benign(len(attack_text)) if control else attack_text

    def apply(self, attack: Attack, value: Json, aim: Aim, *, control: bool = False) -> Json | str:
        """Return the field with all edits; the original text stays in it, character by character.

        Raises:
            Impossible: the field has no text, or no tool output where one is needed.
        """
        for edit in attack.edits:
            value = _put(value, self.text(edit, aim, control=control), edit.position)
        return value


class Impossible(Exception):
    """An attack does not fit an item; the message is the reason of the skip."""


def _put(value: Json, added: str, position: str) -> Json:
    if isinstance(value, str):
        if position == TOOL:
            raise Impossible(NO_TOOL)
        return _into(value, added, position)
    if isinstance(value, Sequence):
        return _into_transcript(value, added, position)
    raise Impossible(NO_TEXT)


def _into(text: str, added: str, position: str) -> str:
    if not text.strip():
        raise Impossible(NO_TEXT)
    if position == "start":
        return f"{added}\n\n{text}"
    if position == "middle":
        at = _middle(text)
        return f"{text[:at]}\n\n{added}\n\n{text[at:]}"
    return f"{text}\n\n{added}"


def _middle(text: str) -> int:
    """Return the end of a line, a sentence or a word that is nearest to the middle."""
    # Between lines if there are any, so that a word or a sentence is split only where nothing else is.
    for ends in (r"\n+", r"(?<=[.!?])\s+", r"\s+"):
        places = [match.start() for match in re.finditer(ends, text)]
        if places:
            return min(places, key=lambda at: (abs(2 * at - len(text)), at))
    return len(text)


def _into_transcript(value: Sequence[Any], added: str, position: str) -> Json:
    """Put text into the assistant's messages: the first, the middle, the last; or into the last tool output."""
    # Through the reader of transcripts, so that a changed one is as valid as the original.
    messages = list(read_transcript(list(value)))
    role = "tool" if position == TOOL else "assistant"
    places = [at for at, message in enumerate(messages) if message.role == role and message.content.strip()]
    if not places:
        raise Impossible(NO_TOOL if position == TOOL else NO_TEXT)
    # Of an even number of messages, the later of the two in the middle.
    at = {"start": places[0], "middle": places[len(places) // 2]}.get(position, places[-1])
    # Within the output of a tool the notation knows no positions: the text goes to its end.
    inside = "end" if position == TOOL else position
    messages[at] = evolve(messages[at], content=_into(messages[at].content, added, inside))
    return [message.to_json() for message in messages]
