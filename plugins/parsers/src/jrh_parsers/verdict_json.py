"""Find JSON values in a text and the verdict in them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from attrs import frozen
from jrh import Status
from jrh.hashing import RepeatedKeyError, distinct_keys

from jrh_parsers.finding import Finding, Grammar, off_scale, unparsable
from jrh_parsers.options import JsonOptions
from jrh_parsers.procedure import read_answer

_OPENERS = re.compile(r"[{\[]")
# Bounds on the work for one reply: every opener may be tried to the end of the text.
_MAX_OPENERS = 400
_RELAXED_CHARACTERS = 4_000
_RELAXED_TRIES = 4
_MAX_DEPTH = 3


_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=distinct_keys)
_REPEATING = json.JSONDecoder(strict=False)
"""Finds the end of a value in which an object has a key twice."""
_BRACES = re.compile(r"[{}\"'\\]")


@frozen(kw_only=True)
class JsonVerdict:
    """A verdict in a JSON value of a text."""

    finding: Finding
    rationale: str
    end: int
    """One past the JSON value's last character in the text."""


def last_verdict(text: str, grammar: Grammar, options: JsonOptions) -> JsonVerdict | None:
    """Return the verdict of the last JSON value that has one of the keys, or None."""
    keys = _lookup(options.keys)
    last = None
    for value, end in _values(text):
        verdicts = list(_verdicts(value, keys))
        if verdicts:
            finding = _common_finding([_read_value(verdict, grammar) for verdict in verdicts])
            last = JsonVerdict(finding=finding, rationale=_rationale(value, options), end=end)
    return last


def _lookup(keys: Sequence[str]) -> dict[str, int]:
    return {_key(key): index for index, key in enumerate(keys)}


def _key(text: str) -> str:
    return re.sub(r"[\s-]+", "_", text.strip()).casefold()


def _values(text: str) -> Iterator[tuple[Any, int]]:
    """Yield the outermost objects and arrays with their end offsets, in order."""
    openers = [match.start() for match in _OPENERS.finditer(text)]
    if len(openers) > _MAX_OPENERS:
        # Starting later could mistake part of a value for the whole.
        return
    position = 0
    relaxed = 0
    for opener in openers:
        # Inside a value that was read: only outermost values count.
        if opener < position:
            continue
        decoded = _read_json(text, opener)
        # Relaxed reading is slow, and brackets are also used in prose.
        if decoded is None and text[opener] == "{" and relaxed < _RELAXED_TRIES:
            relaxed += 1
            decoded = _read_json5(text, opener)
        if decoded is not None:
            position = decoded[1]
            yield decoded


def _read_json(text: str, at: int) -> tuple[Any, int] | None:
    try:
        return _DECODER.raw_decode(text, at)
    except RepeatedKeyError as error:
        # The error is the value: nothing inside of it is the verdict, even where its values agree.
        try:
            return error, _REPEATING.raw_decode(text, at)[1]
        except (ValueError, RecursionError):
            return None
    except (ValueError, RecursionError):
        return None


def _read_json5(text: str, at: int) -> tuple[Any, int] | None:
    """Read JSON5: single quotes, trailing commas, comments, bare keys. Never guesses, and never completes."""
    end = _object_end(text, at)
    if end is None:
        return None
    # Imported where it is needed: most replies hold strict JSON or none.
    import json5

    repeated: list[RepeatedKeyError] = []

    # json5 replaces the errors of a hook by its own.
    def note_repeated(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
        try:
            return distinct_keys(list(pairs))
        except RepeatedKeyError as error:
            repeated.append(error)
            return {}

    try:
        value = json5.loads(text[at:end], object_pairs_hook=note_repeated)
    except (ValueError, RecursionError):
        return None
    return (repeated[0] if repeated else value), end


def _object_end(text: str, at: int) -> int | None:
    depth = 0
    quote = ""
    skip = -1
    for match in _BRACES.finditer(text, at, min(len(text), at + _RELAXED_CHARACTERS)):
        sign = match[0]
        if match.start() == skip:
            continue
        if sign == "\\":
            skip = match.end()
        elif quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
        else:
            depth += 1 if sign == "{" else -1
            if depth == 0:
                return match.end()
    return None


def _verdicts(value: Any, keys: Mapping[str, int], depth: int = 0) -> Iterator[Any]:
    """Yield the value of the first key present or, if there is none, search the nested values."""
    if isinstance(value, Mapping):
        # Of one key written twice in different case, the last one counts, as everywhere.
        present = {keys[_key(key)]: entry for key, entry in value.items() if isinstance(key, str) and _key(key) in keys}
        if present:
            yield from _inner(present[min(present)], keys, depth)
            return
        parts = list(value.values())
    elif isinstance(value, list):
        parts = value
    else:
        if isinstance(value, RepeatedKeyError):
            yield value
        return
    if depth < _MAX_DEPTH:
        for part in parts:
            yield from _verdicts(part, keys, depth + 1)


def _inner(entry: Any, keys: Mapping[str, int], depth: int) -> Iterator[Any]:
    if isinstance(entry, Mapping) and depth < _MAX_DEPTH:
        # `{"verdict": {"label": "A"}}`: the label is one level deeper.
        nested = list(_verdicts(entry, keys, depth + 1))
        yield from nested or [entry]
    elif isinstance(entry, list) and entry:
        yield from entry
    else:
        yield entry


def _common_finding(findings: Sequence[Finding]) -> Finding:
    verdicts = {(finding.status, finding.label) for finding in findings}
    return findings[0] if len(verdicts) == 1 else unparsable("one JSON value holds different verdicts")


def _read_value(value: Any, grammar: Grammar) -> Finding:
    if value is None or (isinstance(value, str) and not value.strip()):
        return Finding(status=Status.ABSTAINED, start=0, end=0, detail="the JSON verdict is empty")
    if isinstance(value, (bool, int, float)):
        return _scalar(value, grammar)
    if isinstance(value, str):
        return read_answer(value, grammar) or unparsable("the JSON verdict is prose without a decision")
    if isinstance(value, RepeatedKeyError):
        return unparsable(str(value))
    return unparsable("the JSON verdict is neither text nor a number")


def _scalar(value: float, grammar: Grammar) -> Finding:
    # Before numbers, as a truth value is an int in Python.
    if isinstance(value, bool):
        text = "true" if value else "false"
    else:
        text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
    finding = grammar.read(text, 0, slot=True)
    return finding if finding is not None and finding.end == len(text) else off_scale(text, 0, len(text))


def _rationale(value: Any, options: JsonOptions) -> str:
    if isinstance(value, list):
        value = value[-1] if value else None
    if not isinstance(value, Mapping):
        return ""
    keys = _lookup(options.rationale_keys)
    present = {keys[_key(key)]: entry for key, entry in value.items() if isinstance(key, str) and _key(key) in keys}
    if not present:
        # One wrapping object, such as `{"evaluation": {...}}`; with several, no one is the verdict's.
        nested = [entry for entry in value.values() if isinstance(entry, Mapping)]
        return _rationale(nested[0], options) if len(nested) == 1 else ""
    entry = present[min(present)]
    return entry if isinstance(entry, str) else json.dumps(entry, ensure_ascii=False)
