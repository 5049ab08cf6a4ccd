"""Options of the prompt perturbers, the source `paired-prompts` and the metrics over templates."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Any, Final, Literal

from attrs import Attribute, Factory, field, frozen
from attrs.validators import and_, deep_iterable, ge, le, min_len, optional
from jrh import ModelName, Text
from jrh.values import OUTPUT_MODES
from jrh_authoring import distinct, repeats_option
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


_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def _named(instance: object, attribute: Attribute[Any], value: Mapping[str, object]) -> None:  # noqa: ARG001
    strange = next((name for name in value if not _NAME.fullmatch(name)), None)
    if strange is not None:
        raise ValueError(f"'{attribute.name}': names consist of letters, digits, '.', '_' and '-'; got '{strange}'")


@frozen(kw_only=True)
class TemplateOptions:
    """One template written in the suite."""

    text: Text = field(
        default=Text(content=""),
        metadata={
            "help": "Jinja2 template; variables: task, labels, answer_format, mark, item fields; or {file: name}"
        },
    )
    system: Text | None = field(
        default=None, metadata={"help": f"system message; default: '{SYSTEM}'; empty text: no system message"}
    )
    labels: Mapping[str, str] = field(
        default=Factory(dict),
        metadata={"help": "presented label -> label of the scale, such as {YES: NO, NO: YES}; default: unchanged"},
    )
    inverted: bool | None = field(
        default=None,
        metadata={"help": "whether it asks the inverted question; default: true if `labels` reverses the scale"},
    )
    language: str = field(
        default="", metadata={"help": "language of the template, such as de; JSS is reported per language"}
    )
    tasks: tuple[str, ...] = field(default=(), metadata={"help": "tasks that use it; default: all"})


@frozen(kw_only=True)
class TemplatesOptions:
    """Options of the perturber `templates`."""

    inventory: Inventory | Mapping[str, Inventory] | None = field(
        default=None,
        metadata={
            "help": "shipped templates: factuality, coherence, relevance or preference, or one of them per task; "
            "default: those named like the task, unless `templates` or `from_items` is given"
        },
    )
    templates: Mapping[str, TemplateOptions] = field(
        default=Factory(dict), validator=_named, metadata={"help": "your own templates, by name"}
    )
    from_items: bool = field(
        default=False, metadata={"help": "use the prompts that the items carry (source `paired-prompts`)"}
    )
    inverted: tuple[str, ...] = field(
        default=(),
        validator=distinct,
        metadata={"help": "names of the items' prompts that ask for the opposite: their labels are reversed"},
    )
    only: tuple[str, ...] = field(
        default=(), validator=distinct, metadata={"help": "names of the templates to use; default: all"}
    )
    formats: tuple[Format, ...] = field(
        default=(),
        validator=distinct,
        metadata={"help": f"also use every template in these layouts: {', '.join(each.value for each in Format)}"},
    )
    repeats: int = repeats_option()
    temperature: float | None = field(
        default=None, validator=optional(ge(0.0)), metadata={"help": "sampling temperature; default: the judge's own"}
    )
    vary_seed: bool = field(default=False, metadata={"help": "send a different sampling seed with every repeat"})


@frozen(kw_only=True)
class OutputModeOptions:
    """Options of the perturber `output-mode`."""

    modes: tuple[Literal["text", "json", "json-schema", "tool-call"], ...] = field(
        default=OUTPUT_MODES,
        validator=distinct,
        metadata={"help": "forms to ask the verdict in; empty: the judge's own only; default: all four"},
    )
    reasoning: tuple[str, ...] = field(
        default=(),
        validator=[deep_iterable(member_validator=min_len(1)), distinct],
        metadata={"help": "reasoning efforts, as the provider names them, such as none and high; default: the judge's"},
    )
    repeats: int = repeats_option()

    def __attrs_post_init__(self) -> None:
        """Reject options that vary nothing."""
        if not self.modes and not self.reasoning:
            raise ValueError("give at least one of `modes` and `reasoning`")


@frozen(kw_only=True)
class ParaphraseOptions:
    """Options of the perturber `prompt-paraphrase`."""

    template: Text = field(metadata={"help": "the judge's real prompt, a Jinja2 template, or {file: name}"})
    model: ModelName = field(metadata={"help": "model that writes the paraphrases: a name from the suite's `models`"})
    paraphrases: int = field(default=4, validator=and_(ge(1), le(50)), metadata={"help": "number of paraphrases"})
    attempts: int = field(
        default=3, validator=and_(ge(1), le(20)), metadata={"help": "maximum number of requests per paraphrase"}
    )
    system: Text | None = field(
        default=None, metadata={"help": "system message of all paraphrases; default: no system message"}
    )
    repeats: int = repeats_option()


@frozen(kw_only=True)
class ScaleVariant:
    """One other scale for the same question; set exactly one of `range`, `labels` and `reversed`."""

    range: tuple[int, int] | None = field(
        default=None, metadata={"help": "[low, high]: whole-number levels, at least as many as the task has"}
    )
    labels: tuple[str, ...] = field(
        default=(), validator=distinct, metadata={"help": "one new label for each label of the task, in the same order"}
    )
    reversed: bool = field(default=False, metadata={"help": "the task's own levels, with the lowest as the best"})

    def __attrs_post_init__(self) -> None:
        """Reject a variant that sets no scale or several."""
        if (self.range is not None) + bool(self.labels) + self.reversed != 1:
            raise ValueError("give one of `range`, `labels` and `reversed: true`")
        if self.range is not None and self.range[0] >= self.range[1]:
            raise ValueError("a range must go from a lower to a higher number")


def _usual_scales() -> dict[str, ScaleVariant]:
    return {"ten-levels": ScaleVariant(range=(1, 10)), "reversed": ScaleVariant(reversed=True)}


@frozen(kw_only=True)
class ScaleOptions:
    """Options of the perturber `scale`."""

    variants: Mapping[str, ScaleVariant] = field(
        default=Factory(_usual_scales),
        validator=[min_len(1), _named],
        metadata={"help": "the other scales, by name; default: levels 1 to 10, and the task's own levels reversed"},
    )
    repeats: int = repeats_option()


@frozen(kw_only=True)
class RubricOptions:
    """Options of the perturber `rubric`."""

    stricter: tuple[Text, ...] = field(
        default=(Text(content=STRICTER),),
        metadata={"help": "texts that make the rubric stricter: no verdict may rise"},
    )
    lenient: tuple[Text, ...] = field(
        default=(Text(content=LENIENT),),
        metadata={"help": "texts that make the rubric more lenient: no verdict may fall"},
    )
    reorder: bool = field(
        default=True,
        metadata={"help": "also use the rubric with its levels listed in reverse order: no verdict may change"},
    )
    repeats: int = repeats_option()


@frozen(kw_only=True)
class PairedPromptsOptions:
    """Options of the source `paired-prompts`."""

    path: Path = field(metadata={"help": "JSON Lines or csv file, relative to the suite's directory"})
    task_type: str | None = field(
        default=None, metadata={"help": "the `task_type` to read; required if the file has several"}
    )
    labels: Mapping[str, str] = field(
        default=Factory(dict),
        metadata={"help": "label in the file -> label of the scale; `score_3` is read as 3"},
    )
    columns: Mapping[str, str] = field(
        default=Factory(dict),
        metadata={"help": "standard column -> column of this file, for those that differ"},
    )


class Which(Enum):
    """Which pairs of templates are compared."""

    ALL = "all"
    """Every pair of templates that an item was asked with."""
    LISTED = "listed"
    """The pairs that the items list, as the rows of a paired-prompt file do."""


def _pairs(instance: object, attribute: Attribute[Any], value: object) -> None:  # noqa: ARG001
    if isinstance(value, int) and value < 1:
        raise ValueError(f"'pairs' must be 1 or more, got {value}")
    if isinstance(value, Text) and value.source is None:
        raise ValueError(
            "'pairs' must be `all`, `listed`, a number of pairs per item, or `{file: name}`; "
            f"got '{value.content[:40]}'"
        )


def _exclusions(instance: object, attribute: Attribute[Any], value: Mapping[str, tuple[str, ...]]) -> None:  # noqa: ARG001
    empty = [name for name, templates in value.items() if not (name.strip() and templates)]
    if empty:
        raise ValueError(f"`without`: '{empty[0]}' needs a name and at least one template")


@frozen(kw_only=True)
class OverlapOptions(MetricOptions):
    """Options of the metrics over pairs of prompt templates."""

    pairs: int | Which | Text = field(
        default=Which.ALL,
        validator=_pairs,
        metadata={
            "help": "template pairs to compare: all; listed (those that the items list); a number per item, a balanced "
            "random sample; or {file: name}, a csv file with template_a, template_b and, for pairs of one item, item"
        },
    )


@frozen(kw_only=True)
class SensitivityOptions(OverlapOptions):
    """Options of the sensitivity to prompt templates."""

    without: Mapping[str, tuple[str, ...]] = field(
        default=Factory(dict),
        validator=_exclusions,
        metadata={
            "help": "name -> templates: JSS, flip rate and kappa also without these templates, under this name. "
            "Inverted templates are left out so without being named"
        },
    )
    items: int = field(
        default=1000,
        validator=ge(0),
        metadata={"help": "with `all`: report JSS per item only for tasks with at most this many items"},
    )
    all: bool = field(
        default=False,
        metadata={"help": "also report flip rate and kappa of every template pair, and JSS of every item"},
    )
