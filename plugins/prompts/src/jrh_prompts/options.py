"""What a suite can say about how a judge is asked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Any, Final

from attrs import Attribute, Factory, field, frozen
from attrs.validators import and_, ge, le, min_len, optional
from jrh import ModelName, Text
from jrh.authoring import distinct, repeats_option
from jrh.measuring import MetricOptions

SYSTEM = "Give only the requested answer."
"""The system prompt of the shipped templates."""

STRICTER = "Apply the rubric strictly: whenever you hesitate between two levels, give the lower one."
LENIENT = "Apply the rubric leniently: whenever you hesitate between two levels, give the higher one."


class Inventory(Enum):
    """The sets of templates that come with the package."""

    FACTUALITY = "factuality"
    """Six for YES/NO, one of them with inverted polarity."""
    COHERENCE = "coherence"
    """Five for levels 1 to 5."""
    RELEVANCE = "relevance"
    """Five for A/B."""
    PREFERENCE = "preference"
    """Five for A/B."""


class Format(Enum):
    """Changes of a template that touch its layout and no other word."""

    SEPARATOR_DASH = "separator-dash"
    """`Answer - ...` in place of `Answer: ...`."""
    SEPARATOR_LINE = "separator-line"
    """What is judged on the line below its name."""
    CASING_UPPER = "casing-upper"
    """`ANSWER: ...`."""
    CASING_LOWER = "casing-lower"
    """`answer: ...`."""
    ENUMERATION_PARENTHESIS = "enumeration-parenthesis"
    """`A) ...` in place of `A: ...`, for options."""
    ENUMERATION_BRACKETS = "enumeration-brackets"
    """`[A] ...` in place of `A: ...`, for options."""
    INSTRUCTION_LAST = "instruction-last"
    """What is judged first, then the instruction."""


_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def _named(instance: object, attribute: Attribute[Any], value: Mapping[str, object]) -> None:  # noqa: ARG001
    strange = next((name for name in value if not _NAME.fullmatch(name)), None)
    if strange is not None:
        raise ValueError(f"'{attribute.name}': a name is letters, digits, '.', '_' and '-'; got '{strange}'")


@frozen(kw_only=True)
class TemplateOptions:
    """One template of one's own."""

    text: Text = field(
        default=Text(content=""),
        metadata={
            "help": "Jinja2 template; variables: task, labels, answer_format, mark, item fields; or {file: name}"
        },
    )
    system: Text | None = field(
        default=None, metadata={"help": f"system message; none: '{SYSTEM}'; empty text: no system message"}
    )
    labels: Mapping[str, str] = field(
        default=Factory(dict),
        metadata={"help": "label as asked for -> label of the scale it means, such as {YES: NO, NO: YES}; none: as is"},
    )
    inverted: bool | None = field(
        default=None,
        metadata={"help": "whether it asks for the opposite; none: it does if `labels` turns the scale around"},
    )
    language: str = field(
        default="", metadata={"help": "language of the template, such as de; JSS is told per language"}
    )
    tasks: tuple[str, ...] = field(default=(), metadata={"help": "tasks of the suite it is for; none: all"})


@frozen(kw_only=True)
class TemplatesOptions:
    """Options of the perturber `templates`."""

    inventory: Inventory | Mapping[str, Inventory] | None = field(
        default=None,
        metadata={
            "help": "shipped templates: factuality, coherence, relevance or preference, or one of them per task; none: "
            "those with the name of the task, where there are no others"
        },
    )
    templates: Mapping[str, TemplateOptions] = field(
        default=Factory(dict), validator=_named, metadata={"help": "templates of one's own, by name"}
    )
    from_items: bool = field(
        default=False, metadata={"help": "the prompts that the items bring along (source `paired-prompts`)"}
    )
    only: tuple[str, ...] = field(
        default=(), validator=distinct, metadata={"help": "names of the templates to use; none: all"}
    )
    formats: tuple[Format, ...] = field(
        default=(),
        validator=distinct,
        metadata={"help": f"also every template in another layout: {', '.join(each.value for each in Format)}"},
    )
    repeats: int = repeats_option()
    temperature: float | None = field(
        default=None, validator=optional(ge(0.0)), metadata={"help": "sampling temperature; none: the judge's own"}
    )
    vary_seed: bool = field(default=False, metadata={"help": "send every repeat with a sampling seed of its own"})


@frozen(kw_only=True)
class ParaphraseOptions:
    """Options of the perturber `prompt-paraphrase`."""

    template: Text = field(metadata={"help": "the judge's real prompt, a Jinja2 template, or {file: name}"})
    model: ModelName = field(metadata={"help": "the model of the suite's `models` that writes the paraphrases"})
    paraphrases: int = field(
        default=4, validator=and_(ge(1), le(50)), metadata={"help": "how many paraphrases are wanted"}
    )
    attempts: int = field(
        default=3, validator=and_(ge(1), le(20)), metadata={"help": "times the model is asked at most for each"}
    )
    system: Text | None = field(default=None, metadata={"help": "system message of all; none: no system message"})
    repeats: int = repeats_option()


@frozen(kw_only=True)
class ScaleVariant:
    """The same question on one other scale; one of `range`, `labels` and `reversed`."""

    range: tuple[int, int] | None = field(
        default=None, metadata={"help": "[low, high]: levels in whole numbers, at least as many as the task has"}
    )
    labels: tuple[str, ...] = field(
        default=(), validator=distinct, metadata={"help": "one other label for each of the task's, in its order"}
    )
    reversed: bool = field(default=False, metadata={"help": "the task's own levels, but the lowest is the best"})

    def __attrs_post_init__(self) -> None:
        """Reject a variant that names no scale or several."""
        if (self.range is not None) + bool(self.labels) + self.reversed != 1:
            raise ValueError("give one of `range`, `labels` and `reversed: true`")
        if self.range is not None and self.range[0] >= self.range[1]:
            raise ValueError("a range goes from a lower to a higher number")


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
        metadata={"help": "texts added to the rubric that make it stricter: no verdict may rise"},
    )
    lenient: tuple[Text, ...] = field(
        default=(Text(content=LENIENT),),
        metadata={"help": "texts added to the rubric that make it more lenient: no verdict may fall"},
    )
    reorder: bool = field(
        default=True, metadata={"help": "also the rubric with its list of levels in reverse order: nothing may change"}
    )
    repeats: int = repeats_option()


@frozen(kw_only=True)
class PairedPromptsOptions:
    """Options of the source `paired-prompts`."""

    path: Path = field(metadata={"help": "the file, JSON Lines or csv; relative to the suite's directory"})
    task_type: str | None = field(
        default=None, metadata={"help": "the `task_type` to read; needed where the file holds several"}
    )
    labels: Mapping[str, str] = field(
        default=Factory(dict),
        metadata={"help": "label in the file -> label of the scale; `score_3` is 3 without saying so"},
    )
    columns: Mapping[str, str] = field(
        default=Factory(dict),
        metadata={"help": "column of the benchmark's files -> column of this one, where they differ"},
    )


@frozen(kw_only=True)
class SensitivityOptions(MetricOptions):
    """Options of the metrics over templates."""

    pairs: int | None = field(
        default=None,
        validator=optional(ge(1)),
        metadata={"help": "template pairs per item, a balanced sample drawn by the seed; none: all pairs"},
    )
    items: int = field(
        default=1000,
        validator=ge(0),
        metadata={"help": "with `all`: tell JSS per item for tasks of so many items at most"},
    )
    all: bool = field(
        default=False,
        metadata={"help": "also flip rate and kappa of every pair of templates, and JSS of every item"},
    )
