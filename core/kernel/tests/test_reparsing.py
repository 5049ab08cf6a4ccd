"""Another way of reading replies needs no new reply: a whole run, twice in one directory."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jrh import run
from jrh.running import RunResult

PLUGIN = '''
"""A model that counts its calls, a judge that asks it, and a parser with an option."""

from pathlib import Path

from attrs import field, frozen
from jrh import (
    ChatRequest,
    DataSourceSpec,
    Item,
    Judgement,
    JudgeSpec,
    Message,
    ModelName,
    ModelSpec,
    ParserName,
    ParserSpec,
    Status,
    Verdict,
    hookimpl,
)
from jrh.plugins import Completion, Rates

CALLS = Path(__file__).with_name("calls.txt")


class Items:
    def read(self):
        for number in range(3):
            yield Item(id=str(number), fields={"request": f"r{number}", "response": f"yes {number}"}, gold="YES")


class Counting:
    fingerprint = "counting-1"
    rates = Rates(input=0.0, output=0.0)

    async def complete(self, request):
        with CALLS.open("a") as file:
            file.write("call\\n")
        return Completion(text="YES or NO", finish_reason="stop")

    async def aclose(self):
        pass


@frozen(kw_only=True)
class WordOptions:
    last: bool = field(default=False, metadata={"help": "the last word counts"})


class Word:
    def __init__(self, options):
        self.last = options.last

    def parse(self, reply, scale):
        return Verdict(status=Status.OK, presented=reply.text.split()[-1 if self.last else 0])


@frozen(kw_only=True)
class AskerOptions:
    model: ModelName = ModelName("m")
    parser: ParserName = ParserName("word")


class Asker:
    def __init__(self, options, context):
        self.model = context.model(options.model)
        self.parser = context.parser(options.parser)

    async def judge(self, question):
        message = Message(role="user", content=str(question.fields["response"]))
        reply = await self.model.ask(ChatRequest(messages=(message,)), repeat=question.occasion)
        return Judgement(verdict=self.parser.parse(reply, question.task.scale), reply=reply)


@hookimpl
def jrh_data_sources():
    yield DataSourceSpec(name="three", summary="three items", factory=lambda options, context: Items())


@hookimpl
def jrh_models():
    yield ModelSpec(name="counting", summary="counts", factory=lambda options, context: Counting(), simulated=True)


@hookimpl
def jrh_parsers():
    yield ParserSpec(
        name="word", summary="a word", options=WordOptions, factory=lambda options, context: Word(options)
    )


@hookimpl
def jrh_judges():
    yield JudgeSpec(name="asker", summary="asks", options=AskerOptions, factory=Asker)
'''


@pytest.fixture
def rerun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., RunResult]:
    """Run the suite with these options of the parser, always in the same directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "counting.py").write_text(textwrap.dedent(PLUGIN), encoding="utf-8")

    def rerun(**options: Any) -> RunResult:
        suite = {
            "name": "again",
            "data": {"source": "three"},
            "task": {"scale": {"labels": ["YES", "NO"]}},
            "models": {"m": {"provider": "counting"}},
            "parsers": {"reader": {"parser": "word", **options}},
            "judges": [{"judge": "asker", "parser": "reader"}],
            "resamples": 100,
        }
        return run(suite, run_dir=tmp_path / "run", plugins=["counting.py"], use_cache=False)

    return rerun


def calls(path: Path) -> int:
    return len((path / "calls.txt").read_text().splitlines())


def verdicts(result: RunResult) -> list[str | None]:
    return list(result.records.text("canonical"))


def test_other_options_of_a_parser_read_the_replies_again_without_one_new_call(
    rerun: Callable[..., RunResult], tmp_path: Path
) -> None:
    first = rerun()
    assert (verdicts(first), calls(tmp_path)) == (["YES"] * 6, 6)
    other = rerun(last=True)
    assert (verdicts(other), calls(tmp_path)) == (["NO"] * 6, 6)
    assert not set(first.records.text("trial_id")) & set(other.records.text("trial_id"))


def test_the_same_options_read_nothing_again(rerun: Callable[..., RunResult], tmp_path: Path) -> None:
    first = rerun(last=True)
    again = rerun(last=True)
    assert list(again.records.text("trial_id")) == list(first.records.text("trial_id"))
    assert calls(tmp_path) == 6


def test_the_report_says_how_replies_were_read(rerun: Callable[..., RunResult]) -> None:
    report = rerun(last=True).report
    assert report is not None
    (parser,) = [each for each in report.components if each.role == "parser"]
    assert (parser.name, parser.component, parser.options) == ("reader", "counting/word", {"last": True})
