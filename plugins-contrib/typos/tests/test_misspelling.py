"""What the perturber does to words, and that it holds the contract of its kind."""

import re
from typing import ClassVar

import jrh_typos.plugin
import pytest
from jrh import Draft, Item, JrhError, Mode, Same, Skip
from jrh_testing import PerturberContract, build, sample_task
from jrh_typos.options import Slip

TEXT = (
    "Their modern bridge is 120 metres long, and `width()` says it's not wide. Which course they made through the "
    'city is at https://example.org/bridge; "the famous words" are quoted. It\'s great to hear more of your weather.'
)
KEPT = ("120", "`width()`", "not", "https://example.org/bridge", '"the famous words"')


class TestContract(PerturberContract):
    plugin = jrh_typos.plugin
    component = "misspelling"
    options: ClassVar = {"strengths": [0.1, 0.5]}


class TestRequestContract(PerturberContract):
    plugin = jrh_typos.plugin
    component = "misspelling"
    options: ClassVar = {"where": "request", "variants": ["keyboard"]}
    also_changes = ("request",)


async def perturb(response=TEXT, request="What is known of the bridge?", **options):
    made = build(jrh_typos.plugin, "misspelling", options=options)
    return list(await made.perturb(Item(id="1", fields={"request": request, "response": response})))


def changes(draft, field="response", text=TEXT):
    """Return the pairs of words that differ; every other character has to be the same."""
    before, after = (re.split(r"([\w']+)", each) for each in (text, draft.fields[field]))
    assert before[::2] == after[::2]
    return [pair for pair in zip(before[1::2], after[1::2], strict=True) if pair[0] != pair[1]]


async def test_each_way_changes_words_and_nothing_else_and_the_label_stays():
    drafts = await perturb(strengths=[1.0])
    assert [draft.variant for draft in drafts] == [slip.value for slip in Slip]
    for draft in drafts:
        assert changes(draft)
        assert draft.expectation == Same()
        assert all(kept in draft.fields["response"] for kept in KEPT)


@pytest.mark.parametrize(
    ("way", "shape"),
    [
        ("keyboard", lambda old, new: len(old) == len(new) and sum(a != b for a, b in zip(old, new, strict=True)) == 1),
        ("ocr", lambda old, new: abs(len(old) - len(new)) <= 1 and old[0] == new[0]),
        ("case", lambda old, new: new == old.swapcase()),
        ("homophones", lambda old, new: {old.lower(), new.lower()} in [{"their", "there"}, {"it's", "its"}]),
        ("look-alikes", lambda old, new: len(old) == len(new) and not new.isascii()),
    ],
)
async def test_a_word_is_misspelt_in_the_way_that_is_asked_for(way, shape):
    (draft,) = await perturb(response="Their modern bridge says it's wide.", variants=[way], strengths=[1.0])
    pairs = changes(draft, text="Their modern bridge says it's wide.")
    assert len(pairs) >= 2
    assert all(shape(*pair) for pair in pairs)


async def test_the_rate_is_the_share_of_the_words_and_a_higher_one_keeps_those_of_a_lower_one():
    low, high = await perturb(variants=["look-alikes"], strengths=[0.25, 1.0])
    assert len(changes(low)) == int(0.25 * len(changes(high)) + 0.5)
    assert set(changes(low)) < set(changes(high))


async def test_rates_that_misspell_the_same_words_are_one_case():
    first, second = await perturb(response="The bridge.", variants=["case"], strengths=[0.1, 0.2])
    assert isinstance(first, Draft)
    assert second == Skip(reason="too few words: this rate equals another", variant="case")


async def test_the_request_is_misspelt_and_the_response_stays():
    (draft,) = await perturb(variants=["keyboard"], where="request", strengths=[1.0])
    assert list(draft.fields) == ["request"]
    assert changes(draft, "request", "What is known of the bridge?")


async def test_no_word_becomes_another_word_of_the_text():
    # The only key next to `l` in its row is `k`.
    (skip,) = await perturb(response="calk cakk cack calc", variants=["case"], where="request", request="1 2 3")
    assert skip == Skip(reason="no word that can be misspelt in this way", variant="case")
    for seed in range(20):
        made = build(jrh_typos.plugin, "misspelling", options={"variants": ["keyboard"], "strengths": [1.0]}, seed=seed)
        (draft,) = await made.perturb(Item(id="1", fields={"response": "band bans bars bard"}))
        assert all(new not in {"band", "bans", "bars", "bard"} for _, new in changes(draft, text="band bans bars bard"))


async def test_of_a_pair_both_responses_change_or_none():
    made = build(jrh_typos.plugin, "misspelling", task=sample_task(Mode.PAIRWISE), options={"variants": ["case"]})
    fields = {"response_a": "The bridge.", "response_b": "42"}
    assert [type(each) for each in await made.perturb(Item(id="1", fields=fields))] == [Skip]


async def test_a_rate_of_nothing_is_an_error():
    with pytest.raises(JrhError, match="strengths"):
        await perturb(strengths=[0.0])
