"""The rules about prompt templates: verdicts that change or contradict each other, and polarity."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from attrs import evolve
from jrh import Measure, Polarity
from jrh.values import Severity
from jrh_measuring import Chain, Claim, Defect, Defects, Design, Hypothesis, KeptShare, Place, Rule, Situation

_HELPS: Final = "inversion-helps"
_HELPS_MOST: Final = 0.75
"""Minimum share of informative items on which inverting the verdict must help."""
_FLIPS: Final = "flip-rate"
_EVEN: Final = 0.5
_BLIND: Final = "polarity-blindness"
_CLOSER: Final = "inverting the verdicts brings them closer to those under the others (share of items)"


class TemplateFlips(KeptShare):
    """Tells whether verdicts change with the prompt template, where no reruns tell this from noise."""

    kind = "template-flips"
    name = "jss"
    what = "its verdict when the prompt template"
    verbs = ("changes", "changed")


class Contradictions(Defects):
    """Tells whether a judge agrees with itself between templates less often than by chance."""

    defects = (
        Defect(
            kind="negative-kappa",
            measure="template-kappa",
            side="below",
            statement="Verdicts contradict each other between prompt templates (kappa below 0), as a template of "
            "undeclared polarity makes them: see the agreement of each template pair",
        ),
    )


class MisreadPolarity(Rule):
    """Tells templates of the wrong polarity from judges that overlook an inverted question."""

    def hypotheses(self, design: Design) -> Iterator[Chain]:
        """Yield that inverting verdicts helps no template, and that inverted questions flip half of the verdicts."""
        for place, weight in design.parts_with_weights(f"{_HELPS}-p"):
            yield (Hypothesis(place=place, weight=weight),)
        for place in design.wholes(_FLIPS):
            if (place.task, place.test) in design.inverted:
                yield (Hypothesis(place=place, null=_EVEN, side="above"),)

    def claims(self, now: Situation) -> Iterator[Claim]:
        """Yield a claim per test that asks all questions inverted, and per template that is not read as declared."""
        for flips in now.measures(_FLIPS):
            # Of two labels, whoever reads the inversion keeps the verdict: noise alone flips half of them at most.
            if (flips.task, flips.test) in now.design.inverted and now.claims(flips, _EVEN):
                statement = "Overlooks that the question is inverted: most answers stay as they were"
                yield Claim(kind=_BLIND, severity=Severity.BAD, statement=statement, measure=flips)
        for share in now.parts(_HELPS):
            if _is_shown(now, share):
                yield _misread(now, share)


def _is_shown(now: Situation, share: Measure) -> bool:
    p = now.counterpart(share, f"{_HELPS}-p")
    return p is not None and now.claims(p) and (share.estimate or 0.0) >= _HELPS_MOST


def _any_inverted(now: Situation, share: Measure) -> bool:
    alike = (measure for measure in now.parts(_HELPS) if (measure.task, measure.test) == (share.task, share.test))
    return any(measure.cell["polarity"] == Polarity.INVERTED.value for measure in alike)


def _misread(now: Situation, share: Measure) -> Claim:
    """Blame the template where most judges misread it, otherwise the judge."""
    names = (judge for judge, name in now.index.parts if name == _HELPS)
    places = (evolve(Place.of(share), judge=judge) for judge in names)
    read = [measure for place in places if (measure := now.at(place)) is not None and measure.estimate is not None]
    judges, misread = len(read), sum(_is_shown(now, measure) for measure in read)
    inverted = share.cell["polarity"] == Polarity.INVERTED.value
    kind, template = "undeclared-polarity", share.cell["template"]
    # If most judges misread a template, the template is the likelier cause.
    if 2 * misread <= judges:
        kind, statement = _BLIND, f"Reads the polarity of a template unlike that of the others: {_CLOSER}"
        aside = f"{template}; shown for {misread} of {judges} judges"
    # One judge alone cannot show whether it or the declaration is wrong.
    elif judges == 1 and _any_inverted(now, share):
        blind = "Overlooks the polarity of a template" if inverted else "Overlooks the polarity of other templates"
        statement = f"{blind}, or the declared polarity of this one is wrong: {_CLOSER}"
        aside = f"{template}; a second judge would tell"
    else:
        turned = now.design.tasks[share.task].task.scale.swap_map()
        labels = ", ".join(f"{label}: {meaning}" for label, meaning in turned.items())
        statement = f"The declared polarity of a template is wrong: {_CLOSER}"
        remedy = "remove its `labels`" if inverted else f"declare `labels: {{{labels}}}`"
        aside = f"{template}; for {misread} of {judges} judges; {remedy}"
    return Claim(kind=kind, severity=Severity.BAD, statement=statement, measure=share, aside=aside)
