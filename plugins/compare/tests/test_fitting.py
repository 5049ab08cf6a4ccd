"""Markdown that keeps to the length of a comment."""

import pytest
from jrh_compare import rendering
from jrh_compare.document import Lines, Section, Table
from jrh_measuring import LONGEST_COMMENT, comment_length


def sections(pairs, rows):
    table = Table(columns=("side",), rows=tuple((f"row {place} \U0001d11e",) for place in range(rows)))
    yield from (Section(title=f"pair {number}", blocks=(Lines(lines=("cases",)), table)) for number in range(pairs))
    yield Section(title="", blocks=(Lines(lines=("legend",)),), of_all=True)


@pytest.mark.parametrize(("pairs", "rows", "whole"), [(2, 10, True), (1, 9_000, False), (400, 40, False), (0, 5, True)])
def test_a_document_is_whole_or_keeps_to_the_limit_and_says_that_it_does(monkeypatch, pairs, rows, whole):
    monkeypatch.setattr(rendering, "document", lambda comparison: sections(pairs, rows))
    text = rendering.markdown(None)
    assert comment_length(text) <= LONGEST_COMMENT
    assert ("Shortened to stay within 65,536 characters" in text) == (not whole)
    assert (text.count("| row ") == pairs * rows) == whole
    assert pairs == 0 or text.startswith("## pair 0\n\n- cases\n\n| side |\n| --- |\n| row 0 ")
    assert "\n- legend\n" in f"\n{text}"


def test_what_does_not_fit_is_all_that_is_left_out(monkeypatch):
    monkeypatch.setattr(rendering, "document", lambda comparison: sections(1, 9_000))
    assert comment_length(rendering.markdown(None)) > LONGEST_COMMENT - 100
