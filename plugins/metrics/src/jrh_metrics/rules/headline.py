"""The rules about a judge as a whole: agreement with gold beyond chance or, without gold, verdicts as expected."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jrh import REFERENCE, Measure
from jrh.values import Severity, has_model_gold
from jrh_measuring import (
    CONSTANT_VERDICTS,
    Chain,
    Claim,
    Design,
    Hypothesis,
    Place,
    PValue,
    Rule,
    Situation,
    commonest,
    format_figure,
    format_number,
    items_needed,
)

from jrh_metrics.rules.accuracy import EXPECTED, RERUN, name_accuracy

KAPPA: Final = "gold-kappa"
"""Agreement beyond chance, on ordinal scales with quadratic weights."""
RIGHT: Final = "gold-accuracy"
PEOPLE: Final = "people-kappa"
_AGREEMENT: Final = "gold-agreement"
_BELOW: Final = "below-chance"
_NONE: Final = "no-agreement"
_CONSTANT: Final = "constant-verdicts"
_TRIVIAL: Final = "trivial-accuracy"
_DIGITS: Final = 2
_HALF: Final = 0.5


def kappa_places(design: Design) -> Iterator[Place]:
    """Yield where agreement with gold beyond chance is measured, of every task whose gold labels differ."""
    for place in design.wholes(KAPPA):
        usual = commonest(design.tasks[place.task]) if place.task in design.tasks else None
        # Where all gold labels are one, the hypothesis cannot be rejected: it would take weight from others.
        if place.test == REFERENCE and usual is not None and usual[1] < 1.0:
            yield place


class GoldAgreement(Rule):
    """Tells whether a judge agrees with the gold labels beyond chance, and whether one label alone would do better.

    The gold labels are taken as they are: the share of the most common one is known, not estimated, and its comparison
    with the accuracy follows in the chain of kappa. On ordinal scales kappa has quadratic weights, and no share of
    exact levels is compared. Without gold labels it tells how often verdicts are as expected.
    """

    def hypotheses(self, design: Design) -> Iterator[Chain]:
        """Yield, per task whose gold labels differ, that kappa is 0, and then that no label alone does better."""
        for place in kappa_places(design):
            summary = design.tasks[place.task]
            chain = [Hypothesis(place=place, weight=0.5)]
            usual = commonest(summary)
            if usual is not None and not summary.task.scale.ordered:
                right = Place(name=RIGHT, judge=place.judge, task=place.task, test=REFERENCE)
                chain.append(Hypothesis(place=right, null=usual[1], side="below", weight=0.5))
            yield chain

    def claims(self, now: Situation) -> Iterator[Claim]:
        """Yield the headline of every task, and that one label alone would do better."""
        for task, summary in now.design.tasks.items():
            usual, kappa, right = commonest(summary), now.whole(KAPPA, task), now.whole(RIGHT, task)
            if usual is None:
                yield from _as_expected(now, task)
            elif usual[1] == 1.0:
                measure = right if right is not None and right.estimate is not None else now.whole(EXPECTED, task)
                statement = f"Accuracy cannot be judged: every gold label is '{usual[0]}'"
                if measure is not None and measure.estimate is not None:
                    yield Claim(
                        kind=_TRIVIAL, severity=Severity.WARNING, statement=statement, measure=measure, plain=True
                    )
            # Of a judge that gives one label, the other rule says all.
            elif kappa is not None and kappa.estimate is not None and CONSTANT_VERDICTS not in kappa.flags:
                yield _agreement(now, kappa)
                if right is not None and not summary.task.scale.ordered and now.claims(right, usual[1]):
                    yield _worse_than_usual(now, right, usual[1])


def _agreement(now: Situation, kappa: Measure) -> Claim:
    floor, value, needed = now.floor_of(_AGREEMENT), kappa.estimate or 0.0, None
    labels = name_labels(now, kappa.task)
    if now.claims(kappa) and value < 0:
        severity, statement = Severity.BAD, f"Agrees with {labels} less than chance would (kappa)"
    elif now.claims(kappa) and value < floor:
        severity, statement = Severity.INFO, f"Agrees slightly with {labels} beyond chance (kappa below {floor:g})"
    elif now.claims(kappa):
        severity, statement = Severity.GOOD, f"Agrees with {labels} beyond chance (kappa)"
    else:
        severity, corrected = Severity.INCONCLUSIVE, now.correction(kappa)
        needed = items_needed(kappa, floor, now.family.comparisons)
        statement = f"Not shown to agree with {labels} beyond chance (kappa)"
        if corrected:
            than = "agrees" if value > 0 else "disagrees"
            statement = f"Possibly {than} with {labels} beyond chance (kappa); {corrected}"
    return Claim(
        kind=_BELOW if severity is Severity.BAD else _AGREEMENT,
        severity=severity,
        statement=statement,
        measure=kappa,
        aside=" ".join(filter(None, (now.own_p(kappa), _comparisons(now, kappa)))),
        needed=needed,
        unit="labelled item",
        floor=floor,
    )


def _comparisons(now: Situation, kappa: Measure) -> str:
    """Return the exact accuracy, what the most common label alone would reach, and how far people agree."""
    summary = now.design.tasks[kappa.task]
    right, people, usual = now.whole(RIGHT, kappa.task), now.whole(PEOPLE, kappa.task), commonest(summary)
    # Kappa is Cohen's where nothing else is said.
    parts = ["quadratic weights"] if summary.task.scale.ordered else []
    if right is not None and right.estimate is not None:
        exact = "exact " if summary.task.scale.ordered else ""
        parts.append(f"{exact}{name_accuracy(now, right).lower()} {format_figure(right, _DIGITS)}")
        if usual is not None and not summary.task.scale.ordered:
            parts.append(f"most common label alone {format_number(usual[1], _DIGITS)}")
    if people is not None and people.interval is not None and people.interval.low > 0:
        parts.append(f"people with each other {format_figure(people, _DIGITS)}")
    return f"({'; '.join(parts)})" if parts else ""


def _worse_than_usual(now: Situation, right: Measure, share: float) -> Claim:
    floor = now.floor_of(_TRIVIAL)
    severity, statement = (
        Severity.BAD,
        f"Worse than always answering the most common gold label ({name_accuracy(now, right).lower()})",
    )
    if share - (right.estimate or 0.0) < floor:
        severity = Severity.INFO
        statement = f"Negligibly worse than always answering the most common gold label (below {floor:g})"
    aside = f"(most common label alone {format_number(share, _DIGITS)})"
    return Claim(kind=_TRIVIAL, severity=severity, statement=statement, measure=right, aside=aside, floor=floor)


def _as_expected(now: Situation, task: str) -> Iterator[Claim]:
    """Without gold labels: yield how often the verdicts of every test are as expected, and how far reruns differ."""
    reruns = now.whole(RERUN, task)
    known = reruns is not None and reruns.estimate is not None
    noise = (
        f"rerun noise {format_figure(reruns, _DIGITS)}" if reruns is not None and known else "rerun noise not measured"
    )
    for measure in now.measures(EXPECTED):
        if measure.task == task and measure.estimate is not None:
            yield Claim(
                kind=EXPECTED,
                severity=Severity.INFO,
                statement="No gold labels; share of verdicts as expected",
                measure=measure,
                aside=f"({noise})",
                kept=True,
            )


class NoAgreement(Rule):
    """Tells that a judge agrees with gold hardly beyond chance, or gives one label whatever the gold label is.

    Both are shown by a bound: kappa lies below the floor of 0.2 (Landis and Koch's "slight"), and a judge of constant
    verdicts notices fewer than half of the items with another gold label. Of K such clusters it noticed none, which
    has a probability of at most 0.5^K if it notices half of them.

    Source: Landis and Koch (1977), Biometrics 33:159-174.
    """

    def hypotheses(self, design: Design) -> Iterator[Chain]:
        """Yield, per task whose gold labels differ, that kappa reaches the floor, and that verdicts vary with gold."""
        for place in kappa_places(design):
            yield (Hypothesis(place=place, null=design.floor_of(_NONE), side="below", weight=0.25),)
            # Its p-value is either 1 or tiny: it takes next to nothing of the error rate.
            right = Place(name=RIGHT, judge=place.judge, task=place.task, test=REFERENCE)
            yield (Hypothesis(place=right, weight=0.05),)

    def test(self, hypothesis: Hypothesis, now: Situation) -> PValue:
        """Test that kappa reaches the floor, or that half of the items with another gold label are noticed."""
        right = now.at(hypothesis.place)
        if hypothesis.place.name != RIGHT or right is None or CONSTANT_VERDICTS not in right.flags:
            return super().test(hypothesis, now) if hypothesis.place.name != RIGHT else PValue(p=1.0)
        # Items of a cluster may be noticed together: whole clusters count.
        return PValue(p=_HALF ** int((right.n_clusters or right.n_items) * (1 - (right.estimate or 0.0)) + 1e-9))

    def claims(self, now: Situation) -> Iterator[Claim]:
        """Yield what is shown about every task whose gold labels differ."""
        floor = now.floor_of(_NONE)
        for place in kappa_places(now.design):
            kappa, right = now.at(place), now.whole(RIGHT, place.task)
            labels = name_labels(now, place.task)
            if right is not None and right.estimate is not None and CONSTANT_VERDICTS in right.flags:
                shown = now.claims(right)
                word = name_accuracy(now, right).lower()
                statement = f"Gives the same label to every item, whatever {labels[:-1]} is ({word})"
                yield Claim(
                    kind=_CONSTANT,
                    severity=Severity.BAD if shown else Severity.WARNING,
                    statement=statement if shown else f"{statement}; too few items to blame the judge",
                    measure=right,
                )
            elif kappa is not None and now.claims(kappa, floor):
                statement = f"Agrees with {labels} hardly or not beyond chance (kappa below {floor:g})"
                aside = _comparisons(now, kappa)
                yield Claim(
                    kind=_NONE, severity=Severity.BAD, statement=statement, measure=kappa, aside=aside, floor=floor
                )


def name_labels(now: Situation, task: str) -> str:
    """Name what verdicts are compared with: labels by a model are not those of people."""
    summary = now.design.tasks.get(task)
    return "the model's labels" if summary is not None and has_model_gold(summary.gold_sources) else "the gold labels"
