"""What a judge of one's own may answer, and what is made of it."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from jrh import Judgement, Scale, Status, Verdict
from jrh_authoring import parse_answer
from jrh_judges.inhouse import verdict_of
from jrh_testing import loop_over

YES_NO = Scale.of_labels("YES", "NO")
FIVE = Scale.of_levels(1, 5)


@loop_over(
    ("answer", "scale", "status", "label"),
    [
        ("YES", YES_NO, Status.OK, "YES"),
        (" no ", YES_NO, Status.OK, "NO"),
        (4, FIVE, Status.OK, "4"),
        (4.0, FIVE, Status.OK, "4"),
        ({"label": "NO"}, YES_NO, Status.OK, "NO"),
        ({"verdict": 2}, FIVE, Status.OK, "2"),
        (True, Scale.of_labels("true", "false"), Status.OK, "true"),
        (Verdict(status=Status.OK, presented="YES"), YES_NO, Status.OK, "YES"),
        (Judgement(verdict=Verdict(status=Status.OK, presented="YES")), YES_NO, Status.OK, "YES"),
        (True, FIVE, Status.OFF_SCALE, None),
        (4.5, FIVE, Status.OFF_SCALE, None),
        (float("nan"), FIVE, Status.OFF_SCALE, None),
        (float("inf"), FIVE, Status.OFF_SCALE, None),
        ("YES.", YES_NO, Status.OFF_SCALE, None),
        ("MAYBE", YES_NO, Status.OFF_SCALE, None),
        (Verdict(status=Status.OK, presented="MAYBE"), YES_NO, Status.OFF_SCALE, None),
        (None, YES_NO, Status.ABSTAINED, None),
        ({"label": None}, YES_NO, Status.ABSTAINED, None),
        ({"status": "abstained", "detail": "too short"}, YES_NO, Status.ABSTAINED, None),
        ({"status": "refused", "label": "YES"}, YES_NO, Status.REFUSED, None),
        ({"status": "timeout"}, YES_NO, Status.UNPARSABLE, None),
        ({"status": ["ok"]}, YES_NO, Status.UNPARSABLE, None),
        ({"score": "YES"}, YES_NO, Status.UNPARSABLE, None),
        ("", YES_NO, Status.UNPARSABLE, None),
        (["YES"], YES_NO, Status.UNPARSABLE, None),
        (10**400, FIVE, Status.UNPARSABLE, None),
        ({"label": "YES", "probabilities": {"YES": 1.2}}, YES_NO, Status.UNPARSABLE, None),
        ({"label": "YES", "probabilities": {"MAYBE": 0.2}}, YES_NO, Status.UNPARSABLE, None),
        ({"label": "YES", "probabilities": [0.2]}, YES_NO, Status.UNPARSABLE, None),
        (Verdict(status=Status.PLUGIN_ERROR), YES_NO, Status.UNPARSABLE, None),
        (Verdict(status=Status.ABSTAINED), YES_NO, Status.ABSTAINED, None),
    ],
)
def test_an_answer_is_a_label_of_the_scale_or_a_status(answer, scale, status, label):
    verdict = verdict_of(answer, scale)

    assert (verdict.status, verdict.presented) == (status, label)


def test_reasons_and_probabilities_are_kept():
    verdict = verdict_of({"label": "YES", "rationale": "right", "probabilities": {"YES": 0.9, "NO": 0.1}}, YES_NO)

    assert (verdict.rationale, verdict.probabilities) == ("right", {"YES": 0.9, "NO": 0.1})


def test_text_that_is_not_json_is_taken_as_it_is():
    assert parse_answer(" YES\n") == "YES"
    assert parse_answer('"YES"') == "YES"
    assert parse_answer("4") == 4
    assert parse_answer("[" * 100_000) == "[" * 100_000


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(["YES", "NO"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["label", "verdict", "status", "probabilities", "rationale", "YES"]), inner)
    ),
    max_leaves=6,
)


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(answer=values)
def test_no_answer_raises_or_leaves_the_scale(answer):
    verdict = verdict_of(answer, YES_NO)

    assert (verdict.status is Status.OK) == (verdict.presented in YES_NO.labels)
    assert verdict.status is Status.OK or verdict.detail


def test_a_score_goes_with_the_label():
    verdict = verdict_of({"label": "YES", "score": 2}, YES_NO)

    assert (verdict.presented, verdict.score) == ("YES", 2.0)


@loop_over("score", [True, "2.0", float("nan"), float("inf"), 10**400, [1]])
def test_what_is_no_finite_number_is_no_score(score):
    assert verdict_of({"label": "YES", "score": 10**5000}, YES_NO).status is Status.UNPARSABLE
    verdict = verdict_of({"label": "YES", "score": score}, YES_NO)

    assert (verdict.status, verdict.presented, verdict.score) == (Status.UNPARSABLE, None, None)
