from collections.abc import Callable, Iterable
from typing import Any

import pytest
from attrs import evolve
from jrh import Interval, Measure, RunReport, Scale, Task
from jrh.values import TaskSummary
from jrh_measuring import findings_of
from jrh_report.html.answer import FOLDED, SHOWN, Claim, answers
from jrh_testing import loop_over, sample_report

NAMES = ("format", "rubric", "layout", "order")


def a_measure(name: str, low: float | None, high: float | None, test: str = "format", **fields: Any) -> Measure:
    interval = None if low is None or high is None else Interval(low=low, high=high)
    estimate = None if interval is None else (interval.low + interval.high) / 2
    given = {"judge": "judge", "task": "task", "estimate": estimate, "n_items": 30, "n_trials": 60}
    return Measure(name=name, interval=interval, test=test, **(given | fields))


def a_p(name: str, p: float, test: str = "format") -> Measure:
    return Measure(name=f"{name}-p", judge="judge", task="task", test=test, estimate=p, unit="p-value")


def claims(measures: Iterable[Measure]) -> dict[str, Claim]:
    task = Task(name="task", scale=Scale.of_labels("YES", "NO"))
    report: RunReport = evolve(
        sample_report(),
        judges=("judge",),
        tests=("reference", *NAMES),
        tasks=(TaskSummary(task=task, items=30, labelled=30, gold={"YES": 18, "NO": 12}),),
        measures=tuple(measures),
        attrition=(),
    )
    (answer,) = answers(evolve(report, findings=findings_of(report)))
    return {claim.text: claim for claim in answer.claims}


def said(measures: Iterable[Measure]) -> list[str]:
    return [f"{claim.kind}: {text}" for text, claim in claims(measures).items()]


@loop_over(
    ("low", "high", "kind"),
    [(0.3, 0.8, "for"), (-0.8, -0.3, "against"), (-0.1, 0.5, "inconclusive")],
)
def test_kappa_is_held_against_chance(low: float, high: float, kind: str) -> None:
    ((text, claim),) = claims([a_measure("gold-kappa", low, high, "reference", unit="coefficient")]).items()
    assert claim.kind == kind
    assert "the gold labels" in text


def test_what_is_inconclusive_is_folded_with_what_would_decide_it() -> None:
    ((text, claim),) = claims([a_measure("excess-disagreement", -0.1, 0.4)]).items()
    assert (claim.kind, text) == ("inconclusive", "Inconclusive: too few data to confirm or rule out a change")
    assert (claim.places, claim.folded[0].basis.decide) == (
        (),
        "80% power for an effect of 0.05 takes 1,100 to more than 2,000 items in all",
    )


@pytest.mark.parametrize(
    ("low", "high", "p", "text"),
    [
        (-0.4, -0.1, 0.001, "against: Accuracy lower"),
        (0.1, 0.3, 0.001, "neutral: Accuracy higher"),
        (-0.1, 0.1, 0.9, "inconclusive: "),
    ],
)
def test_the_mark_follows_the_severity(low: float, high: float, p: float, text: str) -> None:
    (only,) = said([a_measure("accuracy-change", low, high), a_p("accuracy-change", p)])
    assert only.startswith(text)


@pytest.mark.parametrize(("low", "high", "where"), [(0.2, 0.6, "first"), (-0.6, -0.2, "second")])
def test_a_preferred_place_is_named(low: float, high: float, where: str) -> None:
    measures = [a_measure("position-bias", low, high, "order"), a_p("position-bias", 0.001, "order")]
    assert f"against: Prefers the {where} option" in said(measures)


def test_what_cannot_be_estimated_licenses_nothing() -> None:
    measures = [a_measure("gold-accuracy", None, None, "reference"), a_measure("excess-disagreement", None, None)]
    assert said(measures) == []


def test_the_largest_places_are_in_sight_and_the_others_folded_and_counted() -> None:
    tests = [f"test {n}" for n in range(SHOWN + FOLDED + 3)]
    (claim,) = claims(
        a_measure("accuracy-change", 0.01 * n, 0.01 * n + 0.1, test) for n, test in enumerate(tests, 1)
    ).values()
    assert [place.basis.test for place in claim.places] == tests[::-1][:SHOWN]
    assert (len(claim.folded), claim.more) == (FOLDED, 3)


FORBIDDEN = ("unbiased", "no bias", "robust", "reliable judge is", "proves", "significant", "no effect", "insensitive")


def test_the_page_never_claims_what_no_test_licenses(render: Callable[..., str]) -> None:
    measures = [
        a_measure("gold-accuracy", 0.9, 1.0, "reference"),
        a_measure("excess-disagreement", -0.01, 0.01),
        a_measure("accuracy-change", -0.01, 0.01),
    ]
    report = evolve(sample_report(), judges=("judge",), tests=("reference", "format"), measures=tuple(measures))
    report = evolve(report, tasks=(evolve(report.tasks[0], task=evolve(report.tasks[0].task, name="task")),))
    report = evolve(report, findings=findings_of(report))
    text = render("html", report).split("</style>")[1].casefold()
    assert [word for word in FORBIDDEN if word in text] == []
    assert "inconclusive" in text


def test_simulated_judges_are_marked_at_every_mention_of_their_name(render: Callable[..., str]) -> None:
    report = sample_report()
    answer = render("html", report).split('class="answers"')[1].split("</section>")[0]
    assert 'careless <span class="badge">simulated</span>' in answer
    assert "careful <span" not in answer
