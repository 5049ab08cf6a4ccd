"""Ask the grader which level a response reached."""

from __future__ import annotations

from typing import Final

from attrs import frozen
from jrh import ChatRequest, Item, ModelClient, Sampling, Task
from jrh.text import read_json
from jrh_authoring import ask_until_read

from jrh_synthetic_ordinal.prompts import Wording, graded

GRADINGS: Final = 2
"""An unreadable reply of the grader is retried once."""


@frozen(kw_only=True)
class Grader:
    """Applies the task's own rubric to a response."""

    task: Task
    client: ModelClient
    wording: Wording

    async def level(self, source: Item, response: str) -> str | None:
        """Return the level that the grader gives, or None if it gives none."""
        request = ChatRequest(
            messages=self.wording.to_grade(self.task, source, response),
            sampling=Sampling(temperature=0.0),
            json_schema=graded(self.task),
        )
        answer = await ask_until_read(self.client, request, lambda reply: self._read(reply.text), GRADINGS)
        return answer.value

    def _read(self, text: str) -> str | None:
        found = read_json(text, keys=("level",))
        if found is None:
            return self.task.scale.match(text)
        level = found["level"]
        # Models write an integer for a level that is named by a number.
        written = str(level) if isinstance(level, int) and not isinstance(level, bool) else level
        return self.task.scale.match(written) if isinstance(written, str) else None
