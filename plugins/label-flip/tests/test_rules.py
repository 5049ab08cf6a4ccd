"""What each rule changes, and what it leaves alone because nobody could prove the change to be an error."""

import json
from pathlib import Path

import jrh_sources
import pytest
from jrh_authoring import apply_edits
from jrh_label_flip.options import Error
from jrh_label_flip.passages import Passage
from jrh_label_flip.rules import RULES
from jrh_testing import loop_over


def changed(error, text, request="", seed=0):
    """Return the text after each possible edit alone."""
    passage = Passage(text=text, request=request, seed=seed)
    return [apply_edits(text, [edit]) for edit in RULES[error](passage)]


@loop_over(
    ("before", "after"),
    [
        ("The Moon is a satellite.", "The Moon is not a satellite."),
        ("Owls can see at night.", "Owls cannot see at night."),
        ("The heart has four chambers.", "The heart does not have four chambers."),
        ("It has been painted by hand in oil.", "It has not been painted by hand in oil."),
        ("The Sahara lies in Africa.", "The Sahara does not lie in Africa."),
        ("Dickens wrote the novel in London.", "Dickens did not write the novel in London."),
        ("Whales are not fish.", "Whales are fish."),
        ("Penguins cannot fly to Peru.", "Penguins can fly to Peru."),
        ("The bridge isn't open to cars.", "The bridge is open to cars."),
        ("The cat does not like water.", "The cat does like water."),
    ],
)
def test_the_main_clause_is_negated_or_its_negation_taken_away(before, after):
    if "by" not in before.split():  # `by` may be the circumstance that a negation is about
        assert changed(Error.NEGATION, before) == [after]
    else:
        assert changed(Error.NEGATION, before) == []


@loop_over(
    "text",
    [
        "Some birds can fly well.",  # some birds cannot: both are true
        "All squares are rectangles here.",  # `are not` would be read in two ways
        "It is only five o'clock here.",
        "Is the Moon a satellite of it?",
        "If it rains, the road is wet.",
        "The road is wet because it rained.",
        "I think the road is wet.",
        "What she said is true.",
        "The man who was here is old.",
        "The book she wrote is famous.",
        "It may be the longest river.",
        "The sign says 'it is closed' there.",
        "It is not only red but also green.",
        "Nobody is not at home.",
        "The plural of the word is `mice` here.",
        "The long stands are made of wood.",  # the noun; and `stands` is followed by no place
        "It is\nbroken over two lines.",
    ],
)
def test_what_a_negation_might_not_make_false_is_left_alone(text):
    assert changed(Error.NEGATION, text) in ([], ["The long stands are not made of wood."])


@loop_over(
    ("before", "after"),
    [
        ("The Pacific is the largest ocean.", "The Pacific is the smallest ocean."),
        ("Lead is heavier than iron.", "Lead is lighter than iron."),
        ("The water is hot today.", "The water is cold today."),
        ("The town lies north of the river.", "The town lies south of the river."),
    ],
)
def test_a_word_becomes_its_opposite(before, after):
    assert changed(Error.ANTONYM, before) == [after]


@loop_over(
    "text",
    [
        "The hot water is in the pot.",  # that of the pot may be cold as well
        "It is not the largest ocean.",
        "More than half of the largest towns grow.",
        "She won the first and the last game.",
        "It lies in North Carolina today.",
        "It is an inside view of it.",  # fine: both begin with a vowel, but see below
    ],
)
def test_what_an_opposite_might_not_make_false_is_left_alone(text):
    assert changed(Error.ANTONYM, text) in ([], ["It is an outside view of it."])


def test_a_word_is_not_replaced_where_its_article_would_be_wrong():
    assert changed(Error.ANTONYM, "Give it an upward turn of a later date.") == []
    assert changed(Error.ANTONYM, "It was a lower price of them.") == ["It was a higher price of them."]
    assert changed(Error.ANTONYM, "It was an older price of them.") == []


@loop_over("seed", range(12))
def test_a_number_keeps_its_form_and_is_far_from_the_old_one(seed):
    (found,) = changed(Error.NUMBER, "The tower is 1,250 metres high.", seed=seed)
    assert found in {f"The tower is {new} metres high." for new in ("625", "1,875", "2,500", "3,750")}
    (found,) = changed(Error.NUMBER, "The rod is 0.5 metres long.", seed=seed)
    assert found in {f"The rod is {new} metres long." for new in ("0.2", "0.8", "1.0", "1.5")}


@loop_over("seed", range(12))
def test_a_number_word_stays_a_number_word(seed):
    (found,) = changed(Error.NUMBER, "It has twenty-six letters.", seed=seed)
    first, _, last = found.removeprefix("It has ").removesuffix(" letters.").partition("-")
    assert first == "twenty"
    assert last in ("two", "three", "four", "eight", "nine")  # no `one`, and no neighbour


@loop_over(
    "text",
    [
        "It holds about 40 litres of it.",
        "It holds at least 40 litres of it.",
        "It holds up to 40 litres of it.",
        "It holds 40 or 50 litres of it.",
        "It does not hold 40 litres of it.",
        "It was built in 1889 in Paris.",
        "It was built on 3 May of that year.",
        "The room B12 is on the left.",
        "The version 3.1.4 is the one.",
        "The code 12-34-56 is secret there.",
        "He is the one of them.",
        "Look at chapter 12 of it.",
        "The third of them is red.",
        "It holds 0 litres of it.",
        "It was a 40 litre barrel.",
    ],
)
def test_a_number_that_may_be_right_after_a_change_is_left_alone(text):
    assert changed(Error.NUMBER, text) == []


def test_what_the_request_gives_is_not_changed():
    assert changed(Error.NUMBER, "Seventeen times six is 102.", request="What is 17 times 6?") != []
    for found in changed(Error.NUMBER, "Seventeen times six is 102.", request="What is 17 times 6?"):
        assert found.startswith("Seventeen times six is ")
    assert changed(Error.NUMBER, "There are 26 of them.", request="Are there twenty-six?") == []


@pytest.mark.parametrize(
    ("text", "right"),
    [("We see that 17 * 6 = 102.", 102), ("So 9 minus 12.5 is 3.", None), ("So 12.5 minus 9 equals 3.5.", 3.5)],
)
def test_only_a_result_that_is_right_becomes_wrong(text, right):
    found = changed(Error.CALCULATION, text)
    if right is None:
        assert found == []
    else:
        (wrong,) = found
        head, _, value = wrong.removesuffix(".").rpartition(" ")
        assert text.startswith(head)
        assert float(value) != right


def test_a_part_of_a_longer_calculation_is_left_alone():
    assert changed(Error.CALCULATION, "We get 1 + 2 * 3 = 7 then.") == []
    assert changed(Error.CALCULATION, "We get 2 + 3 = 5 + 1 then.") == []


@loop_over(
    ("before", "after"),
    [
        ("It is 5 km to the town.", ["It is 5 m to the town."]),
        ("It lasts three hours at night.", ["It lasts three minutes at night."]),
        ("Water boils at 100 \u00b0C on the coast.", ["Water boils at 100 \u00b0F on the coast."]),
        ("It is 40 \u00b0C in the shade.", []),  # minus 40 is the same in both
        ("It is 0 km to the town.", []),  # nothing is nothing in any unit
        ("It is more than 5 km to the town.", []),
        ("The rate is 5 km/h in the town.", []),
        ("The rate is 5 km per hour in the town.", []),
    ],
)
def test_a_unit_becomes_one_of_another_size(before, after):
    assert changed(Error.UNIT, before) == after


@loop_over("seed", range(10))
def test_a_year_becomes_an_earlier_one_and_a_month_no_neighbour(seed):
    (found,) = changed(Error.DATE, "The tower was built in 1889.", seed=seed)
    assert 12 <= 1889 - int(found[-5:-1]) < 62
    (found,) = changed(Error.DATE, "They met on 3 May at noon.", seed=seed)
    assert found.split()[4] not in ("April", "May", "June")
    assert found.startswith("They met on 3 ")


@loop_over(
    "text",
    ["It was built before 1889.", "It has 1889 rooms.", "You may go in 1500 ways.", "It was 44 BC in 2000 BC then."],
)
def test_a_year_that_may_be_right_after_a_change_is_left_alone(text):
    assert changed(Error.DATE, text) == []


@loop_over(
    ("before", "after"),
    [
        ("Paris is the capital of France.", ["France is the capital of Paris."]),
        ("The Moon is smaller than the Earth.", ["The Earth is smaller than the Moon."]),
        ("Jane Austen wrote Emma in the south.", ["Emma wrote Jane Austen in the south."]),
        ("Paris and London are capitals of them.", []),  # what is said of both in the same way stays true
        ("Anna is married to Paul today.", []),
        ("Anna knows Paul from school.", []),
        ("Paris is not the capital of Spain.", []),
    ],
)
def test_two_names_change_places_only_where_it_matters_which_is_which(before, after):
    assert changed(Error.ENTITY, before) == after


def test_a_contradiction_is_the_sentence_and_its_negation():
    assert changed(Error.CONSISTENCY, "The Moon is round. So what?") == [
        "The Moon is round. The Moon is not round. So what?"
    ]


def test_sentences_are_removed_and_exchanged_with_their_gaps():
    text = "One thing is red.  Two things are blue. It is green.\n\nThe end is near."
    assert changed(Error.REMOVED_FACT, text) == [
        "Two things are blue. It is green.\n\nThe end is near.",
        "One thing is red. It is green.\n\nThe end is near.",
        "One thing is red.  Two things are blue.\n\nThe end is near.",
    ]
    assert changed(Error.SEQUENCE, text) == [
        "Two things are blue.  One thing is red. It is green.\n\nThe end is near.",
        "One thing is red.  It is green. Two things are blue.\n\nThe end is near.",
    ]


def test_only_words_of_the_list_are_misspelt_and_case_is_kept():
    assert changed(Error.SPELLING, "Because of THEIR freinds.") == ["Becuase of THEIR freinds."]
    assert changed(Error.SPELLING, "See http://example.org/people or people-like.") == []


@loop_over(
    ("before", "after"),
    [
        ("They are here.", ["They is here."]),
        ("I left because it was late.", ["I left because it were late."]),
        ("He and she are here.", []),
        ("One of those who met you are here.", []),
        ("If I were you.", []),
    ],
)
def test_agreement_is_broken_where_the_pronoun_is_the_whole_subject(before, after):
    assert changed(Error.GRAMMAR, before) == after


def test_abbreviations_and_initials_end_no_sentence():
    texts = [sentence.text for sentence in Passage(text="Dr. Who met J. Smith at 5 p.m. On time. E.g. Here?").sentences]
    assert texts == ["Dr. Who met J. Smith at 5 p.m. On time.", "E.g. Here?"]


def test_every_shipped_english_item_is_read_as_english():
    folder = Path(jrh_sources.__file__).parent / "data"
    items = [json.loads(line) for path in sorted(folder.glob("*.jsonl")) for line in path.read_text().splitlines()]
    rejected = [
        item["id"]
        for item in items
        for name, text in item.items()
        if name.startswith("response") and not Passage(text=text, request=item["request"], seed=0).english
    ]
    assert len(items) == 120
    assert rejected == []
