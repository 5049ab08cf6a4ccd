"""The closed lists: what can go goes, what can be added is added, and nothing else."""

import re

from jrh_authoring import apply_edits
from jrh_testing import loop_over
from jrh_verbosity.options import Variant
from jrh_verbosity.rules import places
from jrh_verbosity.shortening import ASIDES, FRAMES


def shorter(text):
    return apply_edits(text, places(text, Variant.SHORT))


def longer(text):
    return apply_edits(text, places(text, Variant.LONG))


@loop_over(
    ("text", "expected"),
    [
        ("It is very cold, and they really mind.", "It is cold, and they mind."),
        ("That is a very big dog.", "That is a big dog."),
        ("It is very, very cold.", "It is very, cold."),
        ("In order to win, train.", "To win, train."),
        ("We lost due to the fact that it rained.", "We lost because it rained."),
        ("Basically, it rains.", "It rains."),
        ("It rains. Of course, I stay.", "It rains. I stay."),
        ("It is important to note that the sun is a star.", "The sun is a star."),
        ("I think that they know that it rains.", "I think they know it rains."),
        ("He saw the many things that you did.", "He saw the many things you did."),
        ("In my opinion, I think so. I personally believe it.", "I think so. I believe it."),
        ("Each and every day, all of the dogs.", "Every day, all the dogs."),
        ("She is able to swim at all times.", "She can swim always."),
    ],
)
def test_what_can_go_goes(text, expected):
    assert shorter(text) == expected


@loop_over(
    "text",
    [
        "It is not very good, and isn't really bad. They don\u2019t really mind. It is never very cold.",
        "The very idea. This very day. How very odd. Too very few.",
        "Very few people, very much so, very little.",
        "That is a very old man, an actually good one.",
        "He put the room in order to please her.",
        "Such a large number of people. A large number of people is here.",
        "I know that. I think that dog is nice.",
        "It is so big a house that you get lost. The reason is that they left. I like the dog that you have.",
        "VERY COLD. IN ORDER TO WIN.",
        'He said: "It is very cold."',
        "> It is very cold.\n- very cold\n# very cold\n1. very cold",
        "`very cold`\n```\nvery cold\n```",
        "It is, of course, true, in fact.",
    ],
)
def test_what_may_say_something_stays(text):
    assert shorter(text) == text


def test_statements_get_frames_and_asides():
    text = "It is cold. The big dog is here."
    assert longer(text) == (f"{FRAMES[0]} it is cold. {ASIDES[0]} {FRAMES[0]} the big dog is here. {ASIDES[1]}")


@loop_over(
    ("text", "expected"),
    [
        ("they left because it rained", "they left due to the fact that it rained"),
        ("Every dog barks", "Each and every dog barks"),
        ("I am here.\nAnd", f"{FRAMES[0]} I am here. {ASIDES[0]}\nAnd"),
        ("Whales live in the sea.", f"Whales live in the sea. {ASIDES[0]}"),
    ],
)
def test_longer_forms_are_used(text, expected):
    assert longer(text) == expected


@loop_over(
    "text",
    [
        "Paris",
        "4",
        "Is it cold? Go home! It is cold?",
        "because of the rain, just because, not because it",
        "every other day, every two weeks, once every week, almost every day",
        'She said: "It is cold. The dog is here."',
        "- It is cold.\n* The dog is here.",
        "See Prof. Smith, etc. And so on: 3.5. Then",
    ],
)
def test_what_is_no_plain_statement_is_left_alone(text):
    assert longer(text) == text


@loop_over("text", [*FRAMES, *ASIDES])
def test_what_is_added_states_no_number_name_negation_or_praise(text):
    assert not re.search(r"\d|\b(?:one|two|three|first|no|not|never|nothing|nobody|without|none|nor|neither)\b", text)
    assert not re.search(r"n't\b|\b(?:good|bad|best|great|important|clear|clearly|true|false|right|wrong)\b", text)
    assert all(word.islower() for word in text.replace(",", "").replace(".", "").split()[1:])
