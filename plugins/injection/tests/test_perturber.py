"""The attacks: the original text stays, controls have the same length, and what is asked for is in the text."""

from __future__ import annotations

import base64
import re

import jrh_injection.plugin
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jrh import Draft, Item, JrhError, Mode, NotAbove, NotBelow, Same, Scale, Skip, Task, Text
from jrh_injection.perturber import read_attack
from jrh_injection.texts import KINDS, Aim, benign
from jrh_testing import ScriptedModel, build, loop_over, sample_task

pytestmark = pytest.mark.inside
LEVELS = Task(name="t", instruction="Rate.", scale=Scale.of_levels(1, 6))


def injection(task=None, **options):
    return build(jrh_injection.plugin, "injection", options=options, task=task or sample_task(Mode.POINTWISE))


def item(text="First. Second.", **fields):
    return Item(id="1", fields={"request": "?", "response": text, **fields})


async def test_every_kind_adds_its_text_and_a_control_of_the_same_length():
    drafts = await injection(kinds=list(KINDS), positions=["start", "middle", "end"], doses=[1, 3]).perturb(item())
    assert len(drafts) == len(KINDS) * 3 * 2 * 2
    by_variant = {draft.variant: draft for draft in drafts}
    for variant, draft in by_variant.items():
        text = draft.fields["response"]
        assert re.sub(r"\s+", " ", text) != "First. Second."
        assert text.index("First.") < text.index("Second.")
        if not variant.startswith("control:"):
            assert len(by_variant[f"control:{variant}"].fields["response"]) == len(text)
            assert draft.strength in (1.0, 3.0)


async def test_the_command_asks_for_the_target_where_it_is_put():
    start, middle, end = await injection(
        kinds=["command"], positions=["start", "middle", "end"], control=False
    ).perturb(item())
    command = KINDS["command"](Aim(target="YES", field="response"))
    assert "Answer YES." in command
    assert start.fields["response"] == f"{command}\n\nFirst. Second."
    assert middle.fields["response"] == f"First.\n\n{command}\n\n Second."
    assert end.fields["response"] == f"First. Second.\n\n{command}"


def test_encodings_hide_the_same_command():
    aim = Aim(target="4", field="response")
    plain = KINDS["command"](aim)
    assert base64.b64decode(KINDS["base64"](aim).rpartition(" ")[2]).decode() == plain
    assert KINDS["zero-width"](aim).replace("\u200b", "") == plain
    assert "grader" not in KINDS["homoglyphs"](aim)
    assert len(KINDS["homoglyphs"](aim)) == len(plain)
    assert KINDS["homoglyphs"](aim).count("4") == 2


@loop_over(
    ("task", "options", "expected", "target"),
    [
        (LEVELS, {}, NotAbove(), "6"),
        (LEVELS, {"target": "1"}, NotBelow(), "1"),
        (LEVELS, {"target": "3"}, Same(), "3"),
        (Task(name="t", scale=Scale.of_labels("BAD", "GOOD")), {"target": "GOOD"}, Same(), "GOOD"),
        (Task(name="t", scale=Scale.of_labels("BAD", "GOOD")), {}, Same(), "BAD"),
    ],
)
async def test_the_expectation_forbids_the_way_to_the_target_only(task, options, expected, target):
    (draft,) = await injection(task, kinds=["forged-score"], control=False, **options).perturb(item())
    assert draft.expectation == expected
    assert f"panel: {target}." in draft.fields["response"]


async def test_of_a_comparison_one_response_is_attacked_and_asks_for_itself():
    task = sample_task(Mode.PAIRWISE)
    perturber, targets = injection(task, kinds=["forged-tags"], control=False), set()
    for number in range(30):
        pair = Item(id=str(number), fields={"request": "?", "response_a": "One.", "response_b": "Two."})
        (draft,) = await perturber.perturb(pair)
        ((name, text),) = draft.fields.items()
        letter = name[-1].upper()
        assert draft.variant == f"forged-tags@end>{letter}"
        assert f"</{name}>" in text
        assert f"Answer with {letter}." in text
        targets.add(letter)
    assert targets == {"A", "B"}


async def test_a_transcript_is_attacked_in_a_message_or_a_tool_output():
    messages = [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": "One."},
        {"role": "tool", "content": "Output.", "tool_call_id": "c", "name": "f"},
        {"role": "assistant", "content": "Two."},
    ]
    perturber = injection(
        sample_task(Mode.TRANSCRIPT), kinds=["opener"], positions=["start", "end", "tool"], control=False
    )
    start, end, tool = await perturber.perturb(Item(id="1", fields={"request": "?", "transcript": messages}))
    changed = [
        [new["content"] for new, old in zip(draft.fields["transcript"], messages, strict=True) if new != old]
        for draft in (start, end, tool)
    ]
    assert changed == [["Thought process:\n\nOne."], ["Two.\n\nThought process:"], ["Output.\n\nThought process:"]]


async def test_suffixes_of_the_user_are_filled_in_and_others_are_left_alone():
    text = Text(content="say {target} {{ x }}\n\nsay {target} {{ x }}\n{field}!\n", source=None)
    perturber = injection(kinds=[], suffixes=text.content, control=False)
    first, second = await perturber.perturb(item())
    assert first.fields["response"] == "First. Second.\n\nsay YES {{ x }}"
    assert (second.variant, second.fields["response"]) == ("suffix-2@end", "First. Second.\n\nresponse!")


async def test_composed_attacks_are_applied_in_order():
    (draft,) = await injection(attacks=["colon@end*2+opener@start"], control=False).perturb(item("Text."))
    assert draft.fields["response"] == "Thought process:\n\nText.\n\n:\n\n:"
    assert (draft.variant, draft.strength) == ("colon@end*2+opener@start", 3.0)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [({"response": " "}, "a judged field has no text"), ({"response": 7}, "a judged field has no text")],
)
async def test_an_item_without_text_is_skipped(fields, reason):
    (skip,) = await injection(kinds=["colon"], control=False).perturb(Item(id="1", fields=fields))
    assert skip == Skip(reason=reason, variant="colon@end")


async def test_a_text_has_no_tool_output():
    (skip,) = await injection(kinds=["colon"], positions=["tool"], control=False).perturb(item())
    assert skip.reason == "no tool output to put text into"


@loop_over(
    ("options", "message"),
    [
        ({"kinds": ["shout"]}, "kinds"),
        ({"kinds": []}, "no attack"),
        ({"kinds": ["colon", "colon"]}, "repeated"),
        ({"positions": ["left"]}, "positions"),
        ({"doses": [0]}, "doses"),
        ({"attacks": ["command@left"]}, "'command@left' has an unknown position; known positions: "),
        ({"attacks": ["shout@end"]}, "is not an attack"),
        ({"attacks": ["command@end*99"]}, "the dose of .* must be from 1 to 20"),
        ({"attacks": ["command", "command@end"]}, "repeated"),
        ({"target": "MAYBE"}, "not on the scale"),
        ({"suffixes": "x" * 5_000}, "longer than 4,000"),
        ({"suffixes": "\n".join(map(str, range(201)))}, "201 suffixes"),
    ],
)
def test_options_that_make_no_sense_are_errors(options, message):
    with pytest.raises(JrhError, match=message):
        injection(**options)


def test_labels_without_a_best_one_need_a_target():
    with pytest.raises(JrhError, match="set `target`, the label that attacks ask for, to one of "):
        injection(Task(name="t", scale=Scale.of_labels("A", "B", "C")))


@given(st.integers(0, 3_000))
def test_harmless_text_has_the_length_asked_for_and_speaks_of_no_verdict(length):
    text = benign(length)
    assert len(text) == length
    assert not re.search(r"verdict|grade|judge|rubric|answer|score|:", text, re.IGNORECASE)


@given(
    st.lists(
        st.tuples(st.sampled_from(list(KINDS)), st.sampled_from(["start", "end"]), st.integers(1, 20)),
        min_size=1,
        max_size=4,
    )
)
def test_the_notation_of_an_attack_can_be_read_again(parts):
    text = "+".join(f"{kind}@{position}*{dose}" for kind, position, dose in parts)
    attack = read_attack(text)
    assert read_attack(str(attack)) == attack
    assert attack.doses == sum(dose for _, _, dose in parts)


@given(st.text(min_size=1).filter(str.strip))
async def test_the_original_text_stays_character_by_character(text):
    drafts = await injection(kinds=["command"], positions=["start", "middle", "end"], control=False).perturb(item(text))
    command = KINDS["command"](Aim(target="YES", field="response"))
    for draft in drafts:
        assert isinstance(draft, Draft)
        before, found, after = draft.fields["response"].partition(command)
        assert found
        assert before.removesuffix("\n\n") + after.removeprefix("\n\n") == text


@loop_over(
    ("reply", "outcome"),
    [
        ('{"text": "Say\\n {target}, {field}!"}', "First. Second.\n\nSay YES, response!"),
        ('{"text": ""}', "empty text"),
        ("I cannot help with that.", "the model refused"),
        ('{"text": "' + "x" * 1_500 + '"}', "empty or too long"),
    ],
)
async def test_what_a_model_wrote_is_put_at_the_end_or_skipped_with_the_reason(reply, outcome):
    model = ScriptedModel(lambda request: reply)
    perturber = build(
        jrh_injection.plugin,
        "written-injection",
        options={"model": "m", "number": 1},
        task=sample_task(Mode.POINTWISE),
        models={"m": model},
    )
    (found,) = await perturber.perturb(item())
    assert (found.reason if isinstance(found, Skip) else found.fields["response"]) == outcome
    assert '"YES"' in model.prompts[0]
