"""Judges that ask for a score: one call for a response, and one for every option of a comparison."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from jrh import BuildContext, Judgement, Mode, Question, Reply, Status, Verdict
from jrh.plugins import Judge
from jrh_authoring import Asker, Bounds, Call, Outcome, as_values, endpoint_of, function_call

from jrh_reward.deciding import Decider, score_of, written
from jrh_reward.options import Decision, ScoreFunctionOptions, ScoreHttpOptions

_Asked = tuple[Outcome, int, float]


class ScoreJudge:
    """Asks for scores, and turns them into verdicts."""

    def __init__(
        self,
        call: Call,
        bounds: Bounds,
        decider: Decider,
        *,
        fingerprint: str,
        close: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """Keep what asks, its limits, what decides, and the clean-up for the end."""
        self._asker = Asker(call, bounds)
        self._cost = bounds.cost
        self._decider = decider
        self._fingerprint = fingerprint
        self._close = close

    async def judge(self, question: Question) -> Judgement:
        """Ask for the scores; failures and what is no number become statuses."""
        asked = await asyncio.gather(*(self._asker.ask(values) for values in _shown(question)))
        verdict = self._verdict(asked, question)
        return Judgement(verdict=verdict, reply=self._reply(asked))

    async def aclose(self) -> None:
        """Close the judge's resources; asking again reopens them."""
        if self._close is not None:
            await self._close()

    def _verdict(self, asked: list[_Asked], question: Question) -> Verdict:
        scores: list[float] = []
        for outcome, _, _ in asked:
            if outcome.status is not Status.OK:
                return Verdict(status=outcome.status, detail=outcome.detail)
            score = score_of(outcome.value)
            if isinstance(score, Verdict):
                return score
            scores.append(score)
        return self._decider.verdict(scores, question.task.scale)

    def _reply(self, asked: list[_Asked]) -> Reply:
        attempts = sum(number for _, number, _ in asked)
        failed = next((outcome for outcome, _, _ in asked if outcome.status is not Status.OK), Outcome())
        return Reply(
            status=failed.status,
            text="\n".join(outcome.text or written(outcome.value)[:200] for outcome, _, _ in asked),
            cost=None if self._cost is None else self._cost * attempts,
            latency=max(seconds for _, _, seconds in asked),
            fingerprint=self._fingerprint,
            detail=failed.detail,
            attempts=attempts,
        )


def _shown(question: Question) -> list[Callable[[], dict[str, object]]]:
    """Return what asks about each response: of a comparison, every option alone, as the field `response`."""
    if question.task.mode is not Mode.PAIRWISE:
        return [lambda: as_values(question)]
    names = question.task.judged_fields

    def alone(name: str) -> dict[str, object]:
        values = as_values(question)
        fields, task = values["fields"], values["task"]
        assert isinstance(fields, dict)
        assert isinstance(task, dict)
        others = {key: value for key, value in fields.items() if key not in names}
        shown = {**others, "response": fields.get(name)}
        return {**values, "task": {**task, "mode": Mode.POINTWISE.value}, "labels": [], "fields": shown}

    return [lambda name=name: alone(name) for name in names]  # type: ignore[misc]


def function_judge(options: ScoreFunctionOptions, context: BuildContext) -> Judge:
    """Load the callable and make a judge of it.

    Raises:
        JrhError: The callable cannot be loaded, or scores cannot become labels of the scale.
    """
    decider = _decider(options.decide, context)
    return ScoreJudge(function_call(options, context), options, decider, fingerprint=f"function/{options.function}")


def http_judge(options: ScoreHttpOptions, context: BuildContext) -> Judge:
    """Make a judge of the endpoint.

    Raises:
        JrhError: The environment variable for the token is not set, or scores cannot become labels of the scale.
    """
    endpoint, decider = endpoint_of(options, context), _decider(options.decide, context)
    return ScoreJudge(endpoint.call, options, decider, fingerprint=endpoint.fingerprint, close=endpoint.aclose)


def _decider(decision: Decision, context: BuildContext) -> Decider:
    return Decider.of(decision, context.task, context.name)
