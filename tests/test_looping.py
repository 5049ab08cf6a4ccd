"""A test of all values fails for every value that fails, and names it."""

from __future__ import annotations

import inspect

import pytest
from support.looping import for_each


def test_every_value_that_fails_is_reported_and_named() -> None:
    @for_each([1, 2, 3, 4], name=lambda value: f"number {value}")
    def test_even(value: int) -> None:
        """Even."""
        assert value % 2 == 0, f"{value} is odd"

    with pytest.raises(ExceptionGroup, match="2 of 4 fail") as caught:
        test_even()
    assert [str(error).partition("\n")[0] for error in caught.value.exceptions] == ["1 is odd", "3 is odd"]
    assert [error.__notes__ for error in caught.value.exceptions] == [["of number 1"], ["of number 3"]]
    assert (test_even.__name__, test_even.__doc__) == ("test_even", "Even.")
    assert not inspect.signature(test_even).parameters


def test_nothing_to_check_is_a_failure() -> None:
    @for_each([])
    def test_none(value: object) -> None: ...

    with pytest.raises(AssertionError, match="nothing to check"):
        test_none()
