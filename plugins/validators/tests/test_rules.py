"""rules: each rule is exact, and says what it found."""

import csv
from collections import Counter
from itertools import pairwise
from pathlib import Path

import jrh_validators.plugin
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jrh import Draft, Item
from jrh_authoring import other_language, word_count
from jrh_testing import build, loop_over
from jrh_validators.options import RulesOptions
from jrh_validators.rules import Names, Rules, negations, numbers

ESSAYS = Path(__file__).parents[3].parent / "shared/data/persuade/essays.csv"
EVERYTHING = Rules(options=RulesOptions(words=True, length_ratio=(1, 1)))


@loop_over(
    ("text", "found"),
    [
        ("It has 3 parts, 3.50 euros each.", ["3", "3.5"]),
        ("1,000 is 1000 is 1,000.00", ["1000"] * 3),
        ("-5 and (-5) and \u22125, but pages 4-5", ["-5"] * 3 + ["4", "5"]),
        ("007 and 0.0", ["7", "0"]),
        ("In 1999, 12,34 and 1,2345", ["1999", "12", "34", "1", "2345"]),
        ("Seventeen times six is one hundred and two.", ["17", "6", "102"]),
        ("twenty-five, Twenty Five, two thousand and six", ["25", "25", "2006"]),
        ("three million two hundred thousand", ["3200000"]),
        ("two and three, one two, nineteen eighty-four", ["2", "3", "2", "19", "84"]),
        ("one of them, no one, someone, often, weight", []),
        ("the 2nd half, a dozen, first", ["2"]),
        ("a hundred years, a ten-year plan", ["100", "10"]),
        ("١٢ and ½", ["12"]),
        ("", []),
    ],
)
def test_numbers_are_found_by_value(text, found):
    assert numbers(text) == Counter(found)


@given(st.integers(0, 10**9))
def test_a_number_is_the_same_with_and_without_commas(value):
    assert numbers(f"It is {value:,}.") == numbers(f"It is {value}.") == Counter([str(value)])


@loop_over(
    ("text", "certain"),
    [
        ("The river in Paris is the Seine.", {"Paris", "Seine"}),
        ("Paris is big. Rome is old! Is London?", {"London"}),
        ("We met Mr. Smith and J. Doe in St. Louis.", {"Mr", "Smith", "J", "Doe", "St", "Louis"}),
        ("It is Lincoln's hat, and Marx\u2019 hat.", {"Lincoln", "Marx"}),
        ("Then I went, and I'm sure I\u2019ll go.", set()),
        ("He said: Come here.\nMany came", set()),
        ("NASA and the Anglo-Saxon king", {"Anglo-Saxon"}),
        ("Версаль стоит во Франции", {"Франции"}),
        ("東京は大きい", set()),
    ],
)
def test_names_are_capitals_inside_sentences(text, certain):
    assert Names.of(text).certain == certain


@loop_over(
    ("text", "count"),
    [
        ("It is not so, and never was.", 2),
        ("I don't, I don\u2019t, I dont, I cannot, I can not", 5),
        ("No one knows nothing without a notebook", 3),
        ("Ain't, won't, shan't; wont", 4),
        ("a knot, another, notable, piano, tent's, went, want", 0),
    ],
)
def test_negations_are_counted(text, count):
    assert negations(text) == count


@loop_over(("text", "count"), [("Two words", 2), ("don't stop", 3), ("東京は big", 4), ("... -", 0), ("a-b_c 1.5", 4)])
def test_words_are_runs_of_letters_and_digits_or_single_signs(text, count):
    assert word_count(text) == count


ENGLISH = "The mountain air was cold and the climbers were tired after the long day."


@loop_over(
    ("changed", "other"),
    [
        ("After the long day the climbers were weary, and the air on the mountain was cold.", False),
        ("Die Bergluft war kalt, und die Kletterer waren nach dem langen Tag sehr müde.", True),
        ("L'air de la montagne était froid et les grimpeurs étaient fatigués après la journée.", True),
        ("Горный воздух был холодным.", True),
        ("山の空気は冷たかった。", True),
        ("Ja.", False),
        ("42", False),
        ("", False),
    ],
)
def test_another_language_or_script_is_noticed(changed, other):
    assert other_language(ENGLISH, changed) is other
    assert other_language(changed, ENGLISH) is other


def test_japanese_may_mix_its_scripts():
    assert not other_language("山の空気は冷たかった", "やまのくうきはつめたかった")


@loop_over(
    ("options", "original", "changed", "reason", "details"),
    [
        ({}, "It has 3 parts.", "It has 4 parts.", "the numbers changed", {"lost": ["3"], "added": ["4"]}),
        ({}, "3 men and 3 women", "3 men and women", "the numbers changed", {"lost": ["3"], "added": []}),
        ({}, "He saw Rome.", "He saw Paris.", "the names changed", {"lost": ["Rome"], "added": ["Paris"]}),
        ({}, "He saw it.", "He saw it in Paris.", "the names changed", {"lost": [], "added": ["Paris"]}),
        ({}, "He saw it.", "He never saw it.", "the negations changed", {"before": 0, "after": 1}),
        ({}, ENGLISH, "Горный воздух был холодным.", "another language", {}),
        ({"words": True}, "one two", "two one", "the words changed", {}),
        (
            {"length_ratio": [0.5, 1.5]},
            "a b c d",
            "a",
            "shorter than allowed",
            {"words": [4, 1], "ratio": 0.25},
        ),
        ({"length_ratio": [0.5, 1.5]}, "a b", "a b c d", "longer than allowed", {"words": [2, 4], "ratio": 2.0}),
        ({"length_ratio": [0.5, 1.5]}, "!", "a b", "longer than allowed", {"words": [0, 2]}),
    ],
)
async def test_a_broken_rule_is_named_with_what_was_found(options, original, changed, reason, details):
    made = build(jrh_validators.plugin, "rules", options=options)
    item = Item(id="1", fields={"response": original})
    validation = await made.validate(item, Draft(fields={"response": changed}))
    assert not validation.accepted
    assert validation.reason == reason
    assert validation.details == {"field": "response", **details}


@loop_over(
    ("options", "original", "changed"),
    [
        ({}, "Paris is a city.", "A city, that is Paris."),
        ({}, "They talked about five things.", "About 5 things they talked."),
        ({}, "I do not know.", "I don't know."),
        ({"numbers": False}, "It has 3 parts.", "It has 4 parts."),
        ({"names": False}, "He saw Rome.", "He saw Paris."),
        ({"negations": False}, "He saw it.", "He never saw it."),
        ({"language": False}, ENGLISH, "Горный воздух был холодным."),
        ({"words": True}, "one two", "one\n\n two "),
        ({"length_ratio": [0.5, 2]}, "a b", "a b c d"),
    ],
)
async def test_what_keeps_the_rules_is_accepted(options, original, changed):
    made = build(jrh_validators.plugin, "rules", options=options)
    item = Item(id="1", fields={"response": original})
    assert (await made.validate(item, Draft(fields={"response": changed}))).accepted


@loop_over(
    ("original", "changed", "accepted"),
    [
        ("It has 3 parts.", "It has 3 parts; I mean 3.", True),
        ("It has 3 parts and 3 legs.", "It has 3 parts and legs.", True),
        ("It has 3 parts.", "It has parts.", False),
        ("It has 3 parts.", "It has 3 parts and 4 legs.", False),
        ("It is not so.", "It is not so, no.", True),
        ("It is not so, no.", "It is not so.", False),
        ("It is so.", "It is so, no doubt.", False),
    ],
)
async def test_where_repeats_are_fine_nothing_may_be_lost_or_new(original, changed, accepted):
    made = build(jrh_validators.plugin, "rules", options={"repeats": True})
    item = Item(id="1", fields={"response": original})
    assert (await made.validate(item, Draft(fields={"response": changed}))).accepted is accepted


@pytest.mark.parametrize("ratio", [[1.5, 0.5], [-1, 2]])
def test_a_length_ratio_that_makes_no_sense_is_rejected(ratio):
    with pytest.raises(Exception, match="length_ratio"):
        build(jrh_validators.plugin, "rules", options={"length_ratio": ratio})


@given(st.text())
def test_a_text_keeps_every_rule_with_itself(text):
    assert EVERYTHING.breach(text, text) is None


@given(st.text(), st.text())
def test_what_breaks_a_rule_one_way_breaks_it_the_other_way(one, other):
    made = Rules(options=RulesOptions())
    assert (made.breach(one, other) is None) == (made.breach(other, one) is None)


@pytest.mark.skipif(not ESSAYS.is_file(), reason="the PERSUADE essays are not here (../shared/data/persuade)")
def test_essays_are_english_and_no_two_state_the_same():
    with ESSAYS.open(encoding="utf-8", newline="") as lines:
        texts = [row["full_text"] for row in csv.DictReader(lines)]
    made = Rules(options=RulesOptions())
    for text in texts:
        assert made.breach(text, text) is None
        assert not other_language(text, ENGLISH)
    assert all(made.breach(one, other) is not None for one, other in pairwise(texts))
