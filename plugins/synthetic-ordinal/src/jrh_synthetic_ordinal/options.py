"""Define the options of the synthetic-ordinal test."""

from __future__ import annotations

from typing import Any

from attrs import Attribute, field, frozen
from attrs.validators import ge, le, optional
from jrh import ModelName, Text
from jrh_authoring import WrittenBy, distinct


def _cosine(instance: object, attribute: Attribute[Any], value: float | None) -> None:  # noqa: ARG001
    if value is not None and not 0 < value <= 1:
        raise ValueError(f"'{attribute.name}' must be above 0 and at most 1, or null")


@frozen(kw_only=True)
class SyntheticOrdinalOptions:
    """Options of the perturber `synthetic-ordinal`."""

    levels: tuple[str, ...] = field(
        default=(),
        validator=distinct,
        metadata={"help": "levels to write for; default: all levels of the task's scale"},
    )
    samples: int = field(
        default=1, validator=[ge(1), le(100)], metadata={"help": "responses per source item and level"}
    )
    by: WrittenBy | None = field(
        default=None, metadata={"help": "`rules` or `model`; default: `model` if one is given, otherwise `rules`"}
    )
    model: ModelName | None = field(
        default=None, metadata={"help": "model that writes the responses: a name from the suite's `models`"}
    )
    grader: ModelName | None = field(
        default=None,
        metadata={"help": "model that grades the responses: a name from the suite's `models`; required with `model`"},
    )
    initial_temperature: float | None = field(
        default=0.7,
        validator=optional([ge(0), le(2)]),  # type: ignore[arg-type] # the default is no None
        metadata={
            "help": "temperature of the first attempts, 0 to 2; null: the model's setting in the suite at every step"
        },
    )
    temperature_step: float = field(
        default=0.2,
        validator=[ge(0), le(2)],
        metadata={"help": "increase of the temperature after `attempts_per_temperature` misses of the level"},
    )
    max_temperature: float = field(
        default=1.3, validator=[ge(0), le(2)], metadata={"help": "temperature of the last attempts"}
    )
    attempts_per_temperature: int = field(
        default=2, validator=[ge(1), le(50)], metadata={"help": "attempts at each temperature"}
    )
    examples: int = field(
        default=2,
        validator=[ge(0), le(20)],
        metadata={"help": "most example responses of the wanted level shown to the model; never the source item's"},
    )
    fill_other: bool = field(
        default=True,
        metadata={"help": "let a response that reached a different, still empty level fill that level"},
    )
    max_to_seeds: float | None = field(
        default=0.85,
        validator=_cosine,
        metadata={"help": "highest cosine similarity with any item's response, in (0, 1]; null: no limit"},
    )
    max_to_kept: float | None = field(
        default=0.85,
        validator=_cosine,
        metadata={"help": "highest cosine similarity with any response already kept, in (0, 1]; null: no limit"},
    )
    encoder: str | None = field(
        default=None,
        metadata={
            "help": "the sentence-transformers model that measures both similarities, as a name or a directory "
            "relative to the suite; needs jrh-synthetic-ordinal[embeddings]; default: TF-IDF, which downloads nothing"
        },
    )
    prompt: Text | None = field(
        default=None,
        metadata={
            "help": "Jinja2 prompt template, text or {file: name}; variables: task, level, request, response, "
            "examples (each with request, response, level), mark; default: the built-in one"
        },
    )
    grader_prompt: Text | None = field(
        default=None,
        metadata={
            "help": "Jinja2 prompt template for the grader, text or {file: name}; variables: task, request, response, "
            "mark; default: the built-in one"
        },
    )
