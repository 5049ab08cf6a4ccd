"""The weighted score against a second implementation: one loop over one response, as the README defines it."""

from __future__ import annotations

import math
import random

import jrh_criteria.plugin
import jrh_criteria.score
import pytest
from jrh import Item, MetricContext, RecordTable, Scale, ScaleKind, Task
from jrh.values import Criteria, Criterion, JudgedCriterion
from jrh_testing import build, loop_over

METS = Scale(kind=ScaleKind.LABELS, labels=("met", "unmet", "n/a"), positive="met")
LEVELS = Scale.of_levels(0, 2)
RUBRIC = {
    "a": Criterion(id="a", text="A", weight=3.0),
    "b": Criterion(id="b", text="B", weight=-2.0),
    "c": Criterion(id="c", text="C", weight=0.5),
    "d": Criterion(id="d", text="D", weight=1.5),
}
SCALES = {"a": METS, "b": METS, "c": METS, "d": LEVELS}
TASKS = {
    "r.mets": Task(name="r.mets", scale=METS, criteria=Criteria(name="r", not_applicable="n/a")),
    "r.0-2": Task(name="r.0-2", scale=LEVELS, criteria=Criteria(name="r")),
}


def task_of(name):
    return "r.0-2" if SCALES[name] is LEVELS else "r.mets"


def items(responses):
    found = {task: [] for task in TASKS}
    for number in range(responses):
        for name, criterion in RUBRIC.items():
            judged = JudgedCriterion(criterion=criterion, of=str(number))
            found[task_of(name)].append(Item(id=f"{number}#{name}", fields={}, group=str(number), criterion=judged))
    return {task: tuple(own) for task, own in found.items()}


def rows(seed, responses, missing):
    draw = random.Random(seed)
    for number in range(responses):
        for name in RUBRIC:
            labels = SCALES[name].labels
            gone = draw.random() < missing
            yield {
                "task": task_of(name),
                "test": "reference",
                "family": "reference",
                "variant": "",
                "judge": "j",
                "item_id": f"{number}#{name}",
                "group": str(number),
                "repeat": 0.0,
                "gold": draw.choice(labels),
                "expectation": "equals",
                "status": "unparsable" if gone else "ok",
                "canonical": None if gone else draw.choice(labels),
            }


def credit(name, label):
    if label is None:
        return None
    return int(label) / 2 if SCALES[name] is LEVELS else {"met": 1.0, "unmet": 0.0}.get(label)


def by_hand(verdicts):
    """Return score, low and high end of one response: criterion -> label; None is missing."""
    top = bottom = 0.0
    low = high = everything = 0.0
    complete = None not in verdicts.values()
    for name, label in verdicts.items():
        weight, worth = RUBRIC[name].weight, credit(name, label)
        everything += max(weight, 0)
        if worth is None:
            low, high = low + min(weight, 0), high + max(weight, 0)
            continue
        top, bottom = top + weight * worth, bottom + max(weight, 0)
        low, high = low + weight * worth, high + weight * worth
    score = top / bottom if complete and bottom else None
    return score, low / everything, high / everything


@loop_over("missing", [0.0, 0.1])
@loop_over("seed", range(5))
def test_score_error_and_bounds_are_those_of_a_loop(seed, missing):
    made = list(rows(seed, 30, missing))
    table = RecordTable.from_columns({name: [row[name] for row in made] for name in made[0]})
    context = MetricContext(tasks=TASKS, items=items(30), resamples=100, seed=1)
    found = {each.name: each for each in build(jrh_criteria.plugin, "criteria-score").measure(table, context)}
    responses = {}
    for row in made:
        number, name = row["item_id"].split("#")
        responses.setdefault(number, ({}, {}))[0][name] = row["canonical"]
        responses[number][1][name] = row["gold"]
    results = [(by_hand(said), by_hand(gold)[0]) for said, gold in responses.values()]
    scores = [score for (score, _, _), _ in results if score is not None]
    assert found["weighted-score"].estimate == pytest.approx(math.fsum(scores) / len(scores))
    assert found["weighted-score"].n_clusters == len(scores)
    assert found["weighted-score"].bounds == pytest.approx(
        tuple(math.fsum(each[0][side] for each in results) / len(results) for side in (1, 2))
    )
    errors = [abs(score - gold) for (score, _, _), gold in results if score is not None and gold is not None]
    assert found["score-error"].estimate == pytest.approx(math.fsum(errors) / len(errors))
    assert found["score-error"].interval.low < found["score-error"].estimate < found["score-error"].interval.high


def measured(made, responses, options=None):
    table = RecordTable.from_columns({name: [row[name] for row in made] for name in made[0]})
    context = MetricContext(tasks=TASKS, items=items(responses), resamples=100, seed=1)
    return list(build(jrh_criteria.plugin, "criteria-score", options=options or {}).measure(table, context))


def test_a_response_is_one_cluster_whatever_the_scales_of_its_criteria():
    # In a run a cluster is named after an item of its own task: "0#a" in one, "0#d" in the other.
    made = [{**row, "cluster": f"{row['group']}#{row['task']}"} for row in rows(0, 30, 0.0)]
    (found,) = (each for each in measured(made, 30) if each.name == "weighted-score")
    assert found.n_clusters == 30


def test_further_judges_cost_no_further_pass_over_all_trials(monkeypatch):
    passes = []

    def counted(real):
        return lambda *args, **keys: (passes.append(real), real(*args, **keys))[1]

    monkeypatch.setattr(jrh_criteria.score, "is_named", counted(jrh_criteria.score.is_named))
    monkeypatch.setattr(jrh_criteria.score.Scores, "of", counted(jrh_criteria.score.Scores.of))

    def passes_with(judges):
        passes.clear()
        measured(
            [{**row, "judge": f"j{judge}"} for judge in range(judges) for row in rows(judge, 5, 0.0)],
            5,
            {"holistic": "r.0-2"},
        )
        return len(passes)

    assert passes_with(1) == passes_with(4)
