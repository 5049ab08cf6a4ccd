"""The text in a model's reply, or why there is none: one set of reasons for all families."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st
from jrh import Reply, Status
from jrh.plugins import TOO_LONG
from jrh.text.display import clean_lines
from jrh_authoring import Unusable, Written, no_text, read_text
from jrh_authoring.texts import LONGEST_TEXT, other_language
from jrh_testing import loop_over

RUBRIC = "A good answer names the city, gives a reason, and does not go on for longer than needed."
ORIGINAL = "The tower stands in Paris because it was built for a fair there, and it is high."
GOOD = "Built for a fair in Paris, the tower is high and stands in that city."


def ok(text: str) -> Reply:
    return Reply(status=Status.OK, text=text)


def says(text: object) -> Reply:
    return ok(json.dumps({"text": text}))


@loop_over(
    ("reply", "reason"),
    [
        (Reply(status=Status.REFUSED), "the model refused"),
        (Reply(status=Status.TRUNCATED, text='{"text": "x'), "the reply was cut"),
        (Reply(status=Status.TRUNCATED, finish_reason=TOO_LONG), "longer than 8 MiB"),
        (Reply(status=Status.TIMEOUT), "provider error"),
        (Reply(status=Status.PROVIDER_ERROR), "provider error"),
        (ok("Here it is: the tower is in Paris."), "no JSON in the reply"),
        (ok('{"answer": "Paris"}'), "no JSON in the reply"),
        (ok("I'm sorry, but I can't help with that."), "the model refused"),
        (says("I cannot rewrite this text."), "the model refused"),
        (ok("As an AI, I have no towers."), "the model refused"),
        (says(""), "empty text"),
        (says(" \n"), "empty text"),
        (says(None), "empty text"),
        (says(7), "no text in the reply's JSON"),
        (says(ORIGINAL), "unchanged"),
        (says(f"  {ORIGINAL.upper()}\n"), "unchanged"),
        (says(RUBRIC), "the rubric itself"),
        (says(f"As asked: {RUBRIC}"), "the rubric itself"),
        (says("x" * (LONGEST_TEXT + 1)), "longer than 100,000 characters"),
        (ok("x" * (2 * LONGEST_TEXT + 1)), "longer than 100,000 characters"),
        (says("Der Turm steht in Paris, und er ist nicht für die Dauer gebaut."), "another language"),
        (says("Башня стоит в Париже."), "another language"),
        (says(f"{GOOD}\x00"), "not text"),
        (says(f"{GOOD}\ud800"), "not text"),
    ],
)
def test_what_is_no_text_to_be_used_has_a_reason(reply: Reply, reason: str) -> None:
    assert read_text(reply, ORIGINAL, (RUBRIC, "Judge it.")) == Unusable(reason)


def test_a_usable_text_comes_with_all_the_reply_said() -> None:
    reply = ok(f'Sure:\n```json\n{{"response": {json.dumps(GOOD)}, "changes": ["order"]}}\n```')
    assert read_text(reply, ORIGINAL, (RUBRIC,), key="response") == Written(
        GOOD, {"response": GOOD, "changes": ["order"]}
    )


def test_what_the_original_says_itself_is_no_fault() -> None:
    sorry = "I'm sorry, but I can't help it: the tower stands in Paris."
    assert isinstance(read_text(says(f"{sorry} So it is."), sorry, (RUBRIC,)), Written)
    quoting = f"They said: {RUBRIC}"
    assert isinstance(read_text(says(f"It was said: {RUBRIC}"), quoting, (RUBRIC,)), Written)


def test_a_short_text_that_was_shown_may_stand_in_a_longer_one() -> None:
    assert isinstance(read_text(says("Is it right? It is."), ORIGINAL, ("Is it right?", "")), Written)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=80), st.text(max_size=80), st.text(max_size=80))
def test_whatever_a_model_writes_no_case_is_made_of_nothing_new(text: str, original: str, shown: str) -> None:
    found = read_text(says(text), original, (shown,))
    if isinstance(found, Written):
        assert found.text.strip()
        assert found.text.split() != original.split()
        assert found.text != shown
        found.text.encode()


def test_a_reply_that_may_be_read_has_no_reason() -> None:
    assert no_text(ok("")) == ""


@loop_over(
    ("original", "text", "other"),
    [
        ("塔はパリにあります。", "パリに塔が立っている。", False),
        ("塔はパリにあります。", "The tower is in Paris.", True),
        ("The cat and the dog are in the house with us.", "Le chat et le chien sont dans la maison avec nous.", True),
        ("The cat and the dog are in the house with us.", "Cats. Dogs. House.", False),
        ("42", "forty-two", False),
        ("", "The cat and the dog.", False),
    ],
)
def test_another_language_is_only_what_is_known_to_be_one(original: str, text: str, other: bool) -> None:
    assert other_language(original, text) is other


def test_lines_keep_their_breaks_and_spaces_and_lose_what_acts_on_a_terminal() -> None:
    assert clean_lines("a:\n  'b'  c\td\r \n\ne") == "a:\n  'b'  c d\n\ne"
    # An escape sequence that never ends hides the rest of its own line alone.
    assert clean_lines("a\x1b]52;c;x\nb\x9b2Jc\u202e\n\x1b[1Ad") == "a\nbc\nd"
    assert [len(line) for line in clean_lines(f"{'x' * 9000}\n{'y' * 2000}").split("\n")] == [2000, 2000]
    assert clean_lines("x" * 50, limit=10) == "xxxxxxxxx…"
