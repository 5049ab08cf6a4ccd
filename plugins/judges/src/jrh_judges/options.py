"""Define the options of the judges."""

from __future__ import annotations

from enum import Enum

from attrs import frozen
from attrs.validators import ge, gt, le, min_len, optional
from jrh import JrhError, ModelName, ParserName, Text
from jrh.plugins import option
from jrh.text import count_noun
from jrh.values import CommandWord
from jrh_authoring import MOST_REPLY_TOKENS, Bounds, OwnEndpoint, OwnFunction, distinct

_SHORTEST_TRANSCRIPT = 2_000
_MOST_VOTES = 100
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

    model: ModelName = option("model that judges: a name from the suite's `models`")
    parser: ParserName = option(
        "parser for the reply, such as json or likert, or an entry of the suite's `parsers`", default=ParserName("auto")
    )
    template: Text | None = option(
        "Jinja2 prompt template; variables: task, labels, answer_format, mark, item fields", default=None
    )
    system: Text | None = option("Jinja2 template of the system message; empty: no system message", default=None)
    rationale: bool = option("ask for reasons before the verdict, as JSON", default=False)
    temperature: float | None = option(
        "sampling temperature; default: the model's setting, or the test's if it varies it",
        optional(ge(0.0)),
        default=None,
    )
    max_tokens: int | None = option(
        "longest reply in tokens; default: the model's own", optional([gt(0), le(MOST_REPLY_TOKENS)]), default=None
    )
    reasoning_effort: str | None = option(
        "reasoning effort, as the provider names it; default: the model's own", default=None
    )
    top_logprobs: int = option(
        "request the probabilities of this many tokens per position, for the parser `weighted`",
        ge(0),
        le(20),
        default=0,
    )
    transcript_limit: int | None = option(
        "longest transcript in characters; the text marks what is cut and the report counts it; null: no limit",
        optional(ge(_SHORTEST_TRANSCRIPT)),
        default=_TRANSCRIPT_LIMIT,
    )
    json_schema: bool = option("have the provider enforce a JSON verdict on the scale, if it can", default=False)
    defences: tuple[Defence, ...] = option(
        "against text addressed to the judge: marks (random tags), system, sandwich, datamarking, second",
        distinct,
        default=(),
    )
    guard: ModelName | None = option(
        "the suite's model that looks for such text first; with the defence `second`", default=None
    )

    def __attrs_post_init__(self) -> None:
        """Refuse a guard without the defence, and the defence without a guard."""
        if (Defence.SECOND in self.defences) != (self.guard is not None):
            raise JrhError("defences: `second` needs `guard`, the model that looks first, and `guard` needs `second`")


def _check_shares(_: object, __: object, shares: tuple[float, ...]) -> None:
    if not all(0 < share <= 1 for share in shares):
        raise ValueError("every share is above 0 and at most 1")


@frozen(kw_only=True)
class CascadeOptions(LlmOptions):
    """Options of `cascade`: those of `llm` for every model, and when the next one is asked."""

    then: tuple[ModelName, ...] = option("models asked in turn where the one before is not sure", min_len(1))
    votes: int = option("times that each model is asked about a question", ge(1), le(_MOST_VOTES), default=3)
    at: tuple[float, ...] = option(
        "share of the votes that has to agree, one for `model` and one for each of `then`; of a single vote, its "
        "stated probability. `jrh automate RUN --cascade` chooses them",
        _check_shares,
    )

    def __attrs_post_init__(self) -> None:
        """Refuse other than one threshold for each model."""
        super().__attrs_post_init__()
        if len(self.at) != 1 + len(self.then):
            thresholds = count_noun(len(self.at), "threshold")
            raise JrhError(f"at: {thresholds} for {1 + len(self.then)} models; write one for each")


@frozen(kw_only=True)
class FunctionOptions(OwnFunction):
    """Options of `function`: the callable that judges."""


@frozen(kw_only=True)
class HttpOptions(OwnEndpoint):
    """Options of `http`: the endpoint that judges."""


@frozen(kw_only=True)
class CommandOptions(Bounds):
    """Options of `command`: the program that judges."""

    command: tuple[CommandWord, ...] = option(
        "program and arguments, started once per question in the suite's directory, without a shell", min_len(1)
    )


@frozen(kw_only=True)
class DropOptions:
    """Options of `drop-failing`: how soon and how strictly it looks."""

    batch: int = option("items of every task that are judged before it looks again", ge(1), default=20)
    limit: float = option(
        "share of trials without a verdict, in all batches so far, at which a judge is dropped",
        gt(0),
        le(1),
        default=0.5,
    )
