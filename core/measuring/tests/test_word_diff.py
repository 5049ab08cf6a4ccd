import time

from jrh_measuring.question_parts import WORDS, Piece, mark_words
from jrh_testing import loop_over


def changed(pieces: tuple[Piece, ...]) -> list[str]:
    return [piece.text for piece in pieces if piece.changed]


def test_only_the_words_that_differ_are_marked() -> None:
    pair = mark_words("The cat sat on the mat.", "The dog sat on a mat.", 100)
    assert changed(pair.before) == ["cat", "the"]
    assert changed(pair.after) == ["dog", "a"]


def test_white_space_that_is_all_that_changed_can_be_seen() -> None:
    pair = mark_words("One.\nTwo words.", "One.\n    Two words.\n", 100)
    assert changed(pair.before) == []
    assert changed(pair.after) == ["····", "¶\n"]


@loop_over(("before", "after"), [("same", "same"), ("", ""), ("", "new"), ("old", ""), ("a b", "b a")])
def test_the_pieces_are_the_text(before: str, after: str) -> None:
    pair = mark_words(before, after, 100)
    assert "".join(piece.text for piece in pair.before).replace("·", " ") == before
    assert "".join(piece.text for piece in pair.after).replace("·", " ") == after


def test_texts_are_bounded_before_they_are_compared() -> None:
    pair = mark_words("a" * 1000, "b" * 1000, 50)
    assert sum(len(piece.text) for piece in pair.before) < 100


def test_texts_of_very_many_words_are_shown_unmarked_at_once() -> None:
    started = time.process_time()
    pair = mark_words("word " * WORDS, "other " * WORDS, 10**6)
    assert not pair.compared
    assert changed(pair.before) == changed(pair.after) == []
    assert time.process_time() - started < 1


def test_a_change_far_behind_is_shown_all_the_same() -> None:
    text = "word " * 5000
    pair = mark_words(f"{text}old end", f"{text}new end", 3000)
    assert pair.compared
    assert (changed(pair.before), changed(pair.after)) == (["old"], ["new"])
    assert pair.before[0].text.startswith("(24,600 characters before) …")
    assert sum(len(piece.text) for piece in pair.before) < 3100


def test_a_small_change_in_a_long_text_is_found_at_once() -> None:
    words = [f"{'the' if place % 2 else '{'}" for place in range(2000)]
    started = time.process_time()
    pair = mark_words(" ".join(words), " ".join([*words[:900], "not", *words[900:]]), 10**6)
    assert [text.strip() for text in changed(pair.after)] == ["not"]
    assert time.process_time() - started < 0.2
