"""Define the options of the judges."""

from __future__ import annotations

from enum import Enum

from attrs import field, frozen
from attrs.validators import and_, ge, gt, le, min_len, optional
from jrh import JrhError, ModelName, ParserName, Text
from jrh.values import CommandWord
from jrh_authoring import Bounds, OwnEndpoint, OwnFunction, distinct

_SHORTEST_TRANSCRIPT = 2_000
_TRANSCRIPT_LIMIT: int | None = 400_000
"""About 100,000 tokens."""


class Defence(Enum):
    """A defence of the judge's prompt, or a second look."""

    MARKS = "marks"
    """Tags around the material end in a random mark, which no text in it can know."""
    SYSTEM = "system"
    """A paragraph of the system message forbids to follow the material."""
    SANDWICH = "sandwich"
    """The task is repeated after the material."""
    DATAMARKING = "datamarking"
    """Spotlighting: a sign takes the place of white space in the material, so that all of it is seen to be data."""
    SECOND = "second"
    """A second judge, `guard`, looks for text that is addressed to the judge; the verdict is then `abstained`."""


@frozen(kw_only=True)
class LlmOptions:
    """Options of `llm`: the model, its prompt and how its reply is read."""

    model: ModelName = field(metadata={"help": "model that judges: a name from the suite's `models`"})
    parser: ParserName = field(
        default=ParserName("auto"),
        metadata={"help": "parser for the reply, such as json or likert, or an entry of the suite's `parsers`"},
    )
    template: Text | None = field(
        default=None,
        metadata={"help": "Jinja2 prompt template; variables: task, labels, answer_format, mark, item fields"},
    )
    system: Text | None = field(
        default=None, metadata={"help": "Jinja2 template of the system message; empty: no system message"}
    )
    rationale: bool = field(default=False, metadata={"help": "ask for reasons before the verdict, as JSON"})
    temperature: float | None = field(
        default=None,
        validator=optional(ge(0.0)),
        metadata={"help": "sampling temperature; default: the model's setting, or the test's if it varies it"},
    )
    max_tokens: int | None = field(
        default=None, validator=optional(gt(0)), metadata={"help": "longest reply in tokens; default: the model's own"}
    )
    reasoning_effort: str | None = field(
        default=None,
        metadata={"help": "reasoning effort, as the provider names it; default: the model's own"},
    )
    top_logprobs: int = field(
        default=0,
        validator=and_(ge(0), le(20)),
        metadata={"help": "request the probabilities of this many tokens per position, for the parser `weighted`"},
    )
    transcript_limit: int | None = field(
        default=_TRANSCRIPT_LIMIT,
        validator=optional(ge(_SHORTEST_TRANSCRIPT)),
        metadata={
            "help": "longest transcript in characters; the text marks what is cut and the report counts it; null: no "
            "limit"
        },
    )
    json_schema: bool = field(
        default=False, metadata={"help": "have the provider enforce a JSON verdict on the scale, if it can"}
    )
    defences: tuple[Defence, ...] = field(
        default=(),
        validator=distinct,
        metadata={
            "help": "against text addressed to the judge: marks (random tags), system, sandwich, datamarking, second"
        },
    )
    guard: ModelName | None = field(
        default=None, metadata={"help": "the suite's model that looks for such text first; with the defence `second`"}
    )

    def __attrs_post_init__(self) -> None:
        """Refuse a guard without the defence, and the defence without a guard."""
        if (Defence.SECOND in self.defences) != (self.guard is not None):
            raise JrhError("defences: `second` needs `guard`, the model that looks first, and `guard` needs `second`")


@frozen(kw_only=True)
class FunctionOptions(OwnFunction):
    """Options of `function`: the callable that judges."""


@frozen(kw_only=True)
class HttpOptions(OwnEndpoint):
    """Options of `http`: the endpoint that judges."""


@frozen(kw_only=True)
class CommandOptions(Bounds):
    """Options of `command`: the program that judges."""

    command: tuple[CommandWord, ...] = field(
        validator=min_len(1),
        metadata={"help": "program and arguments, started once per question in the suite's directory, without a shell"},
    )
