"""Run one test over the rows of a table, and report every row that fails."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any, Final

import pytest

_LONGEST: Final = 60
"""Characters of the name of a row."""
_EMPTY: Final = "the table has no rows: nothing is tested"


def loop_over(
    names: str | Sequence[str], rows: Iterable[Any], *, ids: Sequence[str] | Callable[[Any], object] | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Run a test once per row, in one item: `pytest.mark.parametrize` for rows that take no time.

    Every worker collects and reports each item, which costs more (3 ms) than most rows of a table take. All rows run,
    and each that fails is reported as a subtest of pytest's. A row that passes is not: a report costs as much as the
    row. Fixtures are made once, for all rows: a test that leaves something in one, such as a file in `tmp_path`, stays
    with `pytest.mark.parametrize`.

    Args:
        names: the arguments that a row gives, separated by commas or in a sequence.
        rows: a value per name, or the value alone where there is one name; `pytest.param` names a row.
        ids: the names of the rows, or what makes one from a value.

    Raises:
        ValueError: a row has more or fewer values than there are names.
    """
    arguments = tuple(name.strip() for name in names.split(",")) if isinstance(names, str) else tuple(names)
    table = [_read_row(arguments, row, ids, number) for number, row in enumerate(rows)]

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        # Of two tables, one above the other, every pair of rows is a row, as with `parametrize`.
        once, inner = getattr(test, "looped", (test, [("", {})]))
        pairs = [
            (f"{name}-{outer}" if once is not test else outer, {**values, **more})
            for outer, more in table
            for name, values in inner
        ]
        if inspect.iscoroutinefunction(once):

            @wraps(once)
            async def run(*args: Any, subtests: pytest.Subtests, **fixtures: Any) -> None:
                assert pairs, _EMPTY
                for name, values in pairs:
                    try:
                        await once(*args, **fixtures, **values)
                    except BaseException:  # a skip is no Exception
                        with subtests.test(name):
                            raise
        else:

            @wraps(once)
            def run(*args: Any, subtests: pytest.Subtests, **fixtures: Any) -> None:
                assert pairs, _EMPTY
                for name, values in pairs:
                    try:
                        once(*args, **fixtures, **values)
                    except BaseException:  # a skip is no Exception
                        with subtests.test(name):
                            raise

        # pytest reads which fixtures to make from the signature, and would follow `__wrapped__` to that of the test.
        signature = inspect.signature(test)
        fixtures = [
            parameter for name, parameter in signature.parameters.items() if name not in {*arguments, "subtests"}
        ]
        fixtures.append(inspect.Parameter("subtests", inspect.Parameter.KEYWORD_ONLY))
        vars(run).update(looped=(once, pairs), __signature__=signature.replace(parameters=fixtures))
        return run

    return decorate


def _read_row(
    arguments: tuple[str, ...], row: Any, ids: Sequence[str] | Callable[[Any], object] | None, number: int
) -> tuple[str, dict[str, Any]]:
    """Return how a row is named where it fails, and what the test is called with."""
    has_name = isinstance(row, type(pytest.param()))
    values = tuple(row.values) if has_name else (row,) if len(arguments) == 1 else tuple(row)
    if len(values) != len(arguments):
        raise ValueError(f"row {number} of the table has {len(values)} values for {len(arguments)} names")
    if has_name and row.id is not None:
        parts = [row.id]
    elif callable(ids):
        parts = [value if (name := ids(value)) is None else name for value in values]
    else:
        parts = [ids[number]] if ids else list(values)
    name = "-".join(part if isinstance(part, str) else repr(part) for part in parts)
    # Rows are megabytes and broken characters too, which no terminal shows and no worker can send.
    return name[:_LONGEST].encode("unicode_escape").decode("ascii"), dict(zip(arguments, values, strict=True))
