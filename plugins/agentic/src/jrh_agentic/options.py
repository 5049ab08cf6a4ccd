"""Define the options of the tests on agent transcripts and of their measures."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final

from attrs import field, frozen
from attrs.validators import deep_iterable, ge, le, min_len, optional
from jrh import ModelName, Text
from jrh_authoring import WrittenBy, distinct


class Violation(Enum):
    """The rule-made violations, by the name a suite gives them."""

    MISSING_STEP = "missing-step"
    """A tool call that the entry demands is taken out, with its result."""
    CONTRADICTED_RESULT = "contradicted-result"
    """The final answer says the opposite of a tool result."""
    SWAPPED_VALUE = "swapped-value"
    """A number, date or id of a tool result is another one in the final answer."""
    UNMADE_CALL = "unmade-call"
    """The final answer claims a call that was never made."""


class Style(Enum):
    """The rule-made changes that must not matter, by the name a suite gives them."""

    LAYOUT = "layout"
    """More blank lines between paragraphs, other bullets."""
    WHITESPACE = "whitespace"
    """Two spaces between sentences."""
    PUNCTUATION = "punctuation"
    """Typographic quotation marks, apostrophes and ellipses."""
    ORDER = "order"
    """Two neighbouring items of a list whose order says nothing change places."""


STATEMENTS: Final = (Violation.CONTRADICTED_RESULT, Violation.SWAPPED_VALUE, Violation.UNMADE_CALL)
"""Violations of an entry that asks for statements which agree with what the tools said."""

_PROMPT = "Jinja2 prompt template, text or {{file: name}}; variables: {names}; default: the built-in one"
_SEEN = "task, entry, aim, mark"


def _prompt(names: str) -> Text | None:
    prompt: Text | None = field(default=None, metadata={"help": _PROMPT.format(names=f"{_SEEN}, {names}")})
    return prompt


def _role(help: str) -> ModelName | None:
    role: ModelName | None = field(default=None, metadata={"help": f"{help}; default: `model`"})
    return role


@frozen(kw_only=True)
class PipelineOptions:
    """Options that the three tests share."""

    by: WrittenBy | None = field(
        default=None, metadata={"help": "`rules` or `model`; default: `model` if one is given, otherwise `rules`"}
    )
    satisfies: str = field(
        default="satisfies",
        validator=min_len(1),
        metadata={"help": "label of a transcript that satisfies the entry; not used on scales with levels"},
    )
    violates: str = field(
        default="violates",
        validator=min_len(1),
        metadata={"help": "label of a transcript that violates the entry; not used on scales with levels"},
    )
    model: ModelName | None = field(
        default=None,
        metadata={"help": "model for every role without its own model: a name from the suite's `models`"},
    )
    planner: ModelName | None = _role("model that plans the edits")
    editor: ModelName | None = _role("model that makes the edits")
    summarizer: ModelName | None = _role("model that maintains the summary")
    verifier: ModelName | None = _role("model that verifies the edited transcript; preferably a different one")
    verify: bool = field(default=True, metadata={"help": "verify the edited transcript"})
    max_steps: int = field(
        default=5, validator=[ge(1), le(20)], metadata={"help": "maximum steps of a plan; further ones are dropped"}
    )
    max_rounds: int = field(
        default=3,
        validator=[ge(1), le(10)],
        metadata={"help": "maximum plans per transcript; a new plan follows each rejection by the verifier"},
    )
    attempts: int = field(
        default=2,
        validator=[ge(1), le(10)],
        metadata={"help": "attempts per request until a reply is usable"},
    )
    temperature: float | None = field(
        default=None,
        validator=optional([ge(0), le(2)]),
        metadata={
            "help": "sampling temperature of planner and editor, 0 to 2; default: the model's setting in the suite"
        },
    )
    max_characters: int = field(
        default=60_000,
        validator=[ge(2_000), le(2_000_000)],
        metadata={"help": "longest transcript shown to a role, in characters; the text marks what is cut"},
    )
    planner_prompt: Text | None = _prompt("transcript, edits, objections, max_steps")
    editor_prompt: Text | None = _prompt("plan, step, summary, edits, before, after, message, number")
    summarizer_prompt: Text | None = _prompt("transcript")
    update_prompt: Text | None = _prompt("summary, edit")
    verifier_prompt: Text | None = _prompt("transcript, edits")


@frozen(kw_only=True)
class PerturbationOptions(PipelineOptions):
    """Options of the perturber `agent-perturbation`."""

    levels: tuple[str, ...] = field(
        default=(), validator=distinct, metadata={"help": "levels to reach on a scale with levels; default: all"}
    )
    variants: tuple[Violation, ...] = field(
        default=tuple(Violation),
        validator=[min_len(1), distinct],
        metadata={"help": f"rules: violations to make: {', '.join(kind.value for kind in Violation)}"},
    )
    edits: tuple[int, ...] = field(
        default=(1,),
        validator=[min_len(1), distinct, deep_iterable(member_validator=[ge(1), le(20)])],
        metadata={"help": "rules: numbers of edits; each number makes one case, with that strength"},
    )
    breaks: Mapping[str, tuple[Violation, ...]] = field(
        factory=dict,
        metadata={
            "help": "task -> rule-made violations that violate its entry; default: inferred from the entry's wording"
        },
    )
    demands: Mapping[str, tuple[str, ...]] = field(
        factory=dict,
        metadata={
            "help": "task -> tools its entry requires, for `missing-step`; default: inferred from the entry's wording"
        },
    )
    claims: tuple[str, ...] = field(
        default=("send_confirmation_email", "notify_supervisor", "open_support_ticket"),
        validator=[min_len(1), distinct],
        metadata={"help": "tools that `unmade-call` may claim were called; tools really called are left out"},
    )
    anywhere: bool = field(
        default=False,
        metadata={"help": "let `swapped-value` change any answer of the assistant, not only the last one"},
    )


@frozen(kw_only=True)
class PositivesOptions(PipelineOptions):
    """Options of the perturber `agent-positives`."""


@frozen(kw_only=True)
class StyleOptions(PipelineOptions):
    """Options of the perturber `agent-style`."""

    variants: tuple[Style, ...] = field(
        default=tuple(Style),
        validator=[min_len(1), distinct],
        metadata={"help": f"rules: changes to make: {', '.join(kind.value for kind in Style)}"},
    )
