"""The judge: a question of jrh becomes a question of the service, and its answer a verdict."""

from __future__ import annotations

import json

from attrs import frozen
from jrh import BuildContext, ChatRequest, Judgement, Message, ModelClient, Question, Status, Verdict
from jrh.hashing import distinct_keys

from acme_judge.options import JudgeOptions


def build(options: JudgeOptions, context: BuildContext) -> AcmeJudge:
    """Build the judge; calls go through the context's model, which caches and counts them."""
    return AcmeJudge(model=context.model(options.model), rubric=options.rubric)


@frozen(kw_only=True)
class AcmeJudge:
    """Asks the service for a grade."""

    model: ModelClient
    rubric: str

    async def judge(self, question: Question) -> Judgement:
        """Return the grade as a verdict; what is no grade of the scale has none."""
        # Two askings of one question are two grades: without the number the service could repeat the first one.
        asked = {
            "rubric": self.rubric,
            "request": question.fields.get("request"),
            "response": question.fields.get("response"),
            "asking": question.occasion,
        }
        request = ChatRequest(messages=(Message(role="user", content=json.dumps(asked, sort_keys=True)),))
        reply = await self.model.ask(request, repeat=question.occasion)
        if not reply.ok:
            return Judgement(verdict=Verdict(status=reply.status, detail=reply.detail), reply=reply)
        try:
            answer = json.loads(reply.text, object_pairs_hook=distinct_keys)
            label = question.task.scale.match(str(answer["grade"]))
        except (ValueError, KeyError, TypeError):
            verdict = Verdict(status=Status.UNPARSABLE, detail="the answer has no grade")
        else:
            off = Verdict(
                status=Status.OFF_SCALE, detail=f"the grade '{str(answer['grade'])[:40]}' is not on the scale"
            )
            reason = str(answer.get("reason", ""))
            verdict = off if label is None else Verdict(status=Status.OK, presented=label, rationale=reason)
        return Judgement(verdict=verdict, reply=reply)
