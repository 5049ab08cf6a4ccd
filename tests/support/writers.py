"""A generator on the wire that writes for every family, badly for some items, and a grader that reads what it wrote."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from jrh import Item
from jrh_testing.server.bodies import prompt_of

PREFLIGHT: Final = "Reply with OK."
"""What every model is asked once before the first stage."""
HUGE: Final = "x" * 10_000_000
PROSE: Final = "Here is my version of it, and I hope that you will like it."
REFUSAL: Final = "I'm sorry, but I can't help with that."
LONG: Final = "x" * 200_000
FOREIGN: Final = "прежде"
_FAULTS: Final[Mapping[str, Callable[[str, str, str], str]]] = {
    "prose": lambda well, text, rubric: PROSE,
    "empty": lambda well, text, rubric: _reply(""),
    "unchanged": lambda well, text, rubric: _reply(text),
    "rubric": lambda well, text, rubric: _reply(rubric),
    "refusal": lambda well, text, rubric: REFUSAL,
    "long": lambda well, text, rubric: _reply(LONG),
    "huge": lambda well, text, rubric: _reply(HUGE),
    "language": lambda well, text, rubric: _reply(_translated(well)),
}
FAULTS: Final = tuple(_FAULTS)
"""What the generator can do wrong, always, with one of the first items; with the others it does its work."""
FLIPPED: Final = "It is the other way round: "
_SHOWN: Final = re.compile(r"<(text|response)(?P<mark>[-\w]*)>\n(?P<text>.*?)\n</\1(?P=mark)>", re.DOTALL)
_LEVEL: Final = re.compile(r"a careful judge gives level (\S+?),")
_WRITTEN_FOR: Final = re.compile(r"level(\d+)x")
_KEPT_WORDS: Final = frozenset(
    # Numbers and negations, which no draft may lose; "and" stands in "one hundred and two".
    word
    for line in (
        "not no never none nobody nothing nowhere neither nor cannot without hardly scarcely barely and",
        "one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty sixty hundred",
    )
    for word in line.split()
)


class Writers:
    """Answers as generator, grader, label validator and judge, by what the prompt asks for."""

    def __init__(
        self,
        items: Sequence[Item],
        rubric: str,
        labels: tuple[str, ...],
        faults: Sequence[str] = FAULTS,
        doubted: int | None = None,
    ) -> None:
        """Know the items by their text.

        Args:
            items: the items of the task, in order.
            rubric: the task's rubric, which one of the faults hands back.
            labels: the labels of the scale.
            faults: what is done wrong, each with one of the first items.
            doubted: place of an item whose label flip the validator does not believe.
        """
        self.places = {_bare(str(item.fields["response"])): place for place, item in enumerate(items)}
        self.gold = [str(item.gold) for item in items]
        self.rubric, self.labels, self.faults, self.doubted = rubric, labels, faults, doubted

    def __call__(self, body: dict[str, Any]) -> str:
        """Answer one request."""
        prompt = prompt_of(body)
        if prompt == PREFLIGHT:
            return "OK"
        text = [match["text"] for match in _SHOWN.finditer(prompt)][-1]
        for asked, answer in self._answers().items():
            if asked in prompt:
                return answer(text, prompt, int(body.get("seed") or 0))
        return json.dumps({"verdict": self.labels[0]})

    def _answers(self) -> Mapping[str, Callable[[str, str, int], str]]:
        return {
            "in other words.": lambda text, _prompt, _seed: self._written(text, lambda: f"Put differently: {text}"),
            "in more words.": lambda text, _prompt, _seed: self._written(text, lambda: f"{text}\n\n{text}"),
            "in fewer words.": lambda text, _prompt, _seed: self._written(text, lambda: _shorter(text)),
            "Rewrite this response:": lambda text, _prompt, _seed: self._written(text, lambda: FLIPPED + text),
            "Write a new response": lambda text, prompt, seed: self._written(text, lambda: _of_level(prompt, seed)),
            "The levels, from lowest": lambda text, _prompt, _seed: json.dumps(
                {"rationale": "[simulated]", "level": _level_of(text)}
            ),
            "Apply the rubric strictly.": lambda text, _prompt, _seed: json.dumps(
                {"rationale": "[simulated]", "verdict": self._label(text)}
            ),
        }

    def _written(self, text: str, well: Callable[[], str]) -> str:
        place = self.places[_bare(text)]
        if place < len(self.faults):
            return _FAULTS[self.faults[place]](well(), text, self.rubric)
        return _reply(well())

    def _label(self, text: str) -> str:
        """Judge a flipped text: the other label than the item's, but for the item in doubt."""
        place = self.places[_bare(text.removeprefix(FLIPPED))]
        flipped = text.startswith(FLIPPED) and place != self.doubted
        return next(label for label in self.labels if (label != self.gold[place]) is flipped)


def _reply(text: str) -> str:
    """Write the text under both names that the families' prompts ask for."""
    return json.dumps({"text": text, "response": text, "changes": ["[simulated]"]})


def _bare(text: str) -> str:
    return " ".join(text.split())


def _translated(text: str) -> str:
    """Put foreign letters into the place of all but numbers, names and negations."""
    return " ".join(word if _stays(word) else re.sub("[a-z]+", FOREIGN, word) for word in text.split())


def _stays(word: str) -> bool:
    parts = re.findall("[a-z]+", word.lower())
    return word[:1].isupper() or "'" in word or "\u2019" in word or not _KEPT_WORDS.isdisjoint(parts)


def _shorter(text: str) -> str:
    """Leave out a quarter of the words, never a number, a name or a negation."""
    words = text.split()
    places = [place for place, word in enumerate(words) if re.fullmatch("[a-z]+", word) and not _stays(word)]
    dropped = set(places[: -(-len(words) // 4)])
    return " ".join(word for place, word in enumerate(words) if place not in dropped)


def _of_level(prompt: str, seed: int) -> str:
    """Write a text that is like no other, and that the grader can tell the level of."""
    level = _LEVEL.search(prompt)
    assert level is not None
    return " ".join([f"Here is level{level[1]}x,", *(f"word{seed}n{number}" for number in range(40))])


def _level_of(text: str) -> str:
    found = _WRITTEN_FOR.search(text)
    assert found is not None, "only what was written by the generator is graded"
    return found[1]
