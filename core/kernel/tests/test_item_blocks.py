"""Many items wait in a file and in the store, not in memory, and are the same items."""

from __future__ import annotations

import sqlite3
import tracemalloc
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from jrh.hashing import content_id
from jrh.places import RUN_FILE as FILENAME
from jrh.running.stages.load import choose
from jrh.store.cases_table import id_of_list, items_id
from jrh.store.run_store import Store
from jrh.store.temporary import spool_items
from jrh.suite.definition import Sample
from jrh.values.clusters import ItemBlocks, clusters_of
from jrh.values.items import Item

MANY = 1000


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a block be of three items, of which no more than four are held."""
    for module in ("store.temporary", "store.cases_table"):
        monkeypatch.setattr(f"jrh.{module}.IN_MEMORY", 4)
    for module in ("values.clusters", "store.temporary", "store.cases_table"):
        monkeypatch.setattr(f"jrh.{module}.BLOCK", 3)


def made(count: int) -> Iterator[Item]:
    for place in range(count):
        text = f"It is {place // 2}. " * (1 + place % 40)
        yield Item(id=f"i{place}", fields={"response": text, "odd": "\ud800\n"}, gold="YES", stratum=str(place % 3))


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("count", [5, 6, 7, 13])
def test_items_of_a_file_are_a_sequence_like_a_tuple_of_them(count: int) -> None:
    plain, found = tuple(made(count)), spool_items(made(count))
    assert isinstance(found, ItemBlocks)
    assert (found, len(found), list(found)) == (plain, count, list(plain))
    assert [found[place] for place in range(-count, count)] == [*plain, *plain]
    assert list(zip(found, reversed(found), strict=True)) == list(zip(plain, reversed(plain), strict=True))
    assert all(list(found[start:]) == list(plain[start:]) for start in range(count + 2))
    assert found != plain[:-1]
    assert found != (*plain[:-1], plain[0])
    with pytest.raises(IndexError):
        found[count]


@pytest.mark.usefixtures("small")
def test_few_items_are_held() -> None:
    assert spool_items(made(4)) == tuple(made(4))


@pytest.mark.usefixtures("small")
def test_items_of_a_file_are_stored_and_read_again_with_the_same_ids(tmp_path: Path) -> None:
    plain = tuple(made(13))
    store = Store.open(tmp_path, "essays")
    try:
        ids = store.items.write({"task": spool_items(plain), "other": plain[:2]})
        assert ids == {"task": items_id(plain), "other": items_id(plain[:2])}
        assert store.items.read() == {"task": plain, "other": plain[:2]}
        assert isinstance(store.items.read()["task"], ItemBlocks)
        assert _stored_clusters(tmp_path) == [
            (task, item.id, clusters_of(items)[item.id])
            for task, items in (("task", plain), ("other", plain[:2]))
            for item in items
        ]
        fewer: Sequence[Item] = plain[3:]
        store.items.write({"task": fewer})
        assert store.items.read() == {"task": fewer}
    finally:
        store.close()


def _stored_clusters(run_dir: Path) -> list[tuple[str, str, str]]:
    with closing(sqlite3.connect(run_dir / FILENAME)) as file:
        return file.execute("SELECT task, id, cluster FROM items ORDER BY task DESC, position").fetchall()


@pytest.mark.usefixtures("small")
def test_clusters_of_items_in_a_file_are_those_of_items_in_memory() -> None:
    """By group, by text, and by one by way of the other."""
    groups = {3: "g", 9: "g", 12: "i15", 16: "h", 17: "h"}
    plain = tuple(
        Item(id=f"i{place}", fields={"response": f"{place // 2}"}, group=groups.get(place, "")) for place in range(20)
    )
    wanted, found = clusters_of(plain), clusters_of(spool_items(plain))
    assert {item.id: found[item.id] for item in plain} == wanted
    assert wanted["i2"] == wanted["i9"] == "i2"
    assert wanted["i12"] == wanted["i14"] == "i12"
    apart = tuple(Item(id=f"i{place}", fields={"response": f"{place}"}) for place in range(20))
    assert [clusters_of(spool_items(apart))[item.id] for item in apart] == [item.id for item in apart]
    assert len(clusters_of(spool_items(apart))) == 0


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("stratify", [True, False, "odd"])
def test_a_sample_of_items_in_a_file_is_that_of_items_in_memory(
    stratify: bool | str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample = Sample(n=7, seed=3, stratify=stratify)
    found = choose(spool_items(made(20)), sample, 6)
    assert isinstance(found, ItemBlocks)
    monkeypatch.setattr("jrh.store.temporary.IN_MEMORY", 100)
    assert found == choose(tuple(made(20)), sample, 6)
    assert len({item.stratum for item in found}) == (1 if stratify == "odd" else 3)


def test_the_id_of_a_long_list_is_that_of_the_list() -> None:
    for texts in ([], ["a"], ["a", '"\ud800é', ""]):
        assert id_of_list(iter(texts)) == content_id(texts)
        assert id_of_list(iter(texts), [("judge", "id")], 3) == content_id(texts, [("judge", "id")], 3)


def test_reading_clustering_and_storing_items_takes_no_memory_for_their_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A text has 3,200 characters; the items, their JSON and their rows were all held at once."""
    monkeypatch.setattr("jrh.store.temporary.IN_MEMORY", 50)
    for module in ("values.clusters", "store.temporary", "store.cases_table"):
        monkeypatch.setattr(f"jrh.{module}.BLOCK", 50)
    store = Store.open(tmp_path, "essays")

    def work() -> int:
        items = spool_items(
            Item(id=f"i{place}", fields={"response": f"{place} and so on. " * 200}) for place in range(MANY)
        )
        return len(store.items.write({"task": items}))

    tracemalloc.start()
    work()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    store.close()
    assert peak / MANY < 1500
