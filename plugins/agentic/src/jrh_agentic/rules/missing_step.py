"""Remove a tool call that the entry requires, together with its result."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from jrh_agentic.messages import Messages
from jrh_agentic.rules.possible import Possible


def possible(messages: Messages, demanded: Sequence[str]) -> list[Possible]:
    """Return one edit for each demanded tool: all its calls taken out, each with its result.

    A tool is left alone where one of its calls has no result of its own, or shares its id with another call: then
    nobody can tell what belongs together.
    """
    ids = Counter(call.id for message in messages for call in message.tool_calls)
    results: defaultdict[str, list[int]] = defaultdict(list)
    for place, message in enumerate(messages):
        if message.role == "tool":
            results[message.tool_call_id].append(place)
    found = []
    for tool in demanded:
        calls = {
            (place, number): call.id
            for place, message in enumerate(messages)
            for number, call in enumerate(message.tool_calls)
            if call.name == tool
        }
        clear = all(
            identity and ids[identity] == 1 and len(results[identity]) == 1 and results[identity][0] > place
            for (place, _), identity in calls.items()
        )
        if calls and clear:
            found.append(
                Possible(
                    key=tool, calls=tuple(calls), results=tuple(results[identity][0] for identity in calls.values())
                )
            )
    return found
