"""Templates as cases: shipped, own, of the items; and every way in which they can be wrong."""

from __future__ import annotations

import json

import jrh_prompts.plugin
import pytest
from jrh import Draft, Item, JrhError, Mode, Polarity, Same, Scale, Skip, Task
from jrh_authoring import render
from jrh_prompts.options import SYSTEM, Inventory
from jrh_prompts.templates import load_templates
from jrh_testing import Project, build, loop_over, sample_task

ITEM = Item(id="1", fields={"request": "What is 2 + 2?", "response": "4"})
PAIR = Item(id="1", fields={"request": "q", "response_a": "one", "response_b": "two"})
RATING = Task(name="rating", scale=Scale.of_levels(1, 5))
PAIRWISE = sample_task(Mode.PAIRWISE)


async def drafts(options, item=ITEM, task=None):
    return await build(jrh_prompts.plugin, "templates", options=options, task=task or sample_task()).perturb(item)


def refused(options, task=None):
    with pytest.raises(JrhError) as caught:
        build(jrh_prompts.plugin, "templates", options=options, task=task or sample_task())
    return str(caught.value)


@loop_over(
    ("inventory", "sizes"),
    [("factuality", (6, 1)), ("coherence", (5, 0)), ("relevance", (5, 0)), ("preference", (5, 0))],
)
def test_the_shipped_sets_have_five_templates_and_factuality_one_more_that_is_inverted(inventory, sizes):
    found = load_templates(Inventory(inventory)).templates
    inverted = [template for template in found if template.polarity is Polarity.INVERTED]
    assert (len(found), len(inverted)) == sizes
    assert {template.system for template in found} == {SYSTEM}
    assert all(len(template.user) < 260 for template in found), "templates are minimalist"
    assert not any("step" in template.user.lower() or "json" in template.user.lower() for template in found)


async def test_every_template_is_one_case_with_its_prompt_and_its_meaning():
    found = await drafts({"inventory": "factuality"})
    assert [draft.variant for draft in found] == [
        "fact-plain",
        "fact-true",
        "fact-check",
        "fact-correct",
        "fact-believe",
        "fact-errors",
    ]
    errors = found[-1]
    assert (errors.polarity, dict(errors.label_map)) == (Polarity.INVERTED, {"YES": "NO", "NO": "YES"})
    assert all(draft.expectation == Same() and draft.repeats == 1 and not draft.fields for draft in found)
    text = render(found[0].prompt.user, {**ITEM.fields})
    assert text == "Is the answer factually accurate? Reply YES or NO.\n\nQuestion: What is 2 + 2?\nAnswer: 4"


async def test_the_set_named_like_the_task_is_taken_without_saying_so():
    task = Task(name="coherence", scale=Scale.of_levels(1, 5))
    assert next(iter(await drafts({}, task=task))).variant == "coherence-plain"


async def test_one_set_per_task_leaves_other_tasks_without_templates():
    found = await drafts({"inventory": {"elsewhere": "relevance"}})
    assert found == [Skip(reason="no template for this task")]


async def test_only_some_templates_and_their_repeats_and_temperature():
    found = await drafts(
        {"inventory": "factuality", "only": ["fact-check"], "repeats": 3, "temperature": 0.7, "vary_seed": True}
    )
    (draft,) = found
    assert (draft.variant, draft.repeats, draft.sampling.temperature, draft.vary_seed) == ("fact-check", 3, 0.7, True)


async def test_a_template_in_another_language_presents_its_own_labels():
    options = {
        "templates": {
            "deutsch": {
                "text": "Stimmt das? JA oder NEIN. {{ response }}",
                "labels": {"JA": "YES", "NEIN": "NO"},
                "language": "de",
            }
        }
    }
    (draft,) = await drafts(options)
    assert draft.task.scale.labels == ("JA", "NEIN")
    assert dict(draft.label_map) == {"JA": "YES", "NEIN": "NO"}
    assert (draft.polarity, draft.prompt.language) == (Polarity.POSITIVE, "de")


async def test_an_inverted_template_in_another_language_says_so():
    options = {
        "templates": {
            "deutsch": {
                "text": "Ist das falsch? {{ response }}",
                "labels": {"JA": "NO", "NEIN": "YES"},
                "inverted": True,
            }
        }
    }
    (draft,) = await drafts(options)
    assert draft.polarity is Polarity.INVERTED


async def test_reversed_levels_are_inverted_polarity():
    labels = {"1": "5", "2": "4", "3": "3", "4": "2", "5": "1"}
    (draft,) = await drafts(
        {"templates": {"school": {"text": "Grade 1 (best) to 5: {{ response }}", "labels": labels}}}, task=RATING
    )
    assert (draft.polarity, draft.task) == (Polarity.INVERTED, None)


async def test_layouts_change_nothing_but_the_layout():
    options = {
        "inventory": "relevance",
        "only": ["relevance-plain"],
        "formats": [
            "separator-dash",
            "separator-line",
            "casing-upper",
            "casing-lower",
            "enumeration-parenthesis",
            "enumeration-brackets",
            "instruction-last",
        ],
    }
    found = {draft.variant: draft for draft in await drafts(options, PAIR, PAIRWISE)}
    texts = {name: render(draft.prompt.user, dict(PAIR.fields)) for name, draft in found.items()}
    assert texts["relevance-plain+separator-dash"].endswith("Query - q\nA - one\nB - two")
    assert texts["relevance-plain+separator-line"].endswith("Query:\nq\nA:\none\nB:\ntwo")
    assert texts["relevance-plain+casing-upper"].endswith("QUERY: q\nA: one\nB: two")
    assert texts["relevance-plain+casing-lower"].endswith("query: q\nA: one\nB: two")
    assert texts["relevance-plain+enumeration-parenthesis"].endswith("Query: q\nA) one\nB) two")
    assert texts["relevance-plain+enumeration-brackets"].endswith("[A] one\n[B] two")
    assert texts["relevance-plain+instruction-last"].startswith("Query: q\nA: one\nB: two\n\nWhich passage")
    words = {
        name: sorted("".join(c if c.isalnum() else " " for c in text.lower()).split()) for name, text in texts.items()
    }
    assert len({tuple(each) for each in words.values()}) == 1
    assert found["relevance-plain+casing-upper"].details == {"variant_of": "relevance-plain"}


async def test_a_layout_that_a_template_has_no_place_for_makes_no_case():
    options = {
        "templates": {"bare": {"text": "Right? {{ response }}"}},
        "formats": ["enumeration-brackets", "casing-upper"],
    }
    assert [draft.variant for draft in await drafts(options)] == ["bare"]


async def test_a_template_that_shows_what_the_item_lacks_is_skipped_and_the_others_stay():
    bare = Item(id="1", fields={"response": "4"})
    options = {"templates": {"asks": {"text": "{{ request }} {{ response }}"}, "plain": {"text": "{{ response }}?"}}}
    found = await drafts(options, bare)
    assert isinstance(found[0], Skip)
    assert found[0].reason == "the item lacks a field that the template shows"
    assert isinstance(found[1], Draft)


async def test_an_item_without_prompts_is_skipped_where_items_bring_them():
    assert await drafts({"from_items": True}) == [Skip(reason="the item carries no prompt")]


BRINGS = Item(id="1", fields={"response": "4"}, metadata={"prompts": {"p1": "Right? 4", "p2": "Wrong? 4"}})


async def test_the_polarity_of_a_prompt_that_items_bring_is_declared_by_its_name():
    plain, turned = await drafts({"from_items": True, "inverted": ["p2"]}, BRINGS)
    assert (plain.polarity, plain.label_map) == (Polarity.POSITIVE, None)
    assert (turned.polarity, dict(turned.label_map)) == (Polarity.INVERTED, {"YES": "NO", "NO": "YES"})


async def test_of_the_prompts_that_items_bring_those_named_are_asked_and_items_without_them_say_so():
    options = {"from_items": True, "only": ["p2"]}
    assert [draft.variant for draft in await drafts(options, BRINGS)] == ["p2"]
    other = Item(id="2", fields={"response": "5"}, metadata={"prompts": {"p1": "Right? 5"}})
    assert await drafts(options, other) == [Skip(reason="the item carries none of the prompts that `only` names")]


def test_a_name_that_no_item_carries_is_remarked_by_plan_and_run(project: Project):
    item = {"id": "1", "response": "4", "label": "YES", "prompts": {"p1": "Right? {{ response }}"}}
    project.write("items.jsonl", json.dumps(item) + "\n")
    names = {"from_items": True, "inverted": ["nosuch"]}
    suite = {
        "name": "named",
        "data": {"source": "jsonl", "path": "items.jsonl"},
        "task": {"instruction": "Is it right?", "scale": {"labels": ["YES", "NO"]}},
        "judges": [{"judge": "simulated", "name": "sim"}],
        "tests": [{"templates": names}],
        "reports": ["json"],
    }
    project.write("suite.yaml", json.dumps(suite))
    remark = "templates: inverted: no item carries a prompt 'nosuch'; they carry p1"
    planned = project.run("plan", "suite.yaml")
    assert remark in " ".join(planned.stdout.split()), planned.output
    done = project.run("run", "suite.yaml")
    assert remark in done.stderr, done.output


def test_polarity_by_name_is_for_prompts_of_the_items():
    assert "needs `from_items: true`" in refused({"inventory": "factuality", "inverted": ["fact-plain"]})


def test_a_template_that_does_not_show_the_response_is_refused():
    message = refused({"templates": {"blind": {"text": "Is {{ request }} a good question?"}}})
    assert message == (
        "template 'blind' does not show response, which a pointwise judge must see; insert {{ response }}"
    )


def test_two_templates_with_the_same_text_are_refused():
    message = refused(
        {"templates": {"one": {"text": "Good? {{ response }}"}, "two": {"text": "Good?  {{ response }}\n"}}}
    )
    assert "'one' and 'two' have the same text" in message


def test_an_own_template_with_the_name_of_a_shipped_one_is_refused():
    message = refused({"inventory": "factuality", "templates": {"fact-plain": {"text": "Good? {{ response }}"}}})
    assert "two templates are named 'fact-plain'" in message


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ({"YES": "YES", "NO": "YES"}, "YES and NO both mean 'YES'; map exactly one label to each label"),
        ({"YES": "NO"}, "no label means YES; map exactly one label to each label"),
        ({"YES": "NO", "NO": "MAYBE"}, "'MAYBE' is not on the task's scale YES, NO"),
    ],
)
def test_a_label_map_that_is_no_bijection_is_refused(labels, said):
    message = refused({"templates": {"odd": {"text": "{{ response }}", "labels": labels}}})
    assert message.startswith("template 'odd': labels: ")
    assert said in message


def test_inverted_without_labels_is_refused_with_the_labels_it_would_need():
    message = refused({"templates": {"odd": {"text": "{{ response }}", "inverted": True}}})
    assert "such as {YES: NO, NO: YES}" in message


def test_a_template_that_is_no_jinja_is_refused_by_name():
    assert refused({"templates": {"odd": {"text": "{{ response"}}}).startswith(
        "template 'odd': prompt template, line 1"
    )


def test_a_set_that_asks_for_other_labels_is_refused():
    message = refused({"inventory": "coherence"})
    assert "asks pointwise judges for 1, 2, 3, 4, 5; task 'sample-pointwise' is pointwise with YES, NO" in message


def test_a_task_without_any_template_is_told_what_there_is():
    assert "set `inventory` to one of factuality, coherence, relevance, preference" in refused({})


def test_an_unknown_name_in_only_lists_what_there_is():
    assert "no template 'fact-plane'; available: fact-plain," in refused(
        {"inventory": "factuality", "only": ["fact-plane"]}
    )
