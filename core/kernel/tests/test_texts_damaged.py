"""Rows that a damaged page left behind are one message, whatever they hold."""

from __future__ import annotations

from contextlib import closing

import pytest
from jrh.errors import DamagedStoreError
from jrh.store.run_store import Store
from jrh.store.texts_table import TextsTable

READABLE = b"\x00"


@pytest.mark.parametrize("ids", [None, 7, b"\xff\x00", "", "{}", '["a"]', "[[1]]", "[999]", "[1.5]"])
def test_ids_of_texts_that_are_none_are_a_damaged_store(tmp_path, ids):
    store = Store.open(tmp_path, "trial")
    texts = TextsTable(store._database)
    try:
        with pytest.raises(DamagedStoreError, match=r"jrh salvage"):
            list(texts.unpack([(ids, READABLE)]))
        with pytest.raises(DamagedStoreError, match=r"jrh salvage"):
            texts.read_shared([("item", ids)])
    finally:
        store.close()


SHARED = "a text that many have " * 20
OWN = "a text that the item alone has " * 20


@pytest.mark.parametrize(
    "value",
    [
        {"a": OWN, "b": [SHARED, {"c": "short", "d": None}], "e": 0.5},
        {"a": OWN.upper() + "changed", "b": "\0", "c": "\0" + "7", "d": OWN},
        {"a": "\ud800" * 300, "b": 2**70, "c": "\0\ud800", "d": [[], {}, ""]},
        {"a": OWN + "!", "b": f"\0{OWN}"},
    ],
)
def test_values_with_and_without_the_texts_of_their_base_are_read_as_written(tmp_path, value):
    with closing(Store.open(tmp_path, "trial")) as store:
        texts = TextsTable(store._database)
        packer = texts.packer()
        packed = packer.pack(value, packer.share([SHARED]), packer.share([OWN]), value["b"])
        store._database.writer.flush(packer.statement)
        assert list(texts.unpack([packed])) == [value]


@pytest.mark.parametrize("size", [0, 300, 131_072, 131_073, 400_000])
def test_a_value_is_what_was_written_and_one_changed_byte_is_damage(tmp_path, size):
    long = "".join(chr(97 + place * place % 26) for place in range(size))
    value = {"id": '"fields":', "fields": {"é": f"{long} ß", "same": long}, "rest": None}
    store = Store.open(tmp_path, "trial")
    texts = TextsTable(store._database)
    try:
        packer = texts.packer()
        ids, blob = packer.pack(value, packer.share([long] if size else []))
        store._database.writer.flush(packer.statement)
        assert next(texts.unpack([(ids, blob)])) == value
        for place in range(len(blob)):
            changed = blob[:place] + bytes([blob[place] ^ 1]) + blob[place + 1 :]
            try:
                (found,) = texts.unpack([(ids, changed)])
            except DamagedStoreError:
                continue
            assert found == value
    finally:
        store.close()
