"""The verdicts that changed, with everything a reader needs to see why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from attrs import frozen
from jrh import Case, RecordTable, Reply, RunReport
from jrh.text import visible_line, visible_text
from jrh_measuring import NO_PARTS, PartChange, QuestionParts, compare_questions
from markupsafe import escape

from jrh_report.html.changed_verdicts import ChangedVerdict, JudgeChanges, find_changed_verdicts

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
    """One changed verdict as the page shows it."""

    change: ChangedVerdict
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
        pieces = [piece for part in self.changes for side in (part.pair.before, part.pair.after) for piece in side]
        texts = [piece.text for piece in pieces] + [text for _, text in self.context]
        texts += [text for side in (self.before, self.after) for text in (side.reply, side.rationale)]
        # Escaped, since `&` and `<` take up to five bytes in the page.
        return _FRAME + _MARK * len(pieces) + sum(len(escape(text).encode("utf-8", "replace")) for text in texts)


_FRAME: Final = 2500
"""Bytes of a flip without its texts, about."""
_MARK: Final = 12
"""Bytes of the marks about a piece that changed, about."""


@frozen(kw_only=True)
class Flips:
    """All that is shown."""

    flips: tuple[Flip, ...]
    tallies: tuple[tuple[JudgeChanges, int], ...]
    """The changes of every judge and task, and how many of them are shown."""
    judges: tuple[str, ...]
    tasks: tuple[str, ...]
    tests: tuple[str, ...]
    strata: tuple[str, ...]
    evidence: bool
    """Some text is known."""

    @property
    def failed(self) -> Mapping[tuple[str, str, str], str]:
        """Return how many verdicts of a judge, task and test are not as expected, in words: `9 of 10 fail`."""
        return {
            (changes.judge, changes.task, test): f"{failed:,} of {compared:,} {'fails' if failed == 1 else 'fail'}"
            for changes, _ in self.tallies
            for test, (failed, compared) in changes.by_test.items()
        }

    @property
    def parts(self) -> tuple[tuple[Flip, ...], tuple[Flip, ...]]:
        """Return the flips in sight, the worst of each judge, and those that can be unfolded."""
        judges = [flip.judge for flip in self.flips]
        worst = [place for place, judge in enumerate(judges) if judges[:place].count(judge) < EACH][:IN_SIGHT]
        further = (flip for place, flip in enumerate(self.flips) if place not in worst)
        return tuple(self.flips[place] for place in worst), tuple(further)


def collect_flips(report: RunReport, limit: int) -> Flips:
    """Collect the worst changes of every judge and task.

    Args:
        report: the run, while its evidence can be read.
        limit: changes that are shown of each judge and task at most.
    """
    # One example of each judge and task stays, however many there are; `BUDGET` bounds the bytes.
    limit = max(1, min(limit, MOST // max(1, len(report.judges) * len(report.tasks))))
    changes = list(find_changed_verdicts(report, limit))
    texts = _Texts.of(report, [change for of_judge in changes for change in of_judge.worst])
    strata: dict[str, int] = {}
    flips: list[Flip] = []
    shown = [0] * len(changes)
    size = 0
    # The worst of every judge and task before the second worst of any, so that a full page leaves no judge out.
    for place in range(limit):
        for number, of_judge in enumerate(changes):
            if place < len(of_judge.worst) and size < BUDGET:
                flip = texts.flip(of_judge, of_judge.worst[place], strata)
                flips.append(flip)
                shown[number] += 1
                size += flip.size
    # Gathered in turns for the sake of the size, shown judge by judge.
    flips.sort(key=lambda flip: (flip.judge, -flip.change.distance, not flip.change.spoilt, -flip.change.steady))
    return Flips(
        flips=tuple(flips),
        tallies=tuple(zip(changes, shown, strict=True)),
        judges=report.judges,
        tasks=tuple(summary.task.name for summary in report.tasks),
        tests=report.tests,
        # In the order in which examples bring them: a filter without an example would find nothing.
        strata=tuple(strata),
        evidence=any(flip.known for flip in flips),
    )


@frozen(kw_only=True, eq=False)
class _Texts:
    """The columns, cases and replies of the changes that may be shown."""

    report: RunReport
    columns: Mapping[str, Mapping[int, str]]
    cases: Mapping[str, Case]
    replies: Mapping[str, Reply]
    compared: dict[tuple[str, str], QuestionParts]
    """(reference case, case) -> their differences: repeats and judges share them."""

    @classmethod
    def of(cls, report: RunReport, changes: Sequence[ChangedVerdict]) -> _Texts:
        rows = sorted({row for change in changes for row in (change.row, change.reference)})
        columns = {name: _texts(report.records, name, rows) for name in _COLUMNS}
        return cls(
            report=report,
            columns=columns,
            cases=report.evidence.cases(list(dict.fromkeys(columns["case_id"].values()))),
            replies=report.evidence.replies(list(columns["trial_id"].values())),
            compared={},
        )

    def flip(self, of_judge: JudgeChanges, change: ChangedVerdict, strata: dict[str, int]) -> Flip:
        """Build one flip; a stratum that is new gets the next place."""
        of = self._row(change.row)
        pair = self.columns["case_id"].get(change.reference, ""), of["case_id"]
        # Repeats and judges share their cases: each pair is compared once.
        if pair not in self.compared:
            known = pair[0] in self.cases and pair[1] in self.cases
            self.compared[pair] = compare_questions(self.cases[pair[0]], self.cases[pair[1]]) if known else NO_PARTS
        parts = self.compared[pair]
        expected = _EXPECTED.get(of["expectation"], visible_line(of["expectation"])).replace(
            "{}", visible_line(of["expected"])
        )
        return Flip(
            change=change, judge=self.report.judges.index(of_judge.judge),
            task=[summary.task.name for summary in self.report.tasks].index(of_judge.task),
            test=self.report.tests.index(of["test"]) if of["test"] in self.report.tests else -1,
            stratum=strata.setdefault(of["stratum"], len(strata)), item=visible_line(of["item_id"]),
            variant=visible_line(of["variant"]),
            repeat=int(np.nan_to_num(self.report.records.number("repeat")[change.row])), gold=visible_line(of["gold"]),
            expectation=expected, demand="" if of["expectation"] == "same" else expected,
            before=self._side(change.reference), after=self._side(change.row), changes=parts.changes,
            context=parts.context, more=parts.more, known=bool(parts.changes or parts.context),
        )  # fmt: skip

    def _row(self, row: int) -> dict[str, str]:
        return {name: column.get(row, "") for name, column in self.columns.items()}

    def _side(self, row: int) -> Side:
        of = self._row(row)
        reply = self.replies.get(of["trial_id"])
        return Side(
            verdict=visible_line(of["canonical"]),
            # Relabelled options: the judge said B and meant the first response.
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
    # By code, for the few rows that are shown: `text` would make a list of every record.
    return {row: categories[codes[row]] for row in rows if codes[row] >= 0}
