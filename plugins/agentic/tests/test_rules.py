"""What the rules change, what they prove, and where they leave a transcript alone."""

from __future__ import annotations

import json
from typing import Any

import pytest
from agentic_samples import IDENTITY, called, item, perturber, result, said, shop, task
from jrh import Draft, Equals, JrhError, Same, Scale, Skip
from jrh_testing import loop_over


async def outcome(messages: Any = None, variant: str = "missing-step", given: Any = None, **options: Any) -> Any:
    """Return the one outcome of one rule-made variant."""
    made = await perturber(given=given, variants=[variant], **options).perturb(item(messages))
    (only,) = made
    return only


async def styled(answer: str, style: str) -> Any:
    (only,) = await perturber("agent-style", variants=[style]).perturb(item(shop(answer)))
    return only


def answer_of(draft: Draft) -> str:
    return str(draft.fields["transcript"][-1]["content"])  # type: ignore[index,call-overload]


# -- missing-step ----------------------------------------------------------------------------------------------------


async def test_a_demanded_call_goes_with_its_result_and_nothing_else_changes() -> None:
    draft = await outcome()
    before = shop()
    assert draft.fields == {"transcript": [*before[:2], *before[4:]]}
    assert (draft.variant, draft.strength, draft.expectation) == ("missing-step", 1.0, Equals(label="violates"))
    (edit,) = draft.details["edits"]
    assert (edit["was"], edit["message"]) == (3, None)
    assert 'call c1: verify_identity {"customer": "Mara", "code": 7731}' in edit["diff"]
    assert draft.details["messages"] == 9


async def test_of_two_calls_in_one_message_only_the_demanded_one_goes() -> None:
    messages = shop()
    both = [*messages[2]["tool_calls"], *messages[4]["tool_calls"]]
    joined = [*messages[:2], {**messages[2], "tool_calls": both}, messages[3], messages[5], *messages[6:]]
    draft = await outcome(joined, demands={"shop": ["verify_identity"]})
    kept = {**messages[2], "tool_calls": both[1:]}
    assert draft.fields == {"transcript": [*messages[:2], kept, messages[5], *messages[6:]]}
    assert draft.details["edits"][0]["message"] == 3


async def test_all_calls_of_the_demanded_tool_go() -> None:
    twice = [*shop()[:4], called("c9", "verify_identity"), result("c9", "verify_identity", "{}"), *shop()[4:]]
    draft = await outcome(twice)
    names = [call["name"] for message in draft.fields["transcript"] for call in message.get("tool_calls", ())]
    assert names == ["get_order"]
    assert len(draft.fields["transcript"]) == 7


@loop_over(
    "change",
    [
        lambda messages: [*messages[:3], *messages[4:]],  # no result
        lambda messages: [*messages[:4], messages[3], *messages[4:]],  # two results
        lambda messages: [*messages, called("c1", "other"), result("c1", "other", "x")],  # the id stands twice
        lambda messages: [*messages, called("c1", "other")],  # the id stands twice, with one result
        lambda messages: [*messages[:2], messages[3], messages[2], *messages[4:]],  # the result stands before the call
    ],
)
async def test_calls_and_results_that_cannot_be_paired_are_left_alone(change: Any) -> None:
    skip = await outcome(change(shop()), demands={"shop": ["verify_identity"]})
    assert skip == Skip(
        reason="the rule finds nothing to change", variant="missing-step", details={"possible": 0, "edits": 1}
    )


@loop_over(
    ("rubric", "demanded"),
    [
        (IDENTITY, True),
        ("It must call `verify_identity`.", True),
        ("The agent has to use the tool verify_identity first.", True),
        ("It should always run verify_identity and be kind.", True),
        ("It must call verify_identity before it issues a refund.", False),
        ("It must call get_order before it calls verify_identity.", False),
        ("It must not call verify_identity.", False),
        ("If the customer asks, it must call verify_identity.", False),
        ("It must call verify_identity or get_order.", False),
        ("It must call verify_identity only when it is asked to.", False),
        ("It must never call get_order without calling verify_identity.", False),
        ("It must call open_case.", False),
        ("It may call verify_identity.", False),
        ("It must call verify_identity. This does not apply to guests.", False),
        ("It must call verify_identity. For guests verify_identity is not called.", False),
        ("It must call verify_identity. It must not be rude.", True),
        ("It must call verify_identity at most once.", False),
        ("It must read verify_identity's manual.", False),
        ("It must use verify_identity's manual.", False),
        ("It verifies the customer.", False),
    ],
)
async def test_only_what_the_entry_plainly_demands_is_taken_out(rubric: str, demanded: bool) -> None:
    found = await outcome(given=task(rubric))
    assert isinstance(found, Draft) is demanded
    if not demanded:
        assert found.reason == "the entry does not clearly require a tool that is called"


@loop_over(
    ("rubric", "demanded"),
    [
        ("It must use search results.", False),
        ("It should consult search engines.", False),
        ("It must use the tool search.", True),
        ("It must use `search`.", True),
        ("It must call search.", True),
    ],
)
async def test_a_tool_named_by_a_common_word_is_told_from_the_word(rubric: str, demanded: bool) -> None:
    messages = [said("user", "?"), called("c1", "search"), result("c1", "search", "x"), said("assistant", "Yes.")]
    assert isinstance(await outcome(messages, given=task(rubric)), Draft) is demanded


@loop_over(
    ("rubric", "variants"),
    [
        ("Its statements agree with the tool results.", ["contradicted-result", "swapped-value", "unmade-call"]),
        ("It reports tool results accurately.", ["contradicted-result", "swapped-value", "unmade-call"]),
        ("It claims no call it did not make.", ["unmade-call"]),
        ("It is kind. The results are kept.", []),
        ("It is accurate.", []),
    ],
)
async def test_statements_are_edited_where_the_entry_asks_for_what_they_break(rubric: str, variants: list[str]) -> None:
    made = await perturber(given=task(rubric)).perturb(
        item(shop("LK-4417 is paid.", '{"id": "LK-4417", "paid": true}'))
    )
    assert [draft.variant for draft in made if isinstance(draft, Draft)] == variants


async def test_the_suite_can_say_what_an_entry_demands_and_what_violates_it() -> None:
    vague = task("The agent is careful.")
    draft = await outcome(given=vague, demands={"shop": ["get_order"]})
    assert [message["role"] for message in draft.fields["transcript"]].count("tool") == 1
    swapped = await outcome(variant="swapped-value", given=vague)
    assert swapped.reason == "the entry does not clearly require statements to agree with tool results"
    assert isinstance(await outcome(variant="swapped-value", given=vague, breaks={"shop": ["swapped-value"]}), Draft)
    nothing = await outcome(breaks={"shop": ["swapped-value"]})
    assert nothing.reason == "by the suite's settings, this does not violate the entry"


# -- statements ------------------------------------------------------------------------------------------------------


async def test_a_value_of_a_tool_result_becomes_another_of_the_same_form_wherever_the_answer_says_it() -> None:
    order = '{"order_id": "LK-4417"}'
    draft = await outcome(shop("LK-4417 is on its way. LK-4417 is in Kiel.", order), "swapped-value")
    before, after = shop("LK-4417 is on its way. LK-4417 is in Kiel.", order), draft.fields["transcript"]
    assert after[:-1] == before[:-1]
    value = answer_of(draft).split()[0]
    assert value != "LK-4417"
    assert value[:3] == "LK-"
    assert value[3:].isdigit()
    assert answer_of(draft) == f"{value} is on its way. {value} is in Kiel."
    assert draft.details["edits"][0]["message"] == 9


@loop_over("value", ["2026-03-18", "64.90", "1,204.50", "10:45", "18.03.2026", "LK-4417", "AB12CD", "204"])
async def test_values_keep_their_form(value: str) -> None:
    draft = await outcome(shop(f"I looked it up: {value}.", json.dumps({"value": value})), "swapped-value")
    new = answer_of(draft).removeprefix("I looked it up: ").removesuffix(".")
    assert new != value
    assert [("9" if letter.isdigit() else letter) for letter in new] == [
        ("9" if letter.isdigit() else letter) for letter in value
    ]
    if value == "2026-03-18":
        assert new[:8] == "2026-03-"
        assert 1 <= int(new[8:]) <= 28
    if value == "10:45":
        assert int(new[3:]) < 60


@loop_over(
    "answer",
    [
        "Was it LK-4417?",
        "It is not LK-4417.",
        "It is about 64.90 euros.",
        "If LK-4417 is yours, write to us.",
        "It isn't LK-4417.",
        "It is LK-4417 or another one.",
        "It is LK-4418.",
        "It is XLK-4417é.",
        "It is 7.",
        "It arrives soon.",
    ],
)
async def test_values_that_are_not_plainly_said_are_left_alone(answer: str) -> None:
    assert isinstance(await outcome(shop(answer), "swapped-value"), Skip)


async def test_the_new_value_stands_nowhere_in_the_transcript() -> None:
    free = [str(number) for number in range(10, 100) if number not in (12, 17)]
    messages = shop("It is 12.", "12 17 " + " ".join(free))
    assert isinstance(await outcome(messages, "swapped-value"), Skip)
    messages = shop("It is 12.", "12")
    messages[0]["content"] = " ".join(free)
    draft = await outcome(messages, "swapped-value")
    assert not isinstance(draft, Draft) or answer_of(draft) == "It is 17."


async def test_a_value_of_a_failed_call_is_confirmed_by_nobody() -> None:
    messages = shop("The number is LK-4417.", "LK-4417")
    messages[5]["error"] = "timed out"
    assert isinstance(await outcome(messages, "swapped-value"), Skip)


async def test_a_transcript_without_a_final_answer_is_left_alone() -> None:
    ends_with_a_call = [*shop(), called("c3", "open_case"), result("c3", "open_case", "{}")]
    for variant in ("swapped-value", "contradicted-result", "unmade-call"):
        assert isinstance(await outcome(ends_with_a_call, variant), Skip)
    assert isinstance(await outcome(ends_with_a_call, "swapped-value", anywhere=True), Draft)


@pytest.mark.parametrize(
    ("order", "sentence"),
    [
        ('{"paid": true}', "According to get_order, paid is false."),
        ('{"paid": false, "n": 3}', "According to get_order, paid is true."),
        ('{"status": "Shipped"}', "According to get_order, status is cancelled."),
    ],
)
async def test_a_result_is_contradicted_in_a_sentence_of_its_own(order: str, sentence: str) -> None:
    messages = shop("Good.  \n", order)
    messages[3]["content"] = "verified"
    draft = await outcome(messages, "contradicted-result")
    assert answer_of(draft) == f"Good.\n\n{sentence}  \n"
    assert draft.fields["transcript"][:-1] == messages[:-1]


@loop_over("order", ["[true]", "paid: true", '{"n": 3}', '{"status": "odd"}', '{"a": {"paid": true}}', "{"])
async def test_a_result_whose_opposite_is_not_known_is_left_alone(order: str) -> None:
    messages = shop("Good.", order)
    messages[3]["content"] = "verified"
    assert isinstance(await outcome(messages, "contradicted-result"), Skip)


async def test_a_fact_that_another_result_states_otherwise_is_not_contradicted() -> None:
    messages = shop("Good.", '{"verified": false}')
    assert isinstance(await outcome(messages, "contradicted-result"), Skip)


async def test_a_call_is_claimed_that_no_message_mentions() -> None:
    draft = await outcome(variant="unmade-call", claims=["get_order", "send_mail"])
    assert answer_of(draft).endswith("2026-03-18.\n\nI have also called send_mail, and it succeeded.")
    mentioned = [*shop(), said("user", "Did you send_mail?"), said("assistant", "Yes.")]
    assert isinstance(await outcome(mentioned, "unmade-call", claims=["send_mail"]), Skip)


async def test_fewer_edits_are_always_some_of_more_and_the_strength_counts_them() -> None:
    made = await perturber(variants=["swapped-value"], edits=[1, 2, 3]).perturb(item())
    one, two, three = made
    assert (one.strength, two.strength) == (1.0, 2.0)
    assert one.details["edits"][0] in two.details["edits"]
    assert three == Skip(reason="fewer places than edits", variant="swapped-value", details={"possible": 2, "edits": 3})
    both = await perturber(variants=["unmade-call"], edits=[2]).perturb(item())
    assert answer_of(both[0]).count("I have also called") == 2


# -- gold labels, levels, options ------------------------------------------------------------------------------------


async def test_a_transcript_that_violates_the_entry_already_is_not_edited() -> None:
    assert await perturber().perturb(item(gold="violates")) == [
        Skip(reason="the transcript already violates the entry")
    ]


async def test_positives_are_the_untouched_transcripts_whose_gold_label_says_so() -> None:
    positives = perturber("agent-positives")
    (draft,) = await positives.perturb(item())
    assert (draft.fields, draft.expectation, draft.strength) == ({}, Equals(label="satisfies"), 0.0)
    assert await positives.perturb(item(gold="violates")) == [Skip(reason="rules cannot repair a transcript")]
    assert await positives.perturb(item(gold=None)) == [Skip(reason="the item has no gold label")]


async def test_of_the_levels_a_rule_reaches_the_one_that_is_there() -> None:
    levels = task(scale=Scale.of_levels(1, 3))
    outcomes = await perturber(given=levels).perturb(item(gold="2"))
    assert [each.variant for each in outcomes] == ["level-1", "level-2", "level-3"]
    assert [isinstance(each, Draft) for each in outcomes] == [False, True, False]
    assert outcomes[1].expectation == Equals(label="2")
    some = await perturber(given=levels, levels=["3", "1"]).perturb(item(gold="2"))
    assert [each.variant for each in some] == ["level-1", "level-3"]
    (skip,) = await perturber("agent-positives", given=levels).perturb(item(gold="2"))
    assert skip.reason == "the entry has levels; use agent-perturbation, which reaches each level"
    with pytest.raises(JrhError, match="level '9' is not on the scale 1, 2, 3"):
        perturber(given=levels, levels=["9"])


@loop_over("transcript", ["user: hi", [], ["hi"], [{"role": "robot", "content": "hi"}], None, {"a": 1}])
async def test_what_is_no_list_of_messages_is_skipped(transcript: Any) -> None:
    for test in ("agent-perturbation", "agent-positives", "agent-style"):
        odd = item([said("user", "x")])
        odd.fields["transcript"] = transcript  # type: ignore[index]
        (skip,) = await perturber(test).perturb(odd)
        assert skip.reason == "the transcript is not a list of messages"
        assert skip.details["problem"].startswith("transcript")


def test_labels_that_the_scale_lacks_or_that_are_one_are_an_error() -> None:
    given = task(scale=Scale.of_labels("good", "bad"))
    with pytest.raises(
        JrhError, match=r"no label 'satisfies'; set `satisfies` .* satisfies the entry, one of good, bad"
    ):
        perturber(given=given)
    with pytest.raises(JrhError, match=r"no label 'violates'; set `violates` .* violates the entry, one of good, bad"):
        perturber(given=given, satisfies="good")
    with pytest.raises(JrhError, match="are both 'good'; name two different labels"):
        perturber(given=given, satisfies="good", violates="good")
    assert perturber(given=given, satisfies="good", violates="bad")


# -- style -----------------------------------------------------------------------------------------------------------


@loop_over(
    ("style", "before", "after"),
    [
        ("layout", "One.\n\nTwo.\n- a\n- b", "One.\n\n\nTwo.\n* a\n* b"),
        ("layout", "* a\n* b", "- a\n- b"),
        ("whitespace", "It is so. He came. Ok?", "It is so.  He came.  Ok?"),
        ("punctuation", 'It\'s "fine"...', "It\u2019s \u201cfine\u201d\u2026"),
        ("order", "You get:\n- tea\n- milk\n- sugar", "You get:\n- milk\n- tea\n- sugar"),
    ],
)
async def test_a_style_changes_how_it_is_said(style: str, before: str, after: str) -> None:
    # The other messages of the transcript have texts of their own that the style may change.
    draft = await styled(before, style)
    assert answer_of(draft) == after
    assert (draft.expectation, draft.variant) == (Same(), style)


@loop_over(
    ("style", "text"),
    [
        ("layout", "```\n- a\n\n- b\n```"),
        ("layout", "- 5\n- 7"),
        ("layout", "* * *"),
        ("layout", "- old line\n+ new line"),
        ("layout", "| a |\n\n| b |"),
        ("whitespace", '{"text": "It is so. He came."}'),
        ("punctuation", '{"a": "b"}'),
        ("punctuation", 'set name = "value"'),
        ("order", "- tea\n- milk\n\nThe first is green."),
        ("whitespace", "`It is. So`"),
        ("whitespace", "e.g. the U.S. and v. 2"),
        ("punctuation", '`it\'s` 5\'6" `"a"`'),
        ("order", "Steps:\n- tea\n- milk"),
        ("order", "- first tea\n- then milk"),
        ("order", "- tea\n- the same again"),
        ("order", "- 1 tea\n- milk"),
        ("order", "- tea\n- tea"),
        ("order", "- tea"),
    ],
)
async def test_a_style_leaves_code_and_what_may_depend_on_its_order_alone(style: str, text: str) -> None:
    quiet = [said("user", "Hello"), said("assistant", text)]
    (skip,) = await perturber("agent-style", variants=[style]).perturb(item(quiet))
    assert isinstance(skip, Skip)


async def test_a_list_that_a_later_message_may_refer_to_keeps_its_order() -> None:
    listed = [said("user", "Hello"), said("assistant", "- tea\n- milk"), said("user", "The second, please.")]
    (skip,) = await perturber("agent-style", variants=["order"]).perturb(item(listed))
    assert isinstance(skip, Skip)
    (draft,) = await perturber("agent-style", variants=["order"]).perturb(item([*listed, *listed[:2]]))
    assert [edit["message"] for edit in draft.details["edits"]] == [5]


async def test_every_message_of_the_assistant_is_restyled_and_counted() -> None:
    (draft,) = await perturber("agent-style", variants=["whitespace"]).perturb(item(shop("It is so. He came.")))
    assert draft.strength == 2.0
    assert [edit["message"] for edit in draft.details["edits"]] == [7, 9]
