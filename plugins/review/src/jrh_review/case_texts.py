"""The texts of a case that people can edit, by name: fields, messages of a transcript, the prompt template."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, Final, TypeAlias

from attrs import evolve
from jrh import Case, Equals, JrhError, Json, read_transcript
from jrh.text import visible_line
from jrh_authoring import json_text, read_json, render, template_variables

Place: TypeAlias = tuple[str | int, ...]
"""Where a text is in a case: attributes, keys of mappings and places in lists, from the outside in."""
Pair: TypeAlias = tuple[str, Any, Any]
"""Name of a message, the message in the original and in the case; None where one has no counterpart."""
TEMPLATE: Final = "prompt template"


class TextError(JrhError):
    """Report an edited text that would make no valid case. Correct the text, which `text` names."""

    def __init__(self, text: str, message: str) -> None:
        """Take the name of the text, and what is wrong with it."""
        super().__init__(message)
        self.text = text


def messages_of(value: Json) -> Sequence[Mapping[str, Any]]:
    """Return the messages of a field that is a transcript; none where it is something else."""
    try:
        read_transcript(value)
    except JrhError:
        return ()
    return value  # type: ignore[return-value]  # as `read_transcript` has checked


def pair_messages(field: str, before: Json, after: Json) -> Iterator[Pair]:
    """Yield the messages of two transcripts in order, each with its counterpart."""
    left, right = messages_of(before), messages_of(after)
    # By their text: a message that a test took out must not make all later ones look edited.
    texts, others = ([json_text(message) for message in messages] for messages in (left, right))
    for tag, start, end, first, last in SequenceMatcher(None, texts, others, autojunk=False).get_opcodes():
        if tag in ("equal", "replace") and end - start == last - first:
            for old, new in zip(range(start, end), range(first, last), strict=True):
                yield _message_name(field, new, right[new]), left[old], right[new]
            continue
        # Of unequally many, which became which is not known.
        yield from ((f"{_message_name(field, old, left[old])}, removed", left[old], None) for old in range(start, end))
        yield from ((_message_name(field, new, right[new]), None, right[new]) for new in range(first, last))


def _message_name(field: str, place: int, message: Mapping[str, Any]) -> str:
    return f"{field}, message {place + 1} ({message['role']})"


def editable_places(case: Case, original: Case | None) -> dict[str, Place]:
    """Return the places of the texts that can be edited: those that the test changed.

    All of them where no original is stored, and where the test changed none and states the verdict: such a case does
    not ask for what the reference condition says.
    """
    places: dict[str, Place] = {}
    if case.prompt is not None and (original is None or original.prompt != case.prompt):
        places[TEMPLATE] = ("prompt", "user")
        if case.prompt.system:
            places["system prompt"] = ("prompt", "system")
    # Fields come second: they are the user's, and one may have the name of a template.
    for name, value in case.fields.items():
        if original is not None and original.fields.get(name) == value:
            continue
        if isinstance(value, str):
            places[name] = ("fields", name)
        for number, message in enumerate(messages_of(value)):
            start = _message_name(name, number, message)
            named = {f"{start}{rest}": place for rest, place in _message_places(message)}
            places |= {text: ("fields", name, number, *place) for text, place in named.items()}
    if not places and original is not None and isinstance(case.expectation, Equals):
        return editable_places(case, None)
    return places


def _message_places(message: Mapping[str, Any]) -> Iterator[tuple[str, Place]]:
    """Yield the places of a message's texts, by what follows the message's name."""
    yield "", ("content",)
    yield from ((f", {key}", (key,)) for key in ("reasoning", "error") if message.get(key))
    for number in range(len(message.get("tool_calls") or ())):
        yield f", arguments of call {number + 1}", ("tool_calls", number, "arguments")


def texts_at(case: Case, places: Mapping[str, Place]) -> dict[str, str]:
    """Return the texts at some places, by name; arguments of calls as JSON."""
    return {name: _read(case, place) for name, place in places.items()}


def _read(value: Any, place: Place) -> str:
    for key in place:
        if isinstance(key, str) and not isinstance(value, Mapping):
            value = getattr(value, key)
        else:
            value = value.get(key, "") if isinstance(value, Mapping) else value[key]
    return json_text(value) if isinstance(value, Mapping) else value or ""


def original_texts(case: Case, original: Case) -> dict[str, str]:
    """Return what the texts of a case are in the reference case, by their names in the case."""
    found: dict[str, str] = {}
    if case.prompt is not None:
        found = {TEMPLATE: original.prompt.user if original.prompt else case.prompt.original}
    for field, value in case.fields.items():
        before = original.fields.get(field, "")
        found[field] = before if isinstance(before, str) else ""
        for name, old, new in pair_messages(field, before, value):
            known = dict(_message_places(old or {}))
            # A message may have no counterpart, or one that calls fewer tools.
            found |= {
                f"{name}{rest}": _read(old, known[rest]) if old and rest in known else ""
                for rest, _ in _message_places(new or {})
            }
    return found


def with_texts(case: Case, texts: Mapping[str, str]) -> Case:
    """Return the case with other texts, by the names of `editable_places`.

    Raises:
        TextError: arguments of a call are not a JSON object, or a template has not the placeholders that it had.
    """
    made, places = case, editable_places(case, None)
    for name, text in texts.items():
        if places[name][0] == "prompt":
            _check_template(name, _read(made, places[name]), text, made.fields)
        try:
            case = _replace(case, places[name], text)
        except ValueError:
            raise TextError(name, f"{visible_line(name)}: the arguments of a call are a JSON object.") from None
    return case


def _replace(value: Any, place: Place, text: str) -> Any:
    if not place:
        if not isinstance(value, Mapping):
            return text
        # `read_json` also finds an object among other text, which would be lost here.
        arguments = read_json(text) if text.strip().startswith("{") and text.strip().endswith("}") else None
        if arguments is None:
            raise ValueError
        return arguments
    key, rest = place[0], place[1:]
    if isinstance(value, Mapping):
        return {**value, key: _replace(value.get(key), rest, text)}
    if isinstance(key, int):
        return [*value[:key], _replace(value[key], rest, text), *value[key + 1 :]]
    return evolve(value, **{key: _replace(getattr(value, key), rest, text)})


def _check_template(name: str, before: str, source: str, fields: Mapping[str, Json]) -> None:
    """Check a template that replaces another one.

    Raises:
        TextError: it is not valid Jinja2, or its placeholders are not those of the other.
    """
    try:
        needed, used = template_variables(before), template_variables(source)
    except JrhError as error:
        raise TextError(name, f"{error}.") from error
    wrong = [f"missing: {_list_placeholders(needed - used)}"] if needed - used else []
    wrong += [f"unknown: {_list_placeholders(used - needed)}"] if used - needed else []
    if wrong:
        which = _list_placeholders(needed) or "none"
        raise TextError(name, f"The {name} needs these placeholders: {which}; {'; '.join(wrong)}.")
    # A filter or a condition may be wrong, too. Where even the case's own template needs more than texts, judges tell.
    texts = {**dict.fromkeys(needed, "text"), **fields}
    for template in (before, source):
        try:
            render(template, texts)
        except JrhError as error:
            if template == before:
                return
            raise TextError(name, f"{error}.") from error


def _list_placeholders(names: frozenset[str]) -> str:
    return ", ".join(f"{{{{ {visible_line(name)} }}}}" for name in sorted(names))
