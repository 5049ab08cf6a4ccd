"""The check, the report, the gate and the comparison: one interval and one answer per table."""

from studies.same_answers import answer_tables


def test_random_tables_have_one_interval_and_one_answer_everywhere() -> None:
    """12 tables; `python -m tests.studies.same_answers` does the same with 2,000."""
    answers = list(answer_tables(12, seed=32))
    assert [mistake for each in answers for mistake in each.mistakes()] == []
    # Otherwise tables that nothing can be said about would pass.
    assert {each.check for each in answers} >= {True, None}
    assert sum("gate" in each.ends for each in answers) >= 6
