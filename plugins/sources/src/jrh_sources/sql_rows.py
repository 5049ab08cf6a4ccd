"""Read the rows of a query through SQLAlchemy, without writing, and without showing the password."""

from __future__ import annotations

from collections.abc import Iterator
from os import environ
from pathlib import Path
from re import match
from typing import Any, Final

from jrh import BuildContext, JrhError
from jrh.text import Redactor

from jrh_sources.held_rows import row_of
from jrh_sources.hub import StreamedSource
from jrh_sources.items import ColumnMap
from jrh_sources.options import SqlOptions
from jrh_sources.rows import Problems, Row

_AT_ONCE: Final = 1000
_READ_ONLY: Final = {
    "sqlite": "PRAGMA query_only = ON",
    "mysql": "SET TRANSACTION READ ONLY",
    "mariadb": "SET TRANSACTION READ ONLY",
}


def sql_source(options: SqlOptions, context: BuildContext) -> StreamedSource:
    """Build the source of a query.

    Raises:
        JrhError: the statement is no SELECT.
    """
    if not match(r"(?i)\s*(select|with|values)\b", options.query):
        raise JrhError("sql: `query` must be one SELECT; jrh writes nothing into a database")

    def rows(problems: Problems) -> Iterator[Row]:
        return sql_rows(options, context.base, problems)

    return StreamedSource(shown="query", columns=ColumnMap(named=options.columns), task=context.task, rows=rows)


def sql_rows(options: SqlOptions, base: Path, problems: Problems) -> Iterator[Row]:
    """Yield the rows of the query, some at a time. Whatever it changed is taken back.

    Raises:
        JrhError: SQLAlchemy or the driver is not installed, or the database refuses; no text has the password.
    """
    try:
        import sqlalchemy
    except ImportError as error:
        raise JrhError(f"sql needs SQLAlchemy ({error}); run `pip install 'jrh-sources[sql]'`") from error
    url = _url(sqlalchemy, options, base)
    hide = Redactor(frozenset([url.password or "", url.render_as_string(hide_password=False)]))
    failed = ""
    try:
        engine = sqlalchemy.create_engine(url, poolclass=sqlalchemy.pool.NullPool, hide_parameters=True)
        with engine.connect() as connection:
            if (statement := _READ_ONLY.get(engine.dialect.name)) is not None:
                connection.execute(sqlalchemy.text(statement))
            only = {"postgresql_readonly": True} if engine.dialect.name == "postgresql" else {}
            streamed = connection.execution_options(stream_results=True, yield_per=_AT_ONCE, **only)
            found = streamed.execute(sqlalchemy.text(options.query), dict(options.parameters))
            names = list(found.keys())
            for name in dict.fromkeys(name for name in names if names.count(name) > 1):
                problems.add(f"column '{name}' appears {names.count(name)} times; name each with `AS`")
            for number, values in enumerate(found, start=1):
                row = row_of(dict(zip(names, values, strict=True)), number, problems)
                if row is not None:
                    yield row
            connection.rollback()
    except (sqlalchemy.exc.SQLAlchemyError, ImportError, OSError) as error:
        cause = getattr(error, "orig", None) or error
        failed = hide((str(cause) or type(cause).__name__).splitlines()[0][:300])
    if failed:
        # Outside of the handler, so that no traceback shows the driver's own text, which may hold the address.
        raise JrhError(f"sql: the query failed: {failed}")


def _url(sqlalchemy: Any, options: SqlOptions, base: Path) -> Any:
    written = options.url or environ.get(options.url_env, "").strip()
    if not written:
        raise JrhError(f"sql: the environment variable {options.url_env} is not set; set it to the database's URL")
    try:
        url = sqlalchemy.engine.make_url(written)
    except (sqlalchemy.exc.SQLAlchemyError, ValueError):
        url = None
    if url is None:
        raise JrhError("sql: SQLAlchemy cannot read the URL; write one such as sqlite:///file.db")
    if url.get_backend_name() == "sqlite" and url.database and url.database != ":memory:":
        file = base / url.database
        if not file.is_file():
            raise JrhError(f"sql: {url.database}: file not found; a relative path is relative to the suite's directory")
        url = url.set(database=str(file))
    return url
