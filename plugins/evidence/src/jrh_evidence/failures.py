"""The source `failed-runs`: transcripts of failed agents with the step and the agent that failed (Who&When's shape)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from attrs import frozen
from jrh import BuildContext, Item, JrhError, Json
from jrh.hashing import distinct_keys

from jrh_evidence.options import FailureOptions

_USERS: Final = frozenset({"user", "human"})


@frozen(kw_only=True)
class FailedRuns:
    """Read one item per failed run; its gold label is the number of the step, counted from 1, or the agent's name."""

    options: FailureOptions

    @classmethod
    def build(cls, options: FailureOptions, context: BuildContext) -> FailedRuns:
        """Build the source.

        Raises:
            JrhError: the task judges no transcripts.
        """
        if "transcript" not in context.task.judged_fields:
            raise JrhError("failed-runs: the task needs `mode: transcript`")
        return cls(options=options)

    def read(self) -> Iterator[Item]:
        """Yield the runs in the order of the files' names, or of the list.

        Raises:
            JrhError: a file is missing or has another shape; the message names it.
        """
        if self.options.path.is_dir():
            for file in sorted(self.options.path.glob("*.json")):
                yield _item(file.stem, file.name, _read(file), self.options.gold)
            return
        runs = _read(self.options.path)
        for at, run in enumerate(runs if isinstance(runs, list) else [runs]):
            # The name that Who&When gives to a task.
            name = run.get("question_ID", at + 1) if isinstance(run, Mapping) else at + 1
            yield _item(str(name), f"{self.options.path.name}[{at}]", run, self.options.gold)


def _read(path: Path) -> Any:
    if not path.is_file():
        raise JrhError(f"there is no file '{path}'")
    try:
        # Tolerates the byte order mark that Windows programs write.
        return json.loads(path.read_text(encoding="utf-8-sig"), object_pairs_hook=distinct_keys)
    except (ValueError, RecursionError) as error:
        raise JrhError(f"{path.name}: not JSON in UTF-8: {error}") from None


def _item(name: str, where: str, run: Any, gold: str) -> Item:
    if not isinstance(run, Mapping) or not isinstance(run.get("history"), list) or not run["history"]:
        raise JrhError(f"{where}: expected an object with a list of messages, `history`")
    messages = [_message(message, f"{where}: history[{at}]") for at, message in enumerate(run["history"])]
    agent, step = str(run.get("mistake_agent", "")), str(run.get("mistake_step", ""))
    # A step outside the transcript could never be answered.
    if not step.isdecimal() or int(step) >= len(messages):
        raise JrhError(f"{where}: mistake_step '{step[:20]}' is not a step from 0 to {len(messages) - 1}")
    return Item(
        id=name,
        fields={"request": str(run.get("question", "")), "transcript": messages},
        # Who&When counts steps from 0; judges see messages numbered from 1.
        gold=str(int(step) + 1) if gold == "step" else agent,
        metadata={"agent": agent, "step": str(int(step) + 1), "reason": str(run.get("mistake_reason", ""))},
    )


def _message(message: Any, where: str) -> Json:
    """Return a message; the agent's name, in `name` or as the role, comes before its text."""
    if not isinstance(message, Mapping) or not isinstance(message.get("content"), str):
        raise JrhError(f"{where}: expected an object with the text `content`")
    author = str(message.get("name") or message.get("role") or "")
    text = message["content"]
    if author.lower() in _USERS:
        return {"role": "user", "content": text}
    return {"role": "assistant", "content": f"{author}: {text}" if author else text}
