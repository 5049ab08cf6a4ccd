"""Keys never leave the process."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jrh.redact import MASK, Redactor

KEY = "sk-live-0123456789abcdef"


@pytest.mark.parametrize(
    "name",
    ["OPENAI_API_KEY", "HF_TOKEN", "DB_PASSWORD", "client_secret", "AWS_CREDENTIALS", "API_KEYS", "PGPASSWD", "KEY"],
)
def test_the_value_of_a_secret_variable_is_masked_wherever_it_stands(name: str) -> None:
    redact = Redactor.from_environment({name: KEY})
    assert redact(f"401: Bearer {KEY}; again {KEY}!") == f"401: Bearer {MASK}; again {MASK}!"


def test_other_variables_stay() -> None:
    redact = Redactor.from_environment({"HOME": "/home/somebody", "KEYBOARD": "qwertyuiop", "TOKENIZERS_PARALLELISM": KEY})
    text = f"/home/somebody qwertyuiop {KEY}"
    assert redact(text) == text


def test_a_short_value_stays_because_it_would_mask_words() -> None:
    redact = Redactor.from_environment({"MY_KEY": "1234567", "YOUR_KEY": "12345678"})
    assert redact("1234567 12345678") == f"1234567 {MASK}"


def test_a_secret_that_contains_another_goes_whole() -> None:
    redact = Redactor(frozenset({"abcdefgh", "abcdefgh-ijkl"}))
    assert redact("abcdefgh-ijkl abcdefgh") == f"{MASK} {MASK}"


def test_white_space_around_a_key_is_not_part_of_it() -> None:
    assert Redactor.from_environment({"A_KEY": f"  {KEY}\n"})(f"<{KEY}>") == f"<{MASK}>"


def test_the_environment_of_the_process_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANARY_API_KEY", KEY)
    assert Redactor.from_environment()(KEY) == MASK


@given(
    st.sets(st.text(alphabet="abXY-1", min_size=8, max_size=12), max_size=4),
    st.lists(st.text(alphabet="abXY-1 ", max_size=6), max_size=6),
)
def test_no_secret_is_left_in_any_text(secrets: set[str], pieces: list[str]) -> None:
    text = "|".join(piece + secret for piece, secret in zip(pieces, sorted(secrets) * 6, strict=False))
    masked = Redactor(frozenset(secrets))(text)
    assert not [secret for secret in secrets if secret in masked]
