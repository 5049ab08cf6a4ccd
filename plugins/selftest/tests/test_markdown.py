"""The tables of coverage by design, and the page that holds them."""

from pathlib import Path

import pytest
from jrh_selftest.arrays import array_checks
from jrh_selftest.checks import record_checks
from jrh_selftest.findings import Study, absent, judge_alarms, judge_interval
from jrh_selftest.markdown import coverage_tables

PAGE = Path(__file__).parents[3] / "docs" / "statistics.md"


def found(where, name, hits, *, flags=()):
    studies = [Study(value=0.0, low=-1.0 if n < hits else 1.0, high=2.0, flags=flags) for n in range(2000)]
    return judge_interval(where, name, 0.0, studies)


def test_designs_stand_in_rows_and_measures_in_columns_with_what_is_flagged_in_parentheses():
    text = coverage_tables(
        [
            found("pointwise", "as-expected", 1900),
            found("pointwise", "kappa", 1700, flags=("few-events",)),
            found("near one", "as-expected", 1700),
            found("ordinal", "pearson", 1880),
            judge_interval("ordinal", "bias", 1.0, [Study(value=1.0, flags=("no-interval",))] * 40),
            found("raters: ordinal", "PABAK", 1910, flags=("few-events",)),
            found("arrays", "Brier score", 1890),
            absent("pairwise", "as-expected", "interval"),
            judge_alarms("null", "test", [True] * 5 + [False] * 95, None),
            judge_alarms("effect", "test", [True] * 90 + [False] * 10, 0.8),
        ]
    )

    assert "### Labels and pairs\n\n| design | as-expected | kappa |\n|---|---:|---:|\n" in text
    assert "| pointwise | 95.0 | (85.0) |\n| near one | **85.0** |  |\n" in text
    assert "| ordinal | 94.0 | (none) |" in text
    assert "| ordinal | 95.5\\* |" in text
    assert "| arrays | 94.5 |" in text
    assert "pairwise" not in text
    assert text.endswith("| null | test | 5.0 |  |\n| effect | test |  | 90.0 |\n")


def test_the_page_has_every_check_of_the_full_mode_and_none_that_fails():
    if not PAGE.exists():
        pytest.skip("docs/statistics.md is not part of this distribution")
    page = PAGE.read_text(encoding="utf-8")
    tables = page.split("<!-- jrh selftest --full --format markdown -->")[1].split("<!-- end -->")[0]
    measured, names = set(), []
    for line in tables.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| design"):
            names = cells[1:]
        elif line.startswith("| "):
            measured |= {(cells[0], name) for name, cell in zip(names, cells[1:], strict=False) if cell}

    wanted = {(check.world.name, check.measure) for check in record_checks(full=True)}
    wanted |= {(check.where.removeprefix("raters: "), check.name) for check in array_checks(full=True)}
    assert wanted <= measured
    assert "**" not in tables
