"""Named variants are compared with each other: the numbers are those counted by hand from the rows."""

import pytest
from jrh import JrhError

SAID = {"bullets": "YYNNYYNNYY", "heading": "YYNNYYNNNN", "rules": "YNNNYYNNY-"}
"""Variant -> the verdicts on ten items, all of them YES by gold; - is missing."""


@pytest.fixture
def table(measures, row):
    """Return a function: options -> measures by name, variant and the one it is compared with."""
    rows = [
        row(
            item,
            {"Y": "YES", "N": "NO", "-": None}[letter],
            test="paraphrase" if variant == "rules" else "format",
            variant=variant,
            gold="YES",
        )
        for variant, said in SAID.items()
        for item, letter in enumerate(said)
    ]
    return lambda **options: {
        (m.name, m.cell["variant"], m.cell["against"]): m for m in measures("variant-pairs", rows, options=options)
    }


def test_the_user_names_which_variant_is_compared_with_which(table):
    found = table(pairs=[["format[heading]", "paraphrase"], ["format[bullets]", "format[heading]"]])
    agreement = found["pair-agreement", "format[heading]", "paraphrase"]
    # Nine items have both verdicts; they differ in items 1 and 8.
    assert agreement.estimate == pytest.approx(7 / 9)
    assert agreement.interval.low < 7 / 9 < agreement.interval.high
    assert (agreement.n_trials, agreement.test) == (9, "format")
    assert found["pair-agreement", "format[bullets]", "format[heading]"].estimate == 0.8
    difference = found["pair-accuracy-difference", "format[bullets]", "format[heading]"]
    assert difference.estimate == pytest.approx(0.6 - 0.4)
    assert difference.interval.low < 0.2 < difference.interval.high
    assert len(found) == 4


def test_by_default_the_variants_of_each_test_are_compared(table):
    assert set(table()) == {
        (name, "format[bullets]", "format[heading]") for name in ("pair-agreement", "pair-accuracy-difference")
    }


def test_a_test_and_a_variant_of_it_are_no_pair(table):
    with pytest.raises(JrhError, match="share trials"):
        table(pairs=[["format", "format[heading]"]])


def test_a_variant_that_nothing_was_asked_under_is_an_error_that_names_those_there_are(table):
    with pytest.raises(JrhError, match=r"no trial of 'format\[bulets\]'; give one of format, format\[bullets\]"):
        table(pairs=[["format[bulets]", "paraphrase"]])


def test_all_strengths_of_either_side_count(measures, row):
    said = {("format", 0.5): "YYNN", ("format", 1.0): "YNNN", ("typos", 0.1): "YYYN"}
    rows = [
        row(item, {"Y": "YES", "N": "NO"}[letter], test=test, variant="v", strength=strength)
        for (test, strength), letters in said.items()
        for item, letter in enumerate(letters)
    ]
    for pair in (["typos", "format"], ["format", "typos"]):
        found = {m.name: m for m in measures("variant-pairs", rows, options={"pairs": [pair]})}
        # At a strength of .5 three of four agree, at 1 two of four.
        assert (found["pair-agreement"].estimate, found["pair-agreement"].n_trials) == (5 / 8, 8)
