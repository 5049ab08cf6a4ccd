"""Which system is first? Rankings under every judge and by people, corrected ones, and orders that tests turn round."""

from __future__ import annotations

from typing import Final

import numpy as np
from attrs import evolve, frozen
from jrh import JrhError
from jrh.text import clean_text, count_noun
from scipy.sparse.csgraph import connected_components

from jrh_decide.decisions import quote_names
from jrh_decide.ranking import Contests, Ranking, correct_by_labels, rank_systems
from jrh_decide.systems import RankQuestion, read_system_verdicts

_MOST_SYSTEMS: Final = 50
_LEVEL: Final = 0.95


@frozen(kw_only=True)
class JudgeRanking:
    """The ranking of a judge."""

    judge: str
    naive: Ranking
    """By its verdicts."""
    corrected: Ranking | None
    """By its verdicts and the labelled part; None: too few labels, or everything is labelled."""
    labelled: int
    verdicts: int
    """Asked for, on the unchanged question."""


@frozen(kw_only=True)
class Flip:
    """Two systems whose order changes under a test."""

    judge: str
    test: str
    first: str
    """Ahead on the unchanged question."""
    second: str
    """Ahead under the test."""
    shown: bool
    """Whether the judge shows both orders."""
    people: str
    """`first` or `second`: which of the two people are shown to put ahead; `open`: neither; `no labels`."""


@frozen(kw_only=True)
class Ranks:
    """The answer of `jrh rank`."""

    compared: bool
    positive: str
    """The label that scores 1, of two; empty for other scales."""
    level: float
    resamples: int
    seed: int
    judges: tuple[JudgeRanking, ...]
    people: Ranking | None
    """None: labels are missing, or do not link all systems."""
    flips: tuple[Flip, ...]
    orders: int
    """Orders of two systems that were looked at under a test."""
    notes: tuple[str, ...]
    simulated: tuple[str, ...]
    sentences: tuple[str, ...] = ()
    """The answer under each judge, in words."""


def find_ranks(question: RankQuestion) -> Ranks:
    """Rank the systems of a table or a run.

    Raises:
        JrhError: they cannot be ranked.
    """
    found = read_system_verdicts(question)

    def rank(contests: Contests) -> Ranking:
        return rank_systems(contests, level=_LEVEL, resamples=question.resamples, seed=question.seed)

    judges, flips, orders = [], [], 0
    # Every judge has the same items; people count once.
    one = next(iter(found.judges.values()))
    one = one.take(np.unique(one.item, return_index=True)[1])
    labels = evolve(one, value=one.people)
    people = None if _obstacle(labels) else rank(labels)
    for judge, asked in found.judges.items():
        contests = asked.take(asked.test == "")
        if why := _obstacle(contests):
            raise JrhError(f"judge '{clean_text(judge, 60)}': {why}")
        labelled = ~np.isnan(contests.people)
        corrected = correct_by_labels(contests) if 0 < labelled.sum() < len(labelled) else None
        judges.append(
            JudgeRanking(
                judge=judge, naive=rank(contests), corrected=None if corrected is None else rank(corrected),
                labelled=int(labelled.sum()), verdicts=len(labelled),
            )
        )  # fmt: skip
        for test in sorted({*asked.test} - {""}):
            changed = asked.take(asked.test == test)
            # The same items: another order on other items says nothing about the test.
            sides = (contests.take(np.isin(contests.item, changed.item)), changed)
            if any(map(_obstacle, sides)):
                continue
            old, new = map(rank, sides)
            before, after = ({system.name: system.rank for system in side.systems} for side in (old, new))
            ordered = [(ahead, behind) for ahead in before for behind in before if before[ahead] < before[behind]]
            orders += len(ordered)
            flips += [
                Flip(
                    judge=judge, test=test, first=ahead, second=behind, people=_people_say(people, ahead, behind),
                    shown=(ahead, behind) in old.shown and (behind, ahead) in new.shown,
                )
                for ahead, behind in ordered if after[behind] < after[ahead]
            ]  # fmt: skip
    return Ranks(
        compared=one.compared, positive=found.positive, level=_LEVEL, resamples=question.resamples, seed=question.seed,
        judges=tuple(judges), people=people, flips=tuple(flips), orders=orders, notes=found.notes,
        simulated=found.simulated,
    )  # fmt: skip


def _obstacle(contests: Contests) -> str:
    """Return why systems cannot be ranked; empty where they can."""
    systems, there = contests.systems, ~np.isnan(contests.value)
    if not 1 < len(systems) <= _MOST_SYSTEMS:
        return f"{count_noun(len(systems), 'system')} ({quote_names(systems)}); a ranking takes 2 to {_MOST_SYSTEMS}"
    if not there.any():
        return "no verdict at all; look at the column named with --judge"
    seen = {*contests.first[there].tolist(), *contests.second[there].tolist()}
    if without := [name for at, name in enumerate(systems) if at not in seen]:
        return f"no verdict about {quote_names(without)}; leave these rows out"
    links = np.eye(len(systems))
    links[contests.first[there], contests.second[there]] = 1
    groups, group = connected_components(links, directed=False)
    if contests.compared and groups > 1:
        one, other = (quote_names(np.array(systems)[group == at]) for at in (0, 1))
        return f"no comparison links {one} to {other}; rank each group, or compare one system of each"
    return ""


def _people_say(people: Ranking | None, first: str, second: str) -> str:
    if people is None:
        return "no labels"
    return "first" if (first, second) in people.shown else "second" if (second, first) in people.shown else "open"
