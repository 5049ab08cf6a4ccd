"""Every hook is documented as it is, and every example does what it says."""

from __future__ import annotations

import inspect
import re
import textwrap
from pathlib import Path
from typing import Any

import attrs
import jrh
import pytest
from jrh.plugins import hookspecs
from jrh.plugins.loading import load_plugins
from jrh.values import events
from jrh_testing import loop_over

PAGE = Path(__file__).parents[3] / "docs" / "hooks.md"
HOOKS = [name for name in vars(hookspecs) if name.startswith("jrh_")]
EVENTS = {
    "jrh_run_started": events.RunStarted,
    "jrh_case_ready": events.CaseReady,
    "jrh_record_committed": events.RecordCommitted,
    "jrh_run_finished": events.RunFinished,
}


def folded(text: str) -> str:
    return " ".join(text.split())


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def docstring(hook: str) -> tuple[list[str], str]:
    """Return the paragraphs of a hook's docstring, and its example."""
    text, _, example = (inspect.getdoc(getattr(hookspecs, hook)) or "").partition("Example:")
    found = re.search(r"```python\n(.*?)```", textwrap.dedent(example), re.DOTALL)
    return [folded(paragraph) for paragraph in text.strip().split("\n\n")], found.group(1) if found else ""


def section(hook: str) -> str:
    """Return what the page says about a hook."""
    page = PAGE.read_text(encoding="utf-8")
    assert f"\n## {hook}\n" in page, f"docs/hooks.md has no section '## {hook}'"
    return page.partition(f"\n## {hook}\n")[2].partition("\n## ")[0]


def test_there_are_seventeen_declaration_hooks_and_four_event_hooks() -> None:
    assert len(HOOKS) == 21
    assert len(EVENTS) == 4


def test_the_page_has_no_hook_that_does_not_exist() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert re.findall(r"^## (jrh_\w+)$", page, re.MULTILINE) == HOOKS
    assert set(re.findall(r"\bjrh_\w+", page)) - {"jrh_", "jrh_interchange", "jrh_measuring"} <= set(HOOKS)


@loop_over("hook", HOOKS)
def test_the_page_has_the_exact_signature(hook: str) -> None:
    signature = f"def {hook}{inspect.signature(getattr(hookspecs, hook))}".replace("'", "")
    assert f"```python\n{signature}\n```" in section(hook)
    assert f"`{signature.removeprefix('def ')}`" in PAGE.read_text(encoding="utf-8").partition("\n## jrh_")[0]


@loop_over("hook", HOOKS)
def test_the_page_says_what_the_docstring_says_and_has_its_example(hook: str) -> None:
    paragraphs, example = docstring(hook)
    written = section(hook)
    for paragraph in paragraphs:
        assert paragraph in folded(written)
    assert f"```python\n{example}```" in written


def test_the_page_has_the_rules_for_all_hooks() -> None:
    page = folded(PAGE.read_text(encoding="utf-8"))
    for paragraph in (inspect.getdoc(hookspecs) or "").split("\n\n")[1:]:
        assert folded(paragraph) in page


@loop_over("hook", HOOKS)
def test_the_page_links_plugins_that_use_the_hook(hook: str) -> None:
    (line,) = re.findall(r"^In use: (.*)$", section(hook), re.MULTILINE)
    linked = {(PAGE.parent / target).parent.resolve() for target in re.findall(r"\]\(([^)]+)\)", line)}
    shipped = {
        path.parents[2]
        for path in PAGE.parents[1].glob("*/*/src/*/plugin.py")
        if "contrib" not in str(path) and f"\ndef {hook}(" in read(path)
    }
    assert linked <= shipped
    assert bool(linked) == bool(shipped)


@loop_over("hook", EVENTS)
def test_the_page_has_every_field_of_an_event_and_every_field_has_a_docstring(hook: str) -> None:
    event = EVENTS[hook]
    source = inspect.getsource(event)
    for field in attrs.fields(event):
        found = re.search(rf'^    {field.name}: [^\n]*\n    """(.*?)"""', source, re.DOTALL | re.MULTILINE)
        assert found, f"{event.__name__}.{field.name} has no docstring"
        assert f"| `{field.name}` | `{field.type}` | {folded(found.group(1))} |" in section(hook)


ASKS = """
from attrs import frozen
from jrh import ChatRequest, DataSourceSpec, Item, Judgement, JudgeSpec, Message, ModelName, hookimpl

class Words:
    def read(self):
        yield Item(id="1", fields={"request": "Say something.", "response": "something"}, gold="YES")
        yield Item(id="2", fields={"request": "Say nothing.", "response": "  "}, gold="NO")

@frozen(kw_only=True)
class Options:
    model: ModelName

class Asks:
    def __init__(self, model, parser):
        self.model, self.parser = model, parser

    async def judge(self, question):
        text = "YES" if question.fields["response"].isupper() else "neither"
        request = ChatRequest(messages=(Message(role="user", content=text),))
        reply = await self.model.ask(request, repeat=question.occasion)
        return Judgement(verdict=self.parser.parse(reply, question.task.scale), reply=reply)

@hookimpl
def jrh_data_sources():
    yield DataSourceSpec(name="words", summary="", factory=lambda options, context: Words())

@hookimpl
def jrh_judges():
    yield JudgeSpec(
        name="asks",
        summary="",
        options=Options,
        factory=lambda options, context: Asks(context.model(options.model), context.parser("whole")),
    )
"""

SCALE = {"scale": {"labels": ["YES", "NO"]}}
SUITE = {
    "name": "examples",
    "tasks": [
        {"name": "sums", "data": {"source": "two"}, "task": SCALE},
        {"name": "words", "data": {"source": "words"}, "task": {"mode": "checklist", "question": "Said?"}},
    ],
    "models": {"bird": {"provider": "parrot"}},
    "tests": [{"shout": {"validate": ["not-empty"]}}],
    "judges": ["first-label", {"asks": {"model": "bird"}}],
    "reference": {"repeats": 1},
    "allocate": {"drop-failures": {"batch": 1, "limit": 1.0}},
}


@pytest.fixture
def examples(site: Any, tmp_path: Path) -> list[str]:
    """Write every example into a file of its own and return the paths."""
    paths = []
    for hook in HOOKS:
        path = tmp_path / f"example_{hook}.py"
        path.write_text(docstring(hook)[1], encoding="utf-8")
        paths.append(str(path))
    return paths


@pytest.mark.parametrize("position", range(len(HOOKS)), ids=HOOKS)
def test_an_example_is_a_whole_plugin_with_nothing_wrong(examples: list[str], position: int) -> None:
    loaded = load_plugins([examples[position]])
    assert loaded.plugins.problems == ()
    hook = HOOKS[position]
    (plugin,) = loaded.manager.get_plugins()
    assert [caller.name for caller in loaded.manager.get_hookcallers(plugin) or []] == [hook]
    if hook not in EVENTS:
        registry = getattr(loaded.plugins, hook.removeprefix("jrh_"))
        assert [entry.spec.summary != "" for entry in registry] == [True]


def test_the_examples_together_are_a_run_and_every_hook_does_its_part(
    site: Any, examples: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site.with_core = True
    asks = tmp_path / "asks.py"
    asks.write_text(ASKS, encoding="utf-8")
    run_dir = tmp_path / "run"
    result = jrh.run(SUITE, plugins=[*examples, str(asks)], run_dir=run_dir, use_cache=False)
    assert (result.exit_code, result.message) == (0, "")

    # Two data sources of two items, each judged as it is and shouted; the shouted empty text was not let through.
    rows = list(
        zip(*(result.records.text(name) for name in ("task", "test", "item_id", "judge", "status")), strict=True)
    )
    assert len(rows) == 2 * (4 + 3)
    assert ("words", "shout", "2", "asks", "ok") not in rows
    (sums, words) = (each for each in result.report.attrition if each.test == "shout")
    assert (sums.kept, sums.rejected) == (2, {})
    assert (words.kept, words.rejected) == (1, {"not-empty: empty text": 1})

    # The mode: its task asks what the section says.
    assert {each.task.name: each.task.instruction for each in result.report.tasks} == {"sums": "", "words": "Said?"}

    # The parrot repeats what the judge sends it, and the parser reads the whole of it.
    by_case = {row[:4]: row[4] for row in rows}
    assert by_case["words", "reference", "1", "asks"] == "unparsable"
    assert by_case["words", "shout", "1", "asks"] == "ok"
    assert {status for row, status in by_case.items() if row[3] == "first-label"} == {"ok"}

    # The metric: 1 of 7 answers of the judge that asks; what asks a simulated model is marked.
    answered = {each.judge: each for each in result.measures if each.name == "answered"}
    assert answered["first-label"].estimate == 1.0
    assert answered["asks"].estimate == pytest.approx(1 / 7)
    assert (answered["asks"].flags, answered["first-label"].flags) == (("simulated",), ())
    assert result.spent.paid == 0.0

    # The section: a reference to each of the two measures.
    (section,) = result.report.sections
    assert (section.name, section.title) == ("answers", "Answers")
    (table,) = section.parts
    shown = [result.measures[row.cells[0].measure] for row in table.rows]
    assert [(each.judge, each.name) for each in shown] == [(row.heads[0], "answered") for row in table.rows]
    assert len(shown) == 2

    # The stage: its sentence is one of the report's.
    assert "Looked at by the stage 'remark'." in result.report.notes

    # The reporter and the four events.
    assert (run_dir / "count.txt").read_text() == "examples: 14 records"
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"examples {run_dir}"
    told = [line for line in lines if line.startswith("case ")]
    assert sorted(told) == [*["case reference 1"] * 2, *["case reference 2"] * 2, *["case shout 1"] * 2, "case shout 2"]
    lines = [line for line in lines if not line.startswith("case ")]
    assert sorted(lines[1:-1]) == ["asks ok"] + ["asks unparsable"] * 6 + ["first-label ok"] * 7
    assert lines[-1].startswith("0 {")
    assert "'ok': 8" in lines[-1]
    assert "'unparsable': 6" in lines[-1]


def test_the_allocator_of_the_example_drops_the_judge_that_fails(examples: list[str], tmp_path: Path) -> None:
    asks = tmp_path / "asks.py"
    asks.write_text(ASKS, encoding="utf-8")
    suite = {**SUITE, "allocate": {"drop-failures": {"batch": 1, "limit": 0.75}}}
    result = jrh.run(suite, plugins=[*examples, str(asks)], run_dir=tmp_path / "run", use_cache=False)
    asked = result.records.where(result.records.equals("judge", "asks"))
    assert set(asked.text("item_id")) == {"1"}  # 3 of its 4 trials have no verdict, and 3 are not asked
    assert any("after 2 of 4 items: 'asks' (3 questions not asked)" in note for note in result.report.notes)


def test_records_that_an_earlier_process_wrote_are_not_told_again(
    examples: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asks = tmp_path / "asks.py"
    asks.write_text(ASKS, encoding="utf-8")
    for _ in range(2):
        capsys.readouterr()
        jrh.run(SUITE, plugins=[*examples, str(asks)], run_dir=tmp_path / "run", use_cache=False)
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith("examples ")
    assert last.startswith("0 {")
