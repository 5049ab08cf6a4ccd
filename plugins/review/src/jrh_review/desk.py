"""The desk of a review: the queue, the cases in it, and the decisions; one is committed before a page says so."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from attrs import asdict, evolve, field, fields, frozen
from jrh import REFERENCE, Case, JrhError, Task, content_id
from jrh.running import open_store, recall
from jrh.store import Merge, TableSpec

from jrh_review.decisions import CaseReview, Decision, QueuedCase, ReviewAction, StaleError, case_reviews
from jrh_review.options import First, QueueRequest

if TYPE_CHECKING:
    from jrh_review.listed_cases import CaseScore

_FLOOR: Final = 0.5
"""Added to every score, which is at most 2: no case is drawn more than five times as often as another, because shares
with very unequal weights are imprecise, and in small samples biased."""


class NoVerdictsError(JrhError):
    """Report an order of review that needs verdicts while the run has none. Run the suite first, or order by plan."""


def require_cases(cases: Iterable[QueuedCase], request: QueueRequest) -> list[QueuedCase]:
    """Return the cases.

    Raises:
        JrhError: there are none, or none of a test that is asked for.
    """
    listed = list(cases)
    if not listed:
        raise JrhError("this run stores no perturbed cases to review; records that were imported have no texts")
    tests = {case.test for case in listed}
    if unknown := [name for name in request.tests if name not in tests]:
        raise JrhError(f"no cases of the test '{unknown[0]}' in this run; it has: {', '.join(sorted(tests))}")
    return listed


def draw_queue(
    cases: Iterable[QueuedCase], request: QueueRequest, scores: Callable[[], Sequence[CaseScore]]
) -> tuple[QueuedCase, ...]:
    """Return the queue: all cases, or a sample with the chance of each case.

    A random sample is ordered by a hash of seed and case, so cases that are made again stay in it, whatever else
    changes. Otherwise the chance is proportional to the score, up to 1, and the highest score comes first.

    Raises:
        NoVerdictsError: an order needs verdicts, and the run has none.
    """
    chosen = [case for case in cases if not request.tests or case.test in request.tests]
    # By a hash: cases that are made again keep their place, whatever else changes.
    mixed = sorted(chosen, key=lambda case: content_id(request.seed, case.case_id))
    size = min(request.sample or len(chosen), len(chosen))
    if request.first is First.RANDOM:
        if size == len(chosen):
            return tuple(chosen)
        return tuple(case._replace(probability=size / len(chosen)) for case in mixed[:size])
    disagreement = _disagreement(scores())
    if not disagreement:
        raise NoVerdictsError(
            f"the order '{request.first.value}' needs verdicts; run the suite first, or review at random"
        )
    weights = [_FLOOR + disagreement.get(case.case_id, 0.0) for case in mixed]
    chances = inclusion(weights, size)
    start = random.Random(f"{request.seed}").random()  # noqa: S311 - a sample, not a secret
    taken = [(mixed[place], weights[place], chances[place]) for place in systematic(chances, start)]
    taken.sort(key=lambda each: -each[1])
    return tuple(case._replace(probability=min(chance, 1.0)) for case, _, chance in taken)


def inclusion(weights: Sequence[float], size: int) -> list[float]:
    """Return chances proportional to the weights that add up to the size, none above 1."""
    chances = [0.0] * len(weights)
    free = set(range(len(weights)))
    while True:
        certain = len(weights) - len(free)
        total = sum(weights[place] for place in free)
        # Capping one chance raises the others, which may pass 1 in turn: repeated until none does.
        over = {place for place in free if (size - certain) * weights[place] >= total}
        if not over:
            break
        free -= over
        for place in over:
            chances[place] = 1.0
    for place in free:
        chances[place] = (size - certain) * weights[place] / total
    return chances


def systematic(chances: Sequence[float], start: float) -> list[int]:
    """Draw places with these chances, which add up to the size of the sample (Madow's systematic sampling).

    Place i is taken where a number of `start` + 0, 1, 2 ... falls into its part of the cumulated chances.
    """
    taken: list[int] = []
    end = 0.0
    for place, chance in enumerate(chances):
        begin, end = end, end + chance
        if chance >= 1 or -(-(end - start) // 1) > -(-(begin - start) // 1):
            taken.append(place)
    return taken


def _disagreement(rows: Iterable[CaseScore]) -> Mapping[str, float]:
    """Return the share of pairs of judges that differ, plus the share of verdicts unlike the stated label, by case."""
    by_case: defaultdict[str, list[CaseScore]] = defaultdict(list)
    for row in rows:
        by_case[row.case_id].append(row)
    scores = {}
    for case, of_case in by_case.items():
        pairs = list(combinations([row.verdict for row in of_case if row.verdict], 2))
        # Missing verdicts are no disagreement: only pairs of judges that both answered count.
        differ = sum(first != other for first, other in pairs) / len(pairs) if pairs else 0.0
        wrong = [1 - row.right for row in of_case if row.right is not None]
        scores[case] = differ + (sum(wrong) / len(wrong) if wrong else 0.0)
    return scores


DECISIONS: Final = TableSpec(
    name="review_decisions",
    columns={column.name: "INTEGER" if column.name in ("number", "settles") else "TEXT" for column in fields(Decision)},
    key="number",
    indexes=(("case_id",),),
    merge=Merge.UNION,
)
"""Decisions in the order they were made; they outlive every stage of the run."""
QUEUE: Final = TableSpec(
    name="review_queue",
    columns={"position": "INTEGER", **dict.fromkeys(QueuedCase._fields, "TEXT"), "probability": "REAL"},
    key="position",
)


_PORT: Final = "review_port"


@frozen(kw_only=True)
class ReviewDesk:
    """A run directory that is open for review; no other process can write to it meanwhile."""

    _store: Any
    _lock: Lock = field(factory=Lock)

    @property
    def _queue(self) -> Any:
        return self._store.table(QUEUE)

    @property
    def _log(self) -> Any:
        return self._store.table(DECISIONS)

    def queue(self) -> tuple[QueuedCase, ...]:
        """Return the queue, in the order of review."""
        return tuple(map(QueuedCase._make, self._queue.select(columns=QueuedCase._fields)))

    def _replace_queue(self, request: QueueRequest, cases: Sequence[QueuedCase]) -> None:
        self._queue.replace(request.id, ((place, *case) for place, case in enumerate(cases)))

    def _candidates(self) -> list[QueuedCase]:
        """Return every stored case but those of the reference condition, in plan order."""
        # Reference cases are the data themselves; people label those with `jrh label`.
        return [QueuedCase(*place) for place in self._store.cases.places() if place[2] != REFERENCE]

    def make_queue(self, request: QueueRequest | None) -> tuple[QueuedCase, ...]:
        """Make the queue unless it is made; a queue that people have decided on stays as it is.

        Args:
            request: which cases; None: those of the queue that is there, or all.

        Raises:
            JrhError: a test is unknown, there are no cases, or decisions were made on another queue.
        """
        digest = self._queue.digest()
        if digest is not None and (request is None or request.id == digest):
            return self.queue()
        # Shares are weighted by the chance in this queue; another queue would give old decisions wrong weights.
        if digest is not None and self.last():
            raise JrhError(
                "people have already decided about cases in this run's queue, so it cannot change; leave out --tests, "
                "--sample, --seed and --first to continue with it"
            )
        request = request or QueueRequest()
        cases = draw_queue(require_cases(self._candidates(), request), request, self._scores)
        self._replace_queue(request, cases)
        return cases

    def fill_queue(self, request: QueueRequest, tests: Collection[str]) -> None:
        """Make the queue of the cases that are stored by now, for a run whose suite asks for a review.

        Decisions stay with their cases, whether or not these are in the queue. A queue that verdicts ordered is made
        once there are some, and then stays: decisions change the verdicts that count, and must not change the queue.

        Args:
            request: what the suite asks for.
            tests: the tests of the run; cases of others are left out.
        """
        candidates = [case for case in self._candidates() if case.test in tests]
        cases = self._draw_in_order(candidates, request)
        # Reviewers decide in other threads while cases are added.
        with self._lock:
            before = {case.case_id: place for place, case in enumerate(self.queue())}
            if request.sample is None:  # who reviews while cases are made finds new ones at the end
                cases = tuple(sorted(cases, key=lambda case: before.get(case.case_id, len(before))))
            if self._queue.digest() != request.id or self.queue() != cases:
                self._replace_queue(request, cases)

    def _scores(self) -> Sequence[CaseScore]:
        # NumPy is needed for an order by verdicts alone, whereas every run looks for a queue.
        from jrh_review.listed_cases import case_scores

        return case_scores(self._store)

    def _draw_in_order(self, found: Sequence[QueuedCase], request: QueueRequest) -> tuple[QueuedCase, ...]:
        if request.first is not First.RANDOM and self._queue.digest() == request.id:
            there = {case.case_id for case in found}
            if still_there := tuple(case for case in self.queue() if case.case_id in there):
                return still_there
        try:
            return draw_queue(found, request, self._scores)
        # The first run has no verdicts yet: its queue stays empty, and its end makes it.
        except NoVerdictsError:
            return ()

    def case(self, case_id: str) -> tuple[Case, Case | None]:
        """Return a case, and the reference case of its item if it is stored.

        Raises:
            JrhError: it is not stored.
        """
        case = self._store.cases.by_id([case_id]).get(case_id)
        if case is None:
            raise JrhError("This run has no such case.")
        return case, self._store.cases.of_item(case.task, REFERENCE, case.item_id)

    def task(self, name: str) -> Task | None:
        """Return a task of the run; None before the run has stored what it is."""
        with suppress(JrhError):
            return next((summary.task for summary in recall(self._store).tasks if summary.task.name == name), None)
        return None

    def review(self, case_id: str) -> CaseReview:
        """Return what was decided about a case."""
        return CaseReview(log=self.log([("case_id", "=", case_id)]))

    def reviews(self) -> Mapping[str, CaseReview]:
        """Return what was decided, by case."""
        return case_reviews(self.log())

    def last(self) -> int:
        """Return the number of the last decision; 0 where there is none."""
        return self._log.last() or 0

    def log(self, where: Sequence[Any] = ()) -> tuple[Decision, ...]:
        """Return the decisions in the order they were made, or those that fit."""
        return tuple(map(_decision, self._log.select(where)))

    def last_port(self) -> int:
        """Return the port on which the review of this run was served last; 0 where it was not."""
        return int(self._store.meta(_PORT) or 0)

    def note_port(self, port: int) -> None:
        """Keep the port for the next time."""
        self._store.set_meta(_PORT, str(port))

    def count_waiting(self, reviewers: int) -> int:
        """Count the cases of the queue that wait for a decision."""
        decisions = self.reviews()
        reviews = (decisions.get(case.case_id, CaseReview()) for case in self.queue())
        return sum(review.effective_decision(reviewers) is None for review in reviews)

    def decide(self, decision: Decision, version: int) -> CaseReview:
        """Add a decision durably, and return all that is decided about its case; arguments as for `decide_all`."""
        self.decide_all([(decision, version)])
        return self.review(decision.case_id)

    def decide_all(self, decisions: Sequence[tuple[Decision, int]]) -> None:
        """Add decisions about different cases durably, all or none.

        Args:
            decisions: each without number and time, which are given here, and with the `CaseReview.version` of what
                the reviewer saw.

        Raises:
            StaleError: there is a later decision, or two people have decided meanwhile.
            JrhError: a decision is incomplete.
        """
        with self._lock:
            for decision, version in decisions:
                # Read again under the lock: the page may show what was true a minute ago.
                check_decision(decision, self.review(decision.case_id), version)
            time = datetime.now(UTC).isoformat(timespec="milliseconds")
            self._log.append([_row(evolve(decision, made=time)) for decision, _ in decisions])


@contextmanager
def review_desk(run_dir: str | Path) -> Iterator[ReviewDesk]:
    """Open a run directory for review.

    Raises:
        JrhError: there is no run in the directory, it stopped too early, or another process writes to it.
    """
    # Read-only first: a run without cases gets the message that says so, not one about its lock.
    with open_store(run_dir) as reading:
        if not reading.cases.places():
            recall(reading)
    with open_store(run_dir, writing=True) as store:
        yield ReviewDesk(store=store)


def check_decision(decision: Decision, review: CaseReview, version: int) -> None:
    """Check a decision; the errors are those of `ReviewDesk.decide_all`."""
    if review.version(decision.reviewer) != version:
        raise StaleError("There is a later decision about this case: read it, then decide again.")
    if review.is_open != decision.settles:
        raise StaleError(
            "Two people have already decided about this case, so a new decision must settle it. Load it again."
            if review.is_open
            else "Fewer than two people have decided about this case, so there is nothing to settle. Load it again."
        )
    # A rejection removes a case from every measure, and a reader of the report will ask why.
    if decision.action is ReviewAction.REJECT and not decision.reason.strip():
        raise JrhError("A rejection needs a reason.")
    if (decision.action is ReviewAction.EDIT) != bool(decision.after or decision.expected_after):
        raise JrhError("An edit changes the text or the expected verdict; other decisions change neither.")
    if decision.action is ReviewAction.UNDO:
        last = review.settlement if decision.settles else review.own(decision.reviewer)
        if last is None:
            raise JrhError("There is no decision to undo.")


def _row(decision: Decision) -> tuple[Any, ...]:
    """Return a decision as a row, whose number the table gives."""
    # The table counts the numbers, so that two writers could not give the same one.
    values = asdict(decision, recurse=False) | {"number": None, "action": decision.action.value}
    return tuple(json.dumps(dict(value)) if isinstance(value, Mapping) else value for value in values.values())


def _decision(row: Sequence[Any]) -> Decision:
    values = dict(zip(DECISIONS.columns, row, strict=True))
    values |= {name: json.loads(values[name]) for name in ("before", "after")}
    return Decision(**values | {"action": ReviewAction(values["action"]), "settles": bool(values["settles"])})
