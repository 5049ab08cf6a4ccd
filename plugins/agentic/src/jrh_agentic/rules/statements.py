"""Edit the assistant's statements about its tools: swap values, contradict results, invent calls."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from jrh import Json

from jrh_agentic.messages import Messages, answers, as_json, called_tools, final_answer, result_tools
from jrh_agentic.rules.possible import Possible, Splice, another, values_of, within

_LONGEST_RESULT: Final = 200_000
"""Characters of a tool result that is read as JSON."""
_OPPOSITE_WORDS: Final = """
approved/rejected rejected/approved open/closed closed/open shipped/cancelled cancelled/shipped paid/unpaid unpaid/paid
active/inactive inactive/active available/unavailable unavailable/available valid/invalid invalid/valid
eligible/ineligible ineligible/eligible enabled/disabled disabled/enabled passed/failed failed/passed
verified/unverified unverified/verified confirmed/cancelled delivered/lost success/failure succeeded/failed
yes/no no/yes
"""
_OPPOSITES: Final = {word: opposite for word, _, opposite in (pair.partition("/") for pair in _OPPOSITE_WORDS.split())}
_PLAIN: Final = re.compile(r"[A-Za-z][\w .-]{0,60}")
_SENTENCE: Final = re.compile(r"[^!?\n.]*(?:\.(?=\S)[^!?\n.]*)*[!?\n.]?")
_HEDGED: Final = re.compile(
    r"\?|\b(?:not|never|no|none|nor|neither|without|if|unless|except|instead|rather|or|between|about|around|roughly"
    r"|approximately|nearly|almost|over|under|more|less|least|most|up to|would|could|should|might|may|maybe|perhaps"
    r"|probably|was wrong|incorrect|cannot|said|say|wrote|asked|mentioned|gave|claimed)\b|n['\u2019]t\b",
    re.IGNORECASE,
)


def swapped_values(messages: Messages, seed: int, *, anywhere: bool) -> list[Possible]:
    """Return one edit for each value of a tool result that an answer repeats: its mentions there become another one.

    Only where every sentence of that answer with the value says it plainly: no question, negation, condition or
    estimate. The new value has the form of the old one and stands nowhere in the transcript.
    """
    last = final_answer(messages)
    places = answers(messages) if anywhere else (last,) if last is not None else ()
    everything = _everything(messages) if places else ""
    found = []
    for place in places:
        known = {value for text in _results(messages[:place]) for _, _, value in values_of(text)}
        for value, spans in _plain_mentions(messages[place].content).items():
            new = another(value, seed, everything) if value in known else None
            if new is not None:
                splices = tuple(Splice(place=place, start=start, end=end, new=new) for start, end in spans)
                found.append(Possible(key=f"{place} {value}", splices=splices))
    return found


def contradicted_results(messages: Messages) -> list[Possible]:
    """Return one edit for each fact of a tool result whose opposite is known: a sentence at the end that states it.

    Facts are the top-level entries of a JSON object that are true, false, or one of a closed list of words, and that no
    other result of the transcript states otherwise.
    """
    last = final_answer(messages)
    if last is None:
        return []
    facts = _facts(messages[:last])
    found = []
    for key, values in facts.items():
        if len(values) == 1:
            ((tool, opposite),) = values.values()
            found.append(_appended(messages, last, f"According to {tool}, {key} is {opposite}.", key))
    return found


def unmade_calls(messages: Messages, claims: Sequence[str]) -> list[Possible]:
    """Return one edit for each claimed tool that no message mentions: a sentence at the end that says it was called."""
    last = final_answer(messages)
    if last is None or not called_tools(messages):
        return []
    everything = _everything(messages)
    return [
        _appended(messages, last, f"I have also called {tool}, and it succeeded.", tool)
        for tool in claims
        if tool not in everything
    ]


def _appended(messages: Messages, place: int, sentence: str, key: str) -> Possible:
    text = messages[place].content
    end = len(text.rstrip())
    return Possible(key=key, splices=(Splice(place=place, start=end, end=end, new=f"\n\n{sentence}"),))


def _facts(messages: Messages) -> dict[str, dict[str, tuple[str, str]]]:
    """Return what results state: key -> stated value -> tool, and the opposite in words."""
    facts: dict[str, dict[str, tuple[str, str]]] = {}
    for place, tool in result_tools(messages).items():
        for key, value in _entries(messages[place].content) if not messages[place].error else ():
            facts.setdefault(key, {}).setdefault(str(value).casefold(), (tool, _opposite(value)))
    return {key: values for key, values in facts.items() if all(opposite for _, opposite in values.values())}


def _entries(text: str) -> Iterator[tuple[str, Json]]:
    if not text.lstrip().startswith("{") or len(text) > _LONGEST_RESULT:
        return
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return
    if isinstance(value, Mapping):
        yield from ((key, each) for key, each in value.items() if _PLAIN.fullmatch(key))


def _opposite(value: Json) -> str:
    """Return the opposite in words; empty where it is not known."""
    if isinstance(value, bool):
        return "false" if value else "true"
    return _OPPOSITES.get(value.casefold(), "") if isinstance(value, str) else ""


def _results(messages: Messages) -> Iterator[str]:
    yield from (message.content for message in messages if message.role == "tool" and not message.error)


def _plain_mentions(text: str) -> dict[str, list[tuple[int, int]]]:
    """Return the values that a text says plainly wherever it says them, with the spans of their mentions."""
    mentions: dict[str, list[tuple[int, int]]] = {}
    hedged = [match.span() for match in _SENTENCE.finditer(text) if match[0] and _HEDGED.search(match[0])]
    doubtful: set[str] = set()
    for start, end, value in values_of(text):
        mentions.setdefault(value, []).append((start, end))
        if within(hedged, start, start + 1):
            doubtful.add(value)
    return {value: spans for value, spans in mentions.items() if value not in doubtful}


def _everything(messages: Messages) -> str:
    """Return the whole content of a transcript as one searchable text."""
    calls = (as_json(call.arguments) for message in messages for call in message.tool_calls)
    texts = (text for message in messages for text in (message.content, message.reasoning, message.error, message.name))
    return "\n".join([*texts, *called_tools(messages), *calls])
