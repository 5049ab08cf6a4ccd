"""The statistics, against values counted by hand."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st
from jrh import Mode
from jrh.text import utf8_text


def named(text: str, request: str = "") -> dict[str, float]:
    from jrh_baseline.training import NAMES, Document, style

    return dict(zip(NAMES, style(Document(text, request)), strict=True))


def test_statistics_are_those_counted_by_hand():
    # 8 words, 6 distinct, 2 sentences, 2 long (economy, collapsed), 37 characters, 4 marks, 1 comma.
    found = named("The economy, the whole economy... collapsed! Don't ask.", request="Has the ECONOMY grown?")
    assert math.isclose(found["log words"], math.log(9))
    assert math.isclose(found["log sentences"], math.log(4))
    assert math.isclose(found["words per sentence"], 8 / 3)
    assert math.isclose(found["type-token ratio"], 6 / 8)
    assert math.isclose(found["root type-token ratio"], 6 / math.sqrt(8))
    assert math.isclose(found["share of long words"], 3 / 8)
    assert math.isclose(found["characters per word"], (3 + 7 + 3 + 5 + 7 + 9 + 5 + 3) / 8)
    assert math.isclose(found["punctuation per word"], 7 / 8)
    assert math.isclose(found["commas per word"], 1 / 8)
    assert math.isclose(found["share of the request's words used"], 2 / 4)
    assert math.isclose(found["share of words from the request"], 4 / 8)


def test_a_text_without_words_has_no_statistics():
    from jrh_baseline.training import Document, style

    assert set(style(Document(" \n... ", "a request"))) == {0.0}


@given(
    words=st.lists(st.text(alphabet="abcXYZéß", min_size=1), min_size=1), space=st.sampled_from(["\n", "  ", "\r\n"])
)
def test_line_breaks_and_runs_of_spaces_change_nothing(words, space):
    from jrh_baseline.training import Document, style

    assert style(Document(" ".join(words) + ".", "")) == style(Document(space.join(words) + "." + space, ""))


@given(st.text(), st.text())
def test_statistics_are_finite_for_any_text(text, request):
    from jrh_baseline.training import Document, style

    assert all(math.isfinite(value) for value in style(Document(text, request)))


def test_transcripts_become_the_text_of_their_messages():
    from jrh_baseline.training import Document, documents_of

    fields = {"request": None, "transcript": ({"role": "user", "content": "Hi"}, {"role": "tool", "content": 3})}
    assert documents_of(fields, Mode.TRANSCRIPT.judged_fields) == (Document("user\nHi\ntool\n3", ""),)


def test_what_cannot_be_encoded_is_replaced():
    assert utf8_text("a\ud800b") == "a?b"
