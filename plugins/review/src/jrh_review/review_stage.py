"""The stages in which people decide about cases: before any judge is asked, or in the order of the verdicts."""

from __future__ import annotations

import asyncio
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from attrs import evolve
from jrh import REFERENCE, Case, RunReport
from jrh.plugins import Stage, StageOutcome
from jrh.running import StageWork
from jrh.text import count_noun

from jrh_review.case_texts import with_texts
from jrh_review.decisions import Decision, ReviewAction, expectation_of
from jrh_review.desk import ReviewDesk
from jrh_review.options import First, Policy, Review
from jrh_review.runs import Runs

EDITED_FROM: Final = "review:case"
"""Key of the provenance of an edited case: the id of the case as it was made."""
POLL_SECONDS: Final = 0.25
"""How often a waiting run looks for new decisions."""
_COUNTED: Final = "review_counted"
"""Key of the number of the last decision that counts in the run's plan, and of how many people decide about a case."""


class ReviewStage(Stage):
    """Puts the cases that judges are asked together with what people decided about them."""

    def __init__(self, review: Review | None) -> None:
        """Take the section of the suite; None where it has none: decisions of `jrh review` count nevertheless."""
        self._review = review
        self._desk: ReviewDesk | None = None
        self._broken = ""
        """Why the review page ended; empty while it serves."""

    def applies(self, work: StageWork) -> bool:
        """Return whether cases are to be reviewed, or were."""
        desk = ReviewDesk(store=work.store)
        return self._review is not None or bool(desk.queue()) or desk.last() > 0

    def live(self, test: str, work: StageWork) -> bool:
        """Return whether people see cases of a test while further ones are made."""
        review = self._review
        return self._waits(work) and review is not None and not review.at_once and test in (review.tests or (test,))

    def look_at_cases(self, work: StageWork) -> None:
        """Put the cases that are stored into the queue; a sample is drawn once all of them are made."""
        # A sample of the cases so far would favour those that were made first.
        if self._review is not None and not self._review.at_once:
            fill_queue(self._open(work), self._review, work)

    async def serve(self, work: StageWork) -> None:
        """Serve the review page while the run waits; the server lives in a thread of the run's process."""
        if self._review is None or not self._waits(work):
            return
        # Cases of an earlier attempt are there at once; the page must not begin empty.
        self.look_at_cases(work)
        try:
            await _serve_page(self._open(work), work.run_dir, self._review, work.progress.say)
        except Exception as error:
            work.log.warning("review page ended", error=repr(error))
            # The page is a help: without it people can still decide with `jrh review` in another terminal.
            self._broken = f"{type(error).__name__}: {error}"
        else:
            self._broken = "it ended before all cases were decided"

    async def run(self, work: StageWork) -> StageOutcome:
        """Return what counts; wait for decisions where the suite says so."""
        review, desk = self._review, self._open(work)
        if review is not None:
            fill_queue(desk, review, work)
            if review.first is not First.RANDOM and not desk.queue():
                work.progress.say(
                    f"The review's order '{review.first.value}' needs verdicts: judges are asked about all cases now, "
                    "and people decide before the next run."
                )
            if self._waits(work):
                await self._wait(desk, review, work)
        needed = review.reviewers if review is not None else 1
        _note_counted(work.store, desk.last(), needed)
        decided = _effective_decisions(desk, needed)
        strict = review is not None and review.policy is not Policy.OPTIONAL
        # Under `optional` an undecided case counts as it is, so that none is left out for lack of a decision.
        queued = {case.case_id for case in desk.queue()} if strict else set()
        open_cases = len(queued - decided.keys())
        waits = review is not None and review.policy is Policy.WAIT and open_cases
        return StageOutcome(
            cases=_rule(decided, queued) if decided or queued else None,
            valid={name: decision.action is ReviewAction.ACCEPT for name, decision in decided.items()},
            open=self._wait_message(review, open_cases, work.run_dir) if review is not None and waits else "",
        )

    def foresee(self, store: Any) -> Callable[[Case], Case | None] | None:
        """Return what counts in a plan: cases that wait now will be asked, unless the suite leaves them out."""
        desk, review = ReviewDesk(store=store), self._review
        decided = _effective_decisions(desk, review.reviewers if review is not None else 1)
        left_out = review is not None and review.policy is Policy.DECIDED
        queued = {case.case_id for case in desk.queue()} if left_out else set()
        return _rule(decided, queued) if decided or queued else None

    def estimate(self, lines: Sequence[Any]) -> str:
        """Say how many cases people decide about."""
        review = self._review
        if review is None:
            return ""
        of_tests = {(line.task, line.test): line for line in lines if line.role == "judge" and line.test != REFERENCE}
        chosen = [line for line in of_tests.values() if not review.tests or line.test in review.tests]
        number = min(sum(line.cases for line in chosen), review.sample or sys.maxsize)
        about = "up to " if any(line.estimated for line in chosen) else ""
        who = "1 person decides" if review.reviewers == 1 else f"{review.reviewers} people decide"
        return (
            f"Review: {who} about each of {about}{count_noun(number, 'case')} before any judge is asked. The "
            "plan counts every case that is not rejected"
        )

    def report(self, report: RunReport, work: StageWork) -> RunReport:
        """Add what people decided."""
        from jrh_review.review_report import NAME, review_data

        upto, needed = map(int, (work.store.meta(_COUNTED) or "0 1").split())
        decisions = review_data(report.records, work, ReviewDesk(store=work.store), upto, needed)
        return report if decisions is None else evolve(report, stages={**report.stages, NAME: decisions})

    def _open(self, work: StageWork) -> ReviewDesk:
        """Return the desk; one for all, as it guards against two decisions at once."""
        if self._desk is None:
            self._desk = ReviewDesk(store=work.store)
        return self._desk

    def _waits(self, work: StageWork) -> bool:
        return self._review is not None and self._review.policy is Policy.WAIT and work.wait

    async def _wait(self, desk: ReviewDesk, review: Review, work: StageWork) -> None:
        queued, left = len(desk.queue()), desk.count_waiting(review.reviewers)
        if not left:
            return
        work.progress.begin("review", queued, done=queued - left)
        newest = desk.last()
        while left and not self._broken:
            # A budget or Ctrl-C ends the wait as it ends any other stage.
            if (stop := work.stopped()) is not None:
                raise stop
            # Decisions arrive in another thread or process; the store is what both see.
            await asyncio.sleep(POLL_SECONDS)
            if (last := desk.last()) != newest:
                newest, before, left = last, left, desk.count_waiting(review.reviewers)
                work.progress.advance(before - left)
        work.progress.end()

    def _wait_message(self, review: Review, number: int, run_dir: Path) -> str:
        """Say what a run waits for, and the command that opens the review for the same people."""
        # The same names, or a case that two people were to decide could be decided by one under two names.
        names = (word for name in review.people for word in ("--reviewer", name))
        why = f" (the review page: {self._broken})" if self._broken else ""
        command = shlex.join(["jrh", "review", str(run_dir), *names])
        waiting = count_noun(number, "case")
        return f"{waiting} waiting for a decision before any judge is asked{why}; decide with `{command}`"


class QueueByVerdicts(Stage):
    """Makes the queue of a review that is ordered by verdicts, as soon as the run has them."""

    def __init__(self, review: Review | None) -> None:
        """Take the section of the suite."""
        self._review = review

    def applies(self, work: StageWork) -> bool:
        """Return whether the suite orders its review by verdicts."""
        return self._review is not None and self._review.first is not First.RANDOM and work.stopped() is None

    async def run(self, work: StageWork) -> StageOutcome:
        """Make the queue."""
        assert self._review is not None
        fill_queue(ReviewDesk(store=work.store), self._review, work)
        return StageOutcome()


def fill_queue(desk: ReviewDesk, review: Review, work: StageWork) -> None:
    """Put the cases of the run's tests that are stored by now into the queue."""
    desk.fill_queue(review, {test.test for test in work.summary.tests_of_tasks})


async def _serve_page(desk: ReviewDesk, run_dir: Path, review: Review, say: Callable[[str], None]) -> None:
    """Serve the review until the run goes on; its address goes to the terminal."""
    # Only a run that waits needs the libraries of the server.
    from jrh_review.pages.review import open_reviewing
    from jrh_review.serving import make_server

    runs = Runs((run_dir,))
    with make_server(runs, say, open_reviewing(runs, run_dir, desk, review.people)) as served:
        say(f"Review: {served.address}")
        say("This link works once. The run goes on when every case is decided. Ctrl-C ends it; nothing is lost.")
        serving = asyncio.ensure_future(asyncio.to_thread(served.run))
        try:
            # A thread cannot be cancelled: the server is asked to end instead.
            await asyncio.shield(serving)
        finally:
            served.stop()
            await serving


def _note_counted(store: Any, last: int, needed: int) -> None:
    text = f"{last} {needed}"
    if (store.meta(_COUNTED) or "0 1") != text:
        store.set_meta(_COUNTED, text)


def _effective_decisions(desk: ReviewDesk, needed: int) -> dict[str, Decision]:
    """Return the decision that counts about each case that has one."""
    outcomes = {name: review.effective_decision(needed) for name, review in desk.reviews().items()}
    return {name: outcome for name, outcome in outcomes.items() if outcome is not None}


def _rule(decided: Mapping[str, Decision], queued: set[str]) -> Callable[[Case], Case | None]:
    """Return what counts: a rejected case is left out, as is one of the queue without a decision; an edit replaces."""

    def counts(case: Case) -> Case | None:
        outcome = decided.get(case.id)
        # An undecided case of the queue is left out only where the policy says so; `queued` is empty otherwise.
        if outcome is None:
            return None if case.id in queued else case
        if outcome.action is ReviewAction.EDIT:
            return apply_edit(case, outcome)
        return case if outcome.action is ReviewAction.ACCEPT else None

    return counts


def apply_edit(case: Case, decision: Decision) -> Case:
    """Return the case that an edit makes of a case; equal edits make equal cases, whoever made them."""
    # Without the reviewer: the id is a hash of the content, and equal edits have to make equal cases.
    provenance = evolve(case.provenance, details={**case.provenance.details, EDITED_FROM: case.id})
    expectation = expectation_of(decision.expected_after) if decision.expected_after else case.expectation
    return evolve(with_texts(case, decision.after), expectation=expectation, provenance=provenance)
