"""Answer as the model that writes drafts and as the one that judges, the same to the same prompt."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from jrh_testing import LabelAnswers
from jrh_testing.server.bodies import prompt_of

from support.suites import LABELS

_FORMS: Final = {"in other words.": "Put differently: {}", "Rewrite this response:": "It is the other way round: {}"}
"""What a generator is asked -> what it writes."""
_SHOWN: Final = re.compile(r"<(text|response)(?P<mark>[-\w]*)>\n(?P<text>.*?)\n</\1(?P=mark)>", re.DOTALL)


class Rewording:
    """Writes or judges; remembers which it did, in order."""

    def __init__(self) -> None:
        """Count from nothing."""
        self.label = LabelAnswers(labels=LABELS)
        self.asked: list[str] = []

    def __call__(self, body: dict[str, Any]) -> str:
        """Answer a request."""
        prompt = prompt_of(body)
        form = next((form for asked, form in _FORMS.items() if asked in prompt), None)
        self.asked.append("judge" if form is None else "write")
        if form is None:
            return self.label(body)
        text = form.format([match["text"] for match in _SHOWN.finditer(prompt)][-1])
        return json.dumps({"text": text, "response": text, "changes": ["the words"]})
