"""The trials that moved, with everything a reader needs to see why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from attrs import frozen
from jrh import Case, RecordTable, Reply, RunReport
from jrh.text import visible_line, visible_text
from jrh_measuring import NO_PARTS, PartChange, QuestionParts, compare_questions
from markupsafe import escape

from jrh_report.html.changed_verdicts import Moved, Moves, find_moves

REPLY: Final = 1200
"""Characters shown of each reply and rationale."""
BUDGET: Final = 2_500_000
"""Bytes of examples in the page; the worst come first, and what does not fit is counted."""
EACH: Final = 2
"""Examples of a judge that are in sight before the others are unfolded."""
IN_SIGHT: Final = 8
"""Examples that are in sight in all."""
MOST: Final = 240
"""Examples in the page; where judges and tasks are many, each has fewer."""


@frozen(kw_only=True)
class Side:
    """One of the two answers."""

    verdict: str
    presented: str
    """The label in the words of the question, where they are others."""
    reply: str
    rationale: str


@frozen(kw_only=True)
class Flip:
    """One trial that moved."""

    judge: int
    task: int
    test: int
    stratum: int
    """Places in the lists of the filters."""
    item: str
    variant: str
    repeat: int
    gold: str
    expectation: str
    """What was expected, in words; empty: nothing."""
    demand: str
    """The same where it is more than that the verdict stays."""
    distance: int
    steady: float
    spoilt: bool
    before: Side
    after: Side
    changes: tuple[PartChange, ...]
    context: tuple[tuple[str, str], ...]
    """The parts that are the same, by name."""
    more: int
    """QuestionParts of the question that are not shown."""
    known: bool
    """The texts are known; imported records come without."""

    @property
    def size(self) -> int:
        """Return about how many bytes the flip takes in the page."""
        pieces = [each for change in self.changes for side in (change.pair.before, change.pair.after) for each in side]
        texts = [each.text for each in pieces] + [text for _, text in self.context]
        texts += [text for side in (self.before, self.after) for text in (side.reply, side.rationale)]
        return _FRAME + _MARK * len(pieces) + sum(len(escape(text).encode("utf-8", "replace")) for text in texts)


_FRAME: Final = 2500
"""Bytes of a flip without its texts, about."""
_MARK: Final = 12
"""Bytes of the marks about a piece that changed, about."""


@frozen(kw_only=True)
class Tally:
    """How many moves of one judge and task there are, and how many are shown."""

    judge: str
    task: str
    total: int
    compared: int
    shown: int


@frozen(kw_only=True)
class Flips:
    """All that is shown."""

    flips: tuple[Flip, ...]
    tallies: tuple[Tally, ...]
    judges: tuple[str, ...]
    tasks: tuple[str, ...]
    tests: tuple[str, ...]
    strata: tuple[str, ...]
    evidence: bool
    """Some text is known."""

    @property
    def parts(self) -> tuple[tuple[Flip, ...], tuple[Flip, ...]]:
        """Return the moves in sight, the worst of each judge, and those that can be unfolded."""
        judges = [flip.judge for flip in self.flips]
        worst = [judges[:place].count(judge) < EACH for place, judge in enumerate(judges)]
        chosen = [place for place, among in enumerate(worst) if among][:IN_SIGHT]
        rest = [flip for place, flip in enumerate(self.flips) if place not in chosen]
        return tuple(self.flips[place] for place in chosen), tuple(rest)


def collect(report: RunReport, limit: int) -> Flips:
    """Gather the worst moves of every judge and task.

    Args:
        report: the run, while its evidence can be read.
        limit: moves that are shown of each judge and task at most.
    """
    limit = max(1, min(limit, MOST // max(1, len(report.judges) * len(report.tasks))))
    moves = list(find_moves(report, limit))
    shelf = _Shelf.of(report, [moved for each in moves for moved in each.worst])
    strata: dict[str, int] = {}
    flips: list[Flip] = []
    shown = [0] * len(moves)
    spent = 0
    # The worst of every judge and task before the second worst of any, so that a full page leaves nobody out.
    for place in range(limit):
        for number, each in enumerate(moves):
            if place < len(each.worst) and spent < BUDGET:
                flip = shelf.flip(each, each.worst[place], strata)
                flips.append(flip)
                shown[number] += 1
                spent += flip.size
    flips.sort(key=lambda flip: (flip.judge, -flip.distance, not flip.spoilt, -flip.steady))
    return Flips(
        flips=tuple(flips),
        tallies=tuple(
            Tally(judge=each.judge, task=each.task, total=each.total, compared=each.compared, shown=count)
            for each, count in zip(moves, shown, strict=True)
        ),
        judges=report.judges,
        tasks=tuple(summary.task.name for summary in report.tasks),
        tests=report.tests,
        strata=tuple(strata),
        evidence=any(flip.known for flip in flips),
    )


@frozen(kw_only=True, eq=False)
class _Shelf:
    """The cases and replies of the moves, and where judges, tasks and tests stand."""

    report: RunReport
    columns: Mapping[str, Mapping[int, str]]
    cases: Mapping[str, Case]
    replies: Mapping[str, Reply]
    marked: dict[tuple[str, str], QuestionParts]

    @classmethod
    def of(cls, report: RunReport, moves: Sequence[Moved]) -> _Shelf:
        rows = sorted({row for moved in moves for row in (moved.row, moved.reference)})
        columns = {name: _texts(report.records, name, rows) for name in _COLUMNS}
        return cls(
            report=report,
            columns=columns,
            cases=report.evidence.cases(list(dict.fromkeys(columns["case_id"].values()))),
            replies=report.evidence.replies(list(columns["trial_id"].values())),
            marked={},
        )

    def flip(self, moves: Moves, moved: Moved, strata: dict[str, int]) -> Flip:
        """Put one move together."""
        of = {name: column.get(moved.row, "") for name, column in self.columns.items()}
        pair = self.columns["case_id"].get(moved.reference, ""), of["case_id"]
        if pair not in self.marked:
            known = pair[0] in self.cases and pair[1] in self.cases
            self.marked[pair] = compare_questions(self.cases[pair[0]], self.cases[pair[1]]) if known else NO_PARTS
        parts = self.marked[pair]
        expected = _EXPECTED.get(of["expectation"], visible_line(of["expectation"])).replace(
            "{}", visible_line(of["expected"])
        )
        return Flip(
            judge=self.report.judges.index(moves.judge),
            task=next(place for place, each in enumerate(self.report.tasks) if each.task.name == moves.task),
            test=self.report.tests.index(of["test"]) if of["test"] in self.report.tests else -1,
            stratum=strata.setdefault(of["stratum"], len(strata)),
            item=visible_line(of["item_id"]),
            variant=visible_line(of["variant"]),
            repeat=int(np.nan_to_num(self.report.records.number("repeat")[moved.row])),
            gold=visible_line(of["gold"]),
            expectation=expected,
            demand="" if of["expectation"] == "same" else expected,
            distance=moved.distance,
            steady=moved.steady,
            spoilt=moved.spoilt,
            before=self._side(moved.reference),
            after=self._side(moved.row),
            changes=parts.changes,
            context=parts.context,
            more=parts.more,
            known=bool(parts.changes or parts.context),
        )

    def _side(self, row: int) -> Side:
        of = {name: column.get(row, "") for name, column in self.columns.items()}
        reply = self.replies.get(of["trial_id"])
        return Side(
            verdict=visible_line(of["canonical"]),
            presented=visible_line(of["presented"]) if of["presented"] != of["canonical"] else "",
            reply=visible_text(reply.text, REPLY) if reply is not None else "",
            rationale=visible_text(of["rationale"], REPLY),
        )


_EXPECTED: Final = {
    "same": "the reference verdict",
    "changes": "another verdict",
    "equals": "{}",
    "not_above": "no higher level",
    "not_below": "no lower level",
}

_COLUMNS: Final = (
    *("trial_id", "case_id", "item_id", "test", "variant", "stratum", "gold"),
    *("expectation", "expected", "canonical", "presented", "rationale"),
)


def _texts(records: RecordTable, name: str, rows: Sequence[int]) -> dict[int, str]:
    """Return the text of some rows of a column, by row; nothing where there is no such column."""
    if name not in records.columns:
        return {}
    categories, codes = records.categories(name), records.codes(name)
    return {row: categories[codes[row]] for row in rows if codes[row] >= 0}
