"""Declare the perturbers `instruct` and `answer-again`."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import Mode, PerturberSpec, hookimpl

from jrh_instruct.options import AnswerAgainOptions, InstructOptions

JRH_API_VERSION = 2


@hookimpl
def jrh_perturbers() -> Iterable[PerturberSpec]:
    """Declare the perturbers."""
    yield PerturberSpec(
        name="instruct",
        summary="a change that you describe in a sentence and a model makes, with the verdict you expect",
        options=InstructOptions,
        factory="jrh_instruct.perturber:build",
        modes=frozenset({Mode.POINTWISE, Mode.PAIRWISE}),
    )
    yield PerturberSpec(
        name="answer-again",
        summary="a new answer to the same request that deserves the same verdict, written by a model",
        options=AnswerAgainOptions,
        factory="jrh_instruct.perturber:build_answer_again",
        modes=frozenset({Mode.POINTWISE, Mode.PAIRWISE}),
    )
