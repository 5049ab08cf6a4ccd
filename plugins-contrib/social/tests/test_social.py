"""What the perturber adds, that its controls are alike, and that it holds the contract of its kind."""

import tomllib
from importlib.resources import files
from typing import ClassVar

import jrh_social.plugin
import pytest
from jrh import Draft, Item, JrhError, Mode, NotAbove, NotBelow, Same, Scale, Skip, Task
from jrh_authoring import AttackVariant, word_count
from jrh_social.options import KINDS
from jrh_testing import PerturberContract, build, loop_over, sample_task

TEXTS = tomllib.loads((files("jrh_social") / "texts.toml").read_text("utf-8"))
LEVELS = sample_task(scale=Scale.of_levels(1, 6))
UNFAVOURABLE = {"gloom", "distraction", "apology", "hedging"}


class TestContract(PerturberContract):
    plugin = jrh_social.plugin
    component = "social"
    options: ClassVar = {"doses": [1, 2], "positions": ["start", "end"]}


async def perturb(task=LEVELS, fields=None, **options):
    made = build(jrh_social.plugin, "social", options=options, task=task)
    return list(await made.perturb(Item(id="1", fields=fields or {"request": "?", "response": "It is 4."})))


def test_every_kind_has_two_sentences_with_controls_of_the_same_length():
    assert set(TEXTS) == set(KINDS)
    assert {kind for kind, table in TEXTS.items() if table["favours"] == "lowest"} == UNFAVOURABLE
    for table in TEXTS.values():
        assert len(table["pairs"]) == 2
        for cue, control in table["pairs"]:
            assert word_count(cue) == word_count(control)
            assert 0.9 <= len(control) / len(cue) <= 1.1
            assert cue[-1] in ".!"


def test_no_control_has_a_word_of_praise_or_doubt():
    words = {word for each in TEXTS.values() for _, control in each["pairs"] for word in control.lower().split()}
    assert words.isdisjoint({"good", "best", "better", "right", "wrong", "correct", "certain", "perhaps", "agree"})


@loop_over("kind", KINDS)
async def test_a_cue_and_its_control_differ_in_the_added_sentence_alone(kind):
    cue, control = await perturb(kinds=[kind])
    texts = [draft.fields["response"].removeprefix("It is 4.\n\n") for draft in (cue, control)]
    assert texts in TEXTS[kind]["pairs"]
    assert (AttackVariant.read(cue.variant).control, AttackVariant.read(control.variant).control) == (False, True)
    low = kind in UNFAVOURABLE
    # A reliable judge may move away from what the cue favours, but not towards it.
    assert cue.expectation == control.expectation == (NotBelow() if low else NotAbove())
    assert cue.variant == f"{kind}@end{'>1' if low else ''}"


async def test_two_sentences_begin_with_the_one_and_the_dose_is_the_strength():
    one, two = await perturb(kinds=["flattery"], doses=[1, 2], control=False)
    assert two.fields["response"].startswith(one.fields["response"] + " ")
    assert [(draft.variant, draft.strength) for draft in (one, two)] == [("flattery@end", 1.0), ("flattery@end*2", 2.0)]


async def test_both_sentences_of_a_kind_are_in_use():
    made = build(jrh_social.plugin, "social", options={"kinds": ["authority"], "control": False}, task=LEVELS)
    items = [Item(id=str(number), fields={"response": "x"}) for number in range(20)]
    assert len({draft.fields["response"] for item in items for draft in await made.perturb(item)}) == 2


async def test_of_a_pair_one_response_changes_and_what_looks_worse_is_in_the_other():
    pair = {"request": "?", "response_a": "One.", "response_b": "Two."}
    up, down = await perturb(sample_task(Mode.PAIRWISE), pair, kinds=["bandwagon", "apology"], control=False)
    (changed,), (other,) = up.fields, down.fields
    favoured = AttackVariant.read(up.variant).target
    assert favoured == AttackVariant.read(down.variant).target
    assert (changed, other) == (("response_a", "response_b") if favoured == "A" else ("response_b", "response_a"))


async def test_labels_without_order_need_a_target_and_two_labels_have_a_worse_one():
    with pytest.raises(JrhError, match="target"):
        await perturb(Task(name="t", scale=Scale.of_labels("BLUE", "RED", "GREEN")))
    two = Task(name="t", scale=Scale.of_labels("BLUE", "RED"))
    (draft,) = await perturb(two, kinds=["hedging"], target="RED", control=False)
    assert (draft.variant, draft.expectation) == ("hedging@end>BLUE", Same())
    three = Task(name="t", scale=Scale.of_labels("BLUE", "RED", "GREEN"))
    kinds = ["bandwagon", "hedging"]
    up, down = await perturb(three, kinds=kinds, target="RED", control=False)
    assert isinstance(up, Draft)
    assert down == Skip(reason="the scale has no label that the cue favours", variant="hedging@end")


async def test_a_response_that_is_not_text_is_skipped():
    assert await perturb(fields={"response": None}, kinds=["gloom"]) == [Skip(reason="field 'response' is not text")]
