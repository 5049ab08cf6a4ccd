"""Planting: sizes, depths, what is cut out, what is refused."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise

import jrh_evidence.plugin
import pytest
from jrh import Changes, Draft, Equals, Item, JrhError, Mode, Same, Scale, Skip, Task
from jrh_evidence.perturber import neutral
from jrh_testing import build, loop_over, sample_task

pytestmark = pytest.mark.inside
FACT = "The valve was {{ left }} open."


def perturber(task=None, **options):
    given = {"text": FACT, **options} if not {"column", "pattern"} & set(options) else options
    return build(jrh_evidence.plugin, "evidence", options=given, task=task or sample_task(Mode.POINTWISE))


def item(text="It was a report. It ended.", **metadata):
    return Item(id="1", fields={"request": "?", "response": text}, metadata=metadata)


async def test_every_depth_has_the_evidence_there_and_every_text_the_length():
    drafts = await perturber(lengths=[1000, 2000], depths=[0.0, 0.5, 1.0]).perturb(item())
    assert [draft.variant for draft in drafts] == [
        f"{kind}" for n in (1000, 2000) for kind in (f"with@{n}/0", f"with@{n}/0.5", f"with@{n}/1", f"without@{n}")
    ]
    for draft in drafts:
        text, length = draft.fields["response"], draft.details["length"]
        assert abs(len(text) - 4 * length) <= 8
        assert "It was a report." in text
        depth = draft.details.get("depth")
        assert (depth is None) == (FACT not in text)
        if depth is not None:
            assert abs(text.index(FACT) / (len(text) - len(FACT)) - depth) < 0.06
            assert draft.expectation == Changes()


async def test_evidence_of_the_item_is_cut_out_and_put_elsewhere():
    (middle, without) = await perturber(pattern=r"The valve[^.]+\.", lengths=[500], depths=[1.0]).perturb(
        item("It ran. The valve was open. It stopped.")
    )
    assert middle.fields["response"].endswith("The valve was open.")
    assert middle.fields["response"].count("valve") == 1
    assert "valve" not in without.fields["response"]
    assert (middle.expectation, without.expectation) == (Same(), Changes())
    assert without.repeats == 2


async def test_labels_that_the_user_states_are_expected():
    drafts = await perturber(column="fact", implies="NO", otherwise="YES", lengths=[500], depths=[0.5]).perturb(
        item(fact="It leaked.")
    )
    assert [draft.expectation for draft in drafts] == [Equals(label="NO"), Equals(label="YES")]


@loop_over(
    ("options", "text", "reason"),
    [
        ({"pattern": "valve"}, "No such thing.", "the text does not contain the evidence"),
        ({"pattern": "valve"}, "A valve. A valve.", "the evidence is found more than once"),
        ({"text": "A valve."}, "A valve. A valve.", "the evidence is found more than once"),
        ({"column": "fact"}, "Fine.", "the item has no text in the evidence column"),
        ({"lengths": [100]}, "x" * 10_000_000, "the text without its evidence is longer than the requested length"),
        ({}, "  ", "the judged field has no text"),
        ({"place": "tool"}, "Fine.", "only a transcript has tool results"),
    ],
)
async def test_an_item_that_does_not_fit_is_skipped_with_a_reason(options, text, reason):
    (skip,) = await perturber(**options).perturb(item(text))
    assert isinstance(skip, Skip)
    assert skip.reason == reason


@loop_over(
    ("options", "words"),
    [
        ({"depths": [1.5]}, "depths"),
        ({"lengths": [0]}, "lengths"),
        ({"lengths": [200_001]}, "lengths"),
        ({"text": " "}, "`text` is empty"),
        ({"pattern": "("}, "not a regular expression"),
        ({"pattern": "a", "column": "b"}, "set exactly one of text, column, pattern and model; got column and pattern"),
        ({"implies": "MAYBE"}, "'MAYBE' is not on the scale"),
        ({"implies": "NO", "otherwise": "NO"}, "both 'NO'"),
        ({"field": "request"}, "`field` 'request' is not a judged field; judged fields: "),
        ({"own": True, "filler": "x"}, "`filler` is empty, or combined with `own`; set one of them"),
    ],
)
def test_bad_options_are_one_message(options, words):
    with pytest.raises(JrhError) as caught:
        perturber(**options)
    assert words in str(caught.value)


async def test_filler_can_be_the_items_own_text_or_the_users():
    own, *_ = await perturber(own=True, lengths=[200]).perturb(item("Own words."))
    given, *_ = await perturber(filler="Given {{ words }}.", lengths=[200]).perturb(item("Own."))
    assert own.fields["response"].count("Own words.") > 50
    assert given.fields["response"].count("Given {{ words }}.") > 30
    assert len(neutral(1234)) == 1234
    assert not any(character.isdigit() for character in neutral(9999))


MESSAGES = [
    {"role": "user", "content": "Go."},
    {"role": "assistant", "content": "One.", "tool_calls": [{"id": "c", "name": "f", "arguments": {}}]},
    {"role": "tool", "content": "Output.", "tool_call_id": "c", "name": "f"},
    {"role": "assistant", "content": "Done."},
]


@pytest.mark.parametrize("place", ["text", "tool"])
async def test_in_a_transcript_the_evidence_is_a_message_and_calls_keep_their_results(place):
    task = Task(name="t", mode=Mode.TRANSCRIPT, scale=Scale.of_levels(1, 40))
    drafts = await perturber(task, place=place, implies="step", lengths=[4000], depths=[0.0, 0.5, 1.0]).perturb(
        Item(id="1", fields={"request": "?", "transcript": MESSAGES})
    )
    *planted, without = drafts
    for draft in planted:
        messages = draft.fields["transcript"]
        held = messages[draft.details["step"] - 1]
        assert held["content"] == FACT
        assert held["role"] == ("tool" if place == "tool" else "assistant")
        assert draft.expectation == Equals(label=str(draft.details["step"]))
        for before, message in pairwise(messages):
            assert message["role"] != "tool" or before.get("tool_calls")
    assert FACT not in str(without.fields)


async def test_a_transcript_of_200_000_tokens_takes_few_copies_in_memory():
    made = perturber(
        Task(name="t", mode=Mode.TRANSCRIPT, scale=Scale.of_labels("YES", "NO")), lengths=[200_000], depths=[0.0, 0.5]
    )
    one = Item(id="1", fields={"request": "?", "transcript": MESSAGES})
    tracemalloc.start()
    drafts = await made.perturb(one)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    size = sum(len(message["content"]) for message in drafts[0].fields["transcript"])
    assert abs(size - 800_000) < 5_000
    assert all(isinstance(draft, Draft) for draft in drafts)
    assert peak < 10_000_000  # the text is 0.8 MB; filler and its pieces are shared by the drafts
