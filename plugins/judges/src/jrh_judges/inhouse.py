"""Ask user-supplied judges for verdicts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from jrh import BuildContext, Judgement, Question, Reply, Verdict
from jrh.plugins import Judge
from jrh_authoring import Asker, Bounds, Call, as_values, endpoint_of, function_call

from jrh_judges.answers import verdict_of
from jrh_judges.options import FunctionOptions, HttpOptions


class InHouseJudge:
    """Asks a user-supplied judge, with limited concurrency and time."""

    def __init__(
        self, call: Call, bounds: Bounds, *, fingerprint: str, close: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        """Keep the call for one question, its limits, and the clean-up for the end."""
        self._asker = Asker(call, bounds)
        self._close = close
        self._bounds = bounds
        self._fingerprint = fingerprint

    async def judge(self, question: Question) -> Judgement:
        """Ask; timeouts and failures become statuses."""
        outcome, attempts, latency = await self._asker.ask(lambda: as_values(question))
        reply = Reply(
            status=outcome.status,
            text=outcome.text,
            cost=None if self._bounds.cost is None else self._bounds.cost * attempts,
            latency=latency,
            fingerprint=self._fingerprint,
            detail=outcome.detail,
            attempts=attempts,
        )
        if not reply.ok:
            return Judgement(verdict=Verdict(status=outcome.status, detail=outcome.detail), reply=reply)
        return Judgement(verdict=verdict_of(outcome.value, question.task.scale), reply=reply)

    async def aclose(self) -> None:
        """Close the judge's resources; asking again reopens them."""
        if self._close is not None:
            await self._close()


def function_judge(options: FunctionOptions, context: BuildContext) -> Judge:
    """Load the callable and make a judge of it.

    Raises:
        JrhError: The module or name does not exist, or is not callable.
    """
    return InHouseJudge(function_call(options, context), options, fingerprint=f"function/{options.function}")


def http_judge(options: HttpOptions, context: BuildContext) -> Judge:
    """Make a judge of the endpoint.

    Raises:
        JrhError: The environment variable for the token is not set.
    """
    endpoint = endpoint_of(options, context)
    return InHouseJudge(endpoint.call, options, fingerprint=endpoint.fingerprint, close=endpoint.aclose)
