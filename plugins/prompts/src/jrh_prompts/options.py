"""Options of the prompt perturbers, the source `paired-prompts` and the metrics over templates."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Any, Final, Literal

from attrs import Attribute, Factory, frozen
from attrs.validators import deep_iterable, ge, le, min_len, optional
from jrh import ModelName, Text
from jrh.plugins import option
from jrh.values import OUTPUT_MODES
from jrh_authoring import MOST_REPLY_TOKENS, distinct, repeats_option
from jrh_measuring import MetricOptions

SYSTEM = "Give only the requested answer."
"""The system prompt of the shipped templates."""

STRICTER = "Apply the rubric strictly: whenever you hesitate between two levels, give the lower one."
LENIENT = "Apply the rubric leniently: whenever you hesitate between two levels, give the higher one."


class Inventory(Enum):
    """The sets of templates shipped with this plugin."""

    FACTUALITY = "factuality"
    """Six for YES/NO, one of them with inverted polarity."""
    COHERENCE = "coherence"
    """Five for levels 1 to 5."""
    RELEVANCE = "relevance"
    """Five for A/B."""
    PREFERENCE = "preference"
    """Five for A/B."""


class Format(Enum):
    """Changes of a template's layout that leave its wording unchanged."""

    SEPARATOR_DASH = "separator-dash"
    """`Answer - ...` in place of `Answer: ...`."""
    SEPARATOR_LINE = "separator-line"
    """The judged text on the line below its name."""
    CASING_UPPER = "casing-upper"
    """`ANSWER: ...`."""
    CASING_LOWER = "casing-lower"
    """`answer: ...`."""
    ENUMERATION_PARENTHESIS = "enumeration-parenthesis"
    """`A) ...` in place of `A: ...`, for options."""
    ENUMERATION_BRACKETS = "enumeration-brackets"
    """`[A] ...` in place of `A: ...`, for options."""
    INSTRUCTION_LAST = "instruction-last"
    """The judged text first, then the instruction."""


# Names become variants, keys of records and names of files.
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def _valid_names(instance: object, attribute: Attribute[Any], value: Mapping[str, object]) -> None:  # noqa: ARG001
    strange = next((name for name in value if not _NAME.fullmatch(name)), None)
    if strange is not None:
        raise ValueError(f"'{attribute.name}': names consist of letters, digits, '.', '_' and '-'; got '{strange}'")


@frozen(kw_only=True)
class TemplateOptions:
    """One template written in the suite."""

    text: Text = option(
        "Jinja2 template; variables: task, labels, answer_format, mark, item fields; or {file: name}",
        default=Text(content=""),
    )
    system: Text | None = option(f"system message; default: '{SYSTEM}'; empty text: no system message", default=None)
    labels: Mapping[str, str] = option(
        "presented label -> label of the scale, such as {YES: NO, NO: YES}; default: unchanged", default=Factory(dict)
    )
    inverted: bool | None = option(
        "whether it asks the inverted question; default: true if `labels` reverses the scale", default=None
    )
    language: str = option("language of the template, such as de; JSS is reported per language", default="")
    tasks: tuple[str, ...] = option("tasks that use it; default: all", default=())


@frozen(kw_only=True)
class TemplatesOptions:
    """Options of the perturber `templates`."""

    inventory: Inventory | Mapping[str, Inventory] | None = option(
        "shipped templates: factuality, coherence, relevance or preference, or one of them per task; "
        "default: those named like the task, unless `templates` or `from_items` is given",
        default=None,
    )
    templates: Mapping[str, TemplateOptions] = option(
        "your own templates, by name", _valid_names, default=Factory(dict)
    )
    from_items: bool = option("use the prompts that the items carry (source `paired-prompts`)", default=False)
    inverted: tuple[str, ...] = option(
        "names of the items' prompts that ask for the opposite: their labels are reversed", distinct, default=()
    )
    only: tuple[str, ...] = option("names of the templates to use; default: all", distinct, default=())
    formats: tuple[Format, ...] = option(
        f"also use every template in these layouts: {', '.join(kind.value for kind in Format)}", distinct, default=()
    )
    repeats: int = repeats_option()
    temperature: float | None = option(
        "sampling temperature; default: the judge's own", optional(ge(0.0)), default=None
    )
    vary_seed: bool = option("send a different sampling seed with every repeat", default=False)


@frozen(kw_only=True)
class OutputModeOptions:
    """Options of the perturber `output-mode`."""

    modes: tuple[Literal["text", "json", "json-schema", "tool-call"], ...] = option(
        "forms to ask the verdict in; empty: the judge's own only; default: all four", distinct, default=OUTPUT_MODES
    )
    reasoning: tuple[str, ...] = option(
        "reasoning efforts, as the provider names them, such as none and high; default: the judge's",
        deep_iterable(member_validator=min_len(1)),
        distinct,
        default=(),
    )
    max_tokens: tuple[int, ...] = option(
        "longest replies in tokens; a verdict that a reply is too short for is `truncated`; default: the judge's",
        deep_iterable(member_validator=[ge(1), le(MOST_REPLY_TOKENS)]),
        distinct,
        default=(),
    )
    repeats: int = repeats_option()

    def __attrs_post_init__(self) -> None:
        """Reject options that vary nothing."""
        if not (self.modes or self.reasoning or self.max_tokens):
            raise ValueError("give at least one of `modes`, `reasoning` and `max_tokens`")


@frozen(kw_only=True)
class ParaphraseOptions:
    """Options of the perturber `prompt-paraphrase`."""

    template: Text = option("the judge's real prompt, a Jinja2 template, or {file: name}")
    model: ModelName = option("model that writes the paraphrases: a name from the suite's `models`")
    paraphrases: int = option("number of paraphrases", ge(1), le(50), default=4)
    attempts: int = option("maximum number of requests per paraphrase", ge(1), le(20), default=3)
    system: Text | None = option("system message of all paraphrases; default: no system message", default=None)
    repeats: int = repeats_option()


@frozen(kw_only=True)
class ScaleVariant:
    """One other scale for the same question; set exactly one of `range`, `labels` and `reversed`."""

    range: tuple[int, int] | None = option(
        "[low, high]: whole-number levels, at least as many as the task has", default=None
    )
    labels: tuple[str, ...] = option(
        "one new label for each label of the task, in the same order", distinct, default=()
    )
    reversed: bool = option("the task's own levels, with the lowest as the best", default=False)

    def __attrs_post_init__(self) -> None:
        """Reject a variant that sets no scale or several."""
        if (self.range is not None) + bool(self.labels) + self.reversed != 1:
            raise ValueError("give one of `range`, `labels` and `reversed: true`")
        if self.range is not None and self.range[0] >= self.range[1]:
            raise ValueError("a range must go from a lower to a higher number")


# A function, because the default of a field must not be shared.
def _usual_scales() -> dict[str, ScaleVariant]:
    return {"ten-levels": ScaleVariant(range=(1, 10)), "reversed": ScaleVariant(reversed=True)}


@frozen(kw_only=True)
class ScaleOptions:
    """Options of the perturber `scale`."""

    variants: Mapping[str, ScaleVariant] = option(
        "the other scales, by name; default: levels 1 to 10, and the task's own levels reversed",
        min_len(1),
        _valid_names,
        default=Factory(_usual_scales),
    )
    repeats: int = repeats_option()


@frozen(kw_only=True)
class RubricOptions:
    """Options of the perturber `rubric`."""

    stricter: tuple[Text, ...] = option(
        "texts that make the rubric stricter: no verdict may rise", default=(Text(content=STRICTER),)
    )
    lenient: tuple[Text, ...] = option(
        "texts that make the rubric more lenient: no verdict may fall", default=(Text(content=LENIENT),)
    )
    reorder: bool = option(
        "also use the rubric with its levels listed in reverse order: no verdict may change", default=True
    )
    repeats: int = repeats_option()


@frozen(kw_only=True)
class PairedPromptsOptions:
    """Options of the source `paired-prompts`."""

    path: Path = option("JSON Lines or csv file, relative to the suite's directory")
    task_type: str | None = option("the `task_type` to read; required if the file has several", default=None)
    labels: Mapping[str, str] = option(
        "label in the file -> label of the scale; `score_3` is read as 3", default=Factory(dict)
    )
    columns: Mapping[str, str] = option(
        "standard column -> column of this file, for those that differ", default=Factory(dict)
    )


class Which(Enum):
    """Which pairs of templates are compared."""

    ALL = "all"
    """Every pair of templates that an item was asked with."""
    LISTED = "listed"
    """The pairs that the items list, as the rows of a paired-prompt file do."""


def _check_pairs(instance: object, attribute: Attribute[Any], value: object) -> None:  # noqa: ARG001
    if isinstance(value, int) and value < 1:
        raise ValueError(f"'pairs' must be 1 or more, got {value}")
    # Text that comes from no file is a misspelt word.
    if isinstance(value, Text) and value.source is None:
        raise ValueError(
            "'pairs' must be `all`, `listed`, a number of pairs per item, or `{file: name}`; "
            f"got '{value.content[:40]}'"
        )


def _check_exclusions(instance: object, attribute: Attribute[Any], value: Mapping[str, tuple[str, ...]]) -> None:  # noqa: ARG001
    empty = [name for name, templates in value.items() if not (name.strip() and templates)]
    if empty:
        raise ValueError(f"`without`: '{empty[0]}' needs a name and at least one template")


@frozen(kw_only=True)
class OverlapOptions(MetricOptions):
    """Options of the metrics over pairs of prompt templates."""

    pairs: int | Which | Text = option(
        "template pairs to compare: all; listed (those that the items list); a number per item, a balanced "
        "random sample; or {file: name}, a csv file with template_a, template_b and, for pairs of one item, item",
        _check_pairs,
        default=Which.ALL,
    )


@frozen(kw_only=True)
class SensitivityOptions(OverlapOptions):
    """Options of the sensitivity to prompt templates."""

    without: Mapping[str, tuple[str, ...]] = option(
        "name -> templates: JSS, flip rate and kappa also without these templates, under this name. "
        "Inverted templates are left out so without being named",
        _check_exclusions,
        default=Factory(dict),
    )
    items: int = option(
        "with `all`: report JSS per item only for tasks with at most this many items", ge(0), default=1000
    )
    all: bool = option(
        "also report kappa of every template pair, JSS of every item, and JSS with excluded pairs as flips",
        default=False,
    )
