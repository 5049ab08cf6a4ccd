"""The stage between validation and judging in which people decide about cases."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Final

from attrs import define, field

from jrh.errors import RAISED, StopReason, StopRun
from jrh.running.prepare import Prepared
from jrh.running.review_queue import QueueRequest
from jrh.running.reviewing import ReviewDesk
from jrh.running.stages.reviewed import CountedCases, keep_reviewed, number_waiting
from jrh.running.stages.stored_cases import StoredCases
from jrh.suite.definition import First, Review, ReviewPolicy
from jrh.suite.resolved import tests_of
from jrh.text.numbers import counted
from jrh.text.redact import error_line

POLL_SECONDS: Final = 0.25
"""How often a waiting run looks for new decisions."""


@define
class ReviewStage:
    """Puts the cases that judges are asked together with what people decided about them."""

    ready: Prepared
    _broken: str = field(default="", init=False)
    """Why the component that people decide by ended; empty while it serves."""

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Let people decide about cases from now on, while further ones are made."""
        chosen = self.ready.resolved.decider
        if not self._waits or chosen is None:
            yield
            return
        decider = self.ready.builder.build(chosen)
        self.arrived(complete=False)
        serving = asyncio.ensure_future(self._serve(decider))
        try:
            yield
        finally:
            serving.cancel()
            with suppress(asyncio.CancelledError):
                await serving

    async def _serve(self, decider: object) -> None:
        ready, review = self.ready, self.ready.suite.review
        desk = ReviewDesk(store=ready.store)
        try:
            await decider.decide(desk, ready.run_dir, review, ready.progress.say)  # type: ignore[attr-defined]
        except RAISED as error:  # what was decided is stored: the run ends in good order
            ready.log.warning("decider raised", error=repr(error))
            self._broken = error_line(error)
        else:
            self._broken = "it ended before all cases were decided"

    @property
    def _waits(self) -> bool:
        review = self.ready.suite.review
        return review is not None and review.policy is ReviewPolicy.WAIT and self.ready.settings.wait

    def live(self, test: str) -> bool:
        """Tell whether people see cases of a test while further ones are made."""
        review = self.ready.suite.review
        if review is None or _drawn_at_once(review) or self.ready.resolved.decider is None:
            return False
        return self._waits and (not review.tests or test in review.tests)

    def arrived(self, *, complete: bool) -> None:
        """Put the cases that are stored into the queue; a sample is drawn once all of them are made."""
        review = self.ready.suite.review
        if review is None or (_drawn_at_once(review) and not complete):
            return
        kept = {test.use.name for use in self.ready.suite.tasks for test in tests_of(self.ready.resolved, use.task)}
        ReviewDesk(store=self.ready.store).fill_queue(QueueRequest.of(review), kept)

    async def counted(self, made: StoredCases) -> StoredCases:
        """Return the cases that judges are asked; wait for decisions where the suite says so.

        Raises:
            StopRun: decisions are missing, and nothing is there to wait for.
        """
        ready, review = self.ready, self.ready.suite.review
        self.arrived(complete=True)
        if review is not None and review.first is not First.RANDOM and not ready.store.decisions.queue():
            ready.progress.say(
                f"The review's order '{review.first.value}' needs verdicts: judges are asked about all cases now, and "
                "people decide before the next run."
            )
        if self._waits:
            await self._wait()
        tasks = {use.task.name: use.task for use in ready.suite.tasks}
        rule = CountedCases(ready.store, tasks, review)
        cases = made if rule.all_count else made.changed(rule.of)
        keep_reviewed(ready.store, list(cases.revised()), review)
        if rule.all_count:
            return cases
        waiting = sum(map(rule.waits, made))
        if waiting and review is not None and review.policy is ReviewPolicy.WAIT:
            why = f" (the review page: {self._broken})" if self._broken else ""
            raise StopRun(
                StopReason.REVIEW,
                f"{counted(waiting, 'case')} waiting for a decision before any judge is asked{why}; "
                f"decide with `{self._command(review.people)}`",
            )
        return cases

    def _command(self, people: Sequence[str]) -> str:
        """Return the command that opens the review for the same people: each sees what they decided before."""
        names = (word for name in people for word in ("--reviewer", name))
        return shlex.join(["jrh", "review", str(self.ready.run_dir), *names])

    async def _wait(self) -> None:
        ready, review = self.ready, self.ready.suite.review
        assert review is not None
        queued = len(ready.store.decisions.queue())
        left = number_waiting(ready.store, review)
        if not left:
            return
        if ready.resolved.decider is None:
            return
        ready.progress.begin("review", queued, done=queued - left)
        seen = ready.store.decisions.last()
        while left and not self._broken:
            if ready.gateway.stopped is not None:
                raise ready.gateway.stopped
            await asyncio.sleep(POLL_SECONDS)
            if (last := ready.store.decisions.last()) != seen:
                seen, before, left = last, left, number_waiting(ready.store, review)
                ready.progress.advance(before - left)
        ready.progress.end()


def _drawn_at_once(review: Review) -> bool:
    """Tell whether the queue is drawn from all cases rather than filled while they are made."""
    return review.sample is not None or review.first is not First.RANDOM


def queue_by_verdicts(ready: Prepared) -> None:
    """Make the queue of a review that is ordered by verdicts, now that the run has them."""
    review = ready.suite.review
    if review is not None and review.first is not First.RANDOM and ready.gateway.stopped is None:
        ReviewStage(ready).arrived(complete=True)
