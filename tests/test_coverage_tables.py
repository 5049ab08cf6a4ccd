"""The tables of coverage by design, and the page that holds them."""

import json
from pathlib import Path
from types import ModuleType

import attrs
from jrh_selftest.findings import Finding, Study, Verdict, absent
from jrh_selftest.judging import Limits, judge_alarms, judge_interval
from jrh_selftest.studies import Plan, build_parts
from support.scripts import load_script

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "statistics.md"


def _load() -> ModuleType:
    return load_script(ROOT / "tools" / "coverage_tables.py")


tables = _load()


def found(where: str, name: str, hits: int, *, flags: tuple[str, ...] = ()) -> Finding:
    missed = [(1.0, 2.0), (-2.0, -1.0)]
    ends = [(-1.0, 1.0) if n < hits else missed[n % 2] for n in range(2000)]
    studies = [Study(value=0.0, low=low, high=high, flags=flags) for low, high in ends]
    return judge_interval(where, name, 0.0, studies, Limits())


def test_designs_stand_in_rows_and_measures_in_columns_with_what_is_flagged_in_parentheses() -> None:
    text = tables.coverage_tables(
        [
            found("pointwise", "as-expected", 1900),
            found("pointwise", "self-kappa", 1700, flags=("few-events",)),
            found("near one", "as-expected", 1700),
            found("ordinal", "pearson", 1880),
            judge_interval("ordinal", "bias", 1.0, [Study(value=1.0, flags=("no-interval",))] * 40, Limits()),
            found("raters: ordinal", "PABAK", 1910, flags=("few-events",)),
            found("arrays", "Brier score", 1890),
            absent("pairwise", "as-expected", "interval"),
            judge_alarms("null", "test", [True] * 5 + [False] * 95, None),
            judge_alarms("effect", "test", [True] * 90 + [False] * 10, 0.8),
        ]
    )

    assert "### Labels and pairs\n\n| design | as-expected | self-kappa |\n|---|---:|---:|\n" in text
    assert "| pointwise | 95.0 | (85.0) |\n| near one | **85.0** |  |\n" in text
    assert "| ordinal | 94.0 | (none) |" in text
    assert "| ordinal | 95.5\\* |" in text
    assert "| arrays | 94.5 |" in text
    assert "pairwise" not in text
    assert "| null | test | 100 | 5.0 | 5.0 |  |  |\n| effect | test | 100 |  |  | 80.0 | 90.0 |\n" in text
    assert "| near one | as-expected | FAIL | covers too rarely: 85.0% of 2000 unflagged; " in text
    assert "| near one | as-expected | 2000 | 85.0 | 0.0 | 2000 | 85.0 | 7.5 | 7.5 |  | FAIL |" in text
    assert "| pointwise | self-kappa | 2000 | 85.0 | 100.0 | 0 |  |  |  |  | flagged |" in text


def test_the_widths_of_designs_with_repeats_stand_in_a_table_of_their_own() -> None:
    """Alternating estimates have a standard deviation of 1: the width is that of the interval."""
    spread = [
        Study(value=value, low=value - 2.4, high=value + 2.4, flags=flags)
        for flags in ((), ("few-events",))
        for value in (-1.0, 1.0) * 500
    ]
    rows = [
        judge_interval("two", "kappa", 0.0, spread[:1000], Limits(clusters=10_000)),
        judge_interval("one", "kappa", 0.0, spread[:1000], Limits()),
        judge_interval("flagged", "kappa", 0.0, spread[1000:], Limits(clusters=10_000)),
    ]
    text = tables.coverage_tables(rows).split("### Widths in designs with repeats\n\n")[1].split("\n\n")[0]
    assert text.splitlines()[2:] == ["| kappa | 1 | 1.22 | 1.22 | 1.22 | two | two |"]


def test_the_page_has_every_check_of_the_full_mode_and_a_reason_for_every_failure() -> None:
    """A row that fails is on the page as a failure, with what is outside and why it is not mended."""
    shown = PAGE.read_text(encoding="utf-8").split(
        "<!-- jrh selftest --full --format json | python tools/coverage_tables.py -->"
    )[1]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in shown.split("<!-- end -->")[0].splitlines()
    ]
    measured = {(row[0].replace("\\", ""), row[1]) for row in rows if len(row) > 2}
    plan = Plan(studies=1, full=True, metrics={"any": None})
    assert {(check.where, check.name) for part in build_parts(plan) for check in part.checks} <= measured
    failed = {(row[0], row[1]) for row in rows if row[-1] == Verdict.FAIL.value}
    explained = {(row[0], row[1]) for row in rows if len(row) == 5 and row[2] == Verdict.FAIL.value and row[4]}
    assert failed <= explained


def test_the_rows_that_the_command_prints_as_json_are_read_again() -> None:
    rows = [found("pointwise", "as-expected", 1900), absent("pairwise", "as-expected", "interval", "no metric")]
    printed = json.dumps([{**attrs.asdict(row), "verdict": row.verdict.value} for row in rows])
    assert tables.read_findings(printed) == rows
