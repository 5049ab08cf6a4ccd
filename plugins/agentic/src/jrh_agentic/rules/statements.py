"""Edits that violate an entry: what it requires by its wording, calls taken out, statements about tools made wrong."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from jrh import Json
from jrh.text import TranscriptMessage
from jrh_authoring import json_text

from jrh_agentic.messages import Messages, answers, final_answer, result_tools, tool_names
from jrh_agentic.rules.possible import Possible, Splice, another, values_of, within

_ENTRY_SENTENCE: Final = re.compile(r"[^.;!?\n]+")
# Modal verbs only: removing a call that an entry merely describes violates nothing.
_DEMAND: Final = re.compile(
    r"\b(?:must|has to|have to|needs? to|shall|should|is required to)\s+(?:first\s+|always\s+|also\s+)?"
    r"(?P<verb>call|use|run|invoke|query|consult)\s+(?:the\s+)?(?P<kind>tool\s+|function\s+)?(?P<quote>[`'\"])?"
    r"(?P<tool>[\w.-]*\w)(?!['\u2019]s)",
    re.IGNORECASE,
)
_BEFORE: Final = re.compile(r"\b(?:before|prior to|ahead of)\b(?P<rest>.*)", re.IGNORECASE)
# Any of these words may make a demand conditional or reverse it. In doubt the tool is left alone.
_UNCERTAIN: Final = re.compile(
    r"\b(?:not|never|no|without|none|neither|nor|if|unless|except|when|whenever|where|wherever|only|instead|rather|or"
    r"|either|most|more|fewer|less|may|might|could|can|cannot|optional|optionally|after|until|in case|for example"
    r"|such as)\b|n['\u2019]t\b",
    re.IGNORECASE,
)
# Words by which another sentence may take a demand back.
_EXCEPTION: Final = re.compile(
    r"\b(?:this|that|exceptions?|exempt\w*|waived?|skip\w*|appl(?:y|ies)|required|needed|necessary)\b", re.IGNORECASE
)
_AGREE: Final = re.compile(
    r"\b(?:agrees?|match(?:es)?|consistent|accurate(?:ly)?|faithful(?:ly)?|correct(?:ly)?|supported|contradicts?|invents?"
    r"|fabricates?|truthful(?:ly)?|true|misstates?|misreports?)\b",
    re.IGNORECASE,
)
_INVENTED: Final = re.compile(
    r"\b(?:claims?|invents?|fabricates?|supported|truthful(?:ly)?|honest(?:ly)?|true|accurate(?:ly)?|faithful(?:ly)?)\b",
    re.IGNORECASE,
)
_SOURCE: Final = re.compile(r"\b(?:tools?|results?|calls?|records?|lookups?)\b", re.IGNORECASE)


def required_tools(entry: str, messages: Sequence[TranscriptMessage]) -> tuple[str, ...]:
    """Return the tools that an entry requires unconditionally and that are called, each once.

    Of a demand that something is done *before* a call of another tool, only those count where that call follows.
    English only.
    """
    called = _first_calls(messages)
    sentences = _ENTRY_SENTENCE.findall(entry)
    doubtful = [sentence for sentence in sentences if _UNCERTAIN.search(sentence)]
    tools: dict[str, None] = {}
    for demand in filter(None, map(_DEMAND.search, sentences)):
        tool = demand["tool"]
        named = tool in called and _names_a_tool(demand)
        if named and _precedes_calls(demand, called) and not any(_softens(sentence, tool) for sentence in doubtful):
            tools[tool] = None
    return tuple(tools)


def asks_for_agreement(entry: str) -> bool:
    """Return whether a sentence of an entry asks that what is said agrees with what tools returned. English only."""
    return any(_AGREE.search(sentence) and _SOURCE.search(sentence) for sentence in _ENTRY_SENTENCE.findall(entry))


def forbids_invention(entry: str) -> bool:
    """Return whether a sentence of an entry asks that no call or result is made up. English only."""
    return any(_INVENTED.search(sentence) and _SOURCE.search(sentence) for sentence in _ENTRY_SENTENCE.findall(entry))


def _softens(sentence: str, tool: str) -> bool:
    """Return whether a sentence that negates or conditions something may be about the demand of a tool."""
    return tool in sentence or bool(_EXCEPTION.search(sentence))


def _names_a_tool(demand: re.Match[str]) -> bool:
    """Return whether a word is clearly a tool's name: *use search results* does not name the tool *search*."""
    marked = demand["verb"].lower() in ("call", "invoke") or demand["kind"] or demand["quote"]
    return bool(marked) or not (demand["tool"].isalpha() and demand["tool"].islower())


def _first_calls(messages: Sequence[TranscriptMessage]) -> dict[str, int]:
    first: dict[str, int] = {}
    for place, message in enumerate(messages):
        for call in message.tool_calls:
            first.setdefault(call.name, place)
    return first


def _precedes_calls(demand: re.Match[str], called: dict[str, int]) -> bool:
    """Return whether what a tool is demanded *before* is a call that comes later; True where there is no *before*."""
    before = _BEFORE.search(demand.string)
    if before is None:
        return True
    later = [name for name in called if re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", before["rest"])]
    return bool(later) and all(called[demand["tool"]] < called[name] for name in later)


def remove_steps(messages: Messages, demanded: Sequence[str]) -> list[Possible]:
    """Return one edit for each demanded tool: all its calls taken out, each with its result.

    A tool is left alone where one of its calls has no result of its own, or shares its id with another call: then it is
    unclear which result belongs to which call.
    """
    ids = Counter(call.id for message in messages for call in message.tool_calls)
    results: defaultdict[str, list[int]] = defaultdict(list)
    for place, message in enumerate(messages):
        if message.role == "tool":
            results[message.tool_call_id].append(place)
    edits = []
    for tool in demanded:
        calls = {
            (place, number): call.id
            for place, message in enumerate(messages)
            for number, call in enumerate(message.tool_calls)
            if call.name == tool
        }
        # Only then is it certain which result belongs to which call.
        clear = all(
            identity and ids[identity] == 1 and len(results[identity]) == 1 and results[identity][0] > place
            for (place, _), identity in calls.items()
        )
        if calls and clear:
            edits.append(
                Possible(
                    key=tool, calls=tuple(calls), results=tuple(results[identity][0] for identity in calls.values())
                )
            )
    return edits


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
# Keys that can be used in an English sentence.
_PLAIN: Final = re.compile(r"[A-Za-z][\w .-]{0,60}")
_SENTENCE: Final = re.compile(r"[^!?\n.]*(?:\.(?=\S)[^!?\n.]*)*[!?\n.]?")
# A value in such a sentence may be meant as wrong, or be somebody else's: changing it need not be an error.
_HEDGED: Final = re.compile(
    r"\?|\b(?:not|never|no|none|nor|neither|without|if|unless|except|instead|rather|or|between|about|around|roughly"
    r"|approximately|nearly|almost|over|under|more|less|least|most|up to|would|could|should|might|may|maybe|perhaps"
    r"|probably|was wrong|incorrect|cannot|said|say|wrote|asked|mentioned|gave|claimed)\b|n['\u2019]t\b",
    re.IGNORECASE,
)


def swap_values(messages: Messages, seed: int, *, anywhere: bool) -> list[Possible]:
    """Return one edit for each value of a tool result that an answer repeats: its mentions there become another one.

    Only where every sentence of that answer with the value says it plainly: no question, negation, condition or
    estimate. The new value has the form of the old one and occurs nowhere in the transcript.
    """
    last = final_answer(messages)
    places = answers(messages) if anywhere else () if last is None else (last,)
    everything = _everything(messages) if places else ""
    edits = []
    for place in places:
        results = (message for message in messages[:place] if message.role == "tool" and not message.error)
        known = {value for message in results for _, _, value in values_of(message.content)}
        for value, spans in _plain_mentions(messages[place].content).items():
            new = another(value, seed, everything) if value in known else None
            if new is not None:
                splices = tuple(Splice(place=place, start=start, end=end, new=new) for start, end in spans)
                edits.append(Possible(key=f"{place} {value}", splices=splices))
    return edits


def contradict_results(messages: Messages) -> list[Possible]:
    """Return one edit for each fact of a tool result whose opposite is known: a sentence at the end that states it.

    Facts are the top-level entries of a JSON object that are true, false, or one of a closed list of words, and that no
    other result of the transcript states otherwise.
    """
    last = final_answer(messages)
    if last is None:
        return []
    edits = []
    for key, values in _facts(messages[:last]).items():
        # Where results disagree, either statement agrees with one of them.
        if len(values) == 1:
            ((tool, opposite),) = values.values()
            edits.append(_append_sentence(messages, last, f"According to {tool}, {key} is {opposite}.", key))
    return edits


def claim_calls(messages: Messages, claims: Sequence[str]) -> list[Possible]:
    """Return one edit for each claimed tool that no message mentions: a sentence at the end that says it was called."""
    last = final_answer(messages)
    if last is None or not tool_names(messages):
        return []
    everything = _everything(messages)
    return [
        _append_sentence(messages, last, f"I have also called {tool}, and it succeeded.", tool)
        for tool in claims
        if tool not in everything
    ]


def _append_sentence(messages: Messages, place: int, sentence: str, key: str) -> Possible:
    end = len(messages[place].content.rstrip())
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
        yield from ((key, entry) for key, entry in value.items() if _PLAIN.fullmatch(key))


def _opposite(value: Json) -> str:
    """Return the opposite in words; empty where it is not known."""
    if isinstance(value, bool):
        return "false" if value else "true"
    return _OPPOSITES.get(value.casefold(), "") if isinstance(value, str) else ""


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
    calls = (json_text(call.arguments) for message in messages for call in message.tool_calls)
    texts = (text for message in messages for text in (message.content, message.reasoning, message.error, message.name))
    return "\n".join([*texts, *tool_names(messages), *calls])
