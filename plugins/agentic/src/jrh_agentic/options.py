"""Define the options of the tests on agent transcripts and of their measures."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, Final

from attrs import Factory, frozen
from attrs.validators import deep_iterable, ge, le, min_len, optional
from jrh import ModelName
from jrh.plugins import option
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


def _role(help: str) -> Any:
    return option(f"{help}; default: `model`", default=None)


@frozen(kw_only=True)
class PipelineOptions:
    """Options that the three tests share."""

    by: WrittenBy | None = option(
        "`rules` or `model`; default: `model` if one is given, otherwise `rules`", default=None
    )
    satisfies: str = option(
        "label of a transcript that satisfies the entry; not used on scales with levels",
        min_len(1),
        default="satisfies",
    )
    violates: str = option(
        "label of a transcript that violates the entry; not used on scales with levels", min_len(1), default="violates"
    )
    model: ModelName | None = option(
        "model for every role without its own model: a name from the suite's `models`", default=None
    )
    planner: ModelName | None = _role("model that plans the edits")
    editor: ModelName | None = _role("model that makes the edits")
    summarizer: ModelName | None = _role("model that maintains the summary")
    verifier: ModelName | None = _role("model that verifies the edited transcript; preferably a different one")
    verify: bool = option("verify the edited transcript", default=True)
    max_steps: int = option("maximum steps of a plan; further ones are dropped", ge(1), le(100), default=5)
    max_rounds: int = option(
        "maximum plans per transcript; a new plan follows each rejection by the verifier", ge(1), le(100), default=3
    )
    attempts: int = option("attempts per request until a reply is usable", ge(1), le(10), default=2)
    temperature: float | None = option(
        "sampling temperature of planner and editor, 0 to 2; default: the model's setting in the suite",
        optional([ge(0), le(2)]),
        default=None,
    )
    max_characters: int = option(
        "longest transcript shown to a role, in characters; the text marks what is cut",
        ge(2_000),
        le(2_000_000),
        default=60_000,
    )


@frozen(kw_only=True)
class PerturbationOptions(PipelineOptions):
    """Options of the perturber `agent-perturbation`."""

    levels: tuple[str, ...] = option("levels to reach on a scale with levels; default: all", distinct, default=())
    variants: tuple[Violation, ...] = option(
        f"rules: violations to make: {', '.join(kind.value for kind in Violation)}",
        min_len(1),
        distinct,
        default=tuple(Violation),
    )
    edits: tuple[int, ...] = option(
        "rules: numbers of edits; each number makes one case, with that strength",
        min_len(1),
        distinct,
        deep_iterable(member_validator=[ge(1), le(20)]),
        default=(1,),
    )
    breaks: Mapping[str, tuple[Violation, ...]] = option(
        "task -> rule-made violations that violate its entry; default: inferred from the entry's wording",
        default=Factory(dict),
    )
    demands: Mapping[str, tuple[str, ...]] = option(
        "task -> tools its entry requires, for `missing-step`; default: inferred from the entry's wording",
        default=Factory(dict),
    )
    claims: tuple[str, ...] = option(
        "tools that `unmade-call` may claim were called; tools really called are left out",
        min_len(1),
        distinct,
        default=("send_confirmation_email", "notify_supervisor", "open_support_ticket"),
    )
    anywhere: bool = option(
        "let `swapped-value` change any answer of the assistant, not only the last one", default=False
    )


@frozen(kw_only=True)
class PositivesOptions(PipelineOptions):
    """Options of the perturber `agent-positives`."""


@frozen(kw_only=True)
class StyleOptions(PipelineOptions):
    """Options of the perturber `agent-style`."""

    variants: tuple[Style, ...] = option(
        f"rules: changes to make: {', '.join(kind.value for kind in Style)}", min_len(1), distinct, default=tuple(Style)
    )
