"""Review a run's cases: the queue, the cases in it, and the decisions; one is committed before a page says so."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock

from attrs import evolve, field, frozen

from jrh.document.serial import to_text
from jrh.errors import JrhError
from jrh.running.review_outcomes import CaseReview, case_reviews
from jrh.running.review_queue import NoVerdictsError, QueueRequest, drawn, known_cases
from jrh.running.stages.summary import recall
from jrh.store.run_store import Store
from jrh.suite.definition import First
from jrh.values.cases import REFERENCE, Case
from jrh.values.reviews import Decision, QueuedCase, ReviewAction


class StaleDecisionError(JrhError):
    """Report a decision about a case that another person has decided about in the meantime. Reload the page."""


@frozen(kw_only=True)
class ReviewDesk:
    """A run directory that is open for review; no other process can write to it meanwhile."""

    _store: Store
    _lock: Lock = field(factory=Lock)

    def queue(self) -> tuple[QueuedCase, ...]:
        """Return the queue, in the order of review."""
        return self._store.decisions.queue()

    def make_queue(self, request: QueueRequest | None) -> tuple[QueuedCase, ...]:
        """Make the queue unless it is made; a queue that people have decided on stays as it is.

        Args:
            request: which cases; None: those of the queue that is there, or all.

        Raises:
            JrhError: a test is unknown, there are no cases, or decisions were made on another queue.
        """
        table = self._store.decisions
        kept = table.queue_digest()
        if kept is not None and (request is None or to_text(request) == kept):
            return table.queue()
        if kept is not None and table.read():
            raise JrhError(
                "people have already decided about cases in this run's queue, so it cannot change; leave out --tests, "
                "--sample, --seed and --first to continue with it"
            )
        request = request or QueueRequest()
        cases = drawn(known_cases(table.candidates(REFERENCE), request), request, self._store.case_rows.scores)
        table.replace_queue(to_text(request), cases)
        return cases

    def fill_queue(self, request: QueueRequest, tests: Collection[str]) -> None:
        """Make the queue of the cases that are stored by now, for a run whose suite asks for a review.

        Decisions stay with their cases, whether or not these are in the queue. A queue that verdicts ordered is made
        once there are some, and then stays: decisions change the verdicts that count, and must not change the queue.

        Args:
            request: what the suite asks for.
            tests: the tests of the run; cases of others are left out.
        """
        table = self._store.decisions
        found = [case for case in table.candidates(REFERENCE) if case.test in tests]
        cases = self._ordered(found, request)
        with self._lock:
            before = {case.case_id: place for place, case in enumerate(table.queue())}
            if request.sample is None:  # who reviews while cases are made finds new ones at the end
                cases = tuple(sorted(cases, key=lambda case: before.get(case.case_id, len(before))))
            if table.queue_digest() != to_text(request) or table.queue() != cases:
                table.replace_queue(to_text(request), cases)

    def _ordered(self, found: Sequence[QueuedCase], request: QueueRequest) -> tuple[QueuedCase, ...]:
        table = self._store.decisions
        if request.first is not First.RANDOM and table.queue_digest() == to_text(request):
            there = {case.case_id for case in found}
            if kept := tuple(case for case in table.queue() if case.case_id in there):
                return kept
        try:
            return drawn(found, request, self._store.case_rows.scores)
        except NoVerdictsError:
            return ()

    def case(self, case_id: str) -> tuple[Case, Case | None]:
        """Return a case, and the reference case of its item if it is stored.

        Raises:
            JrhError: it is not stored.
        """
        original = self._store.decisions.original(case_id, REFERENCE)
        found = self._store.cases.by_id([case_id, *([original] if original else [])])
        if case_id not in found:
            raise JrhError("This run has no such case.")
        return found[case_id], found.get(original or "")

    def review(self, case_id: str) -> CaseReview:
        """Return what was decided about a case."""
        return CaseReview(log=self._store.decisions.read(case_id))

    def reviews(self) -> Mapping[str, CaseReview]:
        """Return what was decided, by case."""
        return case_reviews(self._store.decisions.read())

    def last(self) -> int:
        """Return the number of the last decision; 0 where there is none."""
        return self._store.decisions.last()

    def check(self, decision: Decision, version: int) -> None:
        """Raise what `decide` would raise."""
        _check(decision, self.review(decision.case_id), version)

    def decide(self, decision: Decision, version: int) -> CaseReview:
        """Add a decision durably, and return all that is decided about its case.

        Args:
            decision: without number and time, which are given here.
            version: `CaseReview.version` of what the reviewer saw.

        Raises:
            StaleDecisionError: there is a later decision, or two people have decided meanwhile.
            JrhError: the decision is incomplete.
        """
        return self.decide_all([(decision, version)])[0]

    def decide_all(self, decisions: Sequence[tuple[Decision, int]]) -> tuple[CaseReview, ...]:
        """Add decisions, all or none; arguments and errors as for `decide`."""
        with self._lock:
            now = datetime.now(UTC).isoformat(timespec="milliseconds")
            for decision, version in decisions:
                self.check(decision, version)
            self._store.decisions.add(evolve(decision, made=now) for decision, _ in decisions)
            return tuple(self.review(decision.case_id) for decision, _ in decisions)


@contextmanager
def review_desk(run_dir: str | Path) -> Iterator[ReviewDesk]:
    """Open a run directory for review.

    Raises:
        JrhError: there is no run in the directory, it stopped too early, or another process writes to it.
    """
    seen = Store.view(Path(run_dir))
    try:
        if not any(True for _ in seen.decisions.candidates(REFERENCE)):
            recall(seen)
        suite = seen.meta("suite") or ""
    finally:
        seen.close()
    store = Store.open(Path(run_dir), suite)
    try:
        yield ReviewDesk(store=store)
    finally:
        store.close()


def _check(decision: Decision, review: CaseReview, version: int) -> None:
    if review.version(decision.reviewer) != version:
        raise StaleDecisionError("There is a later decision about this case: read it, then decide again.")
    if review.is_open != decision.settles:
        raise StaleDecisionError(
            "Two people have already decided about this case, so a new decision must settle it. Load it again."
            if review.is_open
            else "Fewer than two people have decided about this case, so there is nothing to settle. Load it again."
        )
    if decision.action is ReviewAction.REJECT and not decision.reason.strip():
        raise JrhError("A rejection needs a reason.")
    if (decision.action is ReviewAction.EDIT) != bool(decision.after or decision.expected_after):
        raise JrhError("An edit changes the text or the expected verdict; other decisions change neither.")
    if decision.action is ReviewAction.UNDO:
        last = review.settlement if decision.settles else review.own(decision.reviewer)
        if last is None:
            raise JrhError("There is no decision to undo.")
