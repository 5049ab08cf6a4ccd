"""Tests of many like things in one item: every one is checked, and all that fail are reported together.

An item of pytest costs some milliseconds in every worker and in the process that hands them out. That is more than it
takes to read a file, and there are thousands of files, names and links to look at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any


def for_each(
    values: Iterable[Any], name: Callable[[Any], str] = str
) -> Callable[[Callable[[Any], None]], Callable[[], None]]:
    """Make a test of one value a test of all of them.

    Args:
        values: what is checked, one after the other.
        name: returns what a failure says it is about.
    """
    listed = list(values)

    def decorate(check: Callable[[Any], None]) -> Callable[[], None]:
        def check_all() -> None:
            assert listed, "there is nothing to check"
            failures = []
            for value in listed:
                try:
                    check(value)
                except Exception as error:
                    error.add_note(f"of {name(value)}")
                    failures.append(error)
            if failures:
                raise ExceptionGroup(f"{len(failures)} of {len(listed)} fail", failures)

        # Without `functools.wraps`, which would let pytest take the value for a fixture.
        for attribute in ("__name__", "__qualname__", "__module__", "__doc__"):
            setattr(check_all, attribute, getattr(check, attribute))
        return check_all

    return decorate
