"""Edit one long transcript by rules and by the pipeline; print what it took as JSON. Started by `agentic.py`."""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import time
from pathlib import Path
from typing import Any, Final

import jrh_agentic.plugin
from jrh import ChatRequest, Draft, Item, Mode, Scale, Task
from jrh_testing import ScriptedModel, build

TASK: Final = Task(
    name="shop",
    rubric="The agent must call look_up. What it tells agrees with the results of its calls. It claims no other call.",
    scale=Scale.of_labels("satisfies", "violates"),
    mode=Mode.TRANSCRIPT,
)
SHAPES: Final = {"2,000 messages": (2_000, 300), "5 MB": (200, 38_000), "5 MB in one answer": (6, 1_300_000)}
"""Number of messages, and characters of each."""
STEPS: Final = 5


def transcript(messages: int, characters: int) -> list[dict[str, Any]]:
    """Make calls, results and answers in turn, all of the same length, with values that the answers repeat."""
    made: list[dict[str, Any]] = [{"role": "user", "content": "Where are my orders?"}]
    for number in range((messages - 3) // 3 + 1):
        value = f"LK-{10_000 + number}"
        sentence = f'It\'s so that {value} arrives on 2026-03-18, and we told you. That is "all"...\n\n- tea\n- milk\n'
        call = {"id": f"c{number}", "name": "look_up", "arguments": {"order": value}}
        made.append({"role": "assistant", "content": "", "tool_calls": [call]})
        result = json.dumps({"order": value, "shipped": True, "text": sentence * (characters // len(sentence))})
        made.append({"role": "tool", "content": result, "tool_call_id": call["id"], "name": "look_up"})
        made.append({"role": "assistant", "content": sentence * (1 + characters // len(sentence))})
    return made


class Editors:
    """Plays every role at once."""

    def __init__(self, messages: list[dict[str, Any]]) -> None:
        """Plan to edit the calls: answers may be too long for an editor."""
        self.calls = [number for number, message in enumerate(messages, 1) if message.get("tool_calls")][-STEPS:]

    def __call__(self, request: ChatRequest) -> str:
        """Answer one request."""
        prompt = request.messages[-1].content
        if "Plan edits" in prompt:
            steps = [{"message": number, "goal": "say something", "reason": "r"} for number in self.calls]
            return json.dumps({"thesis": "t", "steps": steps})
        if "and no other:" in prompt:
            number = int(prompt.partition("Edit message ")[2].partition(" ")[0])
            return json.dumps({"message": number, "content": "I look it up."})
        if "Apply the entry strictly" in prompt:
            return json.dumps({"reason": "r", "label": "violates"})
        return json.dumps({"summary": "s"})


def megabytes() -> float:
    """Return the most memory the process has had so far.

    On Linux the figure of `getrusage` starts with what the parent had; that of /proc starts anew.
    """
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(shape: str, how: str) -> None:
    """Edit and print."""
    messages = transcript(*SHAPES[shape])
    size = sum(len(str(message["content"])) for message in messages)
    item = Item(id="one", fields={"transcript": messages}, gold="satisfies")
    tests = ("agent-perturbation", "agent-style") if how == "rules" else ("agent-perturbation",)
    options = {} if how == "rules" else {"model": "mini"}
    models = {"mini": ScriptedModel(Editors(messages))}
    perturbers = [build(jrh_agentic.plugin, test, task=TASK, options=options, models=models) for test in tests]
    asyncio.run(perturbers[0].perturb(Item(id="small", fields={"transcript": messages[:4]}, gold="satisfies")))
    alone, started = megabytes(), time.perf_counter()
    drafts = 0
    for perturber in perturbers:
        drafts += sum(isinstance(each, Draft) for each in asyncio.run(perturber.perturb(item)))
    found = {
        "messages": len(messages),
        "characters": size,
        "drafts": drafts,
        "seconds": time.perf_counter() - started,
        "megabytes": megabytes() - alone,
        "longest_prompt": max((len(prompt) for prompt in models["mini"].prompts), default=0),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
