"""Tables as in JudgeSense: agreement between prompt templates, judge by judge and template by template."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jrh import Measure
from jrh_measuring import CONSTANT_VERDICTS, DEGENERATE

from jrh_report.papers.found import Found
from jrh_report.papers.sheet import Cell, Sheet
from jrh_report.tables import judge_label

_JSS: Final = "jss"
_WITHOUT: Final = "without"
_TEMPLATE: Final = "template"
_PAIR: Final = "pair"
_FLIPPED: Final = "judges"
_COMPAT: Final = "compat-judgesense-jss"
Place = tuple[str, str, str]
"""Task, judge, test."""


def sheets(found: Found) -> Iterator[Sheet]:
    """Yield the tables that have rows."""
    places = scores(found)
    steady = [place for place in places if not is_constant(found, place)]
    for sheet in (
        _agreement(found, steady, constant=False),
        _agreement(found, [place for place in places if place not in steady], constant=True),
        _raw_and_corrected(found, places),
        _without(found, places),
        _each_template(found, places),
        _each_pair(found, places),
        _overlap(found),
        _as_published(found, places),
    ):
        if sheet.rows:
            yield sheet


def scores(found: Found) -> list[Place]:
    """Return where there is a JSS, by task and then by the score, the lowest first; without an estimate last."""
    there = [
        (each.task, each.judge, each.test) for each in found.report.measures if each.name == _JSS and not each.cell
    ]

    def order(place: Place) -> tuple[int, float, str]:
        measure = found.get(_JSS, *place)
        value = None if measure is None else measure.estimate
        return found.tasks.index(place[0]), 2.0 if value is None else value, place[1]

    return sorted(there, key=order)


def is_constant(found: Found, place: Place) -> bool:
    """Tell whether a judge gave one label under every template, as shown or as meant: agreement then says nothing."""
    about = (found.get(name, *place) for name in ("template-kappa", _JSS, "jss-raw"))
    return any({DEGENERATE, CONSTANT_VERDICTS} & set(each.flags) for each in about if each is not None)


def _heads(found: Found, place: Place) -> tuple[str, str, str]:
    return place[0], judge_label(found.report, place[1]), place[2]


def _agreement(found: Found, places: list[Place], *, constant: bool) -> Sheet:
    names = ("jss", "template-flip-rate", "template-kappa")
    rows = [(*_heads(found, place), *(found.get(name, *place) for name in names)) for place in places]
    return Sheet(
        name="templates-constant" if constant else "templates",
        title="Judges that always give one label" if constant else "Agreement between prompt templates",
        columns=("task", "judge", "test", "JSS", "flip rate", "kappa"),
        rows=tuple(rows),
        note="One label, as shown, under every template: such a judge says nothing about the prompts."
        if constant
        else "Sorted by task and JSS. The score counts what labels mean, so an inverted template is not a flip.",
    )


def _raw_and_corrected(found: Found, places: list[Place]) -> Sheet:
    rows = []
    for place in places:
        raw, change = found.get("jss-raw", *place), found.get("jss-correction", *place)
        if raw is not None and change is not None:
            rows.append((*_heads(found, place), raw, found.get(_JSS, *place), change))
    return Sheet(
        name="templates-polarity",
        title="JSS raw and corrected for polarity",
        columns=("task", "judge", "test", "raw", "corrected", "difference"),
        rows=tuple(rows),
        note="Raw compares labels as presented, corrected what they mean. The difference is paired, by cluster.",
    )


def _without(found: Found, places: list[Place]) -> Sheet:
    rows: list[tuple[Cell, ...]] = []
    for place in places:
        for each in found.named(_JSS, place[0]):
            if (each.judge, each.test) == place[1:] and set(each.cell) == {_WITHOUT}:
                left = each.cell[_WITHOUT]
                kappa = found.get("template-kappa", *place), found.get("template-kappa", *place, without=left)
                rows.append((*_heads(found, place), left, found.get(_JSS, *place), each, *kappa))
    return Sheet(
        name="templates-left-out",
        title="Effect of leaving templates out",
        columns=("task", "judge", "test", "left out", "JSS, all", "JSS, without", "kappa, all", "kappa, without"),
        rows=tuple(rows),
    )


def _each_template(found: Found, places: list[Place]) -> Sheet:
    rows: list[tuple[Cell, ...]] = []
    for place in places:
        own = [each for each in found.named(_JSS, place[0]) if (each.judge, each.test) == place[1:]]
        for each in own:
            if set(each.cell) == {_TEMPLATE}:
                template = each.cell[_TEMPLATE]
                both = [one for one in own if set(one.cell) == {_TEMPLATE, _WITHOUT}]
                less = [one for one in both if one.cell[_TEMPLATE] == template]
                head = (*_heads(found, place), template, each)
                shown: list[Measure | None] = [*less] or [None]
                rows.extend((*head, one.cell[_WITHOUT] if one else "", one) for one in shown)
    return Sheet(
        name="templates-each",
        title="Agreement of each template with the others",
        columns=("task", "judge", "test", "template", "JSS, all pairs", "left out", "JSS, without"),
        rows=tuple(rows),
        note="A template that agrees less than the others is worded differently or has another polarity.",
    )


def _each_pair(found: Found, places: list[Place]) -> Sheet:
    rows = [
        (*_heads(found, place), each.cell[_PAIR], each, found.get("template-flip-rate", *place, pair=each.cell[_PAIR]))
        for place in places
        for each in found.named(_JSS, place[0])
        if (each.judge, each.test) == place[1:] and set(each.cell) == {_PAIR}
    ]
    return Sheet(
        name="template-pairs",
        title="Agreement of each pair of templates",
        columns=("task", "judge", "test", "pair", "JSS", "flip rate"),
        rows=tuple(rows),
    )


def _overlap(found: Found) -> Sheet:
    rows = [
        (each.task, each.test, each.cell.get(_PAIR, ""), each.cell.get(_FLIPPED, ""), each)
        for task in found.tasks
        for each in (*found.named("flipped-by", task), *found.named("flipping-judges", task))
    ]
    every = [each for task in found.tasks for each in found.named("flipped-by-every-judge", task)]
    rows += [(each.task, each.test, "", "every judge with verdicts on both sides", each) for each in every]
    return Sheet(
        name="pair-overlap",
        title="Pairs that several judges flip",
        columns=("task", "test", "pair", "flipped by", "share"),
        rows=tuple(rows),
        note="By pair: the mean share of judges that flip it. By number of judges: the share of items and pairs. "
        "Single items and pairs are in pair-flips.csv.",
    )


def _as_published(found: Found, places: list[Place]) -> Sheet:
    rows: list[tuple[Cell, ...]] = []
    for place in places:
        theirs: Measure | None = found.get(_COMPAT, *place)
        if theirs is not None:
            kappa = found.get("compat-judgesense-kappa", *place), found.get("template-kappa", *place)
            rows.append((*_heads(found, place), theirs, found.get(_JSS, *place), *kappa))
    return Sheet(
        name="templates-as-published",
        title="JSS and kappa by the paper's estimator, and by ours",
        columns=("task", "judge", "test", "JSS, paper", "JSS", "kappa, paper", "kappa"),
        rows=tuple(rows),
        note="The paper's estimator bootstraps rows as if they were independent and sets kappa to 1 where it is "
        "undefined. Both compare what labels mean. Ours is clustered by item.",
    )
