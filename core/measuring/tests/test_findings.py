"""Findings: what may be said of a judge, and what it takes to say more."""

from __future__ import annotations

import pytest
from attrs import evolve
from jrh import REFERENCE, Interval, Measure, RecordTable, RunReport, Scale, Task
from jrh.values import Attrition, Finding, FindingSettings, Severity, TaskSummary
from jrh_measuring import findings_of, items_needed
from jrh_testing import empty_report, loop_over

MOVES = "Changes its verdict more than asking again does"
DUE = {"task": ["task"], "test": ["format"], "expectation": ["equals"]}
"""A record that expects another verdict than the reference's."""


def measure(name: str, estimate: float | None, ends: tuple[float, float] | None = None, **fields) -> Measure:
    given = {"judge": "judge", "task": "task", "test": "format", "n_trials": 60, "n_items": 60}
    interval = None if ends is None else Interval(low=ends[0], high=ends[1])
    return Measure(name=name, estimate=estimate, interval=interval, **(given | fields))


def moved(estimate: float, ends: tuple[float, float], p: float, **fields) -> tuple[Measure, ...]:
    """Return an excess disagreement with its p-value."""
    excess = measure("excess-disagreement", estimate, ends, unit="difference", **fields)
    return excess, measure("excess-disagreement-p", p, unit="p-value", **fields)


def report(*measures: Measure, gold: dict[str, int] | None = None) -> RunReport:
    """Return a report with these measures."""
    gold = {"YES": 30, "NO": 30} if gold is None else gold
    task = Task(name="task", scale=Scale.of_labels("YES", "NO"))
    summary = TaskSummary(task=task, items=60, labelled=sum(gold.values()), gold=gold)
    return evolve(
        empty_report(),
        tasks=(summary,),
        judges=tuple(dict.fromkeys(each.judge for each in measures if each.judge)),
        tests=tuple(dict.fromkeys((REFERENCE, *(each.test for each in measures if each.test)))),
        measures=measures,
    )


def only(found: tuple[Finding, ...]) -> Finding:
    assert len(found) == 1, [each.sentence for each in found]
    return found[0]


def right(estimate: float, ends: tuple[float, float], **fields) -> Measure:
    return measure("gold-accuracy", estimate, ends, test=REFERENCE, **fields)


def agreed(estimate: float, ends: tuple[float, float], p: float, **fields) -> tuple[Measure, ...]:
    """Return a kappa with its p-value."""
    kappa = measure("gold-kappa", estimate, ends, test=REFERENCE, unit="coefficient", **fields)
    return kappa, measure("gold-kappa-p", p, test=REFERENCE, unit="p-value", **fields)


BEYOND = "the gold labels beyond chance"


@pytest.mark.parametrize(
    ("measured", "severity", "statement"),
    [
        (agreed(0.6, (0.4, 0.8), 0.001), Severity.GOOD, f"Agrees with {BEYOND} (kappa)"),
        (agreed(0.15, (0.01, 0.3), 0.02), Severity.INFO, f"Agrees slightly with {BEYOND} (kappa below 0.2)"),
        (agreed(-0.4, (-0.6, -0.2), 0.001), Severity.BAD, "Agrees with the gold labels less than chance would (kappa)"),
        (agreed(0.0, (-0.12, 0.12), 0.9), Severity.BAD, "Agrees with the gold labels hardly or not beyond chance"),
        (agreed(0.1, (-0.1, 0.3), 0.3), Severity.INCONCLUSIVE, f"Not shown to agree with {BEYOND} (kappa)"),
    ],
)
def test_agreement_with_gold_is_held_against_chance(measured, severity, statement) -> None:
    found = only(findings_of(report(*measured)))
    assert (found.severity, found.statement[: len(statement)]) == (severity, statement)


def test_the_headline_shows_the_accuracy_and_what_one_label_alone_would_reach() -> None:
    found = findings_of(report(*agreed(0.6, (0.4, 0.8), 0.001), right(0.8, (0.68, 0.88))))
    assert only(found).sentence == (
        f"Agrees with {BEYOND} (kappa): 0.60 [0.40, 0.80] (accuracy 0.80 [0.68, 0.88]; most common label alone 0.50), "
        "n = 60 items."
    )


def test_a_judge_that_agrees_beyond_chance_can_be_worse_than_one_label() -> None:
    """The gold labels at hand are what they are: the share of the most common one is known."""
    measured = *agreed(0.4, (0.2, 0.6), 0.001), right(0.8, (0.68, 0.88))
    skewed = findings_of(report(*measured, gold={"YES": 54, "NO": 6}))
    assert [(each.kind, each.severity) for each in skewed] == [
        ("trivial-accuracy", Severity.BAD),
        ("gold-agreement", Severity.GOOD),
    ]
    assert only(findings_of(report(*measured, gold={"YES": 50, "NO": 10}))).kind == "gold-agreement"


@pytest.mark.parametrize(("items", "severity"), [(60, Severity.BAD), (8, Severity.WARNING)])
def test_constant_verdicts_are_bad_where_enough_items_have_another_label(items, severity) -> None:
    """Of half the items it noticed none: 0.5^30, and 0.5^4 = 0.06, if it notices half of them."""
    constant = {"flags": ("constant-verdicts",), "n_items": items}
    measured = *agreed(0.0, (-0.25, 0.25), 1.0, **constant), right(0.5, (0.38, 0.62), **constant)
    found = only(findings_of(report(*measured)))
    assert (found.kind, found.severity) == ("constant-verdicts", severity)


def test_an_inconclusive_finding_says_how_many_labels_would_decide() -> None:
    found = only(findings_of(report(*agreed(0.1, (-0.2, 0.4), 0.5))))
    # n (h (1.96 + 0.8416) / (t d))^2 = 60 (0.3 x 2.80 / (2.00 x 0.2))^2 = 265 with 59 degrees, times 59 / chi2
    assert found.decide == "80% power for an effect of 0.2 takes 220 to 350 labelled items in all"
    assert found.sentence.endswith(f"n = 60 items ({found.decide}).")


def test_the_advice_does_not_depend_on_the_observed_effect_and_has_an_end() -> None:
    """80% of runs with a true need of 160 items were told 160 to 3,700, by the distance of the observed effect."""
    told = {only(findings_of(report(*agreed(at, (at - 0.3, at + 0.3), 0.5)))).decide for at in (0.05, 0.08, 0.1, 0.15)}
    assert len(told) == 1
    (many,) = {only(findings_of(report(*agreed(0.0, (-0.9, 0.9), 0.9)))).decide}
    assert many == "80% power for an effect of 0.2 may take more than 2,000 labelled items in all"


def test_items_that_have_the_power_already_are_advised_of_half_the_effect() -> None:
    found = only(findings_of(report(*agreed(0.1, (-0.02, 0.22), 0.1))))
    assert found.decide.startswith("80% power for an effect of 0.1 takes ")


def test_more_items_are_not_advised_where_missing_verdicts_leave_it_open() -> None:
    measured = measure("x", 0.0, (-0.1, 0.1), test=REFERENCE, unit="difference")
    lost = evolve(
        measured, bounds=(-0.06, 0.06), interval=Interval(low=-0.1, high=0.1, level=0.95, method="imbens-manski")
    )
    assert items_needed(lost, 0.1).write("item").startswith("80% power for an effect of 0.1 takes ")
    told = "more items will not help: missing verdicts alone leave more than ±0.05 open"
    assert items_needed(lost, 0.05).write("item") == told


def test_a_significant_effect_below_the_floor_is_negligible_and_no_failure() -> None:
    skew = moved(0.02, (0.01, 0.03), 0.004)
    found = only(findings_of(report(*skew)))
    assert (found.severity, found.floor) == (Severity.INFO, 0.03)
    assert "below the floor of 0.03" in found.statement
    lower = only(findings_of(report(*skew), FindingSettings(floors={"moves-more-than-reruns": 0.015})))
    assert (lower.severity, lower.statement) == (
        Severity.BAD,
        "Changes its verdict more than asking again does",
    )


def test_tests_with_the_same_statement_are_one_finding_with_the_largest_first() -> None:
    small, large = moved(0.1, (0.05, 0.2), 0.001, test="small"), moved(0.3, (0.2, 0.4), 0.001, test="large")
    found = only(findings_of(report(*small, *large)))
    assert found.sentence == (
        f"{MOVES}: large +0.30 [0.20, 0.40], n = 60 items; small +0.10 [0.05, 0.20], n = 60 items."
    )
    assert [each.test for each in found.basis] == ["large", "small"]


def test_holm_is_applied_over_all_tests_of_a_judge() -> None:
    several = [moved(0.2, (0.01, 0.4), 0.02, test=f"test{number}") for number in range(5)]
    assert only(findings_of(report(*(each for pair in several for each in pair)))).kind == "undecided"
    assert only(findings_of(report(*several[0]))).kind == "moves-more-than-reruns"


LOST_TO_THE_FAMILY = "not significant after correcting for 12 tests"


@loop_over(
    ("kind", "measured", "statement"),
    [
        (
            "gold-agreement",
            agreed(0.43, (0.02, 0.84), 0.04),
            f"Possibly agrees with {BEYOND} (kappa); not significant after correcting for 15 tests",
        ),
        ("undecided", moved(0.28, (0.02, 0.46), 0.02), f"Possibly a change; {LOST_TO_THE_FAMILY}"),
        (
            "undecided",
            (measure("accuracy-change", -0.2, (-0.4, -0.01), unit="difference"),),
            f"Possibly a change of accuracy; {LOST_TO_THE_FAMILY}",
        ),
        (
            "position-bias",
            (measure("position-bias", 0.2, (0.01, 0.39), unit="difference"),),
            f"Possibly position bias; {LOST_TO_THE_FAMILY}",
        ),
        (
            "order-flips",
            (measure("swap-consistency", 0.8, (0.66, 0.96)),),
            f"Possibly changes its choice when the options swap places; {LOST_TO_THE_FAMILY} (share that agrees)",
        ),
        (
            "unstable-on-reruns",
            (measure("rerun-disagreement", 0.2, (0.04, 0.4), test=REFERENCE),),
            f"Possibly unstable on reruns; {LOST_TO_THE_FAMILY}",
        ),
    ],
)
def test_an_interval_that_excludes_the_null_is_not_contradicted_without_the_reason(kind, measured, statement) -> None:
    """A reader sees `+0.43 [0.18, 0.62]`: "not significantly different" without more reads as a mistake."""
    others = [measure("position-bias", 0.0, (-0.4, 0.4), judge="other", test=f"t{at}") for at in range(11)]
    (found,) = [each for each in findings_of(report(*measured, *others)) if (each.judge, each.kind) == ("judge", kind)]
    assert (found.severity, found.statement) == (Severity.INCONCLUSIVE, statement)


def test_an_interval_and_a_p_value_that_disagree_are_shown_both() -> None:
    found = only(findings_of(report(*moved(0.28, (0.1, 0.46), 0.07))))
    assert found.severity is Severity.INCONCLUSIVE
    assert "+0.28 [0.10, 0.46] decided by p = 0.070" in found.sentence


def test_verdicts_that_never_changed_are_not_said_to_change() -> None:
    found = only(findings_of(report(measure("jss", 1.0, (0.57, 1.0), n_items=5))))
    assert found.severity is Severity.INCONCLUSIVE
    assert found.statement.startswith("Never changed its verdict when the prompt template changed; too few items")


@pytest.mark.parametrize(("flag", "where"), [("missing-on-errors", "wrong"), ("missing-on-right", "right")])
def test_the_direction_in_which_verdicts_go_missing_is_told(flag: str, where: str) -> None:
    p = measure("missing-by-error-p", 0.001, test="", unit="p-value", flags=(flag,))
    told = only(findings_of(report(p))).statement
    assert told.startswith(f"Verdicts go missing more often on items that the judge gets {where};")


@loop_over("reason", ["condition", "label", "error", "confidence"])
def test_every_dependence_of_missing_verdicts_is_told(reason: str) -> None:
    p = measure(f"missing-by-{reason}-p", 0.001, test="", unit="p-value")
    found = only(findings_of(report(p)))
    assert (found.kind, found.severity) == (f"missing-by-{reason}", Severity.WARNING)


def test_what_is_decided_goes_before_what_is_open() -> None:
    good = measure("jss", 0.99, (0.97, 1.0), test="templates")
    opened = measure("position-bias", 0.1, (-0.1, 0.3), unit="difference")
    bad = measure("rationale-contradiction", 0.2, (0.1, 0.3))
    assert [each.severity.value for each in findings_of(report(opened, good, bad))] == ["bad", "good", "inconclusive"]


@loop_over(
    ("measured", "severity", "start"),
    [
        (measure("position-bias", -0.4, (-0.6, -0.2), unit="difference"), "bad", "Prefers the second option"),
        (measure("position-bias", 0.02, (0.01, 0.03), unit="difference"), "info", "Negligible position bias"),
        (measure("position-bias", 0.0, (-0.04, 0.04), unit="difference"), "good", "No position bias beyond ±0.05"),
        (measure("position-bias", 0.1, (-0.1, 0.3), unit="difference"), "inconclusive", "Position bias neither"),
        (measure("swap-consistency", 0.8, (0.7, 0.9)), "warning", "Changes its choice"),
        (measure("jss", 0.99, (0.97, 1.0)), "good", "Keeps its verdict when the prompt template changes"),
        (measure("rerun-disagreement", 0.2, (0.1, 0.3), test=REFERENCE), "warning", "Unstable"),
        (measure("rerun-disagreement", 0.01, (0.0, 0.03), test=REFERENCE), "good", "Stable on reruns"),
        (measure("overconfidence", 0.2, (0.1, 0.3), test=REFERENCE, unit="difference"), "warning", "Overconfident"),
        (measure("overconfidence", -0.2, (-0.3, -0.1), test=REFERENCE, unit="difference"), "warning", "Underconfident"),
        (measure("scale-compression", 0.6, (0.5, 0.8), test=REFERENCE), "warning", "Compresses the scale"),
        (measure("rationale-contradiction", 0.2, (0.1, 0.3)), "bad", "Rationales argue against the verdict"),
        (
            measure("missing", 0.5, missing={"refused": 30}),
            "warning",
            "30 of 60 trials returned no verdict (refused",
        ),
        (measure("missing", 1.0, missing={"timeout": 60}), "bad", "60 of 60 trials returned no verdict"),
        (measure("flip-rate", 0.1, (0.05, 0.2)), "info", "Some verdicts differ from the reference; without reruns"),
        (measure("flip-rate", 0.0, (0.0, 0.2)), "info", "No verdict differs from the reference"),
        (
            measure("excess-equivalence", 0.0, (-0.02, 0.02), flags=("equivalent",)),
            "good",
            "Robust: changes no more than reruns within ±0.05",
        ),
        (measure("flip-rate", 0.9, (0.7, 1.0)), "bad", "Changes its verdict more often than rerun noise alone could"),
        (measure("bias", 1.0, (0.5, 1.4), test=REFERENCE, unit="levels"), "warning", "Grades too high"),
        (measure("bias", 0.02, (0.01, 0.03), test=REFERENCE, unit="levels"), "info", "Negligible grading bias"),
        (measure("spearman", -0.9, (-1.0, -0.4), test=REFERENCE, unit="coefficient"), "bad", "Ranks items against"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_measure_has_its_sentence(measured: Measure, severity: str, start: str) -> None:
    found = only(findings_of(report(measured)))
    assert (found.severity.value, found.statement[: len(start)]) == (severity, start)
    assert bool(found.decide) == (severity == "inconclusive")


@pytest.mark.parametrize("flag", ["few-events", "few-items", "few-clusters"])
def test_nothing_is_called_equivalent_on_an_interval_of_doubtful_coverage(flag: str) -> None:
    flags = ("equivalent", flag)
    unsure = [
        measure("excess-equivalence", 0.01, (-0.02, 0.02), flags=flags),
        measure("accuracy-equivalence", 0.01, (-0.02, 0.02), flags=flags),
        measure("position-bias", 0.01, (-0.04, 0.04), flags=(flag,), unit="difference"),
    ]
    assert [each for each in findings_of(report(*unsure)) if each.severity is Severity.GOOD] == []


def test_what_is_read_off_an_interval_that_a_flag_doubts_is_neither_bad_nor_good() -> None:
    """The interval is read as 1.5 times as wide; a claim that survives this is a warning that names the flag."""
    clear, close = ({"estimate": value, "ends": ends} for value, ends in ((-0.9, (-0.97, -0.7)), (-0.6, (-0.8, -0.1))))
    for shape, claimed in ((clear, True), (close, False)):
        plain, flagged = (
            findings_of(report(measure("spearman", *shape.values(), test=REFERENCE, unit="coefficient", flags=flags)))
            for flags in ((), ("few-events",))
        )
        assert [each.severity for each in plain if each.kind == "inverted-order"] == [Severity.BAD]
        found = [each for each in flagged if each.kind == "inverted-order"]
        assert [each.severity for each in found] == ([Severity.WARNING] if claimed else [])
        assert all("few-events" in each.sentence for each in found)


def test_praise_that_the_audit_contradicts_is_withdrawn() -> None:
    doubt = Measure(
        name="audit",
        judge="",
        task="task",
        cell={"problem": "gold-by-length"},
        estimate=1.0,
        note="the longer response is the better one in 58 of 60 items. A judge that only counts words looks good.",
    )
    about_data, praise = findings_of(report(*agreed(0.4, (0.3, 0.45), 0.001), doubt))
    assert (about_data.severity, about_data.judge) == (Severity.WARNING, "")
    assert praise.severity is Severity.INFO
    assert praise.statement.endswith("but the longer response is the better one in 58 of 60 items")


def test_a_single_gold_label_judges_nobody() -> None:
    found = only(findings_of(report(right(1.0, (0.94, 1.0)), gold={"YES": 60})))
    assert (found.severity, found.decide) == (Severity.WARNING, "")
    assert found.sentence == "Accuracy cannot be judged: every gold label is 'YES'."


def test_few_clusters_are_a_finding_and_what_decides_is_counted_in_clusters() -> None:
    about = {"n_clusters": 6, "flags": ("few-clusters",)}
    few = *agreed(0.1, (-0.2, 0.4), 0.5, **about), right(0.55, (0.4, 0.7), **about)
    sentences = [each.sentence for each in findings_of(report(*few))]
    assert sentences[0] == "Too few independent items for a reliable interval: 60 items in 6 clusters."
    assert sentences[1].endswith(" clusters in all).")


@pytest.mark.parametrize(("followed", "severity"), [((0.39, 0.86), "warning"), ((0.1, 0.4), "bad"), ((0.9, 0.99), "")])
def test_a_judge_that_misses_a_change_that_is_due_is_found(followed: tuple[float, float], severity: str) -> None:
    kept = measure("as-expected", sum(followed) / 2, followed)
    due = evolve(report(kept), records=RecordTable.from_columns(DUE))
    assert [(each.kind, each.severity.value) for each in findings_of(due)] == [("misses-changes", severity)] * bool(
        severity
    )
    same = evolve(report(kept), records=RecordTable.from_columns(DUE | {"expectation": ["same"]}))
    assert findings_of(same) == ()


@pytest.mark.parametrize(("drafted", "found"), [(30, [("no-cases", "warning")]), (0, [])])
def test_a_test_with_cases_of_another_task_is_a_finding_only_if_its_drafts_were_rejected(drafted: int, found) -> None:
    lost = {"rejected": {"rule: changed": drafted}} if drafted else {"skipped": {"the scale has no levels": 30}}
    lines = (
        Attrition(task="task", test="levels", items=30, drafted=drafted, kept=0, **lost),
        Attrition(task="other", test="levels", items=30, drafted=30, kept=30),
    )
    told = findings_of(evolve(report(), attrition=lines))
    assert [(each.kind, each.severity.value) for each in told] == found


def test_a_shift_that_noise_can_hide_is_not_called_robust() -> None:
    still = measure("excess-equivalence", 0.01, (-0.02, 0.02), flags=("equivalent",))
    reruns = measure("rerun-disagreement", 0.3, (0.2, 0.4), test=REFERENCE)
    same = measure("accuracy-equivalence", 0.0, (-0.02, 0.02), flags=("equivalent",), unit="difference")
    severities = [
        next(each.severity.value for each in findings_of(report(still, *others)) if each.kind == "robust")
        for others in ((), (reruns,), (reruns, same))
    ]
    assert severities == ["good", "info", "good"]
    change = measure("accuracy-change", -0.14, (-0.16, -0.11), unit="difference")
    assert "robust" not in {each.kind for each in findings_of(report(still, change))}


def test_equivalence_is_told_with_the_margin_it_was_tested_with() -> None:
    wide = {"flags": ("equivalent",), "note": "in other words", "margin": 0.3, "unit": "difference"}
    found = findings_of(
        report(
            measure("accuracy-equivalence", 0.0, (-0.22, 0.22), **wide),
            measure("excess-equivalence", 0.0, (-0.2, 0.2), **wide),
        )
    )
    assert [each.statement.endswith("within ±0.3") for each in found] == [True, True]
    assert {each.margin for each in found} == {0.3}


def test_the_p_value_alone_decides_where_there_is_one() -> None:
    """Test and interval are one decision; asking for both again costs power where rounding parts them."""
    change = measure("accuracy-change", -0.1, (-0.2, 0.0), unit="difference")
    p = measure("accuracy-change-p", 0.04, unit="p-value")
    assert only(findings_of(report(change, p))).statement == "Accuracy lower than in the reference condition"
    assert (
        only(findings_of(report(*moved(0.1, (0.0, 0.2), 0.04)))).statement
        == "Changes its verdict more than asking again does"
    )

    weak = evolve(p, estimate=0.06)
    assert only(findings_of(report(change, weak))).severity is Severity.INCONCLUSIVE
    assert only(findings_of(report(evolve(change, interval=Interval(low=-0.2, high=-0.01))))).severity is Severity.BAD
