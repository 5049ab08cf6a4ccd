"""What holds for any text: the edits that are recorded are all that changed, and undoing them gives the text back."""

import re
from itertools import pairwise

import jrh_label_flip.plugin
from hypothesis import given, settings
from hypothesis import strategies as st
from jrh import Draft, Item, Mode, Scale, Task
from jrh_authoring import apply_edits
from jrh_label_flip.options import BY_RULES, Error
from jrh_label_flip.passages import Passage, choose
from jrh_label_flip.rules import RULES
from jrh_testing import build

SENTENCES = [
    "The Moon is smaller than the Earth.", "Paris is the capital of France.", "It has 26 letters.", "They are here.",
    "It was built in 1889.", "We met on 3 May.", "It is 5 km to the town.", "So 2 + 3 = 5 holds.", "Owls can see.",
    "Whales are not fish.", "If it rains, it is wet.", "I think so!", "Is it?", "He said \"it is red\" there.",
    "Their friends are people because of school.", "The Pacific is the largest ocean.", "About 5 of them are red.",
]  # fmt: skip
SPACE = [" ", "  ", "\n", "\n\n", "\t", "\r\n", "\u00a0", "\u2028", ""]
ODD = [
    "\x00",
    "\u200d",
    "e\u0301",
    "👩\u200d👧",
    "שלום.",
    "नि",
    "\u202e",
    "\ufeff",
    "`",
    "is not",
    "1.",
    "'",
    "“",
    "Dr.",
]
PIECES = st.one_of(
    *(st.sampled_from(pieces) for pieces in (SENTENCES, SENTENCES, SPACE, SPACE, ODD)), st.text(max_size=6)
)
TEXTS = st.lists(PIECES, max_size=14).map("".join)
SCALE = Task(name="levels", scale=Scale.of_levels(1, 6))


def undone(text, edits):
    """Put the old texts back, from the end to the beginning; the positions are those of the unchanged text."""
    moved = []
    shift = 0
    for edit in edits:
        moved.append((edit["at"] + shift, edit["old"], edit["new"]))
        shift += len(edit["new"]) - len(edit["old"])
    for at, old, new in reversed(moved):
        assert text[at : at + len(new)] == new
        text = text[:at] + old + text[at + len(new) :]
    return text


@settings(max_examples=150, deadline=None)
@given(TEXTS, st.integers(0, 3))
async def test_the_recorded_edits_are_all_that_changed(text, seed):
    made = build(jrh_label_flip.plugin, "label-flip", options={"errors": [1, 2]}, task=SCALE, seed=seed)
    for outcome in await made.perturb(Item(id="1", fields={"request": "", "response": text}, gold="6")):
        if isinstance(outcome, Draft):
            changed = outcome.fields["response"]
            assert changed != text
            assert len(outcome.details["edits"]) == outcome.strength
            assert undone(changed, outcome.details["edits"]) == text


@settings(max_examples=100, deadline=None)
@given(TEXTS)
async def test_the_same_seed_gives_the_same_drafts(text):
    item = Item(id="1", fields={"request": "", "response": text}, gold="6")
    one, other = (build(jrh_label_flip.plugin, "label-flip", task=SCALE) for _ in range(2))
    assert await one.perturb(item) == await other.perturb(item)


def edits_of(error, text):
    passage = Passage(text=text)
    return [(edit, text[edit.start : edit.end]) for edit in RULES[error](passage)]


@settings(max_examples=200, deadline=None)
@given(TEXTS)
def test_each_kind_of_error_changes_only_its_own_kind_of_thing(text):
    for edit, old in edits_of(Error.NUMBER, text):
        assert re.fullmatch(r"[\d.,]+|[A-Za-z -]+", old)
        assert old != edit.new
    for edit, old in edits_of(Error.CALCULATION, text):
        assert float(old) != float(edit.new)
    for edit, old in edits_of(Error.SPELLING, text):
        assert old.isalpha()
        assert edit.new.isalpha()
        assert old != edit.new
    for edit, old in edits_of(Error.SEQUENCE, text):
        assert sorted(old) == sorted(edit.new)
    for edit, old in edits_of(Error.ENTITY, text):
        assert sorted(old) == sorted(edit.new)
    for edit, old in edits_of(Error.CONSISTENCY, text):
        assert old == ""
        assert edit.new.startswith(" ")
    for edit, old in edits_of(Error.REMOVED_FACT, text):
        assert old.strip()
        assert edit.new == ""
    for edit, _ in edits_of(Error.NEGATION, text):
        before, after = text[edit.start : edit.end], edit.new
        assert ("not" in before.lower() or "n't" in before) != ("not" in after.lower())


@settings(max_examples=100, deadline=None)
@given(TEXTS, st.sampled_from(BY_RULES), st.integers(0, 5))
def test_chosen_edits_never_touch_each_other_and_fewer_are_some_of_more(text, error, seed):
    possible = list(RULES[error](Passage(text=text)))
    many = choose(possible, len(possible), seed)
    assert many[:2] == choose(possible, 2, seed)
    ordered = sorted(many, key=lambda edit: edit.start)
    assert all(one.end <= other.start for one, other in pairwise(ordered))
    assert not many or apply_edits(text, many) != text


def test_a_long_text_is_read_in_no_time():
    # Each of these would take minutes if the time grew with the square of the length.
    for text in (
        "a" * 200_000,
        "." * 200_000,
        "a." * 100_000,
        " " * 200_000,
        "\n" * 200_000,
        "A b. " * 40_000,
        "1" * 200_000,
    ):
        passage = Passage(text=text)
        assert sum(len(list(RULES[error](passage))) for error in BY_RULES) >= 0


def test_modes_that_are_not_text_are_not_declared():
    (spec,) = jrh_label_flip.plugin.jrh_perturbers()
    assert spec.modes == {Mode.POINTWISE, Mode.PAIRWISE}
