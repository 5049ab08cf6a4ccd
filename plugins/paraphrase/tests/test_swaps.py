"""The rules swap what keeps the meaning, and leave alone what might not."""

import csv
from pathlib import Path

import pytest
from jrh_authoring import apply_edits
from jrh_paraphrase.options import Rewrite
from jrh_paraphrase.perturber import swaps
from jrh_testing import loop_over

ESSAYS = Path(__file__).parents[3].parent / "shared/data/persuade/essays.csv"


def swapped(text):
    return apply_edits(text, swaps(text, tuple(Rewrite)))


@loop_over(
    ("text", "expected"),
    [
        ("They do not agree.", "They don't agree."),
        ("They don't agree.", "They do not agree."),
        ("They don\u2019t agree.", "They do not agree."),
        ("It\u2019s odd, and they do not agree.", "It\u2019s odd, and they don\u2019t agree."),
        ("I cannot and I will not.", "I can't and I won't."),
        ("That isn't it: he won't win.", "That isn't it: he will not win."),
        ("It is a fact; it's the best.", "It's a fact; it is the best."),
        ("I'm very glad, you're going to win.", "I am very glad, you are going to win."),
        ("They will be late, we'll be early.", "They'll be late, we will be early."),
        ("I have been there, we've been here.", "I've been there, we have been here."),
        ("In order to win, train.", "To win, train."),
        ("We lost due to the fact that it rained.", "We lost because it rained."),
        ("A large number of people came.", "Many people came."),
        ("She is able to swim, for example.", "She can swim, for instance."),
        ("Almost all of it, about 70 of them.", "Nearly all of it, approximately 70 of them."),
        ("Furthermore, it rains. Thus, we stay.", "Moreover, it rains. Therefore, we stay."),
        ("Everyone knows somebody.", "Everybody knows someone."),
        ("They help each other and no one else.", "They help one another and nobody else."),
        ("It has 3 parts, in four weeks.", "It has three parts, in 4 weeks."),
        ("It rained. That is why the road is wet.", "It rained. For this reason the road is wet."),
        ("Trees, such as oaks, grow because the sun shines.", "Trees, like oaks, grow since the sun shines."),
        ("After each walk, every dog begins to bark.", "After every walk, each dog starts to bark."),
        ("Leeks have to be washed until they are clean.", "Leeks must be washed till they are clean."),
        ("It lasts about fifteen minutes, mostly.", "It lasts approximately fifteen minutes, mostly."),
        ("It is mostly air, next to the largest sea.", "It is mainly air, beside the biggest sea."),
        ("Put the bag into a cup at once.", "Place the bag into a cup immediately."),
        ("I think they need more time.", "I believe they require more time."),
        ("Thank you for the soup. Hello!", "Thanks for the soup. Hi!"),
        ("It is 5% of them, or 6 percent.", "It is 5 percent of them, or 6%."),
    ],
)
def test_safe_swaps_are_made(text, expected):
    assert swapped(text) == expected


@loop_over(
    "text",
    [
        "You can not only read it.",
        "They do not only read it.",
        "Don't you know? Why don't they go? It is late, isn't it?",
        "They like it don't they?",
        "Students do not know.",
        "I know what it is. That is how it is a while.",
        "We do as it is the rule.",
        "He put the room in order to please her. It is in order to do so.",
        "Such a large number of people came.",
        "A large number of people is here.",
        "THEY DO NOT AGREE. IN ORDER TO WIN.",
        'He said: "They do not agree with everyone."',
        "The word is \u2018everyone\u2019, and 'somebody' too.",
        "`they do not` and\n```\nthey do not\n```\nand",
        "> they do not agree",
        "    they do not agree",
        "| they do not | agree |",
        "See https://example.org/they do",
        "An everyone-ness of a nobody.",
        "Each other day; no one thing.",
        "Step 3 is next; page 4 shows it; 3.5 parts; version 2 has; 3 is odd; at 5 pm.",
        "of 6 times seven",
        "First come, first served. He came first, and second.",
        "it was therefore, as they say, moreover, late",
        "50%-50% and %s",
        "Trees never fall because the wind blows. She has cried because the dog died. It is because of him.",
        "Practically every device, they each have one, every two weeks, every single one.",
        "A book about twelve boys. How about 3 pm? A mother of two says so.",
        "Shows that take place at night club level; they show how to cook. A need to know. Not until now.",
        "What do they have to be? The start of it. It has started with rain. Large numbers. Next to nothing.",
        "Put the fire out in the room, put up with it. I know what I think it is. He called the police.",
    ],
)
def test_what_may_not_be_safe_is_left_alone(text):
    assert swapped(text) == text


def test_a_quotation_mark_without_a_partner_protects_the_line():
    assert swapped('They said "we do not agree.\nWe do not.') == "They said \"we do not agree.\nWe don't."


def test_only_the_kinds_asked_for_are_swapped():
    text = "They do not know everyone."
    assert apply_edits(text, swaps(text, (Rewrite.PRONOUNS,))) == "They do not know everybody."


@pytest.mark.skipif(not ESSAYS.is_file(), reason="the PERSUADE essays are not here (../shared/data/persuade)")
def test_nine_of_ten_essays_have_a_safe_swap_and_swapping_back_gives_the_essay():
    with ESSAYS.open(encoding="utf-8", newline="") as lines:
        texts = [row["full_text"] for row in csv.DictReader(lines)]
    found = [swaps(text, tuple(Rewrite)) for text in texts]
    assert sum(bool(edits) for edits in found) >= 0.9 * len(texts)
    for text, edits in zip(texts, found, strict=True):
        back = apply_edits(text, edits)
        for edit in reversed(edits):
            shift = sum(len(other.new) - len(other.old) for other in edits if other.start < edit.start)
            start = edit.start + shift
            assert back[start : start + len(edit.new)] == edit.new
            back = back[:start] + edit.old + back[start + len(edit.new) :]
        assert back == text
