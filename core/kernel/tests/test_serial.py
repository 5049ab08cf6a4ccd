"""Values as text: equal values, equal text, written once where they are stored twice."""

from __future__ import annotations

import gc
import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from jrh.document import convert
from jrh.document.convert import compact, from_text, read_compact, to_text, to_text_once
from jrh.hashing import canonical_json
from jrh.values.verdicts import Reply, Status, Usage
from jrh_testing import loop_over

REPLIES = st.builds(
    Reply,
    status=st.sampled_from(Status),
    text=st.text(st.characters()),
    usage=st.builds(Usage, prompt_tokens=st.none() | st.integers(0)),
    cost=st.none() | st.floats(0, allow_infinity=False),
    token_probabilities=st.lists(st.dictionaries(st.text(), st.floats(0, 1)), max_size=2).map(tuple),
)


TEXTS = st.text(st.characters(), max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
NOT_FINITE = (float("nan"), float("inf"), float("-inf"))


@given(VALUES | st.floats() | st.dictionaries(st.integers() | st.none(), st.tuples(st.floats()), max_size=1))
@example([1e16, 9999999999999998.0, 1e-4, 9.999e-5, -0.0, 5e-324, *NOT_FINITE])
@example({"\x7f\x00\u2028\ud800": "\ud83d\ude00", "\uffff": 1, "\U00010000": 2**64, "a": {True: -(2**63)}})
def test_canonical_json_is_the_standard_library_s(value: object) -> None:
    standard = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    assert canonical_json(value) == standard


@given(VALUES)
@example([2**64, -(2**63) - 1, 10**400])
@example(["\ud800", "\udfff\ud800", 1e308])
def test_what_is_written_compactly_is_read_again(value: object) -> None:
    text = compact(value)
    assert "\n" not in text
    read = read_compact(text)
    assert read == value
    assert repr(read) == repr(value)  # 1 is not 1.0, nor 0.0 -0.0


@loop_over("value", [object(), {1, 2}, Status.OK, b"x", [Status.OK], {"a": b"x"}])
def test_what_json_does_not_have_is_refused(value: object) -> None:
    for write in (compact, canonical_json):
        with pytest.raises(TypeError):
            write(value)


@given(REPLIES)
def test_a_reply_is_read_as_it_was_written_lone_surrogates_too(reply: Reply) -> None:
    text = to_text(reply)
    assert "\n" not in text
    assert text.encode()
    assert from_text(Reply, text) == reply
    assert to_text_once(reply) == to_text_once(reply) == text


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_no_json_is_not_written(value: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        to_text(Reply(status=Status.OK, cost=value))


def test_a_value_that_lives_is_written_once_and_a_changed_one_again(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[Any] = []
    monkeypatch.setattr(convert, "to_text", lambda value: (written.append(value), to_text(value))[1])
    reply, equal = (Reply(status=Status.OK, text="YES") for _ in range(2))
    assert to_text_once(reply) is to_text_once(reply)
    assert to_text_once(equal) == to_text_once(reply)
    assert [id(value) for value in written] == [id(reply), id(equal)]


def test_the_text_goes_when_the_value_does() -> None:
    gc.collect()
    before = len(convert._TEXTS)
    for number in range(100):
        assert f'"{number}"' in to_text_once(Reply(status=Status.OK, text=str(number)))
    gc.collect()
    assert len(convert._TEXTS) == before


@loop_over("value", [{"a": [1, "ü"]}, {"lone": "\ud800"}, 2**70, "", " text", [0.5, None]])
def test_a_line_is_read_as_text_and_as_bytes(value: Any) -> None:
    line = compact(value)
    assert read_compact(line) == read_compact(line.encode()) == value
