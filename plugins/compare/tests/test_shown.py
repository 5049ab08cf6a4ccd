"""What a comparison says of a difference that only the correction keeps from being shown."""

from __future__ import annotations

from attrs import evolve
from jrh.values import ClaimFamily
from jrh_compare.document import Lines, Table, document
from jrh_measuring.comparing.results import Answer, Changes, Comparison, Matching, Noise, Pair, Row, SideName
from jrh_testing import loop_over

FAMILY = ClaimFamily(tests=2, claimed=0, alpha=0.05)
SIDE = SideName(label="a", run="a", suite="s", judge="a", simulated=False)
ROW = Row(
    measure="as-expected", task="task", test="format", unit="proportion", first=0.8, second=0.533, difference=-0.267,
    low=-0.457, high=-0.054, method="m", cases=30, items=30, clusters=30, better=1, worse=9, p=0.02,
    same_as="", test_method="m", answer=Answer.NOT_SHOWN, equivalence=None, unpaired=0, missing_first={},
    missing_second={},
)  # fmt: skip


def comparison_of(rows: tuple[Row, ...]) -> Comparison:
    """Return a comparison of one pair with these rows."""
    matching = Matching(
        by_id=30, by_place=0, other_text=0, looked_at=0, ambiguous=0, gold_changed=0, only_first={}, only_second={}
    )
    pair = Pair(
        first=SIDE, second=SIDE, matching=matching, rows=rows, changes=(), causes=(), recorded=True, flips=(),
        flipped={}, missing_cases=0, missing_first={}, missing_second={},
    )  # fmt: skip
    return Comparison(level=0.95, margin=None, pairs=(pair,), family=FAMILY, curve=(), notes=())


def shown(*rows: Row) -> tuple[str, str]:
    """Return the cell of the first row, and the lines after the tables."""
    sections = list(document(comparison_of(rows)))
    table = next(each for each in sections[0].blocks if isinstance(each, Table))
    (lines,) = (each for each in sections[-1].blocks if isinstance(each, Lines))
    return table.rows[0][table.columns.index("shown")], " ".join(lines.lines)


@loop_over(
    ("row", "cell"),
    [
        (ROW, "not shown after correction (alone p = 0.020)"),
        (evolve(ROW, p=0.07), "no difference shown (p = 0.070 alone)"),
        (evolve(ROW, p=0.4, high=0.1), "no difference shown"),
        (evolve(ROW, answer=Answer.WORSE, p=0.001), "worse"),
    ],
)
def test_an_interval_that_excludes_0_is_not_contradicted_without_the_reason(row: Row, cell: str) -> None:
    assert shown(row)[0] == cell


def opening(*rows: Row) -> str:
    return next(iter(document(comparison_of(rows)))).blocks[0].lines[0]


def test_a_test_that_is_worse_and_better_is_named_with_its_measures() -> None:
    worse, better = evolve(ROW, answer=Answer.WORSE), evolve(ROW, answer=Answer.BETTER, measure="gold-accuracy")
    assert opening(worse, better) == "a: worse on format (as-expected); better on format (gold-accuracy)."
    assert opening(worse, evolve(worse, measure="gold-accuracy")) == "a: worse on format."


def test_an_unfinished_run_is_said_before_anything_else() -> None:
    from jrh_compare.rendering import markdown, terminal

    comparison = evolve(comparison_of((ROW,)), unfinished=("'a' is not finished: interrupted",))
    for text in (terminal(comparison), terminal(comparison, full=True), markdown(comparison)):
        assert "'a' is not finished: interrupted." in text.splitlines()[0]


@loop_over(
    ("rate", "claimed"), [(0.0, False), (0.1, True), (None, True)], ids=["measured as 0", "measured", "not measured"]
)
def test_rerun_noise_is_no_cause_where_it_was_measured_as_0(rate: float | None, claimed: bool) -> None:
    noise = Noise(differing=0, pairs=30, items=30, clusters=30, rate=rate, low=None, high=None, missing={})
    changes = Changes(
        task="task", test="format", trials=30, items=30, clusters=30, changed=3, rate=0.1, low=None, high=None,
        missing=0, noise_first=noise, noise_second=noise,
    )  # fmt: skip
    comparison = comparison_of((ROW,))
    sections = document(evolve(comparison, pairs=(evolve(comparison.pairs[0], changes=(changes,)),)))
    told = " ".join(line for each in next(iter(sections)).blocks if isinstance(each, Lines) for line in each.lines)
    assert "No recorded difference" in told
    assert ("rerun noise" in told) == claimed


def test_the_family_of_a_comparison_has_its_number() -> None:
    twice = evolve(ROW, measure="agreement", same_as="as-expected")
    _, lines = shown(ROW, evolve(ROW, test="rubric"), twice)
    assert "Corrected for 2 tests (Holm, 5%)." in lines
    assert "Intervals are not adjusted" in lines


def test_a_comparison_of_many_rows_says_in_brief_what_is_shown() -> None:
    from jrh_compare.rendering import terminal

    worse = evolve(ROW, answer=Answer.WORSE, p=0.001, test="layout")
    rows = (worse, *(evolve(ROW, test=f"test{at}") for at in range(40)))
    comparison = comparison_of(rows)

    brief, whole = terminal(comparison), terminal(comparison, full=True)

    assert "a: worse on layout; no difference shown on 40 of 41 measures." in brief
    assert "test7" not in brief
    assert "40 more rows: --full." in brief
    assert all(f"test{at} " in whole for at in range(40))
    assert "a: worse on layout" in whole
