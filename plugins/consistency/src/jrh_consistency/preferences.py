"""What a judge's verdicts prefer: of two responses to one request, how often each wins, and how often reruns differ."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from math import fsum
from typing import Final, TypeAlias

import numpy as np
from attrs import Factory, frozen
from jrh_measuring import Cell, Codes, Floats, Mask, MeasureBuilder, Trials, tasks_of

from jrh_consistency.naming import Kind, Named, kind_of, order_of

Pair: TypeAlias = tuple[str, str, str]
"""Set, and two of its members in the order of their names."""
Shares: TypeAlias = tuple[float, float, float]
"""Share of verdicts, or their number, for the first member, for neither, and for the second."""
FIRST, NEITHER, SECOND = 0, 1, 2
_TWO: Final = 2
TIED: Final = 0.25
"""What a tie against a preference counts as, where opposite preferences count as 1.

A way of asking that gives the better response its vote with probability a u, the other with (1 - a) u and a tie else
contradicts a sure one in (1 - a) u, which is at most 2 a (1 - a) u^2 + u (1 - u) / 2 for every a of a half or more.
"""


@frozen(kw_only=True)
class Preference:
    """What the verdicts say about one pair of responses."""

    cluster: int
    shares: Shares | None
    """Every option order, and every list that shows both, weighs the same. None: no verdict."""
    noise: float | None
    """How often two independent verdicts differ, reruns and option orders together; None: nothing was asked twice."""
    opposition: float | None = None
    """How often two independent verdicts contradict each other; a tie and a preference count as a quarter of that."""
    weight: float = 1.0
    """Of a choice from a list: the share of the verdicts that say something about the pair; 1 elsewhere."""


@frozen(kw_only=True, eq=False)
class Judged:
    """The verdicts of one judge in one task about sets of responses."""

    cell: Cell
    """The trials: the reference condition, and the same question in other option orders."""
    kind: Kind
    usable: Codes
    preferences: Mapping[Pair, Preference]
    """Every pair that was asked about."""
    crossed: bool
    """Whether some pair was shown in both orders."""
    noise: float | None
    """Mean disagreement of the pairs where it is known."""
    opposition: float | None

    @property
    def steady(self) -> bool:
        """Return whether every pair was asked more than once and no two of its verdicts differ."""
        return all(preference.shares is None or preference.noise == 0 for preference in self.preferences.values())

    def noise_of(self, pair: Pair) -> float:
        """Return the disagreement of a pair; the mean of the others where it was asked once."""
        noise = self.preferences[pair].noise
        return float(self.noise or 0.0) if noise is None else noise

    def opposition_of(self, pair: Pair) -> float:
        """Return the opposition of a pair; the mean of the others where it was asked once."""
        opposition = self.preferences[pair].opposition
        return float(self.opposition or 0.0) if opposition is None else opposition


def preferences_by_task(builder: MeasureBuilder) -> tuple[Judged, ...]:
    """Return what every judge prefers in every task about sets, by task and judge."""
    return builder.trials.compute_once("consistency: preferences", lambda: tuple(_preferences_by_task(builder)))


def _preferences_by_task(builder: MeasureBuilder) -> Iterator[Judged]:
    trials, tasks = builder.trials, builder.context.tasks
    named = [Named.read(name) for name in trials.item.names]
    known = np.array([name is not None for name in named])
    alike = _same_question(trials)
    for cell in tasks_of(trials):
        if cell.task not in tasks:
            continue
        kind = kind_of(tasks[cell.task])
        rows = cell.rows[alike[cell.rows] & known[trials.item.codes[cell.rows]]]
        if kind is not Kind.NONE and len(rows):
            yield _Reading(builder=builder, cell=cell.part({}, rows), kind=kind, named=named).read()


def _same_question(trials: Trials) -> Mask:
    """Return the trials that differ from the reference condition in nothing but the order of the options."""
    order, variant = trials.column("option_order"), trials.variant
    place = {name: code for code, name in enumerate(variant.names)}
    same = np.array([place.get(name, -1) if name else -1 for name in order.names])
    # A test that also changes the text names that in the variant.
    alike: Mask = trials.reference | (same[order.codes] == variant.codes)
    return alike


@frozen(kw_only=True, eq=False)
class _Reading:
    builder: MeasureBuilder
    cell: Cell
    kind: Kind
    named: list[Named | None]
    known: dict[tuple[int, int], tuple[tuple[Pair, int | None], ...]] = Factory(dict)
    """What a verdict on an item says, by item and label."""

    def read(self) -> Judged:
        usable = self.cell.rows[self.builder.trials.usable[self.cell.rows]]
        preferences = dict(self._read_scores(usable) if self.kind is Kind.SCORES else self._read_comparisons())
        orders = self.builder.trials.conditions.order.codes[self.cell.rows]
        known = [(pair.noise, pair.opposition) for pair in preferences.values() if pair.noise is not None]
        return Judged(
            cell=self.cell,
            kind=self.kind,
            usable=usable,
            preferences=preferences,
            crossed=self.kind is Kind.PAIRS and len(np.unique(orders)) > 1,
            # `fsum`, so that the order of the pairs does not show in the last digit.
            noise=fsum(noise for noise, _ in known) / len(known) if known else None,
            opposition=fsum(opposed or 0.0 for _, opposed in known) / len(known) if known else None,
        )

    def _read_comparisons(self) -> Iterator[tuple[Pair, Preference]]:
        """Read comparisons and lists: every item and order is a way of asking about its pairs."""
        trials, rows = self.builder.trials, self.cell.rows
        columns = (trials.item.codes, trials.conditions.order.codes, trials.label, trials.cluster.codes)
        votes: defaultdict[tuple[int, int], Counter[int]] = defaultdict(Counter)
        cluster_of: dict[int, int] = {}
        for item, order, label, cluster in zip(*(column[rows].tolist() for column in columns), strict=True):
            votes[item, order][label] += 1
            cluster_of[item] = cluster
        ways: defaultdict[Pair, list[Shares]] = defaultdict(list)
        clusters: dict[Pair, int] = {}
        weights: defaultdict[Pair, float] = defaultdict(float)
        for (item, _), counts in votes.items():
            outcomes: dict[Pair, list[float]] = {}
            for label, number in counts.items():
                for pair, outcome in self._outcomes(item, label):
                    into = outcomes.setdefault(pair, [0.0, 0.0, 0.0])
                    if outcome is not None:
                        into[outcome] += number
            answered = sum(number for label, number in counts.items() if label >= 0)
            for pair, numbers in outcomes.items():
                ways[pair].append((numbers[0], numbers[1], numbers[2]))
                # A choice says nothing about two responses that both lost, so such pairs rest on fewer verdicts.
                weights[pair] += sum(numbers) / max(answered, 1)
                clusters.setdefault(pair, cluster_of[item])
        for pair in sorted(ways):
            weight = weights[pair] if self.kind is Kind.CHOICES else 1.0
            yield pair, _preference(clusters[pair], ways[pair], weight)

    def _outcomes(self, item: int, label: int) -> tuple[tuple[Pair, int | None], ...]:
        """Return what a verdict says about pairs; None as the outcome where it is missing."""
        key = item, label
        # Few labels, many verdicts: what a label says about an item is worked out once.
        if key not in self.known:
            named = self.named[item]
            label_name = self.builder.trials.labels[label] if label >= 0 else None
            self.known[key] = () if named is None else tuple(self._says(named, label_name))
        return self.known[key]

    def _says(self, named: Named, said: str | None) -> Iterator[tuple[Pair, int | None]]:
        tie = self.builder.context.tasks[self.cell.task].scale.tie
        if said is None and self.kind is Kind.CHOICES:
            return  # which pairs it would have been about is not known
        if said is None or said == tie:
            outcome = None if said is None else NEITHER
            # A tie, or a missing verdict, is about every pair of the question.
            yield from ((_pair(named.set, *pair)[0], outcome) for pair in combinations(named.members, 2))
            return
        order = order_of(said) if self.kind is Kind.RANKINGS else (said,)
        places = [ord(letter) - ord("A") if len(letter) == 1 else -1 for letter in order]
        if any(not 0 <= place < len(named.members) for place in places):
            return  # an id that names fewer members than the scale has
        ranked = [named.members[place] for place in places]
        pairs = [(ranked[0], other) for other in named.members if other != ranked[0]]
        for better, worse in combinations(ranked, 2) if self.kind is Kind.RANKINGS else pairs:
            pair, turned = _pair(named.set, better, worse)
            yield pair, SECOND if turned else FIRST

    def _read_scores(self, usable: Codes) -> Iterator[tuple[Pair, Preference]]:
        """Read scores: every verdict on one response against every verdict on the other."""
        trials = self.builder.trials
        of_item: defaultdict[int, list[float]] = defaultdict(list)
        for item, value in zip(trials.item.codes[usable].tolist(), self._values(usable).tolist(), strict=True):
            of_item[item].append(value)
        scores = {item: np.array(values) for item, values in of_item.items()}
        sets: defaultdict[str, dict[str, int]] = defaultdict(dict)
        clusters: dict[int, int] = {}
        # Items without a verdict as well, so that their pairs count as missing.
        for row in self.cell.rows:
            item = int(trials.item.codes[row])
            named = self.named[item]
            if named is not None and len(named.members) == 1:
                sets[named.set][named.members[0]] = item
                clusters[item] = int(trials.cluster.codes[row])
        none = np.zeros(0)
        for name, members in sorted(sets.items()):
            for first, second in combinations(sorted(members), 2):
                both = scores.get(members[first], none), scores.get(members[second], none)
                yield (name, first, second), _of_scores(clusters[members[first]], *both)

    def _values(self, usable: Codes) -> Floats:
        """Return the number behind each verdict: the judge's own score where all have one, otherwise the level."""
        trials, task = self.builder.trials, self.builder.context.tasks[self.cell.task]
        if "score" in trials.records.columns:
            scores = trials.records.number("score")[usable]
            # Scores and levels are not mixed: they are not on the same scale.
            if len(scores) and np.isfinite(scores).all():
                return scores
        if task.scale.ordered:
            return trials.rank[trials.task.codes[usable], trials.label[usable]].astype(np.float64)
        positive = [float(label == task.scale.positive_label) for label in trials.labels]
        return np.array(positive)[trials.label[usable]]


def _pair(name: str, one: str, other: str) -> tuple[Pair, bool]:
    """Return the pair, and whether the second member is named first in it."""
    return ((name, other, one), True) if other < one else ((name, one, other), False)


def _preference(cluster: int, ways: list[Shares], weight: float) -> Preference:
    """Put the counts of verdicts together that were asked in one way or several.

    Two independent verdicts are of the same way with probability 1 / ways: reruns within a way and differences between
    ways both count as noise.
    """
    answered = [votes for votes in ways if sum(votes)]
    if not answered:
        return Preference(cluster=cluster, shares=None, noise=None, weight=weight)
    number = len(answered)
    shares = [(votes[0] / sum(votes), votes[1] / sum(votes), votes[2] / sum(votes)) for votes in answered]
    first, neither, second = (fsum(column) / number for column in zip(*shares, strict=True))
    return Preference(
        cluster=cluster,
        shares=(first, neither, second),
        noise=_expect(_difference, answered, shares),
        opposition=_expect(_opposition, answered, shares),
        weight=weight,
    )


def _expect(differ: Callable[[Shares, Shares], float], ways: list[Shares], shares: list[Shares]) -> float | None:
    """Return the expected difference of two verdicts in random ways; None where no way was asked twice."""
    number = len(ways)
    within = [differ(votes, votes) / (sum(votes) * (sum(votes) - 1)) for votes in ways if sum(votes) >= _TWO]
    if not within:
        return None
    between = [differ(*pair) for pair in combinations(shares, 2)]
    across = fsum(between) / len(between) * (1 - 1 / number) if between else 0.0
    return fsum(within) / len(within) / number + across


def _difference(one: Shares, other: Shares) -> float:
    """Sum the products of different outcomes: of counts the ordered pairs of verdicts, of shares their probability."""
    return sum(one) * sum(other) - sum(mine * yours for mine, yours in zip(one, other, strict=True))


def _opposition(one: Shares, other: Shares) -> float:
    """Do the same for opposite preferences; a tie against a preference counts as a quarter."""
    strict = one[FIRST] + one[SECOND], other[FIRST] + other[SECOND]
    tied = one[NEITHER] * strict[1] + strict[0] * other[NEITHER]
    return one[FIRST] * other[SECOND] + one[SECOND] * other[FIRST] + TIED * tied


def _of_scores(cluster: int, one: Floats, other: Floats) -> Preference:
    if not len(one) or not len(other):
        return Preference(cluster=cluster, shares=None, noise=None)
    # Every verdict against every other: repeats of two items are not paired.
    signs = np.sign(one[:, None] - other[None, :])
    shown = [signs == value for value in (1, 0, -1)]
    shares = (float(shown[0].mean()), float(shown[1].mean()), float(shown[2].mean()))
    if len(one) < _TWO or len(other) < _TWO:
        # A difference between reruns needs two of each.
        return Preference(cluster=cluster, shares=shares, noise=None)
    # Of two comparisons that share no verdict: pairs of cells in different rows and columns.
    number = len(one) * (len(one) - 1) * len(other) * (len(other) - 1)
    first, neither, second = (sign.astype(np.float64) for sign in shown)
    opposed = 2 * _apart(first, second) / number
    tied = 2 * _apart(neither, 1 - neither) / number
    return Preference(cluster=cluster, shares=shares, noise=opposed + tied, opposition=opposed + TIED * tied)


def _apart(one: Floats, other: Floats) -> float:
    """Count the pairs of a cell marked in one and a cell marked in the other that share neither row nor column."""
    rows = (one.sum(axis=1) * other.sum(axis=1)).sum()
    columns = (one.sum(axis=0) * other.sum(axis=0)).sum()
    return float(one.sum() * other.sum() - rows - columns + (one * other).sum())


def counted_note(what: str, number: int, missing: int, *, lacking: str, nothing: str) -> str:
    """Say how many pairs or triples of responses a measure rests on, and how many lack a verdict.

    Args:
        what: what is counted.
        number: how many have all their verdicts.
        missing: how many lack one.
        lacking: where it is lacking.
        nothing: the note where nothing was planned.
    """
    if not number:
        return f"{missing:,} {what}, each without a verdict {lacking}" if missing else nothing
    return f"{number:,} {what}" + (f"; {missing:,} more lack a verdict {lacking}" if missing else "")
