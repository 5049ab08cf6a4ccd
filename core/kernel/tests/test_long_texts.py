"""Long texts are worked on fewer at a time, so that memory follows their length and not their number."""

from __future__ import annotations

from jrh import Item
from jrh.values import clusters
from jrh.values.clusters import in_small_parts, text_size


def item(number, size):
    return Item(id=str(number), fields={"request": "", "transcript": [{"role": "", "content": "x" * size}] * 2})


def test_the_size_of_a_value_is_that_of_all_its_texts():
    assert text_size({"a": "four", "b": [{"c": "three", "d": 7, "e": None}], "f": True}) == 9


def test_parts_hold_so_many_items_and_so_much_text_and_lose_none(monkeypatch):
    monkeypatch.setattr(clusters, "TEXT_AT_ONCE", 100)
    items = [item(n, size) for n, size in enumerate([10] * 7 + [500] + [10] * 2 + [0] * 9)]
    parts = [list(part) for part in in_small_parts(items, 6)]
    assert [each for part in parts for each in part] == items
    lengths = [sum(len(m["content"]) for one in part for m in one.fields["transcript"]) for part in parts]
    assert all(length <= 100 or len(part) == 1 for part, length in zip(parts, lengths, strict=True))
    assert [len(part) for part in parts] == [4 + 1, 2, 1, 6, 5]
    assert list(in_small_parts([], 6)) == []
