"""Keys never leave the process."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jrh.errors import JrhError, StoreError
from jrh.text.redact import MASK, Redactor, error_line, error_place
from jrh_testing import loop_over

KEY = "sk-live-0123456789abcdef"


@loop_over(
    "name",
    [
        "OPENAI_API_KEY",
        "OPENAI_API_KEY_2",
        "HF_TOKEN",
        "DB_PASSWORD",
        "client_secret",
        "AWS_CREDENTIALS",
        "AWS_ACCESS_KEY_ID",
        "API_KEYS",
        "PGPASSWD",
        "KEY",
    ],
)
def test_the_value_of_a_secret_variable_is_masked_wherever_it_stands(name: str) -> None:
    redact = Redactor.from_environment({name: KEY})
    assert redact(f"401: Bearer {KEY}; again {KEY}!") == f"401: Bearer {MASK}; again {MASK}!"


def test_other_variables_stay() -> None:
    redact = Redactor.from_environment(
        {"HOME": "/home/somebody", "KEYBOARD": "qwertyuiop", "TOKENIZERS_PARALLELISM": "somewhat-long"}
    )
    text = "/home/somebody qwertyuiop somewhat-long"
    assert redact(text) == text


def test_a_short_value_stays_because_it_would_mask_words() -> None:
    redact = Redactor.from_environment({"MY_KEY": "1234567", "YOUR_KEY": "12345678"})
    assert redact("1234567 12345678") == f"1234567 {MASK}"


def test_a_secret_that_is_named_is_masked_however_short() -> None:
    assert Redactor.from_environment({}, also=["abc", ""])("abc-x") == f"{MASK}-x"


ODD = "a/b+c \"d<e>&'f\\ü"


@loop_over(
    "echo",
    [
        ODD,
        "a%2Fb%2Bc%20%22d%3Ce%3E%26%27f%5C%C3%BC",
        "a%2fb%2bc%20%22d%3ce%3e%26%27f%5c%c3%bc",
        "a/b+c &quot;d&lt;e&gt;&amp;&#x27;f\\ü",
        "a/b+c \\\"d<e>&'f\\\\ü",
        "a\\/b+c \\\"d<e>&'f\\\\\\u00fc",
    ],
)
def test_a_secret_is_masked_where_it_is_written_for_a_url_html_or_json(echo: str) -> None:
    assert Redactor(frozenset({ODD}))(f"<{echo}>") == f"<{MASK}>"


@loop_over("secret", [KEY, ODD, "canary \U0001f511 key"])
@loop_over(
    "encode",
    [
        lambda text: text[::-1],
        lambda text: text.encode().hex(),
        lambda text: text.encode().hex().upper(),
        lambda text: text.encode().hex(" "),
        lambda text: text.encode().hex(":").upper(),
        lambda text: ", ".join(f"0x{octet:02x}" for octet in text.encode()),
        lambda text: "".join(f"\\x{octet:02x}" for octet in text.encode()),
        lambda text: "".join(f"%{octet:02X}" for octet in text.encode()),
        lambda text: "".join(f"\\u{unit:04x}" for unit in utf16(text)),
        lambda text: "".join(f"\\u{unit:04X}" for unit in utf16(text)),
        lambda text: json.dumps(json.dumps(text)[1:-1])[1:-1],
    ],
)
def test_a_secret_is_masked_reversed_as_hex_and_escaped_character_by_character(
    secret: str, encode: Callable[[str], str]
) -> None:
    assert Redactor(frozenset({secret}))(f"<{encode(secret)}>") == f"<{MASK}>"


def utf16(text: str) -> list[int]:
    raw = text.encode("utf-16-be")
    return [high << 8 | low for high, low in zip(raw[::2], raw[1::2], strict=True)]


def test_short_secrets_are_masked_as_they_are_only() -> None:
    assert Redactor(frozenset({"abc"}))("abc cba 616263") == f"{MASK} cba 616263"


def test_a_secret_is_masked_without_its_scheme_too() -> None:
    redact = Redactor(frozenset({"Bearer abcdefgh/"}))
    assert redact("Bearer abcdefgh/ abcdefgh/ abcdefgh%2F") == f"{MASK} {MASK} {MASK}"


def test_words_of_a_passphrase_stay() -> None:
    assert Redactor(frozenset({"correct horse battery"}))("a correct battery") == "a correct battery"


def test_a_redactor_shows_nothing() -> None:
    assert KEY not in repr(Redactor(frozenset({KEY})))


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


@loop_over("before", ["", "u", "me", "user:"])
@loop_over("after", ["", ":x", "!!"])
@loop_over("alphabet", [base64.b64encode, base64.urlsafe_b64encode])
def test_a_secret_is_masked_in_base64_wherever_it_stands_in_the_encoded_text(before, after, alphabet):
    secret = "canary-1f9e/+key~?>\u00ff"
    shown = Redactor(frozenset([secret]))(f"Basic {alphabet((before + secret + after).encode()).decode()}")
    assert MASK in shown
    # At most the digits that a neighbouring character shares are left: no three bytes of the secret.
    left = shown.removeprefix("Basic ").replace(MASK, "")
    assert len(left) <= len(alphabet((before + after).encode())) + 4


@pytest.mark.parametrize(
    ("module", "shown"),
    [("polite", "polite.py, line 2"), ("jrh_polite.work", "jrh_polite/work.py, line 2"), ("json", "")],
)
def test_the_line_of_an_error_is_that_of_the_plugin_and_not_of_what_it_calls(module: str, shown: str) -> None:
    source = compile("def ask(call):\n    return call()", f"/home/me/{module.replace('.', '/')}.py", "exec")
    names: dict[str, Any] = {"__name__": module}
    exec(source, names)
    with pytest.raises(ValueError, match="Expecting") as raised:
        names["ask"](partial(json.loads, "polite"))
    assert raised.value.__traceback__ is not None
    error = raised.value.with_traceback(raised.value.__traceback__.tb_next)
    assert error_place(error) == shown
    assert error_line(error).endswith(f"({shown})" if shown else "(char 0)")


def test_the_line_of_an_error_is_not_that_of_the_stage_that_caught_it() -> None:
    names: list[dict[str, Any]] = [{"__name__": "jrh_stage.work"}, {"__name__": "polite"}]
    for place, own in enumerate(names):
        exec(compile("def ask(call):\n    return call()", f"/home/me/file{place}.py", "exec"), own)
    with pytest.raises(ValueError, match="Expecting") as raised:
        names[0]["ask"](partial(names[1]["ask"], partial(json.loads, "polite")))
    assert raised.value.__traceback__ is not None
    assert error_place(raised.value.with_traceback(raised.value.__traceback__.tb_next)) == "file1.py, line 2"


def test_a_sentence_for_the_user_has_no_type_and_no_place() -> None:
    assert error_line(JrhError("plots.measures: the run has no measure 'x'")).endswith(
        "measures: the run has no measure 'x'"
    )
    assert error_line(JrhError("x")) == "x"
    assert error_line(StoreError("x")) == "StoreError: x"


def test_a_long_error_is_cut() -> None:
    assert len(error_line(ValueError("x" * 10_000))) < 400
