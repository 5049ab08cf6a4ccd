"""Declarations of the judges."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import BuildContext, JudgeSpec, hookimpl
from jrh.plugins import Judge

from jrh_judges.options import CommandOptions, FunctionOptions, HttpOptions, LlmOptions


def _build_llm(options: LlmOptions, context: BuildContext) -> Judge:
    from jrh_judges.llm import LlmJudge

    return LlmJudge.build(options, context)


def _build_function(options: FunctionOptions, context: BuildContext) -> Judge:
    from jrh_judges.function import function_judge

    return function_judge(options, context)


def _build_http(options: HttpOptions, context: BuildContext) -> Judge:
    from jrh_judges.http import http_judge

    return http_judge(options, context)


def _build_command(options: CommandOptions, context: BuildContext) -> Judge:
    from jrh_judges.command import command_judge

    return command_judge(options, context)


@hookimpl
def jrh_judges() -> Iterable[JudgeSpec]:
    """Declare the judges."""
    yield JudgeSpec(
        name="llm",
        summary="a chat model with a prompt template and a parser",
        options=LlmOptions,
        factory=_build_llm,
    )
    yield JudgeSpec(
        name="function",
        summary="a Python callable of one's own",
        options=FunctionOptions,
        factory=_build_function,
        reads_prompt=False,
    )
    yield JudgeSpec(
        name="http",
        summary="an HTTP endpoint of one's own that is posted a question as JSON",
        options=HttpOptions,
        factory=_build_http,
        reads_prompt=False,
    )
    yield JudgeSpec(
        name="command",
        summary="a program of one's own that reads a question as JSON and writes its verdict",
        options=CommandOptions,
        factory=_build_command,
        reads_prompt=False,
    )
