"""Plant errors with a model: one rewrite per kind and number of errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import frozen
from jrh import Draft, Item, Json, Skip, Task
from jrh_authoring import TextWriter

from jrh_label_flip.aims import Aim, Aims
from jrh_label_flip.options import Error
from jrh_label_flip.prompts import Wording


@frozen(kw_only=True)
class ModelPerturber:
    """Lets a model rewrite the response; a failed rewrite becomes a skip, never a case."""

    task: Task
    aims: Aims
    errors: tuple[Error, ...]
    counts: tuple[int, ...]
    writer: TextWriter
    wording: Wording
    seed: Callable[..., int]
    """Derives a seed from what it is for."""

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:
        """Return a draft or a skip per kind and number of errors, in the order of the options."""
        outcomes: list[Draft | Skip] = []
        for error in self.errors:
            aim = self._aim(item, error)
            if isinstance(aim, Skip):
                outcomes.append(aim)
                continue
            # A flip does not consist of countable errors.
            counts = self.counts if error is not Error.FLIP else (1,)
            outcomes.extend([await self._rewritten(item, aim, error, count) for count in counts])
        return outcomes

    def _aim(self, item: Item, error: Error) -> Aim | Skip:
        aim = self.aims.aim(item, error)
        if isinstance(aim, Skip):
            return Skip(reason=aim.reason, variant=error.value)
        for name in filter(None, (aim.field, aim.other)):
            text = item.fields.get(name)
            if not isinstance(text, str) or not text.strip():
                return Skip(reason=f"field '{name}' is empty or not text", variant=error.value)
        return aim

    async def _rewritten(self, item: Item, aim: Aim, error: Error, count: int) -> Draft | Skip:
        generated = await self.writer.write(
            self.wording.messages(self.task, item, aim, error, count),
            str(item.fields[aim.field]),
            seed=lambda attempt: self.seed(item.id, error.value, count, attempt),
            shown=(str(item.fields.get(aim.other or "", "")),),
        )
        tried: list[Json] = [
            {"seed": attempt.seed, "status": attempt.status.value, "rejected": attempt.rejected}
            for attempt in generated.attempts
        ]
        details: dict[str, Json] = {
            "by": "model",
            "field": aim.field,
            "wanted": aim.wanted,
            "temperature": self.writer.temperature,
            "attempts": tried,
        }
        if generated.written is None:
            return Skip(reason=generated.reason, variant=error.value, details=details)
        return Draft(
            variant=error.value,
            strength=0.0 if error is Error.FLIP else float(count),
            fields={aim.field: generated.written.text},
            expectation=aim.expectation,
            model=self.writer.client.fingerprint,
            details={**details, "changes": _texts(generated.written.said.get("changes"))},
        )


def _texts(value: Json) -> list[Json]:
    return [part for part in value if isinstance(part, str)] if isinstance(value, (list, tuple)) else []
