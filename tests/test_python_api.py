"""jrh from Python: callables as judges, rows as data, results as frames, runs inside of an event loop."""

from __future__ import annotations

import asyncio
import math
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import attrs
import jrh
import pyarrow
import pytest
from jrh.plugins import OnlyPlugins
from jrh.plugins.component_identity import python_source
from jrh.running import RunResult
from jrh.values.option_values import Held
from jrh.values.report import RunReport
from jrh_notebook.frames import measures_frame, records_frame
from jrh_notebook.progress import NotebookProgress
from jrh_testing import ChatServer

pytestmark = pytest.mark.inside

ROWS = [
    {"id": f"i{n}", "response": f"{'good' if n % 2 else 'poor'} answer {n}", "label": "YES" if n % 2 else "NO", "n": n}
    for n in range(8)
]
TASK = {"instruction": "Is it good?", "scale": {"labels": ["YES", "NO"]}}
PLUGINS = ("jrh-format", "jrh-judges", "jrh-metrics", "jrh-parsers", "jrh-report", "jrh-sources", "jrh-openai-http")


class Counting:
    """A judge that counts how often it is asked."""

    def __init__(self, word: str = "good") -> None:
        self.word = word
        self._asked: list[object] = []

    def __call__(self, question: dict[str, Any]) -> str:
        self._asked.append(None)
        return "YES" if self.word in question["fields"]["response"].lower() else "NO"

    @property
    def asked(self) -> int:
        """Return the number of questions since the last look."""
        found = len(self._asked)
        self._asked.clear()
        return found


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer("YES") as server:
        yield server


def suite(**parts: Any) -> dict[str, Any]:
    return {"name": "python", "data": ROWS, "task": TASK, "tests": [], **parts}


def run(written: Any, run_dir: Path, **options: Any) -> RunResult:
    return jrh.run(written, run_dir=run_dir, use_cache=False, plugins=PLUGINS, **options)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    written = suite(tests=["format"], judges=[{"judge": Counting(), "name": "words"}, lambda _question: "YES"])
    return run(written, tmp_path_factory.mktemp("python") / "run")


# -- judges ----------------------------------------------------------------------------------------------------------


def test_a_callable_is_a_judge_beside_those_of_a_suite_file(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("def judge(question):\n    return 'NO'\n")
    (tmp_path / "suite.yaml").write_text(
        "name: file\ndata: {source: rows, rows: data.py:rows}\ntask: {scale: {labels: ['YES', 'NO']}}\n"
        "judges: [{judge: function, function: own.py:judge, name: own}, {judge: function, function: gone.py:x}]\n"
    )
    (tmp_path / "data.py").write_text(f"def rows():\n    return {ROWS!r}\n")
    result = run(tmp_path / "suite.yaml", tmp_path / "run", judges=["own", Counting()])
    assert result.report is not None
    assert result.report.judges == ("own", "Counting")
    assert result.measure("gold-accuracy", judge="Counting").estimate == 1.0
    assert result.measure("gold-accuracy", judge="own").estimate == 0.5


def test_the_same_judge_is_asked_once_and_an_edited_one_again(tmp_path: Path) -> None:
    judge = Counting()
    once = 2 * len(ROWS)  # the reference condition is asked twice
    run(suite(judges=[judge]), tmp_path / "run")
    assert judge.asked == once
    run(suite(judges=[judge]), tmp_path / "run")
    assert judge.asked == 0
    judge.word = "poor"  # what an object holds is part of what it is
    result = run(suite(judges=[judge]), tmp_path / "run")
    assert judge.asked == once
    assert result.measure("gold-accuracy").estimate == 0.0


def identity(thing: Callable[..., Any]) -> str:
    return python_source(Held.of(thing), Path()).digest


def returning(kept: object) -> Callable[[object], object]:
    return lambda _: kept


class Holder:
    """An object that holds what a judge uses."""

    def __init__(self, **parts: object) -> None:
        vars(self).update(parts)


def threshold(limit: float) -> Callable[[float], bool]:
    return lambda value: value > limit


def test_lambdas_closures_partials_and_methods_are_told_apart_by_code_and_by_what_they_hold() -> None:
    import pandas

    assert identity(threshold(1)) == identity(threshold(1))
    assert identity(threshold(1)) != identity(threshold(2))
    first, second = (lambda _: "YES"), (lambda _: "NO")
    assert identity(first) != identity(second)
    assert identity(partial(threshold, 1)) != identity(partial(threshold, 2))
    holder = Holder(model=pandas.DataFrame({"a": [1]}), words=["a"])
    judge = returning(holder)
    known = [identity(judge)]
    vars(holder)["model"] = pandas.DataFrame({"a": [2]})
    known.append(identity(judge))
    vars(holder)["words"].append("b")
    known.append(identity(judge))
    assert len(set(known)) == 3
    vars(holder)["_calls"] = [9]  # an object's own business, such as a log
    assert identity(judge) == known[-1]


def test_a_function_without_source_is_known_by_what_it_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    main = SimpleNamespace(__name__="__main__")
    monkeypatch.setitem(sys.modules, "__main__", main)

    def defined(answer: str, **others: object) -> str:
        names = {"__name__": "__main__", **others}
        exec(f"def judge(question):\n    return WORDS and {answer!r}", names)
        vars(main).update(names)
        return python_source("__main__:judge", Path()).digest

    first = defined("YES", WORDS=["a"])
    assert first == defined("YES", WORDS=["a"])
    assert first != defined("NO", WORDS=["a"])
    assert first != defined("YES", WORDS=["b"])


def test_a_module_that_was_edited_after_its_import_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "edited_judge.py").write_text("def judge(question):\n    return 'YES'\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    import edited_judge  # type: ignore[import-not-found]

    try:
        assert run(suite(judges=[edited_judge.judge]), tmp_path / "run").exit_code == 0
        (tmp_path / "edited_judge.py").write_text("def judge(question):\n    return 'NO'\n")
        with pytest.raises(jrh.JrhError, match=r"'edited_judge.py' was edited after Python imported it"):
            run(suite(judges=[edited_judge.judge]), tmp_path / "run")
    finally:
        del sys.modules["edited_judge"]


def test_a_judge_of_any_name_runs(tmp_path: Path) -> None:
    def judge(question: dict[str, Any]) -> str:
        return "YES"

    for name in ("ünï", "<b>\x1b[31m", "1st", "x" * 500):
        judge.__name__ = name
        assert run(suite(judges=[judge]), tmp_path / "run").exit_code == 0


# -- data ------------------------------------------------------------------------------------------------------------


def test_lists_data_frames_and_arrow_tables_are_the_same_items(tmp_path: Path) -> None:
    import pandas

    judge = Counting()
    frame = pandas.DataFrame(ROWS)
    for count, rows in enumerate((ROWS, frame, pyarrow.table(frame), {"source": frame, "columns": {"label": "label"}})):
        result = run(suite(data=rows, judges=[judge]), tmp_path / "run")
        assert result.exit_code == 0
        assert judge.asked == (0 if count else 16)
    assert run(suite(data=None, judges=[judge]), tmp_path / "run", data=frame).exit_code == 0
    assert judge.asked == 0


def test_mistakes_in_rows_are_listed_with_their_numbers(tmp_path: Path) -> None:
    import pandas

    wrong = [{"response": "a", "label": "MAYBE"}, {"response": b"bytes", "label": "YES"}, {"response": ""}]
    with pytest.raises(jrh.SuiteError) as raised:
        run(suite(data=wrong, judges=[Counting()]), tmp_path / "run")
    assert "rows:2: column 'response' holds bytes, not text" in str(raised.value)
    assert "MAYBE" in str(raised.value)
    frame = pandas.DataFrame([["a", "b"]], columns=["response", "response"])
    with pytest.raises(jrh.JrhError, match="distinct column names"):
        run(suite(data=frame, judges=[Counting()]), tmp_path / "run")
    for empty, message in (([], "there are no rows"), ([1], "rows:1: a row must be a mapping from column to value")):
        with pytest.raises(jrh.JrhError, match=message):
            run(suite(data=empty, judges=[Counting()]), tmp_path / "run")
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises(jrh.JrhError, match="rows:1: values are nested too deeply"):
        run(suite(data=[{**ROWS[0], "more": endless}], judges=[Counting()]), tmp_path / "run")
    with pytest.raises(jrh.JrhError, match="no loaded plugin takes rows from Python as the data"):
        jrh.run(suite(judges=[Counting()]), run_dir=tmp_path / "run", plugins=OnlyPlugins(["jrh-judges"]))


# -- results ---------------------------------------------------------------------------------------------------------


def test_a_result_is_one_line_and_finds_its_measures(found: RunResult) -> None:
    assert repr(found).count("\n") == 0
    assert "2 judges, 2 tests" in repr(found)
    assert found.findings == (found.report.findings if found.report else None)
    measure = found.measure("flip-rate", judge="words", test="format")
    assert (measure.name, measure.judge, measure.test, measure.cell) == ("flip-rate", "words", "format", {})
    with pytest.raises(jrh.JrhError, match=r"measures are named 'flip-rate'; choose one by judge: lambda, words"):
        found.measure("flip-rate")
    with pytest.raises(jrh.JrhError, match="Did you mean 'flip-rate'"):
        found.measure("fliprate")
    with pytest.raises(jrh.JrhError, match=r"Available: judge: lambda, words; .*"):
        found.measure("flip-rate", judge="nobody")


def test_a_run_that_is_opened_later_gives_the_result_that_running_it_gave(
    found: RunResult, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    opened = jrh.open_run(str(found.run_dir), plugins=PLUGINS)
    # What shows it in a notebook and what reads its evidence are made for each result.
    for field in attrs.fields(RunResult):
        if field.name not in ("report", "cell"):
            assert getattr(opened, field.name) == getattr(found, field.name), field.name
    for field in attrs.fields(RunReport):
        if field.name not in ("records", "evidence"):
            assert getattr(opened.report, field.name) == getattr(found.report, field.name), field.name
    assert opened.records.text("canonical") == found.records.text("canonical")
    assert opened._repr_html_() == found._repr_html_()
    assert opened.files
    assert capfd.readouterr() == ("", "")
    with pytest.raises(jrh.JrhError, match="is not a run directory: it holds no run"):
        jrh.open_run(tmp_path)


def test_frames_hold_every_measure_and_record_with_its_texts(found: RunResult) -> None:
    import pandas

    measures = measures_frame(found)
    assert isinstance(measures, pandas.DataFrame)
    assert len(measures) == len(found.measures)
    chosen = measures[(measures.name == "flip-rate") & (measures.judge == "words") & (measures.cell == "")]
    assert list(chosen.estimate) == [each.estimate for each in found.measures if _is(each)]
    records = records_frame(found, texts=True, as_="arrow").to_pylist()
    assert len(records) == len(found.records)
    assert all(each["text.reply"] == each["presented"] for each in records)
    assert {each["text.response"] for each in records if each["test"] == "reference"} == {r["response"] for r in ROWS}
    with pytest.raises(jrh.JrhError, match="as_: expected one of pandas, polars, arrow, got 'excel'"):
        measures_frame(found, "excel")  # type: ignore[arg-type]


def _is(measure: jrh.Measure) -> bool:
    return (measure.name, measure.judge, measure.cell) == ("flip-rate", "words", {})


def test_polars_frames_where_polars_is_installed(found: RunResult, tmp_path: Path) -> None:
    polars = pytest.importorskip("polars")
    assert measures_frame(found, "polars").height == len(found.measures)
    judge = Counting()
    for rows in (ROWS, polars.DataFrame(ROWS), polars.DataFrame(ROWS).lazy()):
        assert run(suite(data=rows, judges=[judge]), tmp_path / "run").exit_code == 0
    assert judge.asked == 16


def test_a_library_that_is_not_installed_is_named_in_one_sentence(
    found: RunResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(jrh.JrhError, match=r"^polars is not installed; run `pip install polars`$"):
        records_frame(found, as_="polars")


def test_a_notebook_shows_findings_and_heat_map_and_nothing_of_the_data_runs(tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script><img src=x onerror=alert(2)>"
    rows = [{**row, "stratum": hostile} for row in ROWS]
    written = suite(data=rows, judges=[Counting()], metrics={"add": []})
    written["name"] = hostile.replace("/", "")
    shown = run(written, tmp_path / "run")._repr_html_()
    assert "<script" not in shown.replace("&lt;script", "")
    assert "<img" not in shown
    assert "&lt;script&gt;" in shown
    assert "Counting" in shown
    assert "Gold accuracy" in shown
    assert "1.00" in shown


def test_what_is_no_label_is_no_verdict_and_no_judge_ends_the_run(tmp_path: Path) -> None:
    def fails(question: Any) -> str:
        raise ValueError("no")

    def leaves(question: Any) -> str:
        raise SystemExit(3)

    def yields(question: Any) -> Iterator[str]:
        yield "YES"

    said = {"nan": math.nan, "none": None, "list": ["YES"], "true": True}
    judges = [{"judge": lambda question, reply=reply: reply, "name": name} for name, reply in said.items()]
    named = [*judges, {"judge": fails, "name": "fails"}, {"judge": leaves, "name": "leaves"}, yields]
    rows = records_frame(run(suite(judges=named), tmp_path / "run"), as_="arrow").to_pylist()
    assert {(row["judge"], row["status"]) for row in rows} == {
        ("nan", "off_scale"),
        ("none", "abstained"),
        ("list", "unparsable"),
        ("true", "off_scale"),
        ("yields", "unparsable"),
        ("fails", "provider_error"),
        ("leaves", "provider_error"),
    }
    assert {row["canonical"] for row in rows} == {None}


# -- cost ------------------------------------------------------------------------------------------------------------


def test_nothing_is_asked_unless_the_cost_is_agreed_to(tmp_path: Path, server: ChatServer) -> None:
    model = {"provider": "openai-http", "model": "m", "base_url": server.url}
    priced = {**model, "price": {"input": 10.0, "output": 10.0}, "max_tokens": 50}
    paid = suite(models={"m": priced}, judges=[{"judge": "llm", "model": "m"}])
    with pytest.raises(jrh.JrhError, match=r"up to \d+ model calls, cost \$.*; pass a larger `confirm`"):
        run(paid, tmp_path / "run", confirm=0.0)
    asked: list[str] = []

    def refuse(what: str) -> bool:
        asked.append(what)
        return False

    with pytest.raises(jrh.JrhError, match="not confirmed"):
        run(paid, tmp_path / "run", confirm=refuse)
    assert len(asked) == 1
    assert asked[0].startswith("up to ")
    unpriced = suite(models={"m": model}, judges=[{"judge": "llm", "model": "m"}])
    with pytest.raises(jrh.JrhError, match="confirm: expected an amount of dollars or a function"):
        run(paid, tmp_path / "run", confirm=float("nan"))
    with pytest.raises(jrh.JrhError, match="cost unknown"):
        run(unpriced, tmp_path / "run", confirm=1000.0)
    assert server.requests == []
    assert run(suite(judges=[Counting()]), tmp_path / "free", confirm=0.0).exit_code == 0
    assert run(suite(judges=[Counting()]), tmp_path / "free", confirm=lambda _what: False).exit_code == 0


def test_progress_in_a_notebook_is_one_line_that_changes_and_is_escaped() -> None:
    drawn: list[tuple[float | None, str]] = []
    progress = NotebookProgress(lambda share, text: drawn.append((share, text)))
    progress.begin("judge", 4)
    progress.advance(3)
    progress.say("judge '<b>' changed")
    progress.end()
    assert drawn[0] == (0.0, "judge: 0 of 4 (run total $0)")
    assert drawn[-1][0] == 0.75
    assert "judge: 3 of 4" in drawn[-1][1]
    assert "judge &#x27;&lt;b&gt;&#x27; changed" in drawn[-1][1]


# -- event loops and interrupts --------------------------------------------------------------------------------------


def test_a_run_inside_of_a_running_loop_and_awaited_gives_the_same_report(tmp_path: Path) -> None:
    async def both() -> tuple[RunResult, RunResult, int]:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0.005)

        inside = run(suite(judges=[Counting()]), tmp_path / "inside")
        ticking = asyncio.create_task(tick())
        awaited = await jrh.run_async(
            suite(judges=[Counting()]), run_dir=tmp_path / "awaited", use_cache=False, plugins=PLUGINS
        )
        ticking.cancel()
        return inside, awaited, ticks

    inside, awaited, ticks = asyncio.run(both())
    assert inside.exit_code == awaited.exit_code == 0
    assert (tmp_path / "inside/report.json").read_bytes() == (tmp_path / "awaited/report.json").read_bytes()
    assert ticks > 3  # the loop was free meanwhile


@pytest.mark.parametrize("loop", [False, True])
def test_an_interrupt_leaves_a_run_that_continues(tmp_path: Path, loop: bool) -> None:
    rows = [{"id": str(n), "response": f"text {n}", "label": "YES"} for n in range(60)]
    judge = Counting("text")
    _interrupts = [10]

    def asked(question: dict[str, Any]) -> str:
        if [len(judge._asked)] == _interrupts:
            _interrupts.clear()
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        time.sleep(0.005)
        return judge(question)

    def again() -> RunResult:
        return run(suite(data=rows, judges=[{"judge": asked, "name": "j"}]), tmp_path / "run")

    async def inside() -> RunResult:
        return again()

    def interrupted() -> None:
        if not loop:
            again()
            return
        runner = asyncio.new_event_loop()  # without the handler of asyncio.run, as in a notebook's kernel
        try:
            runner.run_until_complete(inside())
        finally:
            runner.close()

    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            interrupted()
    finally:
        signal.signal(signal.SIGINT, handler)
    before = judge.asked
    assert 10 <= before < 120
    result = again()
    assert result.exit_code == 0
    assert before + judge.asked == 120  # nothing was asked twice
    assert result.measure("missing").estimate == 0.0


def test_importing_jrh_imports_no_notebook_and_no_frame_library() -> None:
    program = "import sys, jrh; jrh.run; print(sorted({'IPython', 'pandas', 'polars', 'pyarrow'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_page_about_python_runs_as_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (Path(__file__).parents[1] / "docs" / "python.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    exec(compile("\n".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL)), "python.md", "exec"), {})
    assert "<RunResult capitals: 2 judges, 2 tests, 64 of 64 verdicts" in capsys.readouterr().out
