"""Weighted scores of responses that are judged by criteria: the verdicts of a response, added up by weight."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from attrs import frozen
from jrh import Item, Scale, ScaleKind, Task

from jrh_measuring.coded import Codes, Floats, Mask, combine_codes, is_named
from jrh_measuring.scoring import keeps_gold
from jrh_measuring.trials import Trials


@frozen(kw_only=True, eq=False)
class ResponseFacts:
    """What the items say about every trial of the tasks that make one score; arrays over all trials."""

    inside: Mask
    response: Codes
    weight: Floats
    credit: Floats
    """Of the verdict: NaN without one, and where it says that the criterion does not apply."""
    gold: Floats
    apart: Mask
    """The verdict says that the criterion does not apply."""
    gold_apart: Mask
    number: Codes
    """Criteria of the response."""
    names: list[str]
    """Id of every response, by its number."""


@frozen(kw_only=True, eq=False)
class ResponseScores:
    """One score per response, variant and repeat; arrays of shape (scores,), NaN where there is none."""

    score: Floats
    gold: Floats
    unmet: Floats
    """The score if criteria that do not apply counted as not met."""
    low: Floats
    """If every missing verdict, and every criterion that does not apply, had gone against the score."""
    high: Floats
    clusters: Codes
    responses: Codes
    of: Codes
    """Trial of the cell -> its score."""


def response_facts(trials: Trials, items: Mapping[str, Sequence[Item]], tasks: Sequence[Task]) -> ResponseFacts:
    """Collect what the items say about the trials of the tasks of one score; tasks without items have none."""
    size = len(trials.label)
    names: dict[str, int] = {}
    number = Counter(item.response_id for task in tasks for item in items.get(task.name, ()))
    facts = ResponseFacts(
        inside=np.zeros(size, dtype=np.bool_),
        response=np.full(size, -1, dtype=np.int64),
        weight=np.zeros(size),
        credit=np.full(size, np.nan),
        gold=np.full(size, np.nan),
        apart=np.zeros(size, dtype=np.bool_),
        gold_apart=np.zeros(size, dtype=np.bool_),
        number=np.zeros(size, dtype=np.int64),
        names=[],
    )
    for task in tasks:
        by_id = {item.id: item for item in items.get(task.name, ())}
        rows = np.flatnonzero(is_named(trials.task, task.name))
        worth = _credit(task.scale, task.criteria.not_applicable if task.criteria else "")
        # The last entry is what a label of -1 reads: a missing verdict.
        per_label = np.array([*(worth.get(label, np.nan) for label in trials.labels), np.nan])
        apart = np.array(
            [bool(task.criteria and label == task.criteria.not_applicable) for label in (*trials.labels, "")]
        )
        known = [by_id.get(name) for name in trials.item.names]
        # A table without items has no code to look up: one entry keeps the arrays indexable.
        response = np.array([names.setdefault(item.response_id, len(names)) if item else -1 for item in known] or [-1])
        weight = np.array(
            [item.criterion.criterion.weight if item and item.criterion else 0.0 for item in known] or [0.0]
        )
        many = np.array([number[item.response_id] if item else 0 for item in known] or [0])
        code = trials.item.codes[rows]
        facts.inside[rows] = response[code] >= 0
        facts.response[rows], facts.weight[rows], facts.number[rows] = response[code], weight[code], many[code]
        facts.credit[rows], facts.gold[rows] = per_label[trials.label[rows]], per_label[trials.gold[rows]]
        facts.apart[rows] = apart[trials.label[rows]] & (trials.label[rows] >= 0)
        facts.gold_apart[rows] = apart[trials.gold[rows]] & (trials.gold[rows] >= 0)
    # Under another rubric, or without the evidence, another label may be right.
    other = ~keeps_gold(trials)
    facts.gold[other], facts.gold_apart[other] = np.nan, False
    facts.names.extend(names)
    return facts


def _credit(scale: Scale, not_applicable: str) -> Mapping[str, float]:
    """Return what each label adds, as a share of the criterion's weight; a label that does not apply is left out.

    An ordinal scale goes from 0 for the lowest level to 1 for the highest in equal steps. Of unordered labels the
    positive one adds 1 and the others 0.
    """
    labels = [label for label in scale.labels if label != not_applicable]
    if len(labels) <= 1:
        return {}  # one level is neither the lowest nor the highest
    if scale.kind is ScaleKind.ORDINAL:
        return {label: place / (len(labels) - 1) for place, label in enumerate(labels)}
    met = scale.positive_label or labels[0]
    return {label: float(label == met) for label in labels}


def response_scores(
    trials: Trials, rows: Codes, facts: ResponseFacts, conditions: Codes | None = None
) -> ResponseScores:
    """Add up the credits of some trials, by response, condition and repeat.

    Args:
        trials: of all tasks.
        rows: of one test.
        facts: about all trials.
        conditions: what tells the conditions of the rows apart; None: their variants.
    """
    condition = trials.variant.codes[rows] if conditions is None else conditions
    key = combine_codes(facts.response[rows], condition, trials.repeat[rows])
    _, first, of = np.unique(key, return_index=True, return_inverse=True)
    size = len(first)
    weight, worth, gold = facts.weight[rows], facts.credit[rows], facts.gold[rows]
    positive, negative = np.maximum(weight, 0.0), np.minimum(weight, 0.0)
    apart, gold_apart = facts.apart[rows], facts.gold_apart[rows]

    def total(values: Floats | Mask) -> Floats:
        return np.bincount(of, weights=np.asarray(values, dtype=np.float64), minlength=size).astype(np.float64)

    def share(tops: Floats, bottoms: Floats, complete: Mask) -> Floats:
        # Criteria that only take points away leave no best score to divide by.
        there = complete & (bottoms > 0)
        return np.where(there, tops / np.where(bottoms > 0, bottoms, 1.0), np.nan)

    # A response of which some criteria were not asked would score by the others alone.
    all_asked = total(np.ones(len(rows))) == facts.number[rows][first]
    known, all_of = np.isfinite(worth), total(positive)
    complete = all_asked & (total(~(known | apart)) == 0)
    earned = total(np.where(known, weight * np.nan_to_num(worth), 0.0))
    labelled = all_asked & (total(~(np.isfinite(gold) | gold_apart)) == 0)
    right = total(np.where(np.isfinite(gold), weight * np.nan_to_num(gold), 0.0))
    return ResponseScores(
        score=share(earned, total(np.where(known, positive, 0.0)), complete),
        gold=share(right, total(np.where(np.isfinite(gold), positive, 0.0)), labelled),
        unmet=share(earned, all_of, complete),
        # At worst a missing criterion of positive weight is not met, and one of negative weight is.
        low=share(earned + total(np.where(known, 0.0, negative)), all_of, all_asked),
        high=share(earned + total(np.where(known, 0.0, positive)), all_of, all_asked),
        clusters=trials.cluster.codes[rows][first],
        responses=facts.response[rows][first],
        of=of,
    )
