"""What the jsonl source reads, and what it says about files that are not in order."""

from __future__ import annotations

import json

import jrh_sources.plugin
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jrh import JrhError, Mode, Scale, Task
from jrh_testing import build


@pytest.fixture
def read(read):
    return lambda content, **options: read(content, source="jsonl", **options)


@pytest.mark.parametrize(
    ("written", "label"),
    [
        ("3", "3"),
        ("3.0", "3.0"),
        ("3.50", "3.50"),
        ("1e2", "1e2"),
        ("true", "true"),
        ('"001"', "001"),
        ('"null"', "null"),
    ],
)
def test_a_label_is_the_text_the_file_has(read, written, label):
    task = Task(name="t", scale=Scale.of_labels(label, "other"))
    (item,) = read(f'{{"response": "x", "label": {written}}}\n', task=task)
    assert item.gold == label


def test_null_missing_and_empty_labels_are_no_labels(read):
    content = '{"response": "x", "label": null}\n{"response": "y"}\n{"response": "z", "label": NaN}\n'
    assert [item.gold for item in read(content)] == [None, None, None]


def test_blank_lines_are_skipped_and_counted(read):
    items = read(b'\xef\xbb\xbf{"response": "x"}\r\n\r\n  \n{"response": "y"}')
    assert [(item.id, item.origin) for item in items] == [("row-1", "data.jsonl:1"), ("row-2", "data.jsonl:4")]


def test_numbers_as_judged_text_are_the_text_of_the_file(read):
    (item,) = read('{"id": 12, "response": 4.50, "request": 7, "stratum": 1, "group": false}')
    assert item.fields == {"request": "7", "response": "4.50"}
    assert (item.id, item.stratum, item.group) == ("12", "1", "false")


def test_metadata_and_further_fields_keep_their_json(read):
    (item,) = read(
        '{"response": "x", "n": 1.50, "deep": [{"y": 2.0}, null], "facts": ["a", 3.0]}', columns={"facts": "facts"}
    )
    assert item.metadata == {"n": 1.5, "deep": [{"y": 2.0}, None]}
    assert type(item.metadata["n"]) is float
    assert item.fields["facts"] == ["a", 3.0]


def test_a_transcript_may_be_a_list_of_messages(read):
    task = Task(name="t", scale=Scale.of_labels("YES", "NO"), mode=Mode.TRANSCRIPT)
    (item,) = read('{"transcript": [{"role": "user", "content": "hi"}]}', task=task)
    assert item.fields["transcript"] == [{"role": "user", "content": "hi"}]


def test_every_item_has_the_same_fields_also_where_a_key_is_missing(read):
    items = read('{"response": "x", "ref": "r"}\n{"response": "y"}\n', columns={"reference": "ref"})
    assert [sorted(item.fields) for item in items] == [["reference", "request", "response"]] * 2
    assert items[1].fields["reference"] is None


def said_about(content, read, **options):
    with pytest.raises(JrhError) as caught:
        read(content, **options)
    return str(caught.value).splitlines()


def test_broken_lines_are_named_by_line_and_column(read):
    said = said_about('{"response": "x"}\n  {"response": x}\n{"response": "y"\n', read)
    assert said[0].startswith("data.jsonl:2:16: invalid JSON: ")
    assert said[1].startswith("data.jsonl:3:17: invalid JSON: ")
    assert len(said) == 2


@pytest.mark.parametrize(
    ("line", "kind"),
    [("[1]", "an array"), ('"x"', "text"), ("3", "a number"), ("null", "null"), ("true", "true or false")],
)
def test_a_line_that_is_no_object_is_named(read, line, kind):
    (said,) = said_about(f'{{"response": "x"}}\n{line}\n', read)
    assert said.startswith("data.jsonl:2: a line must be one JSON object")
    assert said.endswith(f"not {kind}")


def test_a_json_document_over_several_lines_is_recognized_and_told_once(read):
    for document in ([{"response": "x"}] * 30, {"data": ["x"] * 30}):
        (said,) = said_about(json.dumps(document, indent=1), read)
        assert "one JSON document over several lines" in said


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"response": -Infinity}', "-Infinity is not allowed in JSON"),
        ('{"response": "x", "n": 1e999}', "too large"),
        ('{"response": "x", "response": "y"}', "key 'response' appears twice"),
        ('{"response": "x", "n": {"a": 1, "a": 2}}', "key 'a' appears twice"),
        ('{"response": "\\ud83d"}', "half of a surrogate pair"),
        ('{"response": ["x"]}', "field 'response' must be text"),
        ('{"response": "x", "label": ["YES"]}', "'label' must be text or a number"),
        ('{"response": ' + "[" * 100_000 + "}", "nested too deeply"),
        ('{"response": "x", "n": ' + "9" * 5000 + "}", "digits"),
    ],
)
def test_what_is_not_usable_json_is_named(read, line, words):
    (said,) = said_about(line, read)
    assert said.startswith("data.jsonl:1: ")
    assert words in said


def test_an_escaped_surrogate_pair_is_one_character(read):
    (item,) = read('{"response": "\\ud83d\\ude00"}')
    assert item.fields["response"] == "\U0001f600"


def test_bytes_of_another_encoding_are_named(read):
    (said,) = said_about(b'{"response": "caf\xe9"}', read)
    assert said.startswith("data.jsonl:1:18: byte 0xe9")


def test_an_empty_file_is_empty_data(read):
    for content in ("", "\n \n"):
        assert said_about(content, read) == [
            "data.jsonl: the file is empty; a JSON Lines file has one JSON object per line"
        ]


def test_ids_in_some_rows_only_are_an_error(read):
    said = said_about('{"response": "x"}\n{"id": "b", "response": "y"}\n{"response": "z"}', read)
    assert said == ["data.jsonl:1: column 'id' (id) is empty (2 rows: 1, 3); fill it or remove the row"]


def test_an_id_written_as_number_and_as_text_is_one_id(read):
    (said,) = said_about('{"id": 1, "response": "x"}\n{"id": "1", "response": "y"}', read)
    assert "data.jsonl:1 and data.jsonl:2" in said


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(values, min_size=1, max_size=5))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
def test_whatever_json_holds_is_read_back(tmp_path, written):
    lines = [json.dumps({"response": "x", "m": value}) for value in written]
    (tmp_path / "a.jsonl").write_text("\n".join(lines), encoding="utf-8")
    items = build(jrh_sources.plugin, "jsonl", options={"path": "a.jsonl"}, base=tmp_path).read()
    assert [json.dumps(item.metadata["m"]) for item in items] == [json.dumps(value) for value in written]
