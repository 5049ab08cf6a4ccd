"""What a record and a listed case take while they are measured and listed."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from jrh.running.stages.stored_records import read_records
from jrh.store.run_store import Store
from jrh.store.trials_table import TrialRow
from jrh.values.listed_cases import CaseRow
from jrh.values.records import RecordTable
from jrh_testing import sample_records

MANY = 5000


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Give a store of many records, each with its own case and five to an item."""
    store = Store.open(tmp_path, "essays")
    names = [f"{place:032x}" for place in range(MANY)]
    store.trials.replace(
        "digest", [TrialRow(place, name, f"case{name}", "judge", 0, place) for place, name in enumerate(names)]
    )
    sample = sample_records(missing=0.0)[0]
    made = [
        attrs.evolve(sample, trial_id=name, case_id=f"case{name}", item_id=f"item-{place // 5}", cluster="")
        for place, name in enumerate(names)
    ]
    store.records.put([(each, None, None) for each in made])
    store.flush()
    yield store
    store.close()


def traced(work: Callable[[], object]) -> tuple[float, float]:
    """Return the bytes per record that are kept, and those at the peak."""
    tracemalloc.start()
    kept = work()
    now, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept is None or kept
    return now / MANY, peak / MANY


def test_a_record_takes_its_two_ids_and_a_hundred_bytes_and_no_object_per_value(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Columns of objects took 1,100 bytes at the peak and kept 410."""
    monkeypatch.setattr("jrh.store.database.CHUNK", 100)  # rows as they come from SQLite: a constant of large runs
    ids = 2 * len(f"{0:032x}") + 2 * 57  # with what Python adds to a text, and its place in a tuple
    kept, peak = traced(lambda: read_records(store))
    assert kept < ids + 120
    assert peak < 700  # with the index of the ids while they are read


def test_listed_cases_are_written_as_they_are_made(store: Store) -> None:
    """All rows together took 400 bytes each before the first one was written."""

    def rows() -> Iterator[CaseRow]:
        for place in range(MANY):
            text = f"{place:032x}"
            yield CaseRow(
                place, "task", "test", "", "", "judge", text, text, "", 1, "YES", "YES", 0, "", None, None, None
            )

    _, peak = traced(lambda: store.case_rows.replace("digest", rows()))
    assert peak < 100
    (row,) = store.case_rows.of_case(f"{7:032x}")
    assert row.position == 7
    assert store.case_rows.choices("task").judges == store.case_rows.choices("").judges == ("judge",)


@pytest.mark.parametrize("number", [1.5, None])
def test_a_column_of_one_number_is_a_column_like_any_other(number: float | None) -> None:
    columns: dict[str, list[Any]] = {"judge": ["a", "b", "a"], "cost": [number] * 3}
    table = RecordTable.from_slices([columns, columns])
    wanted = np.full(6, np.nan if number is None else number)
    for rows in (np.array([True, False, True, True, False, False]), np.array([5, 0, 0]), np.array([], dtype=np.int64)):
        chosen = table.where(rows)
        np.testing.assert_array_equal(chosen.number("cost"), wanted[rows])
        assert len(chosen) == len(wanted[rows]) == len(chosen.text("judge"))
    np.testing.assert_array_equal(table.number("cost"), wanted)
