"""Invented transcripts and items."""

from __future__ import annotations

from typing import Any

import jrh_agentic.plugin
from jrh import Item, Mode, Scale, Task
from jrh_testing import build

IDENTITY = "The agent must call verify_identity before it calls get_order."
STATEMENTS = (
    "What the agent tells the customer agrees with the results of its tools; it claims no call it did not make."
)
BOTH = f"{IDENTITY} {STATEMENTS}"


def task(rubric: str = BOTH, scale: Scale | None = None, name: str = "shop") -> Task:
    return Task(name=name, rubric=rubric, scale=scale or Scale.of_labels("satisfies", "violates"), mode=Mode.TRANSCRIPT)


def said(role: str, content: str) -> dict[str, Any]:
    return {"role": role, "content": content}


def called(identity: str, name: str, content: str = "", **arguments: Any) -> dict[str, Any]:
    calls = [{"id": identity, "name": name, "arguments": arguments}]
    return {"role": "assistant", "content": content, "tool_calls": calls}


def result(identity: str, name: str, content: str, **more: Any) -> dict[str, Any]:
    return {"role": "tool", "content": content, "tool_call_id": identity, "name": name, **more}


def shop(answer: str = "Your order LK-4417 arrives on 2026-03-18.", order: str = "") -> list[dict[str, Any]]:
    """Nine messages; the assistant's are 3, 5, 7 and 9, the last of them the answer."""
    found = order or '{"order_id": "LK-4417", "status": "shipped", "arrives": "2026-03-18", "total": "64.90"}'
    return [
        said("system", "You are the agent of the shop."),
        said("user", "Where is my order?"),
        called("c1", "verify_identity", "I check who you are.", customer="Mara", code=7731),
        result("c1", "verify_identity", '{"verified": true}'),
        called("c2", "get_order", order_id="LK-4417"),
        result("c2", "get_order", found),
        said("assistant", "I have found it.\n\nWait. It is on its way."),
        said("user", "Please tell me."),
        said("assistant", answer),
    ]


def item(messages: Any = None, gold: str | None = "satisfies", identity: str = "one") -> Item:
    return Item(id=identity, fields={"request": "", "transcript": shop() if messages is None else messages}, gold=gold)


def perturber(test: str = "agent-perturbation", given: Task | None = None, **options: Any) -> Any:
    return build(jrh_agentic.plugin, test, options=options, task=given or task())
