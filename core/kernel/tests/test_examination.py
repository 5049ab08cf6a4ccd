"""`jrh plugins doctor` finds components that jrh could not use, in installed and local plugins, without a suite."""

from __future__ import annotations

from typing import Any

import pytest
from click.testing import CliRunner
from jrh.plugins.loading import load_plugins
from jrh_authoring.commands import doctor
from jrh_authoring.doctor import Examination, examine

HEAD = """\
from attrs import frozen
from jrh import *
from jrh.plugins import *
from jrh import hookimpl

@frozen(kw_only=True)
class Needs:
    path: str

class Mine:
    {body}

{before}
@hookimpl
def {hook}():
    yield {spec}(name="mine", summary="", {fields})
"""
HOOKS = {
    "PerturberSpec": "jrh_perturbers",
    "JudgeSpec": "jrh_judges",
    "MetricSpec": "jrh_metrics",
    "ReporterSpec": "jrh_reporters",
    "DataSourceSpec": "jrh_data_sources",
    "ExporterSpec": "jrh_exporters",
}


def source(spec: str, body: str = "pass", fields: str = "factory=Mine", before: str = "") -> str:
    return HEAD.format(spec=spec, hook=HOOKS[spec], body=body, fields=fields, before=before)


def examined(site: Any, *given: str, **named: str) -> Examination:
    site.install("acme", source(*given, **named))
    loaded = load_plugins().plugins
    assert loaded.problems == ()
    return examine(loaded)


def wrong(site: Any, *given: str, **named: str) -> str:
    (said,) = examined(site, *given, **named).wrong
    return said.removeprefix("'acme/mine' (1.0) ")


def unseen(site: Any, *given: str, **named: str) -> bool:
    found = examined(site, *given, **named)
    assert found.wrong == ()
    return found.unseen == ("acme/mine",)


@pytest.mark.parametrize(
    ("spec", "body", "sentence"),
    [
        ("PerturberSpec", "async def perturb(self): ...", "`perturb` takes (), but jrh calls it with 1 argument"),
        ("PerturberSpec", "def perturb(self, item): ...", "`perturb` is not async; write `async def perturb(self, i"),
        ("JudgeSpec", "async def ask(self, question): ...", "it has no `judge`, which JudgeSpec(kind=JudgeKind.S"),
        ("MetricSpec", "def compute(self, records, context): ...", "it has no `measure`, which MetricSpec needs; wr"),
        ("ReporterSpec", "name = 'no render'", "it has no `render`, which ReporterSpec needs; write"),
        ("ExporterSpec", "export = 'no method'", "`export` is a str, not a method; write `def export(self, report, at"),
    ],
)  # fmt: skip
def test_a_component_of_the_wrong_shape_is_one_sentence(site: Any, spec: str, body: str, sentence: str) -> None:
    assert wrong(site, spec, body).startswith(f"cannot be used: {sentence}")


@pytest.mark.parametrize("fields", ["factory=Mine, options=Needs", "factory=build, options=Needs"])
@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("async def read(self): ...", "`read` is async; write `def read(self)` (acme.py, line 11)"),
        ("def read(self, path): ...", "`read` takes (path), but jrh calls it with no argument; write `def read(self)`"),
        ("async def reed(self): ...", "it has no `read`, which DataSourceSpec needs; write `def read(self)`"),
        ("read = staticmethod(lambda path: ())", "`read` takes (path), but jrh calls it with no argument; write"),
    ],
)
def test_of_a_component_that_only_a_suite_can_build_the_class_is_examined(
    site: Any, fields: str, body: str, sentence: str
) -> None:
    before = "def build(options) -> Mine:\n    return Mine()\n"
    assert sentence in wrong(site, "DataSourceSpec", body, fields, before)


@pytest.mark.parametrize(
    "body",
    [
        "def __init__(self, options):\n        self.read = lambda: ()",
        "def __init__(self, options):\n        object.__setattr__(self, 'read', lambda: ())",
        "def __getattr__(self, name): return lambda: ()",
        "def __new__(cls, options): return object()",
        "read = property(lambda self: lambda: ())",
        "read = None\n    def __init__(self, options):\n        self.read = lambda: ()",
        "__slots__ = ('read',)",
    ],
)
def test_what_a_class_may_get_when_an_object_is_made_is_not_refused(site: Any, body: str) -> None:
    assert examined(site, "DataSourceSpec", body, "factory=Mine, options=Needs") == Examination(wrong=(), unseen=())


@pytest.mark.parametrize(
    "before",
    [
        "def build(options): ...",
        "def build(options) -> DataSource: ...",
        "def build(options) -> object: ...",
        "def build(options) -> 'NoSuchName': ...",
        "def build(options) -> Mine: ...\nclass More(Mine):\n    def read(self): ...",
    ],
)
def test_what_cannot_be_examined_is_named(site: Any, before: str) -> None:
    assert unseen(site, "DataSourceSpec", "pass", "factory=build, options=Needs", before)
    done = CliRunner().invoke(doctor, [], standalone_mode=False)
    assert done.return_value == 0
    assert "Not examined, because only a suite can build them: acme/mine." in done.output


NO_JUDGE = "it has no `judge`, which JudgeSpec(kind=JudgeKind.SINGLE) needs; write `async def judge(self, question)`"
AT_MOST = "but jrh calls it with the options and the build context at most; give all other parameters a default"


@pytest.mark.parametrize(
    ("before", "sentence"),
    [
        ("def build(): return 5", f"cannot be used: {NO_JUDGE} (an object of type int)"),
        ("def build(): return Mine", "cannot be used: its factory returns the class Mine; return an object of it"),
        ("def build(): ...", "cannot be used: its factory returns None; return the component"),
        ("async def build(): ...", "cannot be used: its factory is an `async def`; write a plain `def`"),
        ("def build(a, b, c): ...", f"cannot be used: its factory takes (a, b, c), {AT_MOST} (acme.py, line 13)"),
        ("def build(*, options): ...", f"cannot be used: its factory takes (*, options), {AT_MOST} (acme.py, line 13)"),
        ("def build(): raise SystemExit(4)", "could not be built: SystemExit: 4 (acme.py, line 13)"),
    ],
)
def test_a_factory_that_makes_no_component_is_one_sentence(site: Any, before: str, sentence: str) -> None:
    assert wrong(site, "JudgeSpec", "pass", "factory=build", before).startswith(sentence)


def test_a_declared_factory_is_imported(site: Any, capsys: pytest.CaptureFixture[str]) -> None:
    (site.path / "acme_work.py").write_text("print('loud')\nclass Judge: ...\n")
    (site.path / "acme_torn.py").write_text("class Judge(\n")
    fields = ['factory="acme_work:Jugde"', 'factory="acme_torn:Judge"', 'factory="acme_gone:Judge"']
    before = "".join(f"    yield JudgeSpec(name='m{place}', summary='', {each})\n" for place, each in enumerate(fields))
    site.install("acme", f"from jrh import *\n@hookimpl\ndef jrh_judges():\n{before}")
    said = "'acme/m0' (1.0) cannot be built: its factory is declared as 'acme_work:Jugde',"
    assert examine(load_plugins().plugins).wrong == (
        f"{said} and 'acme_work' has no 'Jugde'; did you mean 'Judge'?",
        "'acme/m1' (1.0) cannot be imported: SyntaxError: '(' was never closed (acme_torn.py, line 1)",
    )
    assert capsys.readouterr().out == ""
    output = CliRunner().invoke(doctor, [], standalone_mode=False).output
    assert output.count("acme_gone") == 2  # one sentence, which names it twice


def test_a_method_that_is_only_inherited_from_the_protocol_is_missing(site: Any) -> None:
    """A protocol's own method does nothing: whoever inherits and misspells gets an empty answer for every item."""
    before = "class Own(Perturber):\n    async def pertrub(self, item): return []\n"
    said = wrong(site, "PerturberSpec", "pass", "factory=Own", before)
    assert said.startswith("cannot be used: it has no `perturb`, which PerturberSpec(scope=Scope.ITEM) needs;")


def test_a_component_is_built_for_a_task_that_it_serves(site: Any) -> None:
    before = "def build(options, context):\n    assert context.task.mode is Mode.PAIRWISE\n    return Mine()"
    fields = "factory=build, modes=frozenset({Mode.PAIRWISE})"
    examined_one = examined(site, "JudgeSpec", "async def judge(self, question): ...", fields, before)
    assert examined_one == Examination(wrong=(), unseen=())


@pytest.mark.parametrize(
    ("modes", "sentences"),
    [("()", ()), ("{'pairwise'}", ()), ("None", ("TypeError: argument of type 'NoneType' is not iterable",))],
)
def test_modes_that_are_none_stop_nothing(site: Any, modes: str, sentences: tuple[str, ...]) -> None:
    found = examined(site, "JudgeSpec", "async def judge(self, question): ...", f"factory=Mine, modes={modes}")
    expected = tuple(f"'acme/mine' (1.0) cannot be examined: {each}" for each in sentences)
    assert tuple(each.partition(" (jrh_authoring/doctor.py")[0] for each in found.wrong) == expected


def test_a_component_of_all_tasks_must_not_ask_for_one(site: Any) -> None:
    before = "def build(options, context):\n    return Mine(context.task)"
    said = wrong(site, "MetricSpec", "pass", "factory=build", before)
    assert said.endswith("'mine' serves all tasks; its factory must not ask for one")


def test_a_key_that_is_not_set_is_no_problem(site: Any) -> None:
    before = "def build():\n    assert read_secret('ACME_KEY')\n    return Mine()"
    body = "async def judge(self, question): ..."
    assert examined(site, "JudgeSpec", body, "factory=build", before) == Examination(wrong=(), unseen=())


def test_the_doctor_reports_installed_and_local_components(
    site: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    site.install("acme", source("ReporterSpec", "async def render(self, report): ..."))
    (tmp_path / "own.py").write_text(source("MetricSpec"))
    done = CliRunner().invoke(doctor, ["--plugins", "own.py,acme"], standalone_mode=False)
    assert done.return_value == 3
    said = done.output
    assert "2 problems:" in said
    assert "  'own/mine' (local) cannot be used: it has no `measure`, which MetricSpec needs; write" in said
    assert "  'acme/mine' (1.0) cannot be used: `render` is async; write `def render(self, report)` (acme.py, " in said
    assert "No problems." not in said
