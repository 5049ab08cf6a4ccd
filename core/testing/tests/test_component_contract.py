"""The part of the contract that all components share fails where it should."""

from __future__ import annotations

import socket
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import ClassVar

import attrs
import pytest
from hypothesis import settings
from jrh import Judgement, JudgeSpec, ParserSpec, Status, Verdict
from jrh.errors import PluginError
from jrh.plugins import NoOptions
from jrh_testing import JudgeContract, LabelParser, ParserContract
from jrh_testing.contracts import parsers
from jrh_testing.contracts.base import ComponentContract, foreign_modules


@pytest.fixture(autouse=True)
def few_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try few texts: the parser is sound in all of these tests, and test_parser_contract.py looks for unsound ones."""
    monkeypatch.setattr(parsers, "_checking", settings(parsers._checking, max_examples=20))


@attrs.frozen(kw_only=True)
class Inner:
    depth: int = attrs.field(default=1, metadata={"help": "how deep"})


@attrs.frozen(kw_only=True)
class GoodOptions:
    label: str = attrs.field(default="YES", metadata={"help": "the label"})
    inner: Inner = attrs.field(default=Inner(), metadata={"help": "more"})


@attrs.define(kw_only=True)
class Changeable:
    label: str = attrs.field(default="YES", metadata={"help": "the label"})


@attrs.frozen(kw_only=True)
class OuterOfChangeable:
    inner: Changeable = attrs.field(factory=Changeable, metadata={"help": "more"})


@attrs.frozen(kw_only=True)
class Unexplained:
    label: str = "YES"


@attrs.frozen(kw_only=True)
class InnerUnexplained:
    inner: Unexplained = attrs.field(default=Unexplained(), metadata={"help": "more"})


@attrs.frozen(kw_only=True)
class Undefaulted:
    label: str = attrs.field(metadata={"help": "the label"})


@attrs.frozen(kw_only=True)
class TakesAnything:
    no_such_option_9: int = attrs.field(default=0, metadata={"help": "a trap"})


def parser(**settings):
    given = {"summary": "bare labels", "factory": lambda options, context: LabelParser(), **settings}
    return ParserSpec(name="bare", **given)


def reads_a_file(options, context):
    (context.base / "words.txt").read_text()
    return LabelParser()


def writes_a_file(options, context):
    (context.base.parent / "out.txt").write_text("x")
    return LabelParser()


def connects(options, context):
    with socket.socket() as connection:
        connection.settimeout(0.01)
        connection.connect_ex(("127.0.0.1", 9))
    return LabelParser()


class UnsteadySpec:
    """A hook that yields another options class each time it is called."""

    name = "bare"

    def __call__(self):
        cls = attrs.make_class("Fresh", {}, frozen=True)
        return [parser(options=cls)]


PLANTED = {
    "test_the_declaration_can_be_read_twice": parser(summary=""),
    "test_the_options_are_explained_and_have_defaults": parser(options=Unexplained),
    "test_the_options_cannot_be_changed": parser(options=Changeable),
    "test_an_unknown_option_is_an_error": parser(options=TakesAnything),
    "test_the_starter_is_yaml_that_uses_the_component": parser(starter="- other: {a: 1}"),
    "test_the_factory_touches_nothing_outside": parser(factory=writes_a_file),
}


@pytest.mark.parametrize("test", PLANTED)
def test_a_planted_mistake_fails_its_test_and_no_other(failing, test):
    assert failing(ParserContract, "jrh_parsers", PLANTED[test]) == [test]


def test_a_sound_component_passes_everything(failing):
    spec = parser(options=GoodOptions, starter="# says why\n- bare: {label: 'NO'}\n")
    assert failing(ParserContract, "jrh_parsers", spec) == []


def test_every_shared_test_is_shown_to_fail():
    shared = {name for name in vars(ComponentContract) if name.startswith("test_")}
    elsewhere = {
        "test_declaring_loads_no_other_library",
        "test_a_missing_required_option_is_an_error",
        "test_the_factory_is_declared_by_name_and_can_be_called",
    }
    assert set(PLANTED) | elsewhere == shared


@pytest.mark.parametrize("factory", ["jrh_testing.fakse:LabelParser", "jrh_testing.fakes:LabelPraser"])
def test_a_factory_that_does_not_exist_is_found(failing, factory):
    found = failing(ParserContract, "jrh_parsers", parser(factory=factory))
    assert "test_the_factory_is_declared_by_name_and_can_be_called" in found


def test_a_factory_may_be_declared_by_name(failing):
    assert failing(ParserContract, "jrh_parsers", parser(factory="jrh_testing.fakes:LabelParser")) == []


@pytest.mark.parametrize("summary", ["", " padded", "two\nlines"])
def test_a_summary_is_one_line(failing, summary):
    assert failing(ParserContract, "jrh_parsers", parser(summary=summary)) == ["test_the_declaration_can_be_read_twice"]


@pytest.mark.parametrize("options", [InnerUnexplained, Undefaulted])
def test_nested_options_and_defaults_are_looked_at(failing, options):
    given = {"options": {"label": "NO"}} if options is Undefaulted else {}
    found = failing(ParserContract, "jrh_parsers", parser(options=options), **given)
    assert found == ["test_the_options_are_explained_and_have_defaults"]


def test_a_nested_value_that_can_be_changed_is_found(failing):
    assert failing(ParserContract, "jrh_parsers", parser(options=OuterOfChangeable)) == [
        "test_the_options_cannot_be_changed"
    ]


def test_a_required_option_may_lack_a_default_where_it_is_said(failing):
    settings = {"options": {"label": "NO"}, "required_options": ("label",)}
    assert failing(ParserContract, "jrh_parsers", parser(options=Undefaulted), **settings) == []


def test_an_option_said_to_be_required_that_has_a_default_is_found(failing):
    settings = {"options": {"label": "NO"}, "required_options": ("label",)}
    assert failing(ParserContract, "jrh_parsers", parser(options=GoodOptions), **settings) == [
        "test_a_missing_required_option_is_an_error"
    ]


@pytest.mark.parametrize("factory", [reads_a_file, writes_a_file, connects])
def test_a_factory_that_reaches_outside_is_found(failing, factory):
    found = failing(ParserContract, "jrh_parsers", parser(factory=factory), files={"words.txt": "YES"})
    assert found == ["test_the_factory_touches_nothing_outside"]


@pytest.mark.parametrize("starter", ["- bare", "- {bare: {label: x}}", "- {name: mine, judge: acme/bare}"])
def test_a_starter_may_name_the_component_in_every_way_a_suite_can(failing, starter):
    assert failing(ParserContract, "jrh_parsers", parser(starter=starter)) == []


LOCAL = """
{heavy}
from jrh import ParserSpec, hookimpl
@hookimpl
def jrh_parsers():
    {late}
    yield ParserSpec(name="bare", summary="bare labels", factory=lambda options, context: None)
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    made: list[str] = []

    def write(name: str, **parts: str) -> ModuleType:
        (tmp_path / f"{name}.py").write_text(LOCAL.format(**{"heavy": "", "late": "pass", **parts}))
        made.append(name)
        return import_module(name)

    yield write
    for name in made:
        sys.modules.pop(name, None)


def check_loading(plugin):
    class Planted(ParserContract):
        component = "bare"

    Planted.plugin = plugin
    Planted().test_declaring_loads_no_other_library()


def test_a_plugin_that_declares_only_loads_nothing(module):
    check_loading(module("light_plugin_9", heavy="import decimal, json"))


@pytest.mark.parametrize("place", ["heavy", "late"])
def test_a_plugin_that_loads_a_library_to_declare_is_found(module, place):
    with pytest.raises(AssertionError, match="numpy"):
        check_loading(module(f"{place}_plugin_9", **{place: "import numpy"}))


def test_a_contract_test_cannot_be_overridden_silently():
    with pytest.raises(PluginError, match="overrides test_nothing_is_no_verdict; say why"):

        class Silent(ParserContract):
            def test_nothing_is_no_verdict(self):
                pass


def test_a_contract_test_cannot_be_hidden_by_a_mixin_or_by_none():
    class Mixin:
        test_nothing_is_no_verdict = None

    with pytest.raises(PluginError, match="overrides test_nothing_is_no_verdict"):

        class Hidden(Mixin, ParserContract):
            pass


def test_a_contract_test_can_be_overridden_with_a_reason():
    class Reasoned(ParserContract):
        overrides: ClassVar = {"test_nothing_is_no_verdict": "an empty reply is this parser's tie"}

        def test_nothing_is_no_verdict(self):
            pass

    class Further(Reasoned):
        pass

    assert Further.overrides == Reasoned.overrides


def test_a_reason_for_what_is_not_overridden_is_an_error():
    with pytest.raises(PluginError, match="gives reasons for test_gone, which it does not override"):

        class Stale(ParserContract):
            overrides: ClassVar = {"test_gone": "renamed long ago"}


class TestSubclassesAreCollected(JudgeContract):
    """The contract as a plugin's tests use it, run by pytest itself."""

    class plugin:
        @staticmethod
        def jrh_judges():
            return [
                JudgeSpec(
                    name="first",
                    summary="always the first label",
                    factory=lambda options, context: First(context.task.scale.labels[0]),
                    reads_prompt=False,
                    options=NoOptions,
                )
            ]

    component = "first"


class First:
    def __init__(self, label):
        self.label = label

    async def judge(self, question):
        return Judgement(verdict=Verdict(status=Status.OK, presented=self.label))


@pytest.mark.parametrize(
    ("line", "loads"),
    [
        ("from jrh_stats import wilson", ()),
        ("from jrh_measuring import MeasureBuilder", ()),
        ("import numpy", ("numpy",)),
        ("import jrh_stats, click", ("click",)),
    ],
)
def test_statistics_may_be_imported_at_the_top_of_a_plugin_and_other_libraries_may_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, loads: tuple[str, ...]
) -> None:
    (tmp_path / "statistical.py").write_text(f"{line}\n")
    monkeypatch.syspath_prepend(tmp_path)
    foreign_modules.cache_clear()
    assert foreign_modules("statistical", ()) == loads
