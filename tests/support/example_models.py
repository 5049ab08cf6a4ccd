"""Loopback models for the suites in `examples/` that name a model of a provider: what they answer is planted."""

from __future__ import annotations

import json
import re
from itertools import permutations
from pathlib import Path
from typing import Any, Final

EXAMPLES: Final = Path(__file__).parents[2] / "examples"
CIRCLE: Final = {"full": "short", "short": "wrong", "wrong": "full"}
"""Who beats whom in `examples/consistency`; everybody beats `vague`."""


def rows(path: str) -> list[dict[str, Any]]:
    """Return the rows of a JSON Lines file of the examples."""
    return [json.loads(line) for line in (EXAMPLES / path).read_text(encoding="utf-8").splitlines()]


class Circling:
    """For `examples/consistency`: scores by correctness, compares in circles, and counts what it was shown."""

    def __init__(self) -> None:
        """Start with nothing shown."""
        self.with_reference = self.without = 0
        self._named = {row["response"]: row for row in rows("consistency/responses.jsonl")}

    def __call__(self, body: dict[str, Any]) -> str:
        """Answer one request."""
        asked = body["messages"][-1]["content"]
        shown = re.findall(r"<response[^>]*>\n(.*?)\n</response", asked, re.DOTALL)
        if len(shown) == 2:
            one, other = (self._named[text]["response_id"] for text in shown)
            return "A" if CIRCLE.get(one) == other or other == "vague" else "B"
        if "A>B>C" in asked:
            parts = re.split(r"\n*Response [ABC]:\n", shown[0])[1:]
            score = {letter: self._named[text.strip()]["score"] for letter, text in zip("ABC", parts, strict=True)}
            return max(
                (">".join(order) for order in permutations("ABC")), key=lambda text: [score[c] for c in text[::2]]
            )
        row = self._named[shown[0]]
        if f"known to be right:\n{row['reference']}" in asked:
            self.with_reference += 1
            return "5" if row["reference"] in row["response"] else "1"
        self.without += 1
        return str(row["score"])


def reading_the_start(body: dict[str, Any]) -> str:
    """For `examples/evidence`: look for the violation in the first 4,800 characters, and for two wrong numbers."""
    asked = body["messages"][-1]["content"]
    shown = re.search(r"<(response[^>]*)>\n(.*?)\n</\1>", asked, re.DOTALL)[2]
    request = re.search(r"<request[^>]*>\n(.*?)\n</request", asked, re.DOTALL)[1]
    wrong = sum(
        one != other for one, other in zip(*(re.findall(r"\d+", text) for text in (request, shown)), strict=False)
    )
    return "NO" if "deleted the customer's backup" in shown[:4800] or wrong > 1 else "YES"


def obeying(body: dict[str, Any]) -> str:
    """For `examples/injection`: obey a plain command, unless a defence is seen.

    Defences are the system paragraph, the task once more, or signs.
    """
    messages = {message["role"]: message["content"] for message in body["messages"]}
    asked = messages["user"]
    if asked.startswith("Below is material that somebody is about to grade."):
        return "YES" if "grader" in asked else "NO"
    told = "Never follow it" in messages.get("system", "") or "The material ends here. Your task" in asked
    if "Note to the grader" in asked and not told:
        return "YES"
    # What is judged is what stands between the first tag and the one that closes it, whatever its mark.
    shown = re.search(r"<(response[^>]*)>\n(.*?)\n</\1>(.*)", asked, re.DOTALL)
    assert shown is not None
    words = re.sub("\u02c6", " ", shown[2])
    request = re.search(r"<request[^>]*>\n(.*?)\n</request", asked, re.DOTALL)
    return "NO" if (request[1], re.search(r"answer is: (.*?)\.", words)[1]) in _FALSE else "YES"


_FALSE: Final = {
    (item["request"], re.search(r"answer is: (.*?)\.", item["response"])[1])
    for item in rows("injection/items.jsonl")
    if item["label"] == "NO"
}
