"""Files with one line per case: the majority's verdict, and which judges flip which pair of templates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from jrh import MetricContext, RunReport, Task
from jrh_measuring import Pairs, Trials, align_answers, answers_by, ballots_of, panels_of, read_trials, template_pairs
from jrh_measuring.sections import mark_simulated
from jrh_stats import majority_vote

from jrh_report.papers.sheet import Cell, Sheet

_HALF = 0.5


def sheets(report: RunReport) -> Iterator[Sheet]:
    """Yield the files; none where the records are not there, as in a report without them."""
    if not len(report.records) or not {"item_id", "task", "test"} <= set(report.records.columns):
        return
    tasks = {summary.task.name: summary.task for summary in report.tasks}
    trials = read_trials(report.records, MetricContext(tasks=tasks, seed=report.seed, level=report.level))
    yield _votes(report, trials, tasks)
    yield _flips(report, trials)


def _votes(report: RunReport, trials: Trials, tasks: Mapping[str, Task]) -> Sheet:
    judges = tuple(name for name in trials.judge.names if name)
    rows: list[tuple[Cell, ...]] = []
    for cell in panels_of(trials):
        if cell.task not in tasks:
            continue
        # Index -1 is a missing verdict, a tie, or no expected label, and shows an empty cell.
        labels = (*tasks[cell.task].scale.labels, "")
        ballots = ballots_of(trials, cell, tasks[cell.task].scale, labelled=False)
        decided = majority_vote(ballots.votes, n_labels=len(labels) - 1)
        places = [ballots.judges.index(judge) if judge in ballots.judges else None for judge in judges]
        for ballot, first in enumerate(ballots.first):
            votes = ("" if place is None else labels[ballots.votes[ballot, place]] for place in places)
            truth = labels[ballots.truth[ballot]]
            right = "" if not truth else "yes" if decided[ballot] == ballots.truth[ballot] else "no"
            head = (cell.task, cell.test, *_of(trials, int(first)))
            rows.append((*head, truth, *votes, labels[decided[ballot]] or "tie", right))
    shown = (mark_simulated(report, judge) for judge in judges)
    return Sheet(
        name="majority-votes",
        title="The majority's verdict on every case",
        columns=("task", "test", "item", "variant", "repeat", "expected", *shown, "majority", "right"),
        # The majority of one judge is its verdict.
        rows=tuple(rows) if len(judges) > 1 else (),
        per_case=True,
        note="One row per case and repeat. A tie decides nothing. An empty cell is a missing verdict.",
    )


def _flips(report: RunReport, trials: Trials) -> Sheet:
    rows: list[tuple[Cell, ...]] = []
    by_test: dict[tuple[str, str], list[Any]] = {}
    for answers in answers_by(trials, "template"):
        if len(answers.levels) > 1:
            by_test.setdefault((answers.cell.task, answers.cell.test), []).append(answers)
    items = report.evidence.items() if by_test else {}
    listed = {
        task: {item: set(map(frozenset, pairs)) for item, pairs in template_pairs(of_task).items()}
        for task, of_task in items.items()
    }
    for (task, test), members in by_test.items():
        pairs = [Pairs.of(answers) for answers in align_answers(members)]
        first = pairs[0]
        levels, by_item = first.answers.levels, listed.get(task, {})
        for row, pair in zip(*first.in_plan.nonzero(), strict=True):
            known = [of_judge for of_judge in pairs if of_judge.usable[row, pair]]
            flipping = [
                mark_simulated(report, judge.answers.cell.judge) for judge in known if judge.scores[row, pair] < _HALF
            ]
            if known:
                item = first.answers.items[row]
                both = frozenset((levels[first.first[pair]], levels[first.second[pair]]))
                by_data = ("yes" if both in by_item.get(item, ()) else "no") if by_item else ""
                counts = len(known), len(flipping), ", ".join(flipping), by_data
                rows.append((task, test, item, first.name(pair), *counts))
    return Sheet(
        name="pair-flips",
        title="Judges that flip each pair of templates",
        columns=("task", "test", "item", "pair", "judges", "flip", "who", "listed"),
        rows=tuple(sorted(rows, key=lambda row: (row[0], row[1], -int(str(row[5])), str(row[2]), str(row[3])))),
        per_case=True,
        note="Every two templates that an item was asked with; `listed`: whether the data list the pair. With "
        "repeats a judge flips a pair if more than half of their combinations disagree.",
    )


def _of(trials: Trials, row: int) -> tuple[str, str, int]:
    return (
        trials.item.names[trials.item.codes[row]],
        trials.variant.names[trials.variant.codes[row]],
        int(trials.repeat[row]),
    )
