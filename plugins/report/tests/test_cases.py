"""The section on what became of the drafts, for somebody who sees such a report for the first time."""

from attrs import evolve
from jrh_report import tables


def fate(report, **changes):
    line = evolve(report.attrition[0], **{"rejected": {}, "skipped": {}, **changes})
    table = tables.attrition(evolve(report, attrition=(line,), costs=()))
    return table.rows[0][-1]


def test_the_commonest_reasons_are_named_and_the_others_counted(report) -> None:
    skipped = {"a": 1, "b": 30, "c": 14, "d": 14, "e": 2}
    assert fate(report, skipped=skipped) == "skipped: b (30), c (14), d (14), 2 other reasons (3)"


def test_four_reasons_are_all_named(report) -> None:
    assert fate(report, skipped={"a": 4, "b": 3, "c": 2, "d": 1}) == "skipped: a (4), b (3), c (2), d (1)"


def test_a_test_that_made_nothing_of_a_task_says_so(report) -> None:
    assert fate(report, drafted=0, kept=0) == "no cases: the perturber returned no draft"
    assert fate(report, drafted=0, kept=0, applies=False) == "no cases: the test does not apply to this task"
    assert fate(report, drafted=2, kept=0, rejected={"a": 2}) == "no cases: 2 of 2 drafts rejected: a"
    assert fate(report, drafted=0, kept=0, made=False) == "not drafted yet"
    assert fate(report, drafted=3, kept=3) == ""


def test_a_test_that_does_not_apply_or_was_not_reached_has_no_row_of_its_own(report) -> None:
    line = evolve(report.attrition[0], drafted=0, kept=0, rejected={}, skipped={})
    for changes in ({"applies": False}, {"made": False}):
        assert not tables.empty_tests(evolve(report, attrition=(evolve(line, **changes),)), line.task)
    assert tables.empty_tests(evolve(report, attrition=(line,)), line.task) == [
        ("format", "no cases: the perturber returned no draft")
    ]


def test_a_run_without_drafts_has_no_table(report) -> None:
    assert tables.attrition(evolve(report, attrition=())).rows == ()
    assert "Cases" not in [table.title for table in tables.run_tables(evolve(report, attrition=()))]


def test_the_words_of_the_section_are_explained_in_file_and_terminal(render, report) -> None:
    for document in (render("markdown", report), render("terminal", report, full=True)):
        assert "A draft that no validator rejects becomes a case" in " ".join(document.split())
