"""A model's JSON is found wherever it stands, and never made up."""

import json
import time

from hypothesis import given
from hypothesis import strategies as st
from jrh_authoring import json_objects, read_json
from jrh_testing import loop_over

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@loop_over(
    "reply",
    [
        '{"text": "a {b} c"}',
        '\n {"text": "a {b} c"} \n',
        '```json\n{"text": "a {b} c"}\n```',
        'Sure! Here it is:\n```\n{"text": "a {b} c"}\n```\nI hope it helps {really}.',
        'I use {curly} braces, {"like": this}, and then {"text": "a {b} c"}.',
        '{"text": "first"} No, better: {"text": "a {b} c"}',
        '[{"text": "a {b} c"}]',
        '<think>{"text": "a thought"}</think>{"text": "a {b} c"}',
        'maybe {"text": "a thought"}</think>\n{"text": "a {b} c"}',
    ],
)
def test_the_object_is_found_with_anything_around_it(reply):
    assert read_json(reply) == {"text": "a {b} c"}


@loop_over(
    "reply",
    [
        "",
        "The text is fine.",
        '{"text": "cut off',
        '{"text": NaN}',
        '{"text": 1e999}',
        '["text"]',
        "{text: 'a'}",
        '<think>{"text": "only a thought"}',
        '<think>{"text": "only a thought"}</think>',
        '{"text": ' + "9" * 5000 + "}",
        '{"a":' * 100_000,
        "\x00\ud800{",
    ],
)
def test_what_is_no_object_is_none(reply):
    assert read_json(reply) is None


def test_line_breaks_inside_a_string_are_kept():
    assert read_json('{"text": "one\n\ntwo"}') == {"text": "one\n\ntwo"}


def test_a_tag_inside_the_answer_does_not_hide_it():
    assert read_json('Here: {"text": "write </think> at the end"} Done.') == {"text": "write </think> at the end"}


def test_an_object_without_the_keys_is_passed_over():
    reply = 'Format: {"text": "..."}. Answer: {"text": "yes"} {"note": 1}'
    assert read_json(reply, keys=("text",)) == {"text": "yes"}
    assert read_json('{"note": 1}', keys=("text",)) is None


def test_a_text_of_ten_megabytes_costs_nothing():
    begin = time.process_time()
    assert read_json('{"a": [' * 1_500_000) is None
    assert time.process_time() - begin < 0.5


@loop_over("unit", ['{"a":', '{"', "{", '{"a":["', '{"a":1,', '</think>{"'])
def test_the_work_is_bounded_for_a_text_full_of_beginnings(unit):
    begin = time.process_time()
    read_json(unit * (900_000 // len(unit)))
    assert time.process_time() - begin < 5  # unbounded, it takes minutes


def test_the_outermost_objects_behind_the_thoughts_are_found_in_order():
    assert list(json_objects("{" * 100_000)) == []
    assert list(json_objects('a {"b": 1} {c} {"d": {"e": 2}}')) == [{"b": 1}, {"d": {"e": 2}}]
    assert list(json_objects('<think>{"b": 1}</think> {"b": 2}')) == [{"b": 2}]


@given(st.dictionaries(st.text(), PLAIN, max_size=4), st.sampled_from(["", "Sure: ", "```json\n"]))
def test_every_object_that_json_can_write_is_read_back(value, before):
    assert read_json(before + json.dumps(value)) == value


@given(st.text())
def test_any_text_is_read_or_not_but_never_raises(text):
    found = read_json(text)
    assert found is None or isinstance(found, dict)
