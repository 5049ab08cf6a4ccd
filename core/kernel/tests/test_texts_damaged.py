"""Rows that a damaged page left behind are one message, whatever they hold."""

from __future__ import annotations

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
        with pytest.raises(DamagedStoreError, match=r"--salvage"):
            list(texts.unpacked([(ids, READABLE)]))
        with pytest.raises(DamagedStoreError, match=r"--salvage"):
            texts.shared([("item", ids)])
    finally:
        store.close()
