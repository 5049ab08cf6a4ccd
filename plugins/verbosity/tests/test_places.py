"""The closed lists: what can go goes, what can be added is added, and nothing else."""

import re

from jrh_authoring import apply_edits
from jrh_testing import loop_over
from jrh_verbosity.options import Variant
from jrh_verbosity.perturber import places
from jrh_verbosity.shortening import ASIDES, FRAMES


def shorter(text):
    return apply_edits(text, places(text, Variant.SHORT))


def longer(text):
    return apply_edits(text, places(text, Variant.LONG))


@loop_over(
    ("text", "expected"),
    [
        ("It is very cold, and they really mind.", "It is cold; they mind."),
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
        ("It rained. That is why the road is wet.", "It rained. Therefore, the road is wet."),
        ("It rained, which is why the road is wet.", "It rained, so the road is wet."),
        ("The road has to be dry. You need to wash it.", "The road must be dry. You must wash it."),
        ("Plants take up water from time to time.", "Plants absorb water occasionally."),
        ("The shoots that are left are cut.", "The shoots left are cut."),
        ("The man who is sitting in the room sings.", "The man sitting in the room sings."),
        ("If it rains, then we stay. We eat and then we sleep.", "If it rains, we stay. We eat then we sleep."),
        ("It boils faster than the pot on the stove does.", "It boils faster than the pot on the stove."),
        ("Paris. I hope this helps!", "Paris."),
        ("Both of them are here, a little higher.", "Both are here, slightly higher."),
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
        "You do not have to be here. What do they need to be? All he has to do is sing.",
        "Not only this, and they know it. If it rains, and we stay, we are wet. She said that rain falls, and we stay.",
        "It was the man who was sitting in the room. I know one who is sitting in the room.",
        "They are as close to the end as we are. It is next to nothing. More than one, and no more than half of it.",
        "For this reason and others. After that day it rains. On the one hand this, on the other hand, that.",
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
        ("Venus has the orbit closest to the sun", "Venus has the orbit closest to the sun"),
        ("stay if it rains, during the night", "stay in the event that it rains, in the course of the night"),
        ("we wonder if it rains.", f"we wonder if it rains. {ASIDES[0]}"),
        ("I am here.\nAnd", f"{FRAMES[0]} I am here. {ASIDES[0]}\nAnd"),
        ("Whales live in the sea.", f"Please note: Whales live in the sea. {ASIDES[0]}"),
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
