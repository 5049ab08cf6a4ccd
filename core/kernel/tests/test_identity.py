"""Ids and seeds follow from content."""

from __future__ import annotations

import hashlib
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jrh import ChatRequest, Message, Sampling, hashing
from jrh.hashing import ID_LENGTH, canonical_json, content_id, derive_seed, texts_id
from jrh.models.client import request_key
from jrh.suite.definition import ModelUse
from jrh_testing import loop_over

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


def test_an_id_is_the_first_half_of_the_sha256_of_canonical_json() -> None:
    expected = hashlib.sha256(b'["a",1,{"b":[true,null],"c":"\xc3\xa9"}]').hexdigest()[:32]
    assert content_id("a", 1, {"c": "é", "b": [True, None]}) == expected
    assert len(expected) == ID_LENGTH


@given(st.dictionaries(st.text(max_size=3), JSON, max_size=4), st.randoms(use_true_random=False))
def test_the_order_of_keys_makes_no_difference(value: dict[str, Any], random: Any) -> None:
    items = list(value.items())
    random.shuffle(items)
    assert content_id(dict(items)) == content_id(value)


@loop_over(
    ("one", "other"),
    [
        (("ab", "c"), ("a", "bc")),
        (("a",), (["a"],)),
        ((1,), ("1",)),
        ((1,), (1.0,)),
        ((1,), (True,)),
        ((None,), ("null",)),
        ((), (None,)),
        (("é",), ("e\u0301",)),
        (("a", ["b"]), ("a", "b")),
    ],
)
def test_different_content_has_different_ids(one: Any, other: Any) -> None:
    assert content_id(*one) != content_id(*other)


def test_any_text_has_an_id_lone_surrogates_too() -> None:
    assert content_id("\ud800") != content_id("\ud801") != content_id("?")


def test_what_is_not_json_is_a_mistake_and_not_an_address_in_memory() -> None:
    with pytest.raises(TypeError):
        canonical_json(object())
    with pytest.raises(TypeError):
        content_id({"a", "b"})


def test_seeds_do_not_change_between_versions() -> None:
    # Recorded once: another number here would make every earlier run another run.
    assert derive_seed(0, "format", "item-1", "crlf") == int(
        hashlib.sha256(b'["seed",0,"format","item-1","crlf"]').hexdigest()[:8], 16
    ) & (2**31 - 1)


@given(st.integers(), st.lists(JSON, max_size=3))
def test_a_seed_is_one_every_library_accepts(run_seed: int, parts: list[Any]) -> None:
    seed = derive_seed(run_seed, *parts)
    assert 0 <= seed < 2**31
    assert seed == derive_seed(run_seed, *parts)


def test_seeds_are_spread() -> None:
    seeds = [derive_seed(0, "family", f"item-{number}", "variant") for number in range(2000)]
    assert len(set(seeds)) == 2000
    assert 0.47 < sum(seeds) / 2000 / 2**31 < 0.53
    assert derive_seed(1, "a") != derive_seed(0, "a")


def test_a_request_has_one_key_however_its_numbers_are_written_and_every_part_counts() -> None:
    def key(*texts: str, role: str = "user", repeat: int = 0, code: str = "", model: str = "", **fields: Any) -> str:
        use = ModelUse(name="m", component="none", code=code)
        request = ChatRequest(messages=tuple(Message(role=role, content=text) for text in texts), **fields)
        return request_key(use, SimpleNamespace(fingerprint=model), request, repeat)

    warm, as_whole = (key("a", sampling=Sampling(temperature=each)) for each in (1.0, 1))
    assert warm == as_whole
    keys = [
        key("a"),
        warm,
        key("a", repeat=1),
        key("a", repeat=11),
        key("a", "1", repeat=1),
        key("ab"),
        key("a", "b"),
        key("a", "", "b"),
        key("\ud800"),
        key("a", code="c"),
        key("a", model="c"),
        key("a", role="system"),
        key("a", output="text"),
        key("a", top_logprobs=1),
        key("a", json_schema={}),
        key("a", json_schema={"a": 1}),
        key("a", sampling=Sampling(seed=1)),
        key("a", sampling=Sampling(max_tokens=1)),
        key("a", sampling=Sampling(top_p=1.0)),
        key("a", sampling=Sampling(reasoning_effort="low")),
    ]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("length", [0, 1, 2046, 2047, 2048, 4094, 4095, 100_000])
def test_a_text_is_hashed_in_pieces_that_keep_the_interpreter(length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    text, sizes = "ü" * (length // 2) + "x" * (length % 2), []

    class Recorded:
        def __init__(self, data: bytes) -> None:
            self.hashed = data

        def update(self, data: bytes) -> None:
            sizes.append(len(data))
            self.hashed += data

        def hexdigest(self) -> str:
            return hashlib.sha256(self.hashed).hexdigest()

    known = hashlib.sha256(f"[1, {length}]".encode() + b"m" + text.encode()).hexdigest()[:ID_LENGTH]
    assert texts_id([text], "m") == known
    monkeypatch.setattr(hashing, "hashlib", SimpleNamespace(sha256=Recorded))
    assert texts_id([text], "m") == known
    assert max(sizes) < 2048
