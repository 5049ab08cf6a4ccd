"""Declare the baseline judge."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import JudgeKind, JudgeSpec, hookimpl

from jrh_baseline.options import BaselineOptions

JRH_API_VERSION = 2

_STARTER = """\
- baseline # learns from the labels of the other folds; the level an LLM judge has to beat
"""


@hookimpl
def jrh_judges() -> Iterable[JudgeSpec]:
    """Declare the baseline judge."""
    yield JudgeSpec(
        name="baseline",
        summary="cross-fitted TF-IDF and style statistics; needs no key or network and ignores the prompt",
        options=BaselineOptions,
        factory="jrh_baseline.judge:build",
        kind=JudgeKind.TRAINED,
        reads_prompt=False,
        starter=_STARTER,
    )
