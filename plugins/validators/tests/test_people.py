"""Labels of people: what is read, and what is refused with its line."""

import pytest
from jrh import Draft, Item, JrhError, Prompt, Text
from jrh_testing import loop_over
from jrh_validators.consensus import HumanLabels

ITEM = Item(id="i1", fields={"response": "a"})


def labels(content):
    return HumanLabels.read(Text(content=content, source="labels.csv"))


def template(name):
    return Draft(
        variant=name, prompt=Prompt(name=name, user=f"{name} {{{{ response }}}}", original="Right? {{ response }}")
    )


@loop_over(
    ("variant", "accepted", "decided"),
    [("same", True, True), ("other", False, True), ("odd", False, False), ("new", False, False)],
)
async def test_yes_and_no_decide_and_unsure_and_no_label_do_not(variant, accepted, decided):
    found = await labels("variant,label\nsame,yes\nother,NO\nodd,Unsure\n").validate(ITEM, template(variant))
    assert (found.accepted, "undecided" not in found.details) == (accepted, decided)


async def test_the_label_of_an_item_goes_before_that_of_all():
    found = labels("item,variant,label\n,same,YES\ni1,same,NO\n")
    assert not (await found.validate(ITEM, template("same"))).accepted


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("name,label\na,YES\n", "labels.csv:1: the column `variant` is missing"),
        ("variant,label\na,perhaps\n", "labels.csv:2: 'PERHAPS' is not a label; use YES, NO or UNSURE"),
        ("variant,label\na,YES\na,NO\n", "labels.csv:3: 'a' is labelled twice"),
    ],
)
def test_a_table_that_cannot_be_meant_is_refused_with_its_line(content, message):
    with pytest.raises(JrhError, match=message):
        labels(content)
