"""Rules about covariates: whether verdicts depend on length, author or another column at equal gold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from attrs import evolve
from jrh import Measure, ScaleKind, Task
from jrh.values import LENGTH, Severity
from jrh_measuring import (
    Chain,
    Claim,
    Design,
    Hypothesis,
    PValue,
    Rule,
    Situation,
    excludes_zero,
    items_needed,
    read_off,
)

EFFECT: Final = "covariate-effect"
_GIVEN: Final = {"": "at equal gold", "peer-": "at equal verdicts of the other judges"}
_REVERSE: Final = "covariate-reverse"
_ASIDE_WEIGHT: Final = 0.05
"""Of claims that there is no effect: they must not keep those from being made that verdicts are the same."""
_ASIDE: Final = "per standard deviation; an association"
_TWO: Final = 2
_NOISE: Final = "label noise could explain it"


class CovariateEffects(Rule):
    """Tells which covariates move verdicts.

    An effect counts if it is significant at equal gold, reaches the floor, and gold at equal verdicts moves the other
    way, significantly: the first alone can come from a label that misses quality. An effect that is not significant is
    mentioned only where it would be if it were the only one tested.
    """

    def hypotheses(self, design: Design) -> Iterator[Chain]:
        """Yield that verdicts do not depend on a covariate, and then that quality explains how they do, one by one."""
        for kind in _GIVEN:
            for place in design.parts(f"{kind}{EFFECT}-p"):
                yield Hypothesis(place=place), Hypothesis(place=evolve(place, name=f"{kind}{_REVERSE}"))
            for place in design.parts(f"{kind}{EFFECT}"):
                if place.task in design.tasks:
                    limit = design.settings.margin * _length_of_scale(design.tasks[place.task].task)
                    yield (Hypothesis(place=place, null=limit, weight=_ASIDE_WEIGHT, equivalence=True),)

    def test(self, hypothesis: Hypothesis, now: Situation) -> PValue:
        """Test a hypothesis; that quality explains an effect, at the level where it explains least."""
        place = hypothesis.place
        if not place.name.endswith(_REVERSE):
            return super().test(hypothesis, now)
        effects = _effects(now, place.name.removesuffix(_REVERSE), place.task, dict(place.cell)["covariate"])
        # A level explains nothing if both slopes differ from 0, with opposite signs (an intersection-union test).
        found = [
            max(p, reverse_p / 2)
            for effect in effects
            if (reverse := _reverse(now, effect)) is not None
            and (effect.estimate or 0.0) * (reverse.estimate or 0.0) < 0
            and (p := read_off(effect, 0.0)) is not None
            and (reverse_p := read_off(reverse, 0.0)) is not None
        ]
        levels, labels = (len({effect.cell.get(name) for effect in effects}) for name in ("level", "label"))
        # Two levels mirror each other: they are one comparison.
        compared = max(levels - (levels == _TWO), 1) * labels
        return PValue(p=min([1.0, *(p * compared for p in found)]))

    def claims(self, now: Situation) -> Iterator[Claim]:
        """Yield what may be said of every covariate."""
        for kind, condition in _GIVEN.items():
            for p in now.parts(f"{kind}{EFFECT}-p"):
                if p.estimate is not None:
                    yield from _claims(now, kind, condition, p)


def _claims(now: Situation, kind: str, given: str, p: Measure) -> Iterator[Claim]:
    effects = _effects(now, kind, p.task, p.cell["covariate"])
    if p.task not in now.design.tasks or not effects:
        return
    task = now.design.tasks[p.task].task
    # Floor and margin are shares of the scale's length, and effects are in levels.
    floor, margin, unit = now.floor_of(EFFECT), now.margin, _length_of_scale(task)
    name = p.cell["covariate"]
    subject = "response length" if name == LENGTH else f"'{name}'"
    # Two levels mirror each other: the one that is preferred says it.
    effect = max(effects, key=lambda one: (round(abs(one.estimate or 0.0), 9), (one.estimate or 0.0) > 0))
    estimate = effect.estimate or 0.0
    needed = None
    # The p-value is that of the covariate: the level that is named has to show the effect itself.
    if now.claims(p) and excludes_zero(effect):
        severity, statement = Severity.WARNING, f"{_moves(task, effect)} {given}"
        if abs(estimate) < floor * unit:
            severity = Severity.INFO
            statement = f"Negligible effect of {subject} {given} (below {_share(task, floor)})"
        elif not _is_confirmed(now, kind, p, effect):
            severity, statement = Severity.INFO, f"{statement}; {_NOISE}"
    # No effect means none of any level.
    elif all(now.within(effect, margin * unit) for effect in effects):
        severity, statement = Severity.GOOD, f"No effect of {subject} beyond ±{_share(task, margin)} {given}"
    elif (p.estimate or 0.0) < 1 - now.design.level:
        corrected = now.correction(p)
        severity = Severity.INCONCLUSIVE
        statement = f"Effect of {subject} {given} neither shown nor ruled out"
        if corrected:
            statement = f"Possibly an effect of {subject} {given}; {corrected}"
        needed = items_needed(effect, margin * unit, len(effects))
    else:
        return
    step = "levels " if task.scale.ordered else ""
    yield Claim(
        kind=EFFECT,
        severity=severity,
        statement=statement,
        measure=effect,
        aside=f"{step}{'' if 'level' in effect.cell else _ASIDE}".strip(),
        needed=needed,
        floor=floor,
        margin=margin,
    )


def _effects(now: Situation, kind: str, task: str, covariate: str) -> list[Measure]:
    """Return what a covariate does, level by level."""
    return [
        effect
        for effect in now.parts(f"{kind}{EFFECT}")
        if effect.task == task and effect.cell["covariate"] == covariate and effect.estimate is not None
    ]


def _reverse(now: Situation, effect: Measure) -> Measure | None:
    return now.counterpart(effect, effect.name.replace(EFFECT, _REVERSE))


def _is_confirmed(now: Situation, kind: str, p: Measure, effect: Measure) -> bool:
    """Tell whether gold at equal verdicts is shown to move the other way."""
    reverse = _reverse(now, effect)
    if reverse is None or (reverse.estimate or 0.0) * (effect.estimate or 0.0) >= 0:
        return False
    # The family holds one hypothesis per covariate: the level that is named has to show it, too.
    shown = (one_sided := read_off(reverse, 0.0)) is not None and one_sided / 2 <= 1 - now.design.level
    return shown and now.claims(evolve(p, name=f"{kind}{_REVERSE}"))


def _length_of_scale(task: Task) -> int:
    return len(task.scale.labels) - 1 if task.scale.ordered else 1


def _share(task: Task, share: float) -> str:
    """Write a share of the length of the scale in the unit of the effect: `0.2 levels (5% of the scale)`."""
    if not task.scale.ordered:
        return f"{share:g}"
    return f"{share * _length_of_scale(task):g} levels ({share * 100:g}% of the scale)"


def _moves(task: Task, effect: Measure) -> str:
    """Say what a judge does with what: `Gives longer responses higher grades`."""
    cell, up = effect.cell, (effect.estimate or 0.0) > 0
    if task.scale.kind is ScaleKind.PAIRWISE:
        return _prefers(cell, up=up)
    if task.scale.ordered:
        return f"Gives {_responses(cell)} {'higher' if up else 'lower'} grades"
    label = cell.get("label") or task.scale.positive_label
    return f"Says {label} {'more' if up else 'less'} often to {_responses(cell)}"


def _prefers(cell: Mapping[str, str], *, up: bool) -> str:
    if "level" not in cell and cell["covariate"] == LENGTH:
        return f"Prefers {'longer' if up else 'shorter'} responses"
    return f"{'Prefers' if up else 'Avoids'} {_responses(cell)}"


def _responses(cell: Mapping[str, str]) -> str:
    name = cell["covariate"]
    if "level" in cell:
        return f"responses with {name} '{cell['level']}'"
    return "longer responses" if name == LENGTH else f"responses with more '{name}'"
