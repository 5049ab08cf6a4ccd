"""Files that mean harm, for every command that reads one: one message or an answer, and nothing else happens.

One round is one file. The first rounds are those of `files()`, in its order; after them, the same files are
damaged at random.
"""

from __future__ import annotations

import asyncio
import csv
import io
import json
import random
import resource
import shutil
import sqlite3
import struct
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from attrs import frozen
from jrh_review.runs import Runs
from jrh_review.security import Names, Sessions
from jrh_review.serving import make_app
from jrh_testing import Inside, Outcome
from support.looking import rewrite_records
from support.suites import simulated_suite, write_items, write_suite
from xlsxwriter import Workbook

from campaigns.corruption import DAMAGES
from campaigns.rounds import Round

ROOT = Path(__file__).parents[2]
EXPORTS = ROOT / "plugins" / "import" / "tests" / "exports"
SECONDS = 30.0
"""Of processor time: what is not bounded takes hours."""
MEGABYTES = 1_000.0
MESSAGE = 3_000
SHARE = 5
CANARY = "executed"
"""A file that code or a formula in a hostile file would make."""
CODE = f"__import__('pathlib').Path('{CANARY}').touch()"
CONTROL = "\x1b]52;c;ZXZpbA==\x07\x1b[2J\x9b31m\u202e\x7f"
MARKUP = "<img src=x onerror=alert(1)>"
PAGES = ("", "run/run", "run/run/cases?sort=moved&search=a", "run/run/cases.csv", "compare?a=run&b=run")
"""Of the workbench; besides them a case and its item."""
NESTED = "[" * 100_000 + "]" * 100_000
ROW = {"id": "a", "request": "What?", "response": "This.", "label": "YES", "judge": "YES", "person": "NO"}
Command = tuple[str, ...]


@frozen(kw_only=True)
class File:
    """A hostile file: its name, its content, or how it is made in a directory that has the sound ones."""

    kind: str
    what: str
    content: bytes | Callable[[Path], object]


def _rows(*more: str) -> bytes:
    return ("\n".join([json.dumps(ROW), *more]) + "\n").encode("utf-8", "surrogatepass")


def _row(**changes: Any) -> str:
    return json.dumps({**ROW, "id": "b", **changes})


def _written(**values: str) -> str:
    """Write an object whose values are JSON that `json.dumps` would not write."""
    return "{" + ", ".join(f'"{key}": {value}' for key, value in values.items()) + "}"


def _placed(name: str, value: str) -> bytes:
    return _rows(_written(**{**{key: json.dumps(text) for key, text in ROW.items()}, "id": '"b"', name: value}))


ENCODINGS: dict[str, bytes] = {
    "empty": b"",
    "blank lines": b"\n\n\n",
    "a byte order mark alone": b"\xef\xbb\xbf",
    "no UTF-8": b'{"id": "\xff\xfe"}\n',
    "zeros": bytes(4096),
    "noise": random.Random(35).randbytes(4096),
    "another format": b"PK\x03\x04" + bytes(100),
}


def _jsonl() -> Iterator[tuple[str, bytes]]:
    yield from ENCODINGS.items()
    yield "UTF-16", _rows().decode().encode("utf-16")
    for text in ("null", "1", '"text"', "[]", "[[]]", "{}", "true", "NaN", "}", '{"id"'):
        yield f"a row {text}", _rows(text)
    for name in ("id", "response", "label", "judge"):
        for value in ("null", "[]", "{}", "true", "1e999", "-Infinity", "9" * 5_000, '"\\ud800"', NESTED):
            yield f"{name} {value[:12]}", _placed(name, value)
        yield f"{name} with controls", _rows(_row(**{name: CONTROL}))
        yield f"{name} of a megabyte", _rows(_row(**{name: "x" * 1_000_000}))
        yield f"{name} a formula", _rows(_row(**{name: "=cmd|' /C calc'!A0"}))
        yield (
            f"{name} a template",
            _rows(_row(**{name: "{{ cycler.__init__.__globals__.os.system('touch executed') }}"})),
        )
    yield "a key twice", _rows('{"id": "b", "id": "c", "response": "x", "label": "YES"}')
    yield "many keys", _rows(json.dumps(dict.fromkeys(map(str, range(50_000)), 1)))
    yield "an id twice", _rows(_row(id="a", response="another"))
    yield "10,000 labels", _rows(*(_row(id=f"i{n}", label=f"L{n}", judge=f"L{n}") for n in range(10_000)))
    yield "every column a new name", _rows(*(json.dumps({f"k{n}-{m}": 1 for m in range(50)}) for n in range(400)))


def _csv() -> Iterator[tuple[str, bytes]]:
    header = ",".join(ROW)
    yield from ENCODINGS.items()
    yield "UTF-16", (header + "\n").encode("utf-16")
    yield "a header alone", (header + "\n").encode()
    bodies = {
        "an open quote": 'b,"What?,This.,YES,YES,NO\n' + "x\n" * 1_000,
        "too few cells": "b,What?\n",
        "too many cells": "b,What?,This.,YES,YES,NO,more,and,more\n",
        "a null byte": "b,What?,Th\x00is.,YES,YES,NO\n",
        "a quote inside": 'b,What?,Th"is".,YES,YES,NO\n',
        "a long cell": f'b,What?,"{"x" * 1_000_000}",YES,YES,NO\n',
        "controls": f'b,What?,"{CONTROL}",YES,YES,NO\n',
        "a formula": "=1+1,@SUM(1),+1,-1,=1,=1\n",
        "old line ends": "b,What?,This.,YES,YES,NO\rc,What?,This.,YES,YES,NO\r",
        "a megabyte of labels": f"b,What?,This.,{'Y' * 1_000_000},YES,NO\n",
        "a line that never ends": "b" * 1_000_000,
        "half characters": "b,What?,\ud83d,YES,YES,NO\n",
        "infinities": "b,What?,This.,inf,nan,-inf\n1,1,1,1e999,nan,nan\n",
    }
    for what, body in bodies.items():
        yield what, f"{header}\na,What?,This.,YES,YES,NO\n{body}".encode("utf-8", "surrogatepass")
    yield "a column twice", b"id,id,response,label,judge,judge\na,b,x,YES,YES,NO\n"
    yield "columns without names", b",,,,,\na,b,x,YES,YES,NO\n"
    yield "many columns", (",".join(map(str, range(50_000))) + "\n").encode()
    yield "a header of controls", f'"id{CONTROL}",response,label\na,x,YES\n'.encode()
    yield "a header of a megabyte", f"id,response,label,{'x' * 1_000_000}\na,x,YES,1\n".encode()
    yield "10,000 columns", (",".join(f"c{n}" for n in range(10_000)) + "\n" + ",".join("1" * 10_000) + "\n").encode()


def _table(columns: dict[str, Any], **options: Any) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink, **options)
    return sink.getvalue()


def _parquet() -> Iterator[tuple[str, bytes]]:
    yield from ENCODINGS.items()
    good = _table({key: [value] * 3 for key, value in ROW.items()} | {"id": ["a", "b", "c"]})
    yield "magic alone", b"PAR1PAR1"
    yield "half", good[: len(good) // 2]
    for size in (0xFFFFFFFF, 0x7FFFFFFF, 0, len(good) - 8):
        yield f"a footer of {size:,}", good[:-8] + struct.pack("<I", size) + b"PAR1"
    values: dict[str, Any] = {
        "lists": [[1, 2]] * 3,
        "structs": [{"a": {"b": 1}}] * 3,
        "bytes": [b"\xff\xfe"] * 3,
        "nulls": pa.nulls(3),
        "controls": [CONTROL] * 3,
        "NaN": [float("nan")] * 3,
        "infinity": [float("inf")] * 3,
        "times": pa.array([2**62] * 3, pa.timestamp("ns")),
        "decimals": pa.array([10**30] * 3, pa.decimal128(38)),
        "large numbers": pa.array([2**63] * 3, pa.uint64()),
    }
    for column in ("response", "label"):
        for what, value in values.items():
            yield f"{column}: {what}", _table({**{key: [text] * 3 for key, text in ROW.items()}, column: value})
    deep: Any = 1
    for _ in range(150):
        deep = [deep]
    yield "nested", _table({"id": ["a"], "response": [deep], "label": ["YES"]})
    yield "many columns", _table({f"c{number}": [1] for number in range(17_000)})
    yield "a bomb", _table({"id": pa.array(["x" * 1_000]).take(pa.array([0] * 50_000)), "label": ["YES"] * 50_000})
    yield "no columns", _table({})
    yield "no rows", _table({key: pa.array([], pa.string()) for key in ROW})


def _members(**changes: str | bytes | None) -> bytes:
    """Return a workbook with some of its members changed, left out (None) or added."""
    sink = io.BytesIO()
    with Workbook(sink, {"in_memory": True}) as book:
        sheet = book.add_worksheet()
        for place, row in enumerate((ROW, ROW.values())):
            sheet.write_row(place, 0, row)
    made = io.BytesIO()
    with zipfile.ZipFile(sink) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        for member in old.namelist():
            content = changes.pop(member, old.read(member))
            if content is not None:
                new.writestr(member, content)
        for member, content in changes.items():
            new.writestr(member, content or "")
    return made.getvalue()


SHEET = "xl/worksheets/sheet1.xml"
SPACE = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
ENTITIES = (
    '<!DOCTYPE x [<!ENTITY a "'
    + "ha" * 100
    + '">'
    + "".join(f'<!ENTITY {name} "{f"&{before};" * 20}">' for before, name in zip("abcdefg", "bcdefgh", strict=True))
    + "]>"
)
ELSEWHERE = '<!DOCTYPE x [<!ENTITY h SYSTEM "file:///etc/hostname">]>'


def _sheet(rows: str, before: str = "", dimension: str = "A1:F2") -> str:
    return f'{before}<worksheet {SPACE}><dimension ref="{dimension}"/><sheetData>{rows}</sheetData></worksheet>'


def _cell(text: str, place: str = "A1") -> str:
    return f'<row r="1"><c r="{place}" t="inlineStr"><is><t>{text}</t></is></c></row>'


def _xlsx() -> Iterator[tuple[str, Any]]:
    yield from ENCODINGS.items()
    sheets = {
        "no sheet": None,
        "a sheet of noise": random.Random(36).randbytes(1_000),
        "entities": _sheet(_cell("&h;"), ENTITIES),
        "an entity of a file": _sheet(_cell("&h;"), ELSEWHERE),
        "a million columns": _sheet(_cell("x", "ZZZZ1")),
        "a far corner": _sheet(_cell("x") + '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'),
        "a far row": _sheet('<row r="1048576"><c r="A1048576"><v>1</v></c></row>'),
        "a row beyond the last": _sheet('<row r="99999999999"><c r="A99999999999"><v>1</v></c></row>'),
        "a lying dimension": _sheet(_cell("id"), dimension="A1:XFD1048576"),
        "no string of that number": _sheet('<row r="1"><c r="A1" t="s"><v>99999</v></c></row>'),
        "a number that is text": _sheet('<row r="1"><c r="A1" t="n"><v>text</v></c></row>'),
        "a date out of range": _sheet('<row r="1"><c r="A1" t="d"><v>99999-99-99</v></c></row>'),
        "a formula": _sheet('<row r="1"><c r="A1"><f>WEBSERVICE("http://127.0.0.1:9/")</f><v>1</v></c></row>'),
        "deep tags": _sheet("<row>" * 50_000),
    }
    for what, sheet in sheets.items():
        yield what, _members(**{SHEET: sheet})
    yield (
        "a bomb",
        lambda place: (place / "hostile.xlsx").write_bytes(_members(**{SHEET: _sheet(_cell("x" * 50_000_000))})),
    )
    yield "no list of content", _members(**{"[Content_Types].xml": None})
    yield "no workbook", _members(**{"xl/workbook.xml": None})
    yield "a workbook of entities", _members(**{"xl/workbook.xml": f"{ENTITIES}<workbook {SPACE}>&h;</workbook>"})
    yield "a member outside", _members(**{"../../executed": "x"})
    yield "text for an archive", _members()[:500]


def _json() -> Iterator[tuple[str, bytes]]:
    yield from ENCODINGS.items()
    for text in ("null", "1", '"text"', "[]", "{}", "[null]", "[[[]]]", '{"results": null}', NESTED, "[{}]", "1e999"):
        yield f"a root {text[:20]}", text.encode()
    for export in sorted(EXPORTS.glob("*.json*")):
        text = export.read_text(encoding="utf-8")
        yield f"half of {export.name}", text[: len(text) // 2].encode()
        first, *_ = text.splitlines()
        lines = text.splitlines() if export.suffix == ".jsonl" else [text]
        for what, put in (
            ("lists", []),
            ("nulls", None),
            ("controls", CONTROL),
            ("numbers", 1e308),
            ("objects", {"": {}}),
        ):
            changed = [json.dumps(_replaced(json.loads(line), put)) for line in lines]
            yield f"{export.name} of {what}", "\n".join(changed).encode()
        yield f"{export.name} in a list", f"[{first}, {first}]".encode()


def _replaced(value: Any, put: Any) -> Any:
    """Replace every second leaf of a value."""
    if isinstance(value, dict):
        return {key: _replaced(part, put) if len(key) % 2 else part for key, part in value.items()}
    return [_replaced(part, put) for part in value] if isinstance(value, list) else put


def _yaml() -> Iterator[tuple[str, bytes]]:
    yield from ENCODINGS.items()
    suite = simulated_suite()
    text = yaml.safe_dump(suite, sort_keys=False)
    for key in suite:
        for what, put in (("null", None), ("a list", [[]]), ("a mapping", {"a": {}}), ("controls", CONTROL)):
            yield f"{key}: {what}", yaml.safe_dump({**suite, key: put}, sort_keys=False).encode()
    tags: tuple[str, ...] = (
        "!!python/object/apply:os.system ['touch executed']",
        f'!!python/object/apply:eval ["{CODE}"]',
        "!x y",
    )
    tags += ("!!binary 'gibberish'", "!!set {a, b}", "!!timestamp 2026-99-99", "0x" + "f" * 20_000, "1" * 20_000)
    tags += ("&a [*a, *a]", "*none", "{? [1, 2] : 3}", "{? {a: 1} : 3}", "'\\x00'", '"\\ud800"', "[" * 50_000)
    tags += (
        "{<<: 5}",
        "{<<: [[]]}",
        "? - -\n",
        "- " * 5_000 + "1",
        "2026-13-45",
        "12:99:99",
        "0o999",
        ".nan",
        "- -.inf",
    )
    for value in tags:
        yield f"a value {value[:30]}", f"{text}metrics: {value}\n".encode()
    instruction = suite["task"]["instruction"]
    for put in ("{{ ''.__class__.__mro__[1].__subclasses__() }}", "{% for a in range(10**9) %}x{% endfor %}"):
        yield f"a template {put[:20]}", text.replace(instruction, json.dumps(put)).encode()
    for path in ("/dev/zero", "../../../../etc/shadow", ".", "/proc/self/mem", "file:///etc/passwd", "x\x00y", "~root"):
        yield f"data from {path!r}", text.replace("items.jsonl", json.dumps(path)).encode()


def _eval() -> Iterator[tuple[str, Any]]:
    yield from ENCODINGS.items()
    header = {"version": 2, "status": "success", "eval": {"task": "t", "model": "m"}, "plan": {}, "results": {}}
    sample = {
        "id": 1,
        "epoch": 1,
        "input": "q",
        "target": "YES",
        "messages": [],
        "output": {},
        "scores": {"s": {"value": 1}},
    }

    def packed(members: dict[str, Any], method: int = zipfile.ZIP_DEFLATED) -> bytes:
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w", method) as log:
            for name, content in members.items():
                log.writestr(name, content if isinstance(content, str | bytes) else json.dumps(content))
        return made.getvalue()

    first = "samples/1_epoch_1.json"
    yield "no member", packed({})
    yield "stored", packed({"header.json": header, first: sample}, zipfile.ZIP_STORED)
    for value in ("null", "[]", "1", NESTED, "{", '{"a": 1, "a": 2}', "x" * 1_000_000, '"\\ud800"'):
        yield f"a header {value[:12]}", packed({"header.json": value, first: sample})
        yield f"a sample {value[:12]}", packed({"header.json": header, first: value})
    for name in sample:
        puts: tuple[Any, ...] = (None, [[]], {"a": {}}, CONTROL, 1e308)
        for put in puts:
            yield f"{name} {str(put)[:8]!r}", packed({"header.json": header, first: {**sample, name: put}})
    yield "a member outside", packed({"header.json": header, "../../executed": "x", first: sample})
    bomb = {"header.json": header, first: bytes(100_000_000)}
    yield "a bomb", lambda place: (place / "hostile.eval").write_bytes(packed(bomb))


def _sheets() -> Iterator[tuple[str, bytes]]:
    """Yield sheets of a reviewer and of a labeller: the same damage to the columns of both."""
    yield from ENCODINGS.items()
    for what, text in _sound_sheets().items():
        head, *rows = list(csv.reader(io.StringIO(text)))

        def sheet(*lines: list[str]) -> bytes:
            out = io.StringIO()
            csv.writer(out).writerows(lines)
            return out.getvalue().encode("utf-8", "surrogatepass")

        for place, column in enumerate(head):
            for put in (CONTROL, "=1+1", "x" * 20_000, "{{ 7 * 7 }}", "<script>"):
                changed = [[*row[:place], put, *row[place + 1 :]] for row in rows]
                yield f"{what}, {column}: {put[:8]!r}", sheet(head, *changed)
            yield f"{what} without {column}", sheet(*([*row[:place], *row[place + 1 :]] for row in (head, *rows)))
        yield f"{what}, rows twice", sheet(head, *rows, *rows)
        yield f"{what}, no row", sheet(head)


def _forged(table: str, column: str, value: Any) -> Callable[[Path], object]:
    """Write a value as a run would have written it: records have their checksums."""

    def forge(place: Path) -> None:
        statement = f'UPDATE OR IGNORE "{table}" SET "{column}" = {_literal(value)}'
        if table == "records":
            rewrite_records(Inside(place), "run", statement)
        else:
            _said(statement)(place)

    return forge


def _literal(value: Any) -> str:
    if isinstance(value, bytes):
        return f"x'{value.hex()}'"
    return "NULL" if value is None else f"'{value}'" if isinstance(value, str) else str(value).replace("inf", "9e999")


def _said(*statements: str) -> Callable[[Path], object]:
    def say(place: Path) -> None:
        with closing(sqlite3.connect(place / "run" / "run.sqlite")) as store:
            store.execute("PRAGMA application_id = 0")
            for statement in statements:
                store.execute(statement)
            store.commit()

    return say


def _instead(name: str, content: bytes) -> Callable[[Path], object]:
    def put(place: Path) -> None:
        (place / "run" / name).write_bytes(content)

    return put


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"


def _stores() -> Iterator[tuple[str, Callable[[Path], object]]]:
    for what, content in ENCODINGS.items():
        yield f"a store: {what}", _instead("run.sqlite", content)
        yield f"a log: {what}", _instead("log.jsonl", content)
        yield f"run.json: {what}", _instead("run.json", content)
        yield f"a write-ahead log: {what}", _instead("run.sqlite-wal", content)
    with closing(sqlite3.connect(sound() / "run" / "run.sqlite")) as store:
        tables = [row[0] for row in store.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        # A whole number that is a table's key takes no other type.
        columns = [
            (table, name)
            for table in tables
            for _, name, kind, *_, key in store.execute(f'PRAGMA table_info("{table}")')
            if not (key and kind == "INTEGER")
        ]
    for place, (table, column) in enumerate(columns):
        for put in ((b"\xff\xfe", f"{CONTROL}{MARKUP}", -1.5, None), (NESTED[:2_000], 2**62, "{}", 1e999))[place % 2]:
            yield f"{table}.{column} {str(put)[:10]!r}", _forged(table, column, put)
    for table in tables:
        yield f"no table {table}", _said(f'DROP TABLE "{table}"')
        yield (
            f"{table} that never ends",
            _said(f'DROP TABLE "{table}"', f'CREATE VIEW "{table}" AS {ENDLESS} SELECT * FROM n'),
        )
    yield "a trigger", _said("CREATE TRIGGER t AFTER INSERT ON meta BEGIN DELETE FROM records; END")
    yield "a virtual table", _said("CREATE VIRTUAL TABLE v USING fts5(x)")


def _watched() -> Iterator[tuple[str, Callable[[Path], object]]]:
    def instead(content: bytes) -> Callable[[Path], object]:
        return lambda place: (place / "watch.jsonl").write_bytes(content)

    for what, content in ENCODINGS.items():
        yield what, instead(content)
    lines = [json.loads(line) for line in (sound() / "watch.jsonl").read_text(encoding="utf-8").splitlines()]
    for number, line in enumerate(lines):
        for at in line:
            puts: tuple[Any, ...] = (CONTROL, NESTED[:2_000], -1.5, 1e308, {}, [1], None, "x")
            for put in puts:
                changed = [*lines[:number], {**line, at: put}, *lines[number + 1 :]]
                text = "".join(json.dumps(each) + "\n" for each in changed)
                yield f"{at} {str(put)[:10]!r}", instead(text.encode())


def _commands(kind: str, name: str) -> list[Command]:
    """Return the commands that read a file of this kind."""
    given = ("--judge", "judge", "--human", "person")
    commands: dict[str, list[Command]] = {
        "jsonl": [("audit", name), ("check", name, *given), ("automate", name, *given), ("rank", name, *given)],
        "csv": [("audit", name), ("check", name, *given), ("automate", name, *given), ("rank", name, *given)],
        "parquet": [("audit", name), ("check", name, *given)],
        "xlsx": [("audit", name), ("check", name, *given)],
        "json": [("import", name, "--run-dir", "new")],
        "yaml": [("plan", name), ("import", name, "--run-dir", "new"), ("init-from", name, "new.yaml")],
        "eval": [("import", name, "--from", "inspect", "--run-dir", "new")],
        "sheet": [
            ("review", "run", "--reviewer", "ann", "--import", name),
            ("label", "suite.yaml", "--name", "ann", "--import", name),
            ("plan", "labelled.yaml"),
        ],
        "store": [
            ("report", "run"),
            ("gate", "run", "--rule", "missing <= 1.0", "--junit", "new/gate.xml"),
            ("card", "run", "--badge", "new.svg"),
            ("advise", "run"),
            ("automate", "run", "--judge", "sim"),
            ("rank", "run"),
            ("compare", "run", "sound"),
            ("swap", "run", "sound"),
            ("gate-risk", "run", "--nights", "10", "--rule", "missing <= 1.0"),
            ("export", "run", "--to", "xlsx", "--output", "new"),
            ("watch", "new.jsonl", "run"),
            ("watch", "watch.jsonl", "run"),
            ("backup", "run", "new"),
            ("salvage", "run"),
            ("report", "run", "--format", "html,markdown,csv,latex", "--output", "new"),
            ("review", "run", "--export", "new.csv"),
            ("merge", "run", "--run-dir", "new"),
            ("run", "suite.yaml", "--run-dir", "run"),
        ],
        "watch": [("watch", "watch.jsonl"), ("watch", "watch.jsonl", "run")],
    }
    return commands[kind]


PLANNED = ("jsonl", "csv", "parquet", "xlsx")
"""Kinds that a suite and an import file can name as data."""
MAKERS: dict[str, Callable[[], Iterator[tuple[str, Any]]]] = {
    "jsonl": _jsonl,
    "csv": _csv,
    "parquet": _parquet,
    "xlsx": _xlsx,
    "json": _json,
    "yaml": _yaml,
    "eval": _eval,
    "sheet": _sheets,
    "store": _stores,
    "watch": _watched,
}


@cache
def sound() -> Path:
    """Make the directory once that hostile files come to: items, a suite, a run, sheets, a watch."""
    place = Path(tempfile.mkdtemp(prefix="jrh-files-"))
    project = Inside(place)
    write_items(project, 8)
    write_suite(project, simulated_suite(tests=["typos"], reference={"repeats": 2}))
    data = {"source": "jsonl", "path": "items.jsonl", "labels_from": "hostile.csv"}
    write_suite(project, simulated_suite(data=data), "labelled.yaml")
    for command in (
        ("run", "suite.yaml", "--run-dir", "run"),
        ("review", "run", "--reviewer", "ann", "--export", "review.csv"),
        ("label", "suite.yaml", "--name", "ann", "--export", "label.csv"),
        ("watch", "watch.jsonl", "run"),
    ):
        done = project.run(*command)
        assert done.exit_code == 0, done.output
    shutil.copytree(place / "run", place / "sound")
    return place


def _sound_sheets() -> dict[str, str]:
    return {name: (sound() / f"{name}.csv").read_text(encoding="utf-8") for name in ("review", "label")}


@cache
def files() -> list[File]:
    """Return every hostile file of the list, each content once."""
    made: dict[tuple[str, Any], File] = {}
    for kind, maker in MAKERS.items():
        for what, content in maker():
            made.setdefault((kind, content), File(kind=kind, what=what, content=content))
    # One of each kind in turn, so that a few rounds see all kinds.
    kinds = [[file for file in made.values() if file.kind == kind] for kind in MAKERS]
    for each in kinds:
        random.Random(35).shuffle(each)
    return [file for turn in zip_longest(*kinds) for file in turn if file is not None]


def campaign(played: Round) -> None:
    """Give one hostile file to every command that reads its kind."""
    listed = files()
    file = listed[played.seed % len(listed)]
    shutil.copytree(sound(), played.place, dirs_exist_ok=True)
    project = Inside(played.place)
    ending = {"eval": "eval", "sheet": "csv"}.get(file.kind, file.kind)
    name = f"hostile.{ending}"
    if callable(file.content):
        file.content(played.place)
    else:
        content = file.content
        if played.seed >= len(listed) and content:
            content = DAMAGES[played.dice.choice(list(DAMAGES))](content, played.dice)
        project.write(name, content)
    commands = _commands(file.kind, name)
    if file.kind == "store":  # a few of its many commands, others for the next file
        commands = commands[played.seed % SHARE :: SHARE]
        _look(played, file.what)
    if file.kind in PLANNED:
        write_suite(project, simulated_suite(data={"source": file.kind, "path": name}), "hostile.yaml")
        columns = {"item": "id", "label": "judge", "gold": "label"}
        task = {"scale": {"labels": ["YES", "NO"]}}
        table = {"name": "x", "path": name, "task": task, "columns": columns, "values": {"judge": "mini"}}
        write_suite(project, table, "import.yaml")
        commands += [("plan", "hostile.yaml"), ("import", "import.yaml", "--run-dir", "new")]
    played.counted["files"] += 1
    for command in commands:
        before = _names(played.place)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        started = time.process_time()  # of this process, whatever else the machine does
        done = project.run(*command)
        taken = time.process_time() - started
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory) / 1024
        played.counted["answers"] += 1
        _check(played, done, f"{' '.join(command)} of {file.kind}: {file.what}", taken, grown)
        left = _names(played.place) - before
        if done.exit_code == 2:
            played.check(not left, f"{command} of {file.what} refused and left {sorted(left)}")
        for path in (played.place / each for each in left):
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
    executed = list(played.place.rglob(CANARY))
    played.counted["executed"] += len(executed)
    played.check(not executed, f"{file.what} was executed")


def _look(played: Round, what: str) -> None:
    """Open the pages of the workbench over a forged store: no error of the server, no text as markup."""
    with closing(sqlite3.connect(sound() / "run" / "run.sqlite")) as store:
        case, task, item = store.execute("SELECT case_id, task, item_id FROM stage_case_list").fetchone()
    pages = (*PAGES, f"run/run/case/{case}", f"run/run/item?task={task}&item={item}")
    for page, answer in zip(pages, asyncio.run(_answers(played.place / "run", pages)), strict=True):
        played.counted["pages"] += 1
        played.check(answer.status_code in {200, 404}, f"/{page} of {what}: {answer}")
        html = answer.headers["content-type"].startswith("text/html")
        played.check(not html or MARKUP not in answer.text, f"/{page} of {what} has markup of the store")


async def _answers(run_dir: Path, pages: Sequence[str]) -> list[httpx.Response]:
    sessions = Sessions(lambda _: None)
    app = make_app(Runs((run_dir,)), sessions, Names.at("127.0.0.1", 80))
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as window:
        await window.get("/enter", params={"once": sessions.token})
        return [await window.get(f"/{page}") for page in pages]


def _names(place: Path) -> set[str]:
    # Caches, locks and what SQLite has open are no result.
    found = (path.relative_to(place) for path in place.rglob("*"))
    own = (".lock", ".sqlite-shm", ".sqlite-wal")
    return {str(path) for path in found if not str(path).startswith(".") and path.suffix not in own}


def _check(played: Round, done: Outcome, what: str, taken: float, grown: float) -> None:
    """Check that there is one message, or an answer, clean and bounded."""
    played.counted["refused" if done.exit_code == 2 else "answered"] += 1
    played.check("Traceback" not in done.output, f"{what}: {done.output[-1500:]}")
    played.check(done.exit_code in range(6), f"{what}: exit code {done.exit_code}")
    signs = {sign for sign in done.output if ord(sign) < 0xA0 and not 0x20 <= ord(sign) < 0x7F} - {"\n", "\t"}
    played.check(not signs and "\u202e" not in done.output, f"{what}: controls {signs}")
    played.check(len(done.stderr) < MESSAGE or done.exit_code != 2, f"{what}: {len(done.stderr):,} characters")
    played.check(done.exit_code != 2 or done.stderr.strip(), f"{what}: refused without a word")
    played.check(taken < SECONDS, f"{what}: {taken:.0f} s")
    played.check(grown < MEGABYTES, f"{what}: {grown:,.0f} MB")
