"""Replies shared between runs."""

from __future__ import annotations

import sqlite3
import stat
from pathlib import Path

import pytest
from jrh.places import cache_directory
from jrh.store.cache import FILENAME, Cache


def test_a_reply_is_there_for_the_next_run(tmp_path: Path) -> None:
    cache = Cache.open(tmp_path)
    cache.put("key", "first")
    cache.close()
    again = Cache.open(tmp_path)
    assert again.get("key") == "first"
    assert again.get("another key") is None
    again.close()


def test_an_earlier_reply_stays(tmp_path: Path) -> None:
    cache = Cache.open(tmp_path)
    cache.put("key", "first")
    cache.put("key", "second")
    cache.close()
    again = Cache.open(tmp_path)
    assert again.get("key") == "first"
    again.close()


def test_two_runs_use_it_at_once(tmp_path: Path) -> None:
    one, two = Cache.open(tmp_path), Cache.open(tmp_path)
    one.put("a", "from one")
    two.put("b", "from two")
    one.close()
    two.close()
    both = Cache.open(tmp_path)
    assert (both.get("a"), both.get("b")) == ("from one", "from two")
    both.close()


def test_only_its_owner_may_read_it(tmp_path: Path) -> None:
    Cache.open(tmp_path / "cache").close()
    assert stat.S_IMODE((tmp_path / "cache").stat().st_mode) == 0o700


def test_the_environment_names_the_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JRH_CACHE_DIR", str(tmp_path / "here"))
    assert cache_directory() == tmp_path / "here"
    monkeypatch.setenv("JRH_CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    assert cache_directory().name == "jrh"


def test_a_cache_that_is_no_database_cannot_be_opened(tmp_path: Path) -> None:
    (tmp_path / FILENAME).write_text("not a database " * 100)
    with pytest.raises(sqlite3.DatabaseError):
        Cache.open(tmp_path)


def test_a_cache_that_breaks_under_way_knows_nothing(tmp_path: Path) -> None:
    cache = Cache.open(tmp_path)
    cache.put("key", "reply")
    other = sqlite3.connect(tmp_path / FILENAME, timeout=30)
    other.execute("DROP TABLE replies")
    other.commit()
    other.close()
    assert cache.get("key") is None
    cache.close()
