"""Where a rationale points, what would do so by chance, and what is counted as what."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

import jrh_agentic.plugin
import pytest
from agentic_samples import shop, task
from jrh import (
    Case,
    Equals,
    Measure,
    MetricContext,
    Record,
    RecordTable,
    Reply,
    Scale,
    ScaleKind,
    Status,
    Task,
    read_transcript,
)
from jrh.values import Condition, Evidence
from jrh.values.cases import Provenance
from jrh_agentic.measures.edited_cases import EditedCase
from jrh_agentic.measures.localisation import chance, match_messages, numbers_in, quotes_in, texts_of
from jrh_testing import build, loop_over

TEXTS = texts_of(read_transcript(shop()))


@loop_over(
    ("rationale", "numbers"),
    [
        ("Message 3 is wrong", {3}),
        ("messages 3, 5 and 7", {3, 5, 7}),
        ("messages 3-5", {3, 4, 5}),
        ("Messages 3 to 5, and 9", {3, 4, 5, 9}),
        ("see [7] and #9", {7, 9}),
        ("msg 3, message no. 5, message #7, message [9]", {3, 5, 7, 9}),
        ("3 tools, 5 steps, order 4417", set()),
        ("messages 5-3", set()),
        ("message 12345678901", set()),
        ("", set()),
    ],
)
def test_numbers_of_messages_are_read(rationale: str, numbers: set[int]) -> None:
    assert numbers_in(rationale) == numbers


def test_a_range_without_end_does_not_fill_the_memory() -> None:
    assert len(numbers_in("messages 1-999999999")) == 1001


def test_quotes_are_read_in_any_marks_and_short_ones_are_left_out() -> None:
    rationale = (
        "It says \u201cI have found it.\u201d and 'arrives on 2026-03-18' and `verify_identity`, \"yes\", don't, isn't"
    )
    assert quotes_in(rationale) == ("i have found it", "arrives on 2026-03-18", "verify_identity")


@loop_over(
    ("rationale", "pointed"),
    [
        ("Message 9 is wrong.", {9}),
        ("Message 6 is wrong.", set()),  # a tool's
        ('It says "your order  LK-4417\narrives".', {9}),
        ('It calls "get_order" with "order_id".', set()),  # too short to tell
        ('The call of "verify_identity" is missing.', {3}),
        ('The tool says "arrives", message 7 and "I check who you are." do not.', {3, 7}),
        ("It is wrong.", set()),
    ],
)
def test_a_rationale_points_at_what_it_names_or_quotes(rationale: str, pointed: set[int]) -> None:
    assert match_messages(rationale, TEXTS) == pointed


def test_reasoning_and_arguments_can_be_quoted_too() -> None:
    thought = [{"role": "assistant", "content": "", "reasoning": "I shall skip the check."}]
    assert match_messages("“shall skip the check”", texts_of(read_transcript(thought))) == {1}
    assert match_messages('it sends "customer": "Mara" along: `"customer": "mara"`', TEXTS) == {3}


@loop_over("messages", [1, 4, 9, 200])
def test_the_chance_is_that_of_the_hypergeometric_distribution(messages: int) -> None:
    from scipy.stats import hypergeom

    for edited in range(1, messages + 1, 3):
        for pointed in range(0, messages + 1, 2):
            expected = 1 - hypergeom.pmf(0, messages, edited, pointed)
            assert chance(messages, edited, pointed) == pytest.approx(expected, abs=1e-9)


def record(number: int, *, case: str, verdict: str | None = "violates", rationale: str = "", **more: Any) -> Record:
    values: dict[str, Any] = {
        "trial_id": f"trial-{number}",
        "case_id": case,
        "item_id": f"item-{number}",
        "task": "shop",
        "test": "agent-perturbation",
        "family": "agent-perturbation",
        "strength": 1.0,
        "gold": "satisfies",
        "expectation": "equals",
        "expected": "violates",
        "judge": "mini",
        **more,
    }
    empty = {"variant": "", "template": "", "option_order": "", "polarity": "positive", "language": "", "stratum": ""}
    nothing = dict.fromkeys(("temperature", "probability", "cost", "prompt_tokens", "completion_tokens", "latency"))
    return Record(
        **{**empty, **nothing, **values},
        group=values["item_id"],
        simulated=False,
        repeat=0,
        status=Status.OK if verdict else Status.REFUSED,
        presented=verdict,
        canonical=verdict,
        attempts=1,
        detail="",
        rationale=rationale,
    )


class Edited(Evidence):
    """Knows cases by the messages that were edited in them: `case 7,9`."""

    def __init__(self) -> None:
        self.most = 0

    def cases(self, case_ids: Sequence[str]) -> Mapping[str, Case]:
        self.most = max(self.most, len(case_ids))
        return {identity: self._case(identity) for identity in case_ids if identity != "unknown"}

    def replies(self, trial_ids: Sequence[str]) -> Mapping[str, Reply]:
        return {}

    @staticmethod
    def _case(identity: str) -> Case:
        edits = [
            {"was": abs(int(number)), "message": int(number) if int(number) > 0 else None, "what": "", "diff": ""}
            for number in identity.removeprefix("case ").split(",")
        ]
        return Case(
            id=identity,
            task="shop",
            test="agent-perturbation",
            item_id="one",
            condition=Condition(),
            fields={"transcript": shop()},
            expectation=Equals(label="violates"),
            label_map={},
            provenance=Provenance(details={"edits": edits, "edits_left_out": 0, "messages": 9}),
        )


def measured(metric: str, records: Sequence[Record], given: Task | None = None, evidence: Any = None) -> list[Measure]:
    given = given or task()
    context = MetricContext(tasks={given.name: given}, evidence=evidence or Edited(), resamples=200)
    found = build(jrh_agentic.plugin, metric, task=given).measure(RecordTable.from_records(records), context)
    return list(found)


def test_localisation_counts_right_verdicts_and_says_what_is_missing() -> None:
    rows = [
        record(1, case="case 9", rationale="message 9"),
        record(2, case="case 9", rationale="message 7"),
        record(3, case="case 9", rationale="it is wrong"),
        record(4, case="case 7,9", rationale="messages 3, 5 and 9"),
        record(5, case="case 9", rationale=" "),
        record(6, case="case 9", verdict=None),
        record(7, case="case 9", verdict="satisfies", rationale="message 9"),  # missed: nothing was found
        record(8, case="case -3", rationale="message 3"),  # the edited message is gone
        record(9, case="unknown", rationale="message 9"),
    ]
    hits, lucky, above = measured("evidence-localisation", rows)
    assert (hits.name, hits.estimate, hits.n_trials) == ("evidence-localisation", 0.5, 4)
    assert dict(hits.missing) == {"no_rationale": 1, "refused": 1}
    assert hits.bounds == (2 / 6, 4 / 6)
    # Of the assistant's four messages: one of one in two rationales, none of one, three with two of them edited.
    assert lucky.estimate == pytest.approx((1 / 4 + 1 / 4 + 0 + 1) / 4)
    assert above.estimate == pytest.approx(0.5 - 1.5 / 4)
    assert above.unit == "difference"
    assert above.interval is not None
    assert above.interval.low < above.estimate < above.interval.high


def test_without_any_rationale_the_reason_is_that_and_not_a_reference() -> None:
    rows = [record(number, case="case 9") for number in range(3)]
    for measure in measured("evidence-localisation", rows):
        assert (measure.estimate, measure.note) == (None, "no verdict has a score: no rationale")
        assert dict(measure.missing) == {"no_rationale": 3}


def test_what_is_the_same_by_design_is_not_flagged() -> None:
    rows = [record(number, case="case 9", rationale="message 9") for number in range(3)]
    for metric in ("evidence-localisation", "edit-sensitivity", "agent-error-rates"):
        found = measured(metric, rows)
        assert found
        assert not any("constant-gold" in each.flags for each in found), metric
        assert any("constant-verdicts" in each.flags for each in found) == (metric != "evidence-localisation"), metric


def test_a_planted_share_of_pointing_judges_is_recovered_and_naming_everything_is_no_skill() -> None:
    draws = random.Random(5)
    rows = [
        record(number, case="case 9", rationale="message 9" if draws.random() < 0.7 else "message 3")
        for number in range(400)
    ]
    hits, lucky, above = measured("evidence-localisation", rows)
    assert hits.interval is not None
    assert hits.interval.low <= 0.7 <= hits.interval.high
    assert lucky.estimate == 0.25
    assert above.interval is not None
    assert above.interval.low <= 0.45 <= above.interval.high
    everything = [record(number, case="case 9", rationale="messages 1-9") for number in range(20)]
    hits, lucky, above = measured("evidence-localisation", everything)
    assert (hits.estimate, lucky.estimate, above.estimate) == (1.0, 1.0, 0.0)


def test_evidence_is_read_a_few_cases_at_a_time() -> None:
    evidence = Edited()
    rows = [record(number, case=f"case {number + 1}", rationale="message 9") for number in range(90)]
    measured("evidence-localisation", rows, evidence=evidence)
    assert 0 < evidence.most <= 20


@loop_over(
    ("was", "messages", "position"),
    [
        ((1,), 9, "first third"),
        ((3,), 9, "first third"),
        ((4,), 9, "middle third"),
        ((6,), 9, "middle third"),
        ((7, 9), 9, "last third"),
        ((1, 9), 9, "several thirds"),
        ((1,), 1, "middle third"),
        ((2_000,), 2_000, "last third"),
    ],
)
def test_the_position_is_the_third_of_the_transcript(was: tuple[int, ...], messages: int, position: str) -> None:
    case = Edited().cases(["case 9"])["case 9"]
    assert EditedCase(id="", was=was, present=was, messages=messages, complete=True, case=case).position == position


def test_sensitivity_by_number_and_position_of_edits() -> None:
    rows = [
        record(1, case="case 3", verdict="satisfies"),
        record(2, case="case 9"),
        record(3, case="case 7,9", strength=2.0),
        record(4, case="case 7,8", strength=2.0, verdict=None),
        record(5, case="case 9", strength=0.0, verdict="satisfies"),  # untouched: says nothing about edits
    ]
    found = {tuple(each.cell.items()): each for each in measured("edit-sensitivity", rows)}
    assert {cell: (each.estimate, each.n_trials) for cell, each in found.items()} == {
        (): (pytest.approx(2 / 3), 3),
        (("edits", "1"),): (0.5, 2),
        (("edits", "2"),): (1.0, 1),
        (("position", "first third"),): (0.0, 1),
        (("position", "last third"),): (1.0, 2),
    }
    assert dict(found[(("edits", "2"),)].missing) == {"refused": 1}


def test_style_is_compared_with_the_verdicts_on_the_unchanged_transcript() -> None:
    style = {"test": "agent-style", "family": "agent-style", "expectation": "same", "expected": None}
    before = {"test": "reference", "family": "reference", "strength": 0.0}
    rows = [
        record(1, case="r1", trial_id="a", verdict="violates", **before),
        record(1, case="r1", trial_id="b", verdict="satisfies", **before),
        record(1, case="case 9", verdict="violates", **style),
        record(2, case="case 9", verdict="violates", **style),
    ]
    whole = measured("edit-sensitivity", rows)[0]
    assert (whole.estimate, whole.n_trials, dict(whole.missing)) == (0.5, 1, {"no_reference": 1})


def test_a_violation_is_the_positive_outcome_whatever_the_order_of_labels() -> None:
    positive = {"test": "agent-positives", "family": "agent-positives", "expected": "satisfies", "strength": 0.0}
    rows = [
        *(record(number, case="case 9", verdict="satisfies" if number < 3 else "violates") for number in range(10)),
        *(record(number, case="u", trial_id=f"p{number}", verdict="violates" if number < 1 else "satisfies", **positive)
          for number in range(10)),
        record(11, case="case 9", verdict=None),
    ]  # fmt: skip
    for labels in (("satisfies", "violates"), ("violates", "satisfies")):
        found = {each.name: each for each in measured("agent-error-rates", rows, task(scale=Scale.of_labels(*labels)))}
        missed, flagged = found["agent-false-negative-rate"], found["agent-false-positive-rate"]
        assert (missed.estimate, missed.n_trials, dict(missed.missing)) == (0.3, 10, {"refused": 1})
        assert missed.bounds == (3 / 11, 4 / 11)
        assert (flagged.estimate, flagged.n_trials) == (0.1, 10)
        assert found["agent-accuracy"].estimate == pytest.approx(16 / 20)


def test_the_declared_positive_label_turns_the_rates_round() -> None:
    positive = {"test": "agent-positives", "family": "agent-positives", "expected": "satisfies", "strength": 0.0}
    rows = [
        *(record(number, case="case 9", verdict="satisfies" if number < 3 else "violates") for number in range(10)),
        *(record(number, case="u", trial_id=f"p{number}", verdict="violates" if number < 1 else "satisfies", **positive)
          for number in range(10)),
    ]  # fmt: skip

    def rates(declared: str) -> tuple[float, float]:
        scale = Scale(kind=ScaleKind.LABELS, labels=("satisfies", "violates"), positive=declared)
        found = {each.name: each for each in measured("agent-error-rates", rows, task(scale=scale))}
        return found["agent-false-negative-rate"].estimate, found["agent-false-positive-rate"].estimate

    assert rates("violates") == rates("") == (0.3, 0.1)
    assert rates("satisfies") == (0.1, 0.3)


def test_a_verdict_off_the_scale_is_missing_and_levels_have_an_accuracy_only() -> None:
    rows = [record(1, case="case 9", verdict="odd"), record(2, case="case 9")]
    found = {each.name: each for each in measured("agent-error-rates", rows)}
    assert dict(found["agent-accuracy"].missing) == {"off_scale": 1}
    verdicts = enumerate(("2", "1"))
    levels = [record(number, case="case 9", verdict=level, expected="2", gold=None) for number, level in verdicts]
    (only,) = measured("agent-error-rates", levels, task(scale=Scale.of_levels(1, 3)))
    assert (only.name, only.estimate) == ("agent-accuracy", 0.5)
