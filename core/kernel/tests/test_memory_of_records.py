"""What a record and a listed case take while they are measured and listed."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from jrh.running.stages.stored import read_records
from jrh.store.records_table import TrialRow
from jrh.store.run_store import Store
from jrh.values.column_file import PackedIds
from jrh.values.records import Categorical, RecordTable
from jrh_review.listed_cases import TABLE, CaseRow, choices, rows_of
from jrh_testing import loop_over, sample_records

MANY = 5000


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Give a store of many records, each with its own case and five to an item."""
    store = Store.open(tmp_path, "essays")
    names = [f"{place:032x}" for place in range(MANY)]
    store.trials.replace(
        "digest", [TrialRow(place, name, f"ca5e{name[4:]}", "judge", 0, place) for place, name in enumerate(names)]
    )
    sample = sample_records(missing=0.0)[0]
    made = [
        attrs.evolve(sample, trial_id=name, case_id=f"ca5e{name[4:]}", item_id=f"item-{place // 5}", cluster="")
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


def test_a_record_takes_two_hundred_bytes_with_its_ids_and_no_object_per_value(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Columns of objects took 1,100 bytes at the peak and kept 410; ids as texts took 180 of 300."""
    monkeypatch.setattr("jrh.store.database.CHUNK", 100)  # rows as they come from SQLite: a constant of large runs
    kept, peak = traced(lambda: read_records(store))
    assert kept < 120
    assert peak < 400


def test_listed_cases_are_written_as_they_are_made(store: Store) -> None:
    """All rows together took 400 bytes each before the first one was written."""

    def rows() -> Iterator[CaseRow]:
        for place in range(MANY):
            text = f"{place:032x}"
            yield CaseRow(
                place, "task", "test", "", "", "judge", text, text, "", 1, "YES", "YES", 0, "", None, None, None
            )

    _, peak = traced(lambda: store.table(TABLE).replace("digest", rows()))
    assert peak < 100
    (row,) = rows_of(store, case_id=f"{7:032x}")
    assert row.position == 7
    assert choices(store, "task")["judge"] == choices(store, "")["judge"] == ["judge"]


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


def test_ids_are_packed_and_read_as_the_texts_they_are(store: Store) -> None:
    records = read_records(store)
    names = [f"{place:032x}" for place in range(MANY)]
    assert records.text("trial_id") == names
    assert isinstance(records.categories("trial_id"), PackedIds)
    assert records.where(np.array([7, 3])).text("trial_id") == [names[7], names[3]]


@loop_over("odd", ["A" * 32, "a" * 31, "", " " * 32, "ü" * 32, None])
def test_a_column_with_one_other_value_among_its_ids_is_a_column_of_texts(odd: str | None) -> None:
    ids = [f"{place * 7919:032x}" for place in (5, 1, 5, 3)]
    for slices in ([ids, [odd, ids[0]]], [[odd, *ids], ids], [ids, ids]):
        values = [value for part in slices for value in part]
        table = RecordTable.from_slices([{"case_id": []}, *({"case_id": part} for part in slices)])
        assert table.text("case_id") == values
        assert list(table.categories("case_id")) == [each for each in dict.fromkeys(values) if each is not None]


def test_packed_ids_are_sorted_as_texts_are_with_the_empty_one_first() -> None:
    ids = [f"{place * 2**61 + place:032x}" for place in (9, 200, 1, 30, 2)]
    column = Categorical.of(ids)
    assert isinstance(column.categories, PackedIds)
    names, place = column.categories.sort()
    assert list(names) == ["", *sorted(ids)]
    assert names[-1] == max(ids)
    assert names[1:3] == sorted(ids)[:2]
    assert [names[code] for code in place[:-1]] == ids
    assert names[place[-1]] == ""
    assert names.index("") == 0
    assert names.index(ids[0]) == sorted(ids).index(ids[0]) + 1
    with pytest.raises(ValueError, match="not in the sequence"):
        column.categories.index("")
