"""What a suite can say about the synthetic-ordinal test."""

from __future__ import annotations

from typing import Any

from attrs import Attribute, field, frozen
from attrs.validators import ge, le
from jrh import ModelName, Text
from jrh.authoring import WrittenBy, distinct


def _cosine(instance: object, attribute: Attribute[Any], value: float | None) -> None:  # noqa: ARG001
    if value is not None and not 0 < value <= 1:
        raise ValueError(f"'{attribute.name}' must be above 0 and at most 1, or null")


@frozen(kw_only=True)
class SyntheticOrdinalOptions:
    """Options of the perturber `synthetic-ordinal`."""

    levels: tuple[str, ...] = field(
        default=(), validator=distinct, metadata={"help": "the levels to write for; default: all of the task's scale"}
    )
    samples: int = field(
        default=1, validator=[ge(1), le(100)], metadata={"help": "how many responses per source item and level"}
    )
    by: WrittenBy | None = field(
        default=None, metadata={"help": "`rules` or `model`; default: the model if one is named, else rules"}
    )
    model: ModelName | None = field(default=None, metadata={"help": "the suite's model that writes the responses"})
    grader: ModelName | None = field(
        default=None,
        metadata={"help": "the suite's model that judges which level a response reached; needed with `model`"},
    )
    initial_temperature: float = field(
        default=0.7, validator=[ge(0), le(2)], metadata={"help": "temperature of the first attempts, from 0 to 2"}
    )
    temperature_step: float = field(
        default=0.2,
        validator=[ge(0), le(2)],
        metadata={"help": "how much it rises each time the level was missed `attempts_per_temperature` times"},
    )
    max_temperature: float = field(
        default=1.3, validator=[ge(0), le(2)], metadata={"help": "the temperature of the last attempts"}
    )
    attempts_per_temperature: int = field(
        default=2, validator=[ge(1), le(50)], metadata={"help": "attempts at each temperature"}
    )
    examples: int = field(
        default=2,
        validator=[ge(0), le(20)],
        metadata={"help": "responses of the wanted level shown to the model, at most; never that of the source item"},
    )
    fill_other: bool = field(
        default=True,
        metadata={"help": "whether a response that reached another level, which is still empty, may fill that one"},
    )
    max_to_seeds: float | None = field(
        default=0.85,
        validator=_cosine,
        metadata={"help": "highest cosine similarity with a response of an item, above 0 to 1; null: not looked at"},
    )
    max_to_kept: float | None = field(
        default=0.85,
        validator=_cosine,
        metadata={"help": "highest cosine similarity with a response kept before, above 0 to 1; null: not looked at"},
    )
    prompt: Text | None = field(
        default=None,
        metadata={
            "help": "Jinja2 template of the request to the model, text or {file: name}; sees task, level, request, "
            "response, examples (each with request, response, level), mark; default: the package's"
        },
    )
    grader_prompt: Text | None = field(
        default=None,
        metadata={
            "help": "Jinja2 template of the request to the grader, text or {file: name}; sees task, request, response, "
            "mark; default: the package's"
        },
    )
