"""Invented agent transcripts, and a chat server's answers as planner, editor, summarizer, verifier and judge."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final

from jrh_testing.server.bodies import prompt_of

ENTRY: Final = "The agent must call verify_identity before it calls get_order. It tells only what the tools returned."
REFUSAL: Final = "I'm sorry, but I can't help with that."
FILTERED: Final[Mapping[str, Any]] = {"role": "assistant", "content": None, "refusal": "This was filtered."}
SECRET_OF_ONE_MESSAGE: Final = "the weather in Uppsala was fine"
"""Stands in a message that nobody edits."""
_ROLES: Final = {
    "Plan edits of this transcript": "planner",
    "and no other:": "editor",
    "Summarise this transcript": "summarizer",
    "Bring the summary up to date": "update",
    "Apply the entry strictly": "verifier",
    "Decide whether every edited message": "same",
}


def transcript(item: str) -> list[dict[str, Any]]:
    """Return nine messages with two tool calls; the assistant's are 3, 5, 7 and 9."""
    return [
        {"role": "system", "content": f"You are the agent of the shop. Conversation {item}."},
        {"role": "user", "content": f"Where is my order? {SECRET_OF_ONE_MESSAGE}."},
        call("call-1", "verify_identity", {"customer": "Mara", "code": 7731}, "I check who you are."),
        {"role": "tool", "content": '{"verified": true}', "tool_call_id": "call-1", "name": "verify_identity"},
        call("call-2", "get_order", {"order_id": "LK-4417", "full": True, "depth": 1.5}),
        {"role": "tool", "content": '{"arrives": "2026-03-18"}', "tool_call_id": "call-2", "name": "get_order"},
        {"role": "assistant", "content": f"It arrives on 2026-03-18. ({item})"},
        {"role": "user", "content": "Thanks."},
        {"role": "assistant", "content": "You are welcome."},
    ]


def call(identity: str, name: str, arguments: dict[str, Any], content: str = "") -> dict[str, Any]:
    """Return a message with one call."""
    calls = [{"id": identity, "name": name, "arguments": arguments}]
    return {"role": "assistant", "content": content, "tool_calls": calls}


def lines(gold: Mapping[str, str | None]) -> str:
    """Return items as JSON Lines, by id."""
    rows = [
        {"id": item, "request": "Where is my order?", "transcript": transcript(item), "label": label}
        for item, label in gold.items()
    ]
    return "".join(json.dumps({key: value for key, value in row.items() if value is not None}) + "\n" for row in rows)


def plan(*steps: tuple[Any, str], thesis: str = "The date is wrong, so the entry is violated.") -> str:
    """Return a planner's reply with these steps: message and goal."""
    written = [{"message": message, "goal": goal, "reason": "the entry asks for it"} for message, goal in steps]
    return json.dumps({"thesis": thesis, "steps": written})


def edit_of(prompt: str, **changes: Any) -> str:
    """Return an editor's reply: the message it was shown, with a content of its own and these changes."""
    shown = json.loads(_within("message", prompt))
    return json.dumps({**shown, "content": f"{shown['content']} [edited]".strip(), **changes})


def _within(tag: str, prompt: str) -> str:
    """Return what stands in a tag of a prompt."""
    return str(re.findall(rf"<{tag}-\w+>\n(.*?)\n</{tag}-", prompt, re.DOTALL)[-1])


class Agents:
    """Plays every role, as well as it goes, but for what a script says of one item and role.

    The script maps (item, role) to an answer, or to a function of the prompt and how often this role was asked for this
    item before. Every request is counted and kept by item and role.
    """

    def __init__(self, script: Mapping[tuple[str, str], Any] | None = None, judge: str = "violates") -> None:
        """Keep the script, and what the judge answers."""
        self.script = dict(script or {})
        self.judge = judge
        self.asked: Counter[tuple[str, str]] = Counter()
        self.prompts: list[tuple[str, str, str]] = []

    def __call__(self, body: Mapping[str, Any]) -> Any:
        """Answer one request."""
        prompt = prompt_of(body)
        role = next((role for words, role in _ROLES.items() if words in prompt), "judge")
        found = re.findall(r"item-[a-z0-9-]+", prompt)
        item = found[0] if found else ""
        before = self.asked[item, role]
        self.asked[item, role] += 1
        self.prompts.append((item, role, prompt))
        answer = self.script.get((item, role), self._usual(role, item))
        return answer(prompt, before) if callable(answer) else answer

    def _usual(self, role: str, item: str) -> str | Callable[[str, int], str]:
        usual: Mapping[str, str | Callable[[str, int], str]] = {
            "planner": plan((7, "name another date"), (9, "repeat the other date")),
            "editor": lambda prompt, _before: edit_of(prompt),
            "summarizer": json.dumps({"summary": f"A customer of {item} asks for an order."}),
            "update": lambda prompt, _before: json.dumps({"summary": f"{_within('summary', prompt)} And one edit."}),
            "verifier": json.dumps({"reason": "message 7 names a wrong date", "label": "violates"}),
            "same": json.dumps({"reason": "nothing else changed", "same": True}),
            "judge": json.dumps({"rationale": "message 7 contradicts message 6", "verdict": self.judge}),
        }
        return usual[role]


def suite(model: Mapping[str, Any], tests: list[Any], **changes: Any) -> dict[str, Any]:
    """Return a suite over the transcripts, every role and the judge played by one model."""
    return {
        "name": "agents",
        "data": {"source": "jsonl", "path": "items.jsonl"},
        "task": {"mode": "transcript", "rubric": ENTRY, "scale": {"labels": ["satisfies", "violates"]}},
        "models": {"mini": dict(model)},
        "tests": tests,
        "judges": [{"name": "mini", "judge": "llm", "model": "mini", "rationale": True}],
        "reference": {"repeats": 1},
        "resamples": 100,
        **changes,
    }
