"""What rules may change in a text, and what they leave alone."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from jrh.hashing import shuffled
from jrh_authoring import (
    Edit,
    Protected,
    WordingRule,
    apply_edits,
    edits_at,
    length_ratio,
    not_after,
    phrase_rule,
    safe_edits,
    word_count,
)
from jrh_authoring.wording import edits_apart
from jrh_testing import loop_over

RULE = phrase_rule("swap", {"do not": "don't", "red": "blue"})
ASIDE = WordingRule(
    kind="aside", pattern=re.compile(r"(?<=\.)(?P<x>)(?= |\Z)"), new=lambda _old, number: f" [{number}]"
)


def changed(text: str, *rules: WordingRule, lists: bool = False) -> str:
    return apply_edits(text, safe_edits(text, rules or (RULE,), lists=lists))


@loop_over(
    ("text", "new"),
    [
        ("They do not. Do not!", "They don't. Don't!"),
        ("They do not, it\u2019s red.", "They don\u2019t, it\u2019s blue."),
        ("RED redder", "RED redder"),
        ('They said "do not" and do not.', 'They said "do not" and don\'t.'),
        ('An open " protects do not\nbut no further: do not', "An open \" protects do not\nbut no further: don't"),
        ("`red` red <red> https://red.org/red red", "`red` blue <red> https://red.org/red blue"),
        ("```\nred\n```\nred\n    red\n> red\na | red", "```\nred\n```\nblue\n    red\n> red\na | red"),
        ("[red](red) and \u201cred\u201d", "[blue](red) and \u201cred\u201d"),
    ],
)
def test_only_the_writers_own_words_change(text: str, new: str) -> None:
    assert changed(text) == new


def test_lists_and_headings_are_left_alone_where_that_is_asked() -> None:
    text = "# red\n- red\n1. red\nred"
    assert changed(text) == "# blue\n- blue\n1. blue\nblue"
    assert changed(text, lists=True) == "# red\n- red\n1. red\nblue"


def test_nothing_is_put_inside_what_is_protected_nor_directly_behind_it() -> None:
    assert changed('He left. "She stayed." They met.', ASIDE) == 'He left. [0] "She stayed." They met. [1]'
    assert Protected("a `b` c").touches(5, 5)
    assert not Protected("a `b` c").touches(6, 6)


def test_a_phrase_waits_for_its_context() -> None:
    rule = phrase_rule("swap", {"because": "since"}, before=not_after("just") + r"\b", unless=r"\b[Nn]ot\b")
    text = "Because it is. Just because. It is not so because of it. But because."
    assert changed(text, rule) == "Since it is. Just because. It is not so because of it. But since."


def test_of_overlapping_edits_the_one_that_begins_first_is_made_and_of_these_the_longest() -> None:
    made = [Edit(start=start, old=old, new="-", kind="k") for start, old in ((2, "cd"), (0, "a"), (0, "abc"), (5, ""))]
    assert [(edit.start, edit.old) for edit in edits_apart(made)] == [(0, "abc"), (5, "")]
    assert edits_apart(made)[0].details() == {"at": 0, "from": "abc", "to": "-", "kind": "k"}


@given(st.text(alphabet='red donot."`|\n', max_size=60))
def test_outside_the_edits_not_a_character_changes_and_inside_nothing_protected(text: str) -> None:
    edits = safe_edits(text, (RULE, ASIDE))
    assert apply_edits(text, [Edit(start=e.start, old=e.old, new=e.old, kind="") for e in edits]) == text
    assert apply_edits(text, reversed(edits)) == apply_edits(text, edits)
    assert all(text[edit.start : edit.end] == edit.old for edit in edits)
    assert not any(Protected(text).touches(edit.start, edit.end) for edit in edits)


@loop_over(("strength", "possible", "made"), [(1.0, 7, 7), (0.5, 7, 4), (0.01, 7, 1), (0.25, 10, 3)])
def test_a_strength_is_a_share_of_what_is_possible(strength: float, possible: int, made: int) -> None:
    assert edits_at(strength, possible) == made


def test_a_seeded_order_is_the_same_everywhere_and_another_for_another_seed() -> None:
    assert shuffled("abcdef", 7) == ["d", "b", "a", "f", "e", "c"]
    assert shuffled("abcdef", 8) != shuffled("abcdef", 7)


@loop_over(
    ("text", "words"),
    [("", 0), ("It's 3 parts.", 4), ("snake_case", 1), ("\u5854\u306f\u9ad8\u3044", 4), ("caf\u00e9 \u5854", 2)],
)
def test_words_are_counted_in_every_script(text: str, words: int) -> None:
    assert word_count(text) == words


def test_the_length_ratio_is_of_words_and_never_divides_by_none() -> None:
    assert length_ratio("one two three", "one") == 0.3333
    assert length_ratio("...", "one two") == 2.0


def test_a_rule_looks_back_only_where_its_first_letter_is() -> None:
    assert phrase_rule("k", {"every": "all"}, before=r"(?<!\bnot )\b").pattern.pattern.startswith("(?=[Ee])")
    consuming = phrase_rule("k", {"not": "n't"}, before=r"\b(?:do|is) ").pattern
    assert consuming.pattern.startswith(r"\b(?:do")
    found = consuming.search("It is not so.")
    assert found is not None
    assert found["x"] == "not"
