"""What parsers promise beside the table: options, rationales, invariants, bounded work."""

# ruff: noqa: RUF001 - look-alike characters are what is tested

from __future__ import annotations

import json
import time
from pathlib import Path

import jrh_parsers.plugin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jrh import JrhError, Reply, Scale, Status
from jrh_parsers.visible import READ_CHARACTERS, plain, visible
from jrh_testing import build, loop_over

YES_NO = Scale.of_labels("YES", "NO")
FIVE = Scale.of_levels(1, 5)
PAIR = Scale.of_pairs()
SCALES = (
    YES_NO,
    Scale.of_labels("CORRECT", "INCORRECT"),
    FIVE,
    Scale.of_levels(0, 10),
    PAIR,
    Scale.of_pairs(tie="TIE"),
)
PARSERS = ("auto", "json", "label", "likert", "pairwise", "weighted")
DATA = Path(__file__).parents[4] / "shared" / "data"

PIECES = (
    "YES", "NO", "CORRECT", "INCORRECT", "TIE", "tie", "Verdict: ", "Score: ", "not ", "I cannot determine ",
    "the answer is ", "but ", "or ", "and ", "is better than ", "10/10", "3-4", "４", '{"verdict": ', "}", "<think>",
    "</think>", "[[", "]]", "is ", "out of ", "\\", "\ud800", "\u0301", "½",
)  # fmt: skip
texts = st.lists(
    st.sampled_from([*"ABYN015.,:;!?*_`'\"()[]{}<>/|-\n ", *PIECES]),
    max_size=24,
).map("".join)


def parser(name="auto", **options):
    return build(jrh_parsers.plugin, name, options=options)


def parse(text, scale=YES_NO, name="auto", **options):
    return parser(name, **options).parse(Reply(status=Status.OK, text=text), scale)


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(text=texts, scale=st.sampled_from(SCALES), name=st.sampled_from(PARSERS))
def test_no_reply_makes_a_parser_raise_or_leave_the_scale(text, scale, name):
    verdict = parse(text, scale, name)

    assert (verdict.status is Status.OK) == (verdict.presented in scale.labels)
    assert verdict.status in {Status.OK, Status.UNPARSABLE, Status.OFF_SCALE, Status.ABSTAINED, Status.REFUSED}


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(text=texts, scale=st.sampled_from(SCALES), data=st.data())
def test_a_last_line_that_announces_a_label_binds_whatever_stands_before_it(text, scale, data):
    label = data.draw(st.sampled_from(scale.labels))
    before = text.replace("<think>", "")

    assert parse(f"{before}\n\nFinal verdict: {label}", scale).presented == label


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(thought=texts, scale=st.sampled_from(SCALES), data=st.data())
def test_thoughts_never_change_the_verdict(thought, scale, data):
    label = data.draw(st.sampled_from(scale.labels))

    assert parse(f"<think>{thought}</think>{label}", scale).presented == label


@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(reason=st.text(max_size=80), scale=st.sampled_from(SCALES), data=st.data())
def test_json_is_read_whatever_the_reasons_say(reason, scale, data):
    label = data.draw(st.sampled_from(scale.labels))
    text = json.dumps({"rationale": f"tag-free {reason}".replace("<", "("), "verdict": label})

    verdict = parse(text, scale, "json")

    assert verdict.presented == label


ADVERSARIAL = {
    "spaces": " " * 1_000_000,
    "newlines": "\n" * 1_000_000,
    "braces": "{" * 1_000_000,
    "brackets": "[" * 1_000_000,
    "nested": '{"a":' * 200_000,
    "digits": "1" * 1_000_000,
    "markers": "Verdict: " * 110_000,
    "marker and spaces": ("Verdict:" + " " * 500) * 2_000,
    "labels": "YES or NO " * 100_000,
    "letters": "A B " * 250_000,
    "tags": "<think>" * 150_000,
    "open signs": "<" * 1_000_000,
    "pairs of tags": "<think>a</think>" * 60_000,
    "stars": "*" * 1_000_000,
    "underscores": "_" * 1_000_000,
    "quotes": '"' * 1_000_000,
    "negations": "not " * 250_000,
    "conclusions": "I would say I would say " * 40_000,
    "weak": "but, so, " * 110_000,
    "fractions": "3/5 " * 250_000,
    "double brackets": "[[" * 500_000,
    "combining": "e\u0301" * 500_000,
    "sorry": "I'm sorry " * 100_000,
    "comparisons": "A is better than B. " * 50_000,
    "python": "{'a': 'b', " * 100_000,
}


@loop_over("name", ADVERSARIAL)
@loop_over("scale", [YES_NO, FIVE, PAIR], ids=["labels", "levels", "pairs"])
def test_a_megabyte_of_anything_is_read_in_bounded_time(name, scale):
    text = ADVERSARIAL[name]
    started = time.process_time()

    parse(text, scale)

    # Quadratic work on a megabyte takes minutes; this takes well under a second.
    assert time.process_time() - started < 3


def test_only_the_end_of_a_long_reply_is_read():
    filler = "word " * READ_CHARACTERS

    assert parse(f"Verdict: NO\n{filler}\nVerdict: YES").presented == "YES"
    assert parse(f"Verdict: NO\n{filler}").status is Status.UNPARSABLE


def test_thinking_is_left_out_before_the_reply_is_cut_to_its_end():
    assert parse("<think>" + "Verdict: NO\n" * READ_CHARACTERS + "</think>YES").presented == "YES"


def test_marks_that_change_a_number_are_kept():
    assert plain("4² 3½ №4 ①") == "4² 3½ №4 ①"
    assert plain("４．５ ＹＥＳ 𝟒 ٤ “A” – —") == '4.5 YES 4 4 "A" -  - '


def test_emphasis_is_written_one_way_and_names_keep_their_underscores():
    assert visible("__YES__ and NOT_RELEVANT") == "*YES* and NOT_RELEVANT"


def test_the_reasons_of_a_json_verdict_are_the_rationale():
    verdict = parse('{"reason": "Lyon is wrong.", "verdict": "NO"}')

    assert verdict.rationale == "Lyon is wrong."


def test_the_text_of_a_reply_is_the_rationale_unless_it_is_only_the_label():
    assert parse("The response names Lyon, which is wrong.\nVerdict: NO").rationale.startswith("The response names")
    assert parse("Verdict: NO").rationale == ""
    assert "secret" not in parse("<think>secret</think>The response names Lyon, which is wrong.\nNO").rationale


def test_own_keys_replace_the_usual_ones_and_the_first_one_counts():
    text = '{"verdict": "YES", "is_ok": "NO", "why": "x"}'

    verdict = parse(text, name="json", keys=["is_ok", "verdict"], rationale_keys=["why"])

    assert (verdict.presented, verdict.rationale) == ("NO", "x")


def test_the_json_parser_does_not_read_text_but_tells_refusals_from_mistakes():
    assert parse("Verdict: YES", name="json").status is Status.UNPARSABLE
    assert parse("I'm sorry, but I can't help with that.", name="json").status is Status.REFUSED
    assert parse("I cannot determine this.", name="json").status is Status.ABSTAINED


@pytest.mark.parametrize("keys", [[], ["a", "A"], [" "]])
def test_keys_that_cannot_be_told_apart_are_an_error(keys):
    with pytest.raises((JrhError, ValueError)):
        parser("json", keys=keys)


def test_json_that_is_not_closed_is_never_completed():
    assert parse('{"verdict": ', name="json").status is Status.UNPARSABLE
    assert parse('{"verdict": "YE', name="json").status is Status.UNPARSABLE


def test_a_json_value_that_offers_a_choice_is_not_a_verdict():
    assert parse('{"verdict": "YES" or "NO"}', name="json").status is Status.UNPARSABLE


def test_comparisons_are_not_read_where_they_are_switched_off():
    text = "Response B is better than Response A."

    assert parse(text, PAIR, "pairwise").presented == "B"
    assert parse(text, PAIR, "pairwise", comparatives=False).status is Status.UNPARSABLE
    assert parse("B", PAIR, "pairwise", comparatives=False).presented == "B"


def test_labels_that_differ_only_in_case_are_told_apart_by_case_alone():
    scale = Scale.of_labels("pass", "PASS")

    assert parse("PASS", scale).presented == "PASS"
    assert parse("Verdict: Pass", scale).status is Status.UNPARSABLE


def test_the_label_parser_reads_levels_and_letters_as_names():
    assert parse("Verdict: 4", FIVE, "label").presented == "4"
    assert parse("Verdict: B", PAIR, "label").presented == "B"


@pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data is not here")
def test_prompts_of_judgesense_that_only_restate_the_scale_are_no_verdict():
    lines = (DATA / "judgesense" / "coherence.jsonl").read_text(encoding="utf-8").splitlines()
    prompts = [json.loads(line)[key].partition("\n")[0] for line in lines for key in ("prompt_a", "prompt_b")]

    read = {prompt: parse(prompt, FIVE) for prompt in prompts}

    assert len(read) >= 5
    assert [prompt for prompt, verdict in read.items() if verdict.presented] == []
