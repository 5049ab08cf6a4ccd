"""Make one attempt: request a response of a level, have it graded."""

from __future__ import annotations

from collections.abc import Callable

from attrs import evolve, frozen
from jrh import ChatRequest, ModelClient, Sampling, Task
from jrh_authoring import Unusable, Written, read_text

from jrh_synthetic_ordinal.buckets import Attempt, Bucket
from jrh_synthetic_ordinal.examples import Shelf
from jrh_synthetic_ordinal.grading import Grader
from jrh_synthetic_ordinal.prompts import RESPONSE, WRITTEN, Wording
from jrh_synthetic_ordinal.ramp import Ramp


@frozen(kw_only=True)
class Writer:
    """Makes attempts; the result depends only on the bucket and the replies."""

    task: Task
    client: ModelClient
    grader: Grader
    wording: Wording
    examples: int
    seed: Callable[..., int]
    """Derives a seed from what it is for."""

    async def write(self, bucket: Bucket, ramp: Ramp, shelf: Shelf) -> Attempt:
        """Ask once for an open bucket; the attempt is not graded yet."""
        temperature = bucket.temperature(ramp) or 0.0 if ramp.told else None
        number = len(bucket.attempts)
        seed = self.seed(bucket.item.id, bucket.level, bucket.place, number)
        examples = shelf.choose(bucket.level, bucket.item, self.examples, seed)
        # A model without a temperature gives other texts for other seeds, examples and words.
        variation = number if number and bucket.attempts[-1].temperature is None else 0
        request = ChatRequest(
            messages=self.wording.to_write(self.task, bucket.item, bucket.level, examples, variation),
            sampling=Sampling(temperature=temperature, seed=seed),
            json_schema=WRITTEN,
        )
        reply = await self.client.ask(request, repeat=number, purpose="generate")
        shown = (self.task.rubric, self.task.instruction)
        found = read_text(reply, str(bucket.item.fields["response"]), shown, key=RESPONSE)
        return Attempt(
            wanted=bucket.level,
            number=number,
            temperature=None if "temperature" in reply.not_settable else temperature,
            seed=seed,
            examples=tuple(example.id for example in examples),
            examples_of=tuple(dict.fromkeys(example.gold or "" for example in examples)),
            status=reply.status.value,
            text=found.text if isinstance(found, Written) else "",
            rejected=found.reason if isinstance(found, Unusable) else "",
        )

    async def grade(self, bucket: Bucket, made: Attempt) -> Attempt:
        """Have a response graded, unless it was rejected."""
        if made.rejected:
            return made
        level = await self.grader.level(bucket.item, made.text)
        return evolve(made, achieved=level, rejected="" if level is not None else "no level in the grader's reply")
