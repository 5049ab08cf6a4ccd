"""Declare the judges, and a rule that drops them."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import JudgeSpec, hookimpl
from jrh.plugins import AllocatorSpec

from jrh_judges.options import CascadeOptions, CommandOptions, DropOptions, FunctionOptions, HttpOptions, LlmOptions

JRH_API_VERSION = 2

_STARTER = """\
- judge: llm # a chat model reads the instruction, the rubric and the item, and replies with a label
  name: mini
  model: mini
"""


@hookimpl
def jrh_judges() -> Iterable[JudgeSpec]:
    """Declare the judges."""
    yield JudgeSpec(
        name="llm",
        summary="a chat model with a prompt template and a parser",
        options=LlmOptions,
        factory="jrh_judges.llm:LlmJudge.build",
        starter=_STARTER,
    )
    yield JudgeSpec(
        name="cascade",
        summary="a cheap chat model first, a dear one where its votes do not agree, then people",
        options=CascadeOptions,
        factory="jrh_judges.cascade:Cascade.build",
    )
    yield JudgeSpec(
        name="function",
        summary="your own Python callable",
        options=FunctionOptions,
        factory="jrh_judges.inhouse:function_judge",
        reads_prompt=False,
        takes="function",
    )
    yield JudgeSpec(
        name="http",
        summary="your own HTTP endpoint, which receives each question as JSON",
        options=HttpOptions,
        factory="jrh_judges.inhouse:http_judge",
        reads_prompt=False,
    )
    yield JudgeSpec(
        name="command",
        summary="your own program, which reads a question as JSON and writes its verdict",
        options=CommandOptions,
        factory="jrh_judges.inhouse:command_judge",
        reads_prompt=False,
    )


@hookimpl
def jrh_allocators() -> Iterable[AllocatorSpec]:
    """Declare the allocator."""
    yield AllocatorSpec(
        name="drop-failing",
        summary="drops judges that return too few verdicts",
        options=DropOptions,
        factory="jrh_judges.allocators:DropFailing",
    )
