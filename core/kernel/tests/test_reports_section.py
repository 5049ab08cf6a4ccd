"""Which reports are written: those that are a default, those a suite names, those somebody asks for afterwards."""

from __future__ import annotations

import pytest
from attrs import frozen
from jrh import JrhError
from jrh.errors import PluginError, StoreError
from jrh.plugins.registry import Entry, Plugins, Registry
from jrh.plugins.specs import DataSourceSpec, JudgeSpec, ReporterSpec
from jrh.running.reporters import find_reporters, write_document
from jrh.suite.resolve import load_suite
from jrh.values.report import ComponentUsed
from jrh_authoring.suite_schema import suite_schema
from jrh_testing import loop_over

SUITE = {
    "name": "s",
    "data": {"source": "rows"},
    "task": {"scale": {"ordinal": [1, 3]}},
    "judges": ["dice"],
}


@frozen(kw_only=True)
class Digits:
    digits: int = 2


def _entry(cls, name, distribution="std", **settings):
    spec = cls(name=name, summary=f"the {name}", factory=lambda options, context: None, **settings)
    return Entry(spec=spec, distribution=distribution, version="1.0", plugin=name)


REPORTERS = Registry(
    "reporter",
    [
        _entry(ReporterSpec, "page", filename="page.txt", options=Digits),
        _entry(ReporterSpec, "table", filename="table.txt", options=Digits, default=False),
        _entry(ReporterSpec, "rows", filename="table.txt", default=False),
    ],
)


def _plugins() -> Plugins:
    return Plugins(
        data_sources=Registry("data source", [_entry(DataSourceSpec, "rows")]),
        perturbers=Registry("perturber", []),
        validators=Registry("validator", []),
        judges=Registry("judge", [_entry(JudgeSpec, "dice")]),
        parsers=Registry("parser", []),
        metrics=Registry("metric", []),
        models=Registry("model provider", []),
        reporters=REPORTERS,
    )


def _written(reports=None, **settings):
    suite = SUITE if reports is None else SUITE | {"reports": reports}
    return [(each.use.name, each.options) for each in load_suite(suite, _plugins(), **settings).reporters]


def test_a_suite_that_names_no_reports_gets_the_defaults() -> None:
    assert _written() == [("page", Digits())]


def test_a_suite_gets_the_reports_it_names_in_its_order_with_its_options() -> None:
    assert _written([{"table": {"digits": 4}}, "page"]) == [("table", Digits(digits=4)), ("page", Digits())]
    assert _written([]) == []


def test_an_option_of_a_report_can_be_set_from_the_command_line() -> None:
    assert _written(["table"], overrides=["reports.table.digits=5"]) == [("table", Digits(digits=5))]
    assert _written(overrides=["reports=[std/table]"]) == [("table", Digits())]


@loop_over(
    ("reports", "message"),
    [
        (["tabel"], "unknown reporter 'tabel'"),
        ([{"table": {"digit": 1}}], "reports[0].table.digit: unknown key"),
        (["table", {"reporter": "rows", "name": "other"}], "two reports are written to 'table.txt'; keep one of them"),
        (["page", "page"], "two reports are named 'page'"),
        ("page", "reports: expected a list"),
    ],
)
def test_a_wrong_report_is_an_error_of_the_suite(reports, message) -> None:
    with pytest.raises(JrhError, match="report") as caught:
        _written(reports)
    assert message in str(caught.value)


def test_the_schema_describes_the_reports() -> None:
    properties = suite_schema(_plugins())

    assert properties["properties"]["reports"]["items"] == {"$ref": "#/$defs/reporter"}
    assert {"enum": ["page", "std/page", "table", "std/table", "rows", "std/rows"]} in properties["$defs"]["reporter"][
        "anyOf"
    ]


def _chosen(remembered=None, **asked):
    return [(each.use.name, each.options) for each in find_reporters(REPORTERS, remembered, **asked)]


REMEMBERED = (ComponentUsed(role="reporter", name="table", component="std/table", version="1", options={"digits": 7}),)


def test_written_again_the_reports_are_those_the_run_remembers() -> None:
    assert _chosen() == [("page", Digits())]
    assert _chosen(REMEMBERED) == [("table", Digits(digits=7))]


def test_formats_that_are_asked_for_keep_the_options_the_run_remembers() -> None:
    assert _chosen(REMEMBERED, formats=["page", "std/table", "page"]) == [
        ("page", Digits()),
        ("table", Digits(digits=7)),
    ]
    assert _chosen(REMEMBERED, settings=["table.digits=1"]) == [("table", Digits(digits=1))]
    assert _chosen(settings=["std/page.digits=1"]) == [("page", Digits(digits=1))]


@loop_over(
    ("asked", "message"),
    [
        ({"formats": ["pgae"]}, "unknown reporter 'pgae'"),
        ({"settings": ["page.digits"]}, "write `REPORTER.OPTION=VALUE`"),
        ({"settings": ["table.digits=1"]}, "no report is written by 'table'; these write: page"),
        ({"settings": ["page.digits=many"]}, "reporter 'page': digits: expected"),
        ({"settings": ["page.digits=[1"]}, "--set page.digits=\\[1"),
    ],
)
def test_a_wrong_choice_is_told(asked, message) -> None:
    with pytest.raises(JrhError, match=message):
        _chosen(**asked)


def test_a_document_may_be_text_bytes_chunks_or_files(tmp_path) -> None:
    for name, content, data in (
        ("a", "é", b"\xc3\xa9"),
        ("b", b"\xff", b"\xff"),
        ("c", iter([b"1", b"2"]), b"12"),
    ):
        assert write_document(tmp_path / name, content).read_bytes() == data
    write_document(tmp_path / "d", {"x.txt": "x", "y": b"y"})
    write_document(tmp_path / "d", {"x.txt": "new"})
    assert {path.name: path.read_bytes() for path in (tmp_path / "d").iterdir()} == {"x.txt": b"new", "y": b"y"}


def test_a_document_that_breaks_off_leaves_the_old_one(tmp_path) -> None:
    def breaking():
        yield b"half"
        raise RuntimeError("no more")

    (tmp_path / "a").write_text("old", encoding="utf-8")
    with pytest.raises(RuntimeError):
        write_document(tmp_path / "a", breaking())
    assert [(path.name, path.read_text(encoding="utf-8")) for path in tmp_path.iterdir()] == [("a", "old")]


@pytest.mark.parametrize("name", ["../a", "a/b", "/a", "..", ".", "", "a\\b"])
def test_a_file_of_a_directory_stays_in_it(tmp_path, name) -> None:
    with pytest.raises(PluginError, match="is not a plain file name"):
        write_document(tmp_path / "d", {name: "x"})
    assert not list(tmp_path.iterdir())


def test_what_cannot_be_written_is_told(tmp_path) -> None:
    (tmp_path / "occupied").write_text("a file", encoding="utf-8")
    with pytest.raises(StoreError, match="cannot make"):
        write_document(tmp_path / "occupied", {"a": "x"})
    with pytest.raises(StoreError, match="cannot write"):
        write_document(tmp_path / "nowhere" / "a", "x")
