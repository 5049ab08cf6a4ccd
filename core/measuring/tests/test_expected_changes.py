"""In which tests verdicts may change, and in which a judge is compared with itself alone."""

import pytest
from jrh import RecordTable
from jrh_measuring import change_tests, steady_tests
from jrh_testing import empty_report

ROWS = (
    ("task", "reference", "equals"),
    ("task", "changed", "changes"),
    ("task", "stated", "equals"),
    ("task", "not above", "not_above"),
    ("task", "not below", "not_below"),
    ("task", "same", "same"),
    ("task", "mixed", "same"),
    ("task", "mixed", "changes"),
    ("task", "nothing", None),
    ("other", "changed", "same"),
)


@pytest.fixture
def run():
    """Return records with a test of every expectation."""
    columns = zip(*ROWS, strict=True)
    names = ("task", "test", "expectation")
    return RecordTable.from_columns({name: list(column) for name, column in zip(names, columns, strict=True)})


def test_verdicts_may_change_where_some_case_expects_more_than_the_same(run) -> None:
    assert change_tests(run) == {"task": {"changed", "stated", "not above", "not below", "mixed"}}


def test_the_other_tests_compare_a_judge_with_itself_alone(run) -> None:
    assert steady_tests(run, "task") == {"same", "nothing"}
    assert steady_tests(run, "other") == {"changed"}
    assert steady_tests(run, "no task of the run") == set()


def test_nothing_is_claimed_where_the_records_do_not_tell(run) -> None:
    for each in (RecordTable.from_columns({"task": ["task"], "test": ["same"]}), empty_report().records):
        assert change_tests(each) == {}
        assert steady_tests(each, "task") == set()
