"""A component of the wrong shape is refused when it is built, in one sentence, for every kind of component."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterator
from typing import Any

import attrs
import pytest
from jrh.cli import invoke
from jrh.plugins.factories import WrongShapeError, check_members, make, protocol_of
from jrh.plugins.registry import Entry
from jrh.plugins.specs import (
    KINDS,
    JudgeKind,
    JudgeSpec,
    MetricSpec,
    ModelSpec,
    ModeSpec,
    ParserSpec,
    PerturberSpec,
    Scope,
    SectionSpec,
    Spec,
    ValidatorSpec,
)

pytestmark = pytest.mark.inside

VARIANTS: dict[type[Spec], list[dict[str, Any]]] = {
    ModeSpec: [{"options": attrs.make_class("Keys", {"mode": attrs.field(default="", type=str)})}],
    PerturberSpec: [{"scope": each} for each in Scope],
    ValidatorSpec: [{"scope": each} for each in Scope],
    JudgeSpec: [{"kind": each} for each in JudgeKind],
    ModelSpec: [{"deferred": False}, {"deferred": True}],
    SectionSpec: [{"title": "Mine"}],
}


def of(spec: Any, **fields: Any) -> Any:
    return spec(name="mine", summary="", factory=dict, **fields)


def declarations() -> Iterator[Any]:
    """Yield every kind of declaration, with every protocol that it can ask for."""
    for spec in [kind.spec for kind in KINDS.values() if kind.protocol is not None]:
        for fields in VARIANTS.get(spec, [{}]):
            yield pytest.param(
                of(spec, **fields), id=f"{spec.__name__}-{'-'.join(str(each) for each in fields.values())}"
            )


EVERY = pytest.mark.parametrize("spec", list(declarations()))


def members(spec: Any) -> dict[str, Any]:
    protocol = protocol_of(spec)[0]
    return {
        name: member
        for each in reversed(protocol.__mro__)
        for name, member in vars(each).items()
        if not name.startswith("_") and (inspect.isfunction(member) or isinstance(member, property))
    }


def methods(spec: Any) -> list[str]:
    return [name for name, member in members(spec).items() if inspect.isfunction(member)]


def made_of(spec: Any, component: object) -> Any:
    declared = attrs.evolve(spec, factory=lambda: component)
    return make(Entry(spec=declared, distribution="acme", version="1.0", plugin="acme"), None, None)


def refusal(spec: Any, component: object) -> str:
    with pytest.raises(WrongShapeError) as caught:
        made_of(spec, component)
    said = str(caught.value)
    assert said.startswith("'acme/mine' (1.0) cannot be used: ")
    assert "\n" not in said
    return said


def kind(spec: Any, **changes: Any) -> type:
    """Return a class that follows the protocol, but for the changes; None leaves a member out."""
    body = {name: value for name, value in {**members(spec), **changes}.items() if value is not None}
    return type("Mine", (), body)


@EVERY
def test_the_right_shape_is_taken(spec: Any) -> None:
    component = kind(spec)()
    assert made_of(spec, component) is component


@EVERY
def test_a_missing_method_is_named_with_how_to_write_it(spec: Any) -> None:
    for name, member in members(spec).items():
        said = refusal(spec, kind(spec, **{name: None})())
        assert f"it has no `{name}`, which {type(spec).__name__}" in said
        start = "@property def" if isinstance(member, property) else "def"
        start = "async def" if inspect.iscoroutinefunction(member) else start
        assert f"write `{start} {name}(self" in said


@EVERY
def test_a_plain_method_for_an_async_one_and_the_reverse_are_refused(spec: Any) -> None:
    def plain(self: Any, *given: Any, **named: Any) -> Any: ...

    async def coroutine(self: Any, *given: Any, **named: Any) -> Any: ...

    for name in methods(spec):
        due = inspect.iscoroutinefunction(members(spec)[name])
        said = refusal(spec, kind(spec, **{name: plain if due else coroutine})())
        line = (plain if due else coroutine).__code__.co_firstlineno
        assert f"`{name}` is {'not ' if due else ''}async; write `{'async ' if due else ''}def {name}(self" in said
        assert said.endswith(f"test_shapes.py, line {line})")


@EVERY
def test_wrong_parameters_are_refused_with_those_that_are_due(spec: Any) -> None:
    def plain(self: Any, a: Any, b: Any, c: Any, d: Any, e: Any) -> Any: ...

    async def coroutine(self: Any, a: Any, b: Any, c: Any, d: Any, e: Any) -> Any: ...

    for name in methods(spec):
        wrong = coroutine if inspect.iscoroutinefunction(members(spec)[name]) else plain
        said = refusal(spec, kind(spec, **{name: wrong})())
        assert f"`{name}` takes (a, b, c, d, e), but jrh calls it with " in said
        assert f"line {wrong.__code__.co_firstlineno})" in said


@EVERY
def test_a_class_that_cannot_be_built_is_held_to_the_same(spec: Any) -> None:
    """The class alone shows what is missing, not async, async, or takes other parameters."""

    def refused(made: type) -> str:
        with pytest.raises(WrongShapeError) as caught:
            check_members(Entry(spec=spec, distribution="acme", version="1.0", plugin="acme"), made)
        return str(caught.value)

    def needs(self: Any, options: Any) -> None: ...

    def plain(self: Any) -> Any: ...

    async def coroutine(self: Any) -> Any: ...

    check_members(Entry(spec=spec, distribution="acme", version="1.0", plugin="acme"), kind(spec, __init__=needs))
    for name, member in members(spec).items():
        assert f"it has no `{name}`, which" in refused(kind(spec, __init__=needs, **{name: None}))
        if inspect.isfunction(member):
            due = inspect.iscoroutinefunction(member)
            assert f"`{name}` is {'not ' if due else ''}async" in refused(
                kind(spec, **{name: plain if due else coroutine})
            )
            if len(inspect.signature(member).parameters) > 1:
                assert f"`{name}` takes ()" in refused(kind(spec, **{name: coroutine if due else plain}))


@EVERY
def test_a_class_nothing_or_an_async_factory_is_no_component(spec: Any) -> None:
    async def factory() -> Any: ...

    assert "its factory returns the class Mine; return an object of it" in refusal(spec, kind(spec))
    assert "its factory returns None; return the component" in refusal(spec, None)
    assert "its factory is an `async def`; write a plain `def`" in refusal(spec, factory())


def test_a_property_that_is_a_method_is_refused() -> None:
    spec = of(ModelSpec)
    said = refusal(spec, kind(spec, rates=lambda self: None)())
    assert "`rates` is a method; write `@property` above it" in said


def test_what_yields_where_a_result_is_due_is_refused() -> None:
    async def stream(self: Any, item: Any) -> Any:
        yield item

    def several(self: Any, reply: Any, scale: Any) -> Any:
        yield reply

    perturber, parser = of(PerturberSpec), of(ParserSpec)
    assert "`perturb` yields; write `async def perturb(self, item)`, and return the result" in refusal(
        perturber, kind(perturber, perturb=stream)()
    )
    assert "`parse` yields; write `def parse(self, reply, scale)`, and return the result" in refusal(
        parser, kind(parser, parse=several)()
    )
    metric = of(MetricSpec)
    assert made_of(metric, kind(metric, measure=several)())


def test_optional_methods_are_checked_where_they_are() -> None:
    judge, perturber = of(JudgeSpec), of(PerturberSpec)
    assert "`aclose` is not async" in refusal(judge, kind(judge, aclose=lambda self: None)())
    wrong = kind(perturber, most_calls=lambda self: {})()
    with pytest.raises(WrongShapeError, match=r"`most_calls` takes \(\), but jrh calls it with 1 argument;"):
        made_of(perturber, wrong)


def test_decorated_delegated_and_annotated_methods_are_taken() -> None:
    """What works when it is called is not refused: wrappers, partials, callables as attributes, `__getattr__`."""
    spec = of(JudgeSpec)

    async def answer(question: Any) -> Any: ...

    async def own(self: Any, question: Any) -> Any: ...

    @functools.wraps(own)
    def wrapped(*given: Any) -> Any:
        return own(*given)

    def told(self: Any, question: Any, again: int = 0) -> Any: ...

    told.__annotations__["return"] = "Awaitable[Judgement]"

    class Called:
        async def __call__(self, question: Any) -> Any: ...

    class Delegates:
        def __init__(self, to: Any) -> None:
            self._to = to

        def __getattr__(self, name: str) -> Any:
            return getattr(self._to, name)

    part = functools.partial(lambda of, question: None, 1)
    assert "`judge` is not async" in refusal(spec, kind(spec, judge=staticmethod(part))())
    for method in (wrapped, told, staticmethod(answer), staticmethod(functools.partial(own, None)), Called()):
        assert made_of(spec, kind(spec, judge=method)())
    assert made_of(spec, Delegates(kind(spec)()))


PLUGIN = """\
from jrh import {spec}, hookimpl

class Mine:
    {method}

@hookimpl
def {hook}():
    yield {spec}(name={name!r}, summary="", factory=Mine{more})
"""
JUDGE = {"spec": "JudgeSpec", "hook": "jrh_judges", "name": "mine", "more": ""}
GOOD = "async def judge(self, question): return None"


@pytest.fixture
def folder(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text("id,request,response,label\n1,q,a,YES\n2,q,b,NO\n")
    return tmp_path


def suite(folder: Any, **changes: str) -> None:
    text = (
        "name: s\ndata: {source: csv, path: rows.csv}\n"
        "task: {instruction: Judge., scale: {labels: [YES, NO]}}\n"
        f"judges: [{changes.pop('judge', 'mine')}]\n"
    )
    (folder / "s.yaml").write_text(text + "".join(f"{key}: {value}\n" for key, value in changes.items()))


@pytest.mark.parametrize(
    ("method", "sentence"),
    [
        ("def judge(self, question): return None", "`judge` is not async; write `async def judge(self, question)`"),
        ("async def judge(self): return None", "`judge` takes (), but jrh calls it with 1 argument"),
        ("async def jugde(self, question): return None", "it has no `judge`, which JudgeSpec(kind=JudgeKind.SINGLE)"),
    ],
)
@pytest.mark.parametrize("command", ["plan", "run"])
def test_plan_and_run_refuse_it_before_a_run_directory_is_made(
    folder: Any, capsys: pytest.CaptureFixture[str], method: str, sentence: str, command: str
) -> None:
    (folder / "own.py").write_text(PLUGIN.format(**JUDGE, method=method))
    suite(folder)
    more = ["--yes", "--run-dir", "out"] if command == "run" else []
    assert invoke([command, "s.yaml", "--plugins", "own.py", *more]) == 2
    said = capsys.readouterr().err
    assert f"'own/mine' (local) cannot be used: {sentence}" in said
    assert "(own.py, line " in said
    assert not (folder / "out").exists()


def test_what_works_after_all_calls_is_refused_before_them(folder: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """A reporter writes when everything is paid; its shape is looked at before, and so is that of one by default."""
    reporter = {"spec": "ReporterSpec", "hook": "jrh_reporters", "name": "mine", "more": ', filename="m.txt"'}
    (folder / "own.py").write_text(PLUGIN.format(**reporter, method="async def render(self, report): return ''"))
    suite(folder, judge="baseline")
    assert invoke(["run", "s.yaml", "--plugins", "own.py", "--yes", "--run-dir", "out"]) == 2
    said = capsys.readouterr().err
    assert "'own/mine' (local) cannot be used: `render` is async; write `def render(self, report)`" in said
    assert not (folder / "out").exists()


@pytest.mark.parametrize(
    ("changes", "also", "sentence"),
    [
        ({"name": "n" * 300}, "", "the name 'nnnnnnnnnnnnnnnnnnnn...' has 300 characters; at most 80 are allowed"),
        ({"name": "n" * 81}, "", "has 81 characters; at most 80 are allowed"),
        ({"name": "Mein Richter"}, "", "the name 'Mein Richter' must begin with a-z or 0-9"),
        ({"name": "../up"}, "", "the name '../up' must begin with a-z or 0-9"),
        ({"name": ""}, "", "the name '' must begin with a-z or 0-9"),
        ({"name": None}, "", "the name None must begin with a-z or 0-9"),
        ({"more": ", options=dict"}, "", "decorate it with @attrs.frozen(kw_only=True) (own.py, line 6)"),
        ({"more": ", options=Mine()"}, "", "'mine': options= must be a class, got Mine (own.py, line 6)"),
        ({"more": ", factroy=1"}, "", "unexpected keyword argument 'factroy'"),
        ({}, "JRH_API_VERSION = 99\n", "written for version 99 of the plugin API"),
    ],
)
def test_a_wrong_declaration_is_one_sentence_and_nothing_runs(
    folder: Any, capsys: pytest.CaptureFixture[str], changes: dict[str, Any], also: str, sentence: str
) -> None:
    (folder / "own.py").write_text(also + PLUGIN.format(**{**JUDGE, **changes}, method=GOOD))
    suite(folder)
    assert invoke(["plan", "s.yaml", "--plugins", "own.py"]) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert "Traceback" not in said
    assert max(map(len, said.splitlines())) < 400


def test_a_declaration_without_a_name_is_one_sentence_with_its_line(
    folder: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "own.py").write_text(PLUGIN.format(**JUDGE, method=GOOD).replace("name='mine', ", ""))
    suite(folder)
    assert invoke(["plan", "s.yaml", "--plugins", "own.py"]) == 2
    assert "missing 1 required keyword-only argument: 'name' (own.py, line 8)" in capsys.readouterr().err
