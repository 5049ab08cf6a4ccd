"""Values as text: equal values, equal text, written once where they are stored twice."""

from __future__ import annotations

import gc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jrh.document import serial
from jrh.document.serial import from_text, to_text, to_text_once
from jrh.values.verdicts import Reply, Status, Usage

REPLIES = st.builds(
    Reply,
    status=st.sampled_from(Status),
    text=st.text(st.characters()),
    usage=st.builds(Usage, prompt_tokens=st.none() | st.integers(0)),
    cost=st.none() | st.floats(0, allow_infinity=False),
    token_probabilities=st.lists(st.dictionaries(st.text(), st.floats(0, 1)), max_size=2).map(tuple),
)


@given(REPLIES)
def test_a_reply_is_read_as_it_was_written_lone_surrogates_too(reply: Reply) -> None:
    text = to_text(reply)
    assert text.isascii()
    assert from_text(Reply, text) == reply
    assert to_text_once(reply) == to_text_once(reply) == text


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_no_json_is_not_written(value: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        to_text(Reply(status=Status.OK, cost=value))


def test_a_value_that_lives_is_written_once_and_a_changed_one_again(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[Any] = []
    monkeypatch.setattr(serial, "to_text", lambda value: (written.append(value), to_text(value))[1])
    reply, equal = (Reply(status=Status.OK, text="YES") for _ in range(2))
    assert to_text_once(reply) is to_text_once(reply)
    assert to_text_once(equal) == to_text_once(reply)
    assert [id(value) for value in written] == [id(reply), id(equal)]


def test_the_text_goes_when_the_value_does() -> None:
    gc.collect()
    before = len(serial._TEXTS)
    for number in range(100):
        assert f'"{number}"' in to_text_once(Reply(status=Status.OK, text=str(number)))
    gc.collect()
    assert len(serial._TEXTS) == before
