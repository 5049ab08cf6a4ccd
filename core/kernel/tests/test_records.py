"""Records as columns."""

from __future__ import annotations

import numpy as np
import pytest
from attrs import asdict, evolve, fields
from hypothesis import given
from hypothesis import strategies as st
from jrh.values.column_file import PackedIds
from jrh.values.records import Categorical, RecordTable
from jrh.values.verdicts import COLUMNS, NUMERIC, Record, Status
from jrh_testing import loop_over, sample_records

ROWS = sample_records()
TABLE = RecordTable.from_records(ROWS)


@given(st.lists(st.one_of(st.none(), st.sampled_from(["", "a", "B", "ü", "None"]))))
def test_coded_text_is_the_text_again(values: list[str | None]) -> None:
    coded = Categorical.of(values)
    assert coded.values() == values
    assert coded.codes.shape == (len(values),)
    assert len(set(coded.categories)) == len(coded.categories)
    assert None not in coded.categories


def test_categories_come_in_the_order_of_first_appearance_and_none_has_no_category() -> None:
    coded = Categorical.of(["b", None, "a", "b"])
    assert (coded.categories, coded.codes.tolist()) == (("b", "a"), [0, -1, 1, 0])
    assert coded.take(np.array([2, 1])).values() == ["a", None]


def test_a_table_has_the_columns_of_a_record() -> None:
    assert TABLE.columns == COLUMNS == tuple(field.name for field in fields(Record))
    assert len(TABLE) == len(ROWS)


def test_numbers_are_numbers_and_everything_else_is_text() -> None:
    for name in COLUMNS:
        wanted = [asdict(row)[name] for row in ROWS]
        if name in NUMERIC:
            found = [None if np.isnan(value) else value for value in TABLE.number(name)]
        else:
            found = TABLE.text(name)
            wanted = [value.value if isinstance(value, Status) else value for value in wanted]
        assert found == wanted, name


def test_an_unknown_number_is_nan_and_not_nothing() -> None:
    rows = [evolve(ROWS[0], cost=None), evolve(ROWS[0], cost=0.0)]
    cost = RecordTable.from_records(rows).number("cost")
    assert np.isnan(cost[0])
    assert cost[1] == 0.0


def test_rows_are_chosen_by_mask_or_position_and_keep_together() -> None:
    ok = TABLE.equals("status", "ok")
    assert ok.tolist() == [row.status is Status.OK for row in ROWS]
    chosen = TABLE.where(ok)
    assert chosen.text("trial_id") == [row.trial_id for row in ROWS if row.status is Status.OK]
    assert chosen.number("strength").tolist() == [row.strength for row in ROWS if row.status is Status.OK]
    assert TABLE.where(np.array([3, 1])).text("trial_id") == [ROWS[3].trial_id, ROWS[1].trial_id]


def test_a_value_that_does_not_occur_equals_nothing_not_even_none() -> None:
    assert not TABLE.equals("status", "never").any()
    assert not TABLE.equals("gold", "None").any()
    assert not TABLE.equals("gold", "").any()


def test_a_split_covers_every_row_once_in_the_order_of_first_appearance() -> None:
    cells = list(TABLE.split("judge", "test"))
    assert [key for key, _ in cells] == [
        ("careful", "reference"),
        ("careful", "format"),
        ("careless", "reference"),
        ("careless", "format"),
    ]
    assert sum(len(rows) for _, rows in cells) == len(TABLE)
    for (judge, test), rows in cells:
        assert rows.text("trial_id") == [row.trial_id for row in ROWS if (row.judge, row.test) == (judge, test)]


def test_none_is_a_cell_of_its_own_with_an_empty_name() -> None:
    cells = {key: len(rows) for key, rows in TABLE.split("gold")}
    assert cells == {
        ("YES",): sum(row.gold == "YES" for row in ROWS),
        ("NO",): sum(row.gold == "NO" for row in ROWS),
        ("",): sum(row.gold is None for row in ROWS),
    }


def test_categories_that_no_row_has_any_more_make_no_cell() -> None:
    only = TABLE.where(TABLE.equals("judge", "careless"))
    assert [key for key, _ in only.split("judge")] == [("careless",)]


def test_an_empty_table_has_columns_and_no_cells() -> None:
    empty = RecordTable.from_records([])
    assert (len(empty), empty.columns, list(empty.split("judge"))) == (0, COLUMNS, [])
    assert len(RecordTable({}, {})) == 0


def test_a_table_may_leave_out_columns_its_source_does_not_have() -> None:
    table = RecordTable.from_columns({"judge": ["a", "b"], "status": [Status.OK.value, "timeout"], "cost": [1, None]})
    assert table.columns == ("judge", "status", "cost")
    assert len(table) == 2
    with pytest.raises(KeyError):
        table.text("task")


@loop_over(
    "numbers",
    [
        [1.0, 2.0, 3.0],
        [0.0, -1.0, 127.0, 128.0, 300.0],
        [1e300, 1.0],
        [0.1, 0.2],
        [0.5, None, 2.0],
        [float("inf"), -float("inf"), 0.25],
        [float(2**24), 2.0**53, 1.0],
        [None, None],
        [7.0] * 5,
    ],
)
def test_numbers_in_few_bytes_are_the_same_numbers(numbers: list[float | None]) -> None:
    """Every slice has bytes of its own: together they hold each number exactly."""
    wanted = np.array([*numbers, 0.3, 5.0, *numbers, *numbers], dtype=np.float64)
    table = RecordTable.from_slices([{"cost": [*numbers, 0.3]}, {"cost": [5.0]}, {"cost": numbers}, {"cost": numbers}])
    assert table.number("cost").dtype == np.float64
    assert np.array_equal(table.number("cost"), wanted, equal_nan=True)
    assert np.array_equal(table.where(np.arange(3)).number("cost"), wanted[:3], equal_nan=True)
    alone = RecordTable.from_columns({"cost": numbers}).number("cost")
    assert np.array_equal(alone, np.array(numbers, dtype=np.float64), equal_nan=True)
    assert len(alone) == len(numbers)


@pytest.mark.parametrize("distinct", [200_000, 90_000, 3])
def test_a_long_column_of_ids_has_the_codes_and_the_order_of_its_texts(distinct: int) -> None:
    """Some ids differ only in their second half, and some end in zeros, which NumPy drops of bytes."""
    draw = np.random.default_rng(distinct)
    names = [bytes(row).hex() for row in draw.integers(0, 256, (distinct, 16), dtype=np.uint8)]
    names[1:3] = [f"{names[0][:16]}{'0' * 15}1", f"{names[0][:16]}{'0' * 16}"]
    texts = [*names, *(names[place] for place in draw.integers(0, distinct, 200_000 - distinct))]
    draw.shuffle(texts)
    made = RecordTable.from_slices({"trial_id": texts[start : start + 999]} for start in range(0, len(texts), 999))
    expected = list(dict.fromkeys(texts))
    ids = made.categories("trial_id")
    assert isinstance(ids, PackedIds)
    assert list(ids) == expected
    assert [expected[code] for code in made.codes("trial_id")] == texts
    ordered, place = ids.sort()
    assert list(ordered) == ["", *sorted(expected)]
    assert [ordered[each] for each in place[:-1][:999]] == expected[:999]
