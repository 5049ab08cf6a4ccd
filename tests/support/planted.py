"""Simulated judges on the wire: a chat server's answers with a planted defect per model name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import jrh
from attrs import frozen
from jrh_testing.server.answers import share
from jrh_testing.server.bodies import prompt_of

TASKS: Final = {
    "factual": ("factuality", {"labels": ["YES", "NO"]}),
    "coherence": ("coherence", {"ordinal": [1, 5]}),
    "relevance": ("relevance", {"pairwise": True}),
    "preference": ("preference", {"pairwise": True}),
}
"""The shipped data sets: the inventory of templates for each, and its scale."""
_LABELS: Final = {
    "factual": ("YES", "NO"),
    "coherence": ("1", "2", "3", "4", "5"),
    "relevance": ("A", "B"),
    "preference": ("A", "B"),
}
_INVERTED: Final = "any factual error"
"""What the shipped template of inverted polarity says."""
_SHOWN: Final = (
    re.compile(r"<response>\n(?P<one>.*)\n</response>", re.DOTALL),
    re.compile(r"<response_a>\n(?P<one>.*)\n</response_a>.*<response_b>\n(?P<two>.*)\n</response_b>", re.DOTALL),
    re.compile(r"^A: (?P<one>.*)\nB: (?P<two>.*)\Z", re.DOTALL | re.MULTILINE),
    re.compile(r"^(?:Answer|Text): (?P<one>.*)\Z", re.DOTALL | re.MULTILINE),
)


@frozen(kw_only=True)
class Planted:
    """The defects of one judge."""

    template_sensitivity: float = 0.0
    """Share of (item, template) on which the answer changes; the judge's own template is left alone."""
    polarity_blindness: float = 0.0
    """Share of items whose inverted question is answered as if it were not inverted."""
    first_position: float = 0.0
    """Share of pairs on which the first option is chosen."""
    unreadable: float = 0.0
    """Share of questions that get an answer without a decision."""


NINE: Final[Mapping[str, Planted]] = {
    "steady": Planted(),
    "touchy-05": Planted(template_sensitivity=0.05),
    "touchy-10": Planted(template_sensitivity=0.10),
    "touchy-20": Planted(template_sensitivity=0.20),
    "touchy-40": Planted(template_sensitivity=0.40),
    "blind": Planted(polarity_blindness=1.0),
    "half-blind": Planted(polarity_blindness=0.5),
    "first": Planted(first_position=0.3),
    "vague": Planted(unreadable=0.05),
}
"""Nine judges by model name."""


class PlantedAnswers:
    """Answers for the shipped items: right, but for what is planted in the model that is asked."""

    def __init__(self, judges: Mapping[str, Planted]) -> None:
        """Read the items whose answers are known."""
        self.judges = judges
        self.known: dict[tuple[str, str | None], tuple[str, str, str]] = {}
        for task, items in jrh.read_items(suite(judges, "http://127.0.0.1:9/v1")):
            for item in items:
                one, two = (str(item.fields[name]) if name in item.fields else None for name in _fields(item))
                self.known[str(one), two] = (task.name, item.id, str(item.gold))

    def __call__(self, body: dict[str, Any]) -> str:
        """Answer one request."""
        prompt = prompt_of(body)
        model = str(body["model"])
        planted = self.judges[model]
        found = next(match for pattern in _SHOWN if (match := pattern.search(prompt)))
        shown = found.groupdict()
        task, item, gold = self.known[shown["one"], shown.get("two")]
        template = prompt[: found.start()]
        if share("unreadable", model, item, template) < planted.unreadable:
            return "Well, that depends."
        labels = _LABELS[task]
        if len(labels) == 2 and "A" in labels and share("first", model, item) < planted.first_position:
            return labels[0]
        answer = gold
        own = "<response" in prompt
        if not own and share("template", model, item, template) < planted.template_sensitivity:
            others = [label for label in labels if label != gold]
            answer = others[int(share("other", model, item, template) * len(others))]
        if _INVERTED in prompt and share("polarity", model, item) >= planted.polarity_blindness:
            answer = labels[1 - labels.index(answer)]
        return answer


def _fields(item: jrh.Item) -> tuple[str, str]:
    return ("response_a", "response_b") if "response_a" in item.fields else ("response", "")


def suite(
    judges: Mapping[str, Planted], url: str, *, repeats: int = 1, items: int = 30, **limits: Any
) -> dict[str, Any]:
    """Make the JSS suite over the four shipped data sets, one model and one judge per name."""
    return {
        "name": "jss",
        "tasks": [
            {
                "name": name,
                "data": {"source": "examples", "dataset": name, "sample": {"n": items}},
                "task": {"instruction": "Judge it.", "scale": scale},
            }
            for name, (_, scale) in TASKS.items()
        ],
        "models": {
            name: {
                "provider": "openai-http",
                "model": name,
                "base_url": url,
                "free": True,
                "max_tokens": 20,
                **limits,
            }
            for name in judges
        },
        "reference": {"repeats": repeats},
        "metrics": [{"template-sensitivity": {"also": ["jss-correction"]}}, "missing"],
        "resamples": 200,
        "tests": [{"templates": {"inventory": {name: each for name, (each, _) in TASKS.items()}, "repeats": repeats}}],
        "judges": [{"name": name, "judge": "llm", "model": name} for name in judges],
    }
