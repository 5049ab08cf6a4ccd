"""Queries: read-only, with parameters, and the password is nowhere."""

from __future__ import annotations

import sqlite3
import traceback
from pathlib import Path
from typing import ClassVar

import jrh_sources.plugin
import pytest
from jrh import JrhError, Scale, Task
from jrh_testing import DataSourceContract, build

sqlalchemy = pytest.importorskip("sqlalchemy", reason="the extra `sql` is not installed")

YES_NO = Task(name="t", scale=Scale.of_labels("YES", "NO"))
COLUMNS = {"id": "key", "response": "answer", "label": "gold"}
PASSWORD = "pa55-word-of-mine"


def _database() -> bytes:
    with sqlite3.connect(":memory:") as database:
        database.execute("CREATE TABLE t (q TEXT, response TEXT, label TEXT)")
        database.execute("INSERT INTO t VALUES ('1+1?', '2', 'YES'), ('2+2?', '5', NULL)")
        database.commit()
        return database.serialize()


class TestSql(DataSourceContract):
    plugin = jrh_sources.plugin
    component = "sql"
    files: ClassVar = {"d.db": _database()}
    options: ClassVar = {"url": "sqlite:///d.db", "query": "SELECT * FROM t", "columns": {"request": "q"}}
    required_options = ("query",)
    task = YES_NO


@pytest.fixture
def base(tmp_path: Path) -> Path:
    with sqlite3.connect(tmp_path / "d.db") as database:
        database.execute("CREATE TABLE t (key INTEGER, answer TEXT, gold TEXT, n REAL)")
        rows = [(n, f"answer {n}", "YES" if n % 2 else "NO", n / 2) for n in range(5)]
        database.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", rows)
    return tmp_path


def read(base: Path, query: str, **options: object):
    options = {"url": "sqlite:///d.db", "columns": COLUMNS, "query": query, **options}
    return list(build(jrh_sources.plugin, "sql", options=options, task=YES_NO, base=base).read())


def test_a_query_with_parameters_is_read(base):
    found = read(base, "SELECT * FROM t WHERE key >= :low ORDER BY key", parameters={"low": 3})
    assert [(item.id, item.gold, item.metadata["n"]) for item in found] == [("3", "YES", 1.5), ("4", "NO", 2.0)]


def test_a_parameter_is_no_sql(base):
    with pytest.raises(JrhError, match="no rows"):
        read(base, "SELECT * FROM t WHERE answer = :a", parameters={"a": "' OR 1=1 --"})


@pytest.mark.parametrize("query", ["DELETE FROM t", "WITH x AS (SELECT 1) DELETE FROM t", "SELECT 1; DROP TABLE t"])
def test_nothing_is_written(base, query):
    with pytest.raises(JrhError):
        read(base, query)
    with sqlite3.connect(base / "d.db") as database:
        assert database.execute("SELECT count(*) FROM t").fetchone() == (5,)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"query": "SELECT * FROM nowhere"}, "the query failed: no such table: nowhere"),
        ({"query": "SELECT key, key FROM t"}, "column 'key' appears 2 times"),
        ({"url": "sqlite:///other.db"}, "other.db: file not found"),
        ({"url": "no url"}, "SQLAlchemy cannot read the URL; write one such as sqlite:///file.db"),
        ({"url": "nosuch://host/x"}, "the query failed"),
        ({"url": "", "url_env": "JRH_NO_SUCH"}, "variable JRH_NO_SUCH is not set; set it to the database's URL"),
        ({"url_env": "X"}, "not both"),
        ({"query": "  "}, "query"),
    ],
)
def test_what_fails_is_said_in_one_sentence(base, options, said):
    with pytest.raises(JrhError) as caught:
        read(base, **{"query": "SELECT * FROM t", **options})
    assert said in str(caught.value)
    assert not (base / "other.db").exists()


def test_a_password_stays_in_the_environment(base, monkeypatch):
    with pytest.raises(JrhError, match="has a password; put the URL into an environment variable") as refused:
        read(base, "SELECT 1", url=f"postgresql://me:{PASSWORD}@127.0.0.1:9/x")
    assert PASSWORD not in "".join(traceback.format_exception(refused.value))
    for address in (f"sqlite:///{PASSWORD}.db", f"nosuch://me:{PASSWORD}@127.0.0.1:9/x", f"mysql://me:{PASSWORD}@h:x/"):
        monkeypatch.setenv("DATABASE", address)
        with pytest.raises(JrhError) as caught:
            read(base, "SELECT 1 AS key", url="", url_env="DATABASE")
        if "sqlite" not in address:
            assert PASSWORD not in "".join(traceback.format_exception(caught.value))


def test_without_the_library_it_says_what_to_install(base, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    with pytest.raises(JrhError, match=r"pip install 'jrh-sources\[sql\]'"):
        read(base, "SELECT 1")
