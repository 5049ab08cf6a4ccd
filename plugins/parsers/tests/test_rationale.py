"""Reading what a rationale argues for: right where it reads, silent where it cannot tell."""

from jrh_parsers.rationale import READ, announces, rationale_label
from jrh_testing import loop_over
from rationale_table import LEVELS, PAIR, SEEN, UNSEEN, YES_NO, Row


def _read(rows: tuple[Row, ...]) -> tuple[int, int, int]:
    """Return how many rationales were read, how many of them rightly, and how many argue for a label."""
    found = [(rationale_label(row.text, row.scale), row.argued) for row in rows]
    read = [(got, due) for got, due in found if got is not None]
    return len(read), sum(got == due for got, due in read), sum(due is not None for _, due in found)


@loop_over("row", SEEN, ids=lambda row: row.text[:50])
def test_a_rationale_is_read_as_a_careful_reader_would(row: Row) -> None:
    assert rationale_label(row.text, row.scale) == row.argued


def test_what_the_rules_read_of_unseen_rationales_is_right_and_they_read_most() -> None:
    # The README states these numbers.
    assert _read(UNSEEN) == (17, 16, 17)
    assert len(SEEN) + len(UNSEEN) == 104


def test_praise_says_nothing_where_the_worse_option_was_asked_for() -> None:
    assert rationale_label("B is better.", PAIR) == "B"
    assert rationale_label("B is better.", PAIR, inverted=True) is None
    assert rationale_label("B is better. So I choose A.", PAIR, inverted=True) == "A"
    assert rationale_label("The better response is B.", PAIR, inverted=True) is None


def test_the_statement_of_the_verdict_is_no_argument() -> None:
    reply = "The second claim is false, so the answer is NO.\nVerdict: YES"
    assert rationale_label(reply, YES_NO) == "YES"
    assert rationale_label(reply, YES_NO, holds_verdict=True) == "NO"
    assert rationale_label("Verdict: YES", YES_NO, holds_verdict=True) is None
    assert rationale_label("NO. It is wrong, so the answer is NO.", YES_NO, holds_verdict=True) in {"NO", None}
    assert announces(reply, YES_NO)
    assert not announces("The second claim is false, so the answer is NO.", YES_NO)


@loop_over("text", ["", " ", "???", "\x00", "1" * 10_000, "A " * 5_000, "so " * 5_000, "(" * 5_000])
def test_any_text_is_read_or_left_alone(text: str) -> None:
    for scale in (YES_NO, LEVELS, PAIR):
        # "A A A ..." may argue for A; nothing is ever argued for that is not on the scale.
        assert rationale_label(text, scale) in {None, *scale.labels}
        assert rationale_label(text, scale, holds_verdict=True) in {None, *scale.labels}


def test_the_end_of_a_long_rationale_is_read() -> None:
    filler = "The style is plain. " * (READ // 10)
    assert rationale_label(f"{filler}So the answer is NO.", YES_NO) == "NO"
    assert rationale_label(f"So the answer is NO. {filler}", YES_NO) is None
