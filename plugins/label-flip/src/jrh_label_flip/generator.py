"""The perturber with a model: one rewriting per kind of error and number of errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import frozen
from jrh import ChatRequest, Draft, Item, Json, ModelClient, Sampling, Skip, Task

from jrh_label_flip.aims import Aim, Aims
from jrh_label_flip.options import Error
from jrh_label_flip.prompts import SCHEMA, Wording
from jrh_label_flip.replies import PROVIDER_ERROR, Written, written


@frozen(kw_only=True)
class ModelPerturber:
    """Lets a model rewrite the response; what it does not do is a skip, never a case."""

    task: Task
    aims: Aims
    errors: tuple[Error, ...]
    counts: tuple[int, ...]
    client: ModelClient
    wording: Wording
    temperature: float | None
    attempts: int
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
            # A flip is not made of countable errors.
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
                return Skip(reason=f"field '{name}' is not text, or is empty", variant=error.value)
        return aim

    async def _rewritten(self, item: Item, aim: Aim, error: Error, count: int) -> Draft | Skip:
        messages = self.wording.messages(self.task, item, aim, error, count)
        original = str(item.fields[aim.field])
        forbidden = (self.task.rubric, self.task.instruction, str(item.fields.get(aim.other or "", "")))
        tried: list[Json] = []
        found: Written | str = ""
        for attempt in range(self.attempts):
            seed = self.seed(item.id, error.value, count, attempt)
            request = ChatRequest(
                messages=messages, sampling=Sampling(temperature=self.temperature, seed=seed), json_schema=SCHEMA
            )
            reply = await self.client.ask(request, repeat=attempt, purpose="generate")
            found = written(reply, original, forbidden)
            tried.append(
                {
                    "seed": seed,
                    "status": reply.status.value,
                    "rejected": "" if isinstance(found, Written) else found,
                }
            )
            # A provider that failed has been asked again by the gateway already.
            if isinstance(found, Written) or found == PROVIDER_ERROR:
                break
        details: dict[str, Json] = {
            "by": "model",
            "field": aim.field,
            "wanted": aim.wanted,
            "temperature": self.temperature,
            "attempts": tried,
        }
        if not isinstance(found, Written):
            return Skip(reason=found, variant=error.value, details=details)
        return Draft(
            variant=error.value,
            strength=0.0 if error is Error.FLIP else float(count),
            fields={aim.field: found.text},
            expectation=aim.expectation,
            model=self.client.fingerprint,
            details={**details, "changes": list(found.changes)},
        )
