"""The simulated chat model: stable, even, and plainly made up."""

from __future__ import annotations

from collections import Counter

import pytest
from jrh import ChatRequest, Message, Sampling
from jrh_simulated.model import GARBAGE, MadeUpModel
from jrh_simulated.options import ModelOptions, ReplyMode

N = 5_000


def request(text: str, seed: int | None = None) -> ChatRequest:
    return ChatRequest(messages=(Message(role="user", content=text),), sampling=Sampling(seed=seed))


async def replies(model: MadeUpModel, n: int = N) -> list[str | None]:
    return [(await model.complete(request(f"prompt {number}"))).text for number in range(n)]


async def test_labels_are_stable_and_equally_likely(near):
    model = MadeUpModel(ModelOptions(labels=("A", "B", "C")), seed=1)
    first = await replies(model)
    counts = Counter(first)
    assert sorted(counts) == ["A", "B", "C"]
    assert all(near(count, N, 1 / 3) for count in counts.values())
    assert first == await replies(MadeUpModel(ModelOptions(labels=("A", "B", "C")), seed=1))
    assert first != await replies(MadeUpModel(ModelOptions(labels=("A", "B", "C")), seed=2))


async def test_a_sampling_seed_draws_anew():
    model = MadeUpModel(ModelOptions(), seed=1)
    texts = {(await model.complete(request("same", seed))).text for seed in range(20)}
    assert texts == {"YES", "NO"}


async def test_echo_returns_the_last_message_word_for_word():
    model = MadeUpModel(ModelOptions(mode=ReplyMode.ECHO), seed=1)
    messages = (Message(role="system", content="s"), Message(role="user", content=" two\nlines\ud800 "))
    assert (await model.complete(ChatRequest(messages=messages))).text == " two\nlines\ud800 "


async def test_script_is_chosen_by_the_prompt_and_not_by_the_order_of_calls():
    model = MadeUpModel(ModelOptions(mode=ReplyMode.SCRIPT, script=("one", "two")), seed=1)
    forwards = [(await model.complete(request(str(number)))).text for number in range(20)]
    backwards = [(await model.complete(request(str(number)))).text for number in reversed(range(20))]
    assert forwards == backwards[::-1]
    assert set(forwards) == {"one", "two"}


async def test_refusals_and_garbage_come_at_their_rates(near):
    model = MadeUpModel(ModelOptions(refusals=0.2, garbage=0.1), seed=1)
    counts = Counter(await replies(model))
    assert near(counts[None], N, 0.2)
    assert near(counts[GARBAGE], N, 0.1)
    refusing = await MadeUpModel(ModelOptions(refusals=1.0), seed=1).complete(request("x"))
    assert (refusing.text, refusing.refusal) == (None, "[simulated] refused")


def test_models_of_other_replies_have_other_fingerprints_and_slower_ones_the_same():
    plain = MadeUpModel(ModelOptions(), seed=1)
    assert plain.fingerprint.startswith("simulated/label/")
    assert plain.fingerprint == MadeUpModel(ModelOptions(latency=1.0), seed=1).fingerprint
    others = [
        MadeUpModel(ModelOptions(labels=("A", "B")), seed=1),
        MadeUpModel(ModelOptions(garbage=0.1), seed=1),
        MadeUpModel(ModelOptions(), seed=2),
    ]
    assert plain.fingerprint not in [other.fingerprint for other in others]


def test_a_simulated_model_is_known_to_be_free():
    rates = MadeUpModel(ModelOptions(), seed=1).rates
    assert (rates.input, rates.output) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"labels": ()}, "needs at least one of 'labels'"),
        ({"mode": ReplyMode.SCRIPT}, "needs at least one text in 'script'"),
        ({"refusals": 0.7, "garbage": 0.7}, "sum to 1.4"),
    ],
)
def test_a_model_with_nothing_to_say_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        ModelOptions(**options)
