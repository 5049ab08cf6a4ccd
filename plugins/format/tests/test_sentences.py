import time

from jrh_format.layouts import sentence_gaps
from jrh_testing import loop_over


def sentences(text):
    starts = [0, *(end for _, end in sentence_gaps(text, 0, len(text)))]
    ends = [*(start for start, _ in sentence_gaps(text, 0, len(text))), len(text)]
    return [text[start:end] for start, end in zip(starts, ends, strict=True)]


@loop_over(
    "expected",
    [
        ["One sentence.", "And another!", "Is it?", "Yes."],
        ["Dr. Smith met Mr. J. Doe in St. Louis.", "They talked."],
        ["It costs 3.50 dollars, i.e. 3.5.", "Fine."],
        ["The U.S. Army left.", "Then it rained."],
        ['"Stop!" he said.', '"Why?"', '"Because." said she'],
        ["He (see p. 5, fig. 2, vol. 3) agreed.)", "(Nobody else did.)"],
        ["Wait…", "What?", "No!"],
        ["So it was I.", "Then came you."],
        ["In 1999.", "In 2000 too."],
        ["1. First point.", "2. Second point."],
        ["هل أنت بخير؟", "نعم."],
        ["यह पहला है।", "यह दूसरा है।"],
        ["no capital. stays one sentence."],
        ["Marks twice?!", "Dots thrice...", "End."],
        [""],
    ],
)
def test_sentences_end_where_a_reader_ends_them(expected):
    assert sentences(" ".join(expected)) == expected


def test_a_gap_is_the_whole_run_of_white_space():
    assert sentence_gaps("One.  \n Two.", 0, 12) == [(4, 8)]


def test_gaps_outside_the_range_are_not_seen():
    text = "One. Two. Three. Four."
    assert sentence_gaps(text, 5, 16) == [(9, 10)]


@loop_over("unit", ["a", ".", "a.", "!", '."', ".\n", " ", "A. "])
def test_the_time_grows_with_the_text_and_not_with_its_square(unit):
    long = unit * 100_000
    begin = time.process_time()
    sentence_gaps(long, 0, len(long))
    assert time.process_time() - begin < 5  # the square of it takes minutes
