"""Write the answer of `jrh rank` for a terminal and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final

from attrs import asdict, evolve
from jrh.text import clean_text, count_noun
from jrh_measuring import closing_lines, format_number, plain_table, terminal_text

from jrh_decide.rank import JudgeRanking, Ranks
from jrh_decide.ranking import Ranking, System

_FLIPS: Final = 12
_PEOPLE: Final = {
    "first": "people put '{0}' ahead: an error", "second": "people put '{1}' ahead: no error",
    "open": "people's order is open: no error", "no labels": "people's order is not known",
}  # fmt: skip
_SAMPLES: Final = "First in samples: share of {:,} bootstrap samples of clusters, not the probability of being best."
_BRACKETS: Final = "Brackets: all rank intervals of a ranking hold together in {:g}% of samples of whole clusters."
_CHANCE: Final = "Chance to win: mean Bradley-Terry probability against each other system; ties count half."
_CORRECTED: Final = (
    "Corrected: prediction-powered, from labels of a random part. Labels of what looked wrong mislead it."
)
_FEW_LABELS: Final = "two systems that met (of scores: one) have fewer than two labels"
_clean = partial(clean_text, limit=60)


def ranks_json(found: Ranks) -> str:
    """Return the document that `schemas/ranks.schema.json` describes."""
    document = evolve(found, sentences=tuple(first_sentences(found)))
    return json.dumps(asdict(document), indent=2, allow_nan=False) + "\n"


def first_sentences(found: Ranks) -> Iterator[str]:
    """Yield the answer under each judge, with what people say."""
    for judge in found.judges:
        first, top = _first(judge.naive), judge.naive.systems[0]
        names, where, size = _names(first), f"under judge {_clean(judge.judge)}", len(judge.naive.systems)
        more = ""
        if judge.corrected is not None and _first(judge.corrected) != first:
            more = f" Corrected by {count_noun(judge.labelled, 'label')}: {_names(_first(judge.corrected))}."
        if found.people is not None:
            same = _first(found.people) == first
            ends = f"{', too' if same else ''}{', not significantly' if found.people.systems[0].high > 1 else ''}"
            more += f" People put {names if same else _names(_first(found.people))} first{ends}."
        if len(first) > 1:
            yield f"{names} share rank 1 of {size} {where}.{more}"
        else:
            doubt = ", though not significantly" if top.high > 1 else ""
            yield f"{names} is first {where}{doubt}: rank {_rank(top)} of {size}; it {_count(found, top)}.{more}"


def _count(found: Ranks, system: System) -> str:
    if found.compared:
        ties = f" ({count_noun(system.ties, 'tie')})" if system.ties else ""
        return f"won {system.total:,.0f} of {count_noun(system.verdicts, 'comparison')}{ties}"
    verdicts = count_noun(system.verdicts, "verdict")
    if found.positive:
        return f"got '{_clean(found.positive)}' in {system.total:,.0f} of {verdicts}"
    return f"has mean {format_number(system.score, 2, proportion=False)} in {verdicts}"


def _first(ranking: Ranking) -> list[str]:
    return sorted(system.name for system in ranking.systems if system.rank == 1)


def _names(names: Sequence[str]) -> str:
    shown = [f"'{_clean(name)}'" for name in names]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def _rank(system: System) -> str:
    return f"{system.rank} [{system.low}, {system.high}]"


def ranks_text(found: Ranks) -> str:
    """Return a sentence and a table for every judge, the orders that tests turn round, and what it rests on."""
    tables = [part for judge in found.judges for part in ("", _table(found, judge))]
    return terminal_text([*first_sentences(found), *tables, "", *_flip_lines(found), *_basis(found)])


def _table(found: Ranks, judge: JudgeRanking) -> Any:
    unit = "chance to win" if found.compared else "share" if found.positive else "mean"
    others = {"corrected": judge.corrected, "people": found.people}
    by_name = {head: {each.name: each for each in other.systems} for head, other in others.items() if other}
    heads = [head for name in by_name for head in (f"{name}: rank", unit)]
    won = ("won", "tied") if found.compared else ()
    columns = (_clean(judge.judge), "rank", *won, "verdicts", "missing", unit, "first in samples", *heads)
    rows = []
    for system in judge.naive.systems:
        counts = (f"{system.total:,.0f}", f"{system.ties:,}") if won else ()
        same = [systems[system.name] for systems in by_name.values()]
        score, *scores = (format_number(each.score, 2, proportion=found.compared) for each in (system, *same))
        cells = [cell for each, text in zip(same, scores, strict=True) for cell in (_rank(each), text)]
        numbers = (f"{system.verdicts:,}", f"{system.missing:,}", score, format_number(system.first_share, 2))
        rows.append((_clean(system.name), _rank(system), *counts, *numbers, *cells))
    return plain_table(columns, rows)


def _flip_lines(found: Ranks) -> Iterator[str]:
    ordered = sorted(found.flips, key=lambda flip: (flip.people != "first", not flip.shown))
    errors = sum(flip.people == "first" for flip in ordered)
    if found.orders:
        orders = count_noun(found.orders, "order")
        yield f"Tests turn round {len(ordered):,} of {orders} of two systems, {errors:,} of them against people's."
    for flip in ordered[:_FLIPS]:
        first, second, noise = _clean(flip.first), _clean(flip.second), "" if flip.shown else ", perhaps by noise"
        said = _PEOPLE[flip.people].format(first, second)
        yield f"- {_clean(flip.judge)}, {_clean(flip.test)}: '{second}' passes '{first}'{noise}; {said}."
    if len(ordered) > _FLIPS:
        yield f"{_FLIPS} of {len(ordered)} are listed; --format json has all."


def _basis(found: Ranks) -> Iterator[str]:
    for judge in found.judges:
        verdicts, clusters = count_noun(judge.verdicts, "verdict"), count_noun(judge.naive.clusters, "cluster")
        # A comparison is a row of both of its systems.
        if missing := sum(system.missing for system in judge.naive.systems) // (2 if found.compared else 1):
            verdicts = f"{judge.verdicts - missing:,} of {verdicts}"
        yield f"{_clean(judge.judge)} rests on {verdicts} in {clusters}, {judge.labelled:,} with a label of people."
        if 0 < judge.labelled < judge.verdicts and judge.corrected is None:
            yield f"{_clean(judge.judge)} is not corrected: {_FEW_LABELS}."
    yield _BRACKETS.format(100 * found.level)
    yield _SAMPLES.format(found.resamples)
    if found.compared:
        yield _CHANCE
    if any(judge.corrected for judge in found.judges):
        yield _CORRECTED
    yield from closing_lines(found.simulated, found.notes)
