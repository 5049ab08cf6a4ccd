"""Define the options of the synthetic-ordinal test."""

from __future__ import annotations

from typing import Any

from attrs import Attribute, frozen
from attrs.validators import ge, le
from jrh import ModelName, Text
from jrh.plugins import option
from jrh_authoring import WrittenBy, by_option, distinct, temperature_option


def _cosine(instance: object, attribute: Attribute[Any], value: float | None) -> None:  # noqa: ARG001
    if value is not None and not 0 < value <= 1:
        raise ValueError(f"'{attribute.name}' must be above 0 and at most 1, or null")


@frozen(kw_only=True)
class SyntheticOrdinalOptions:
    """Options of the perturber `synthetic-ordinal`."""

    levels: tuple[str, ...] = option(
        "levels to write for; default: all levels of the task's scale", distinct, default=()
    )
    samples: int = option("responses per source item and level", ge(1), le(100), default=1)
    by: WrittenBy | None = by_option()
    model: ModelName | None = option("model that writes the responses: a name from the suite's `models`", default=None)
    grader: ModelName | None = option(
        "model that grades the responses: a name from the suite's `models`; required with `model`", default=None
    )
    initial_temperature: float | None = temperature_option(
        "temperature of the first attempts, 0 to 2; null: the model's setting in the suite at every step", 0.7
    )
    temperature_step: float = option(
        "increase of the temperature after `attempts_per_temperature` misses of the level", ge(0), le(2), default=0.2
    )
    max_temperature: float = option("temperature of the last attempts", ge(0), le(2), default=1.3)
    attempts_per_temperature: int = option("attempts at each temperature", ge(1), le(50), default=2)
    examples: int = option(
        "most example responses of the wanted level shown to the model; never the source item's",
        ge(0),
        le(20),
        default=2,
    )
    fill_other: bool = option(
        "let a response that reached a different, still empty level fill that level", default=True
    )
    max_to_seeds: float | None = option(
        "highest cosine similarity with any item's response, in (0, 1]; null: no limit", _cosine, default=0.85
    )
    max_to_kept: float | None = option(
        "highest cosine similarity with any response already kept, in (0, 1]; null: no limit", _cosine, default=0.85
    )
    encoder: str | None = option(
        "the sentence-transformers model that measures both similarities, as a name or a directory "
        "relative to the suite; needs jrh-synthetic-ordinal[embeddings]; default: TF-IDF, which downloads nothing",
        default=None,
    )
    prompt: Text | None = option(
        "Jinja2 prompt template, text or {file: name}; variables: task, level, request, response, "
        "examples (each with request, response, level), mark; default: the built-in one",
        default=None,
    )
    grader_prompt: Text | None = option(
        "Jinja2 prompt template for the grader, text or {file: name}; variables: task, request, response, "
        "mark; default: the built-in one",
        default=None,
    )
