"""Define how an item is asked: conditions, expectations, drafts, cases."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final, TypeAlias

from attrs import Factory, field, frozen
from attrs.validators import le, optional

from jrh.values.items import Task
from jrh.values.json_values import Json


class Polarity(Enum):
    """Whether a template asks for the quality or asks the inverted question."""

    POSITIVE = "positive"
    INVERTED = "inverted"


REFERENCE: Final = "reference"
"""The family, and the test, of the unperturbed condition."""


OUTPUT_MODES: Final = ("text", "json", "json-schema", "tool-call")
"""Forms of a reply: free text, any JSON, JSON bound to a schema, the arguments of a tool."""


@frozen(kw_only=True)
class Condition:
    """The factor levels of one question."""

    family: str = REFERENCE
    variant: str = ""
    template: str = ""
    """Name of the prompt template; empty: the judge's own."""
    option_order: str = ""
    """The canonical options in presented order, such as `BA`; empty: the item's order."""
    polarity: Polarity = Polarity.POSITIVE
    strength: float = 0.0
    language: str = ""
    output: str = ""
    """The form that the reply is asked for in, one of `OUTPUT_MODES`; empty: the judge's own."""


@frozen(kw_only=True)
class Same:
    """Expect the verdict of the reference condition (CheckList: INV)."""


@frozen(kw_only=True)
class Changes:
    """Expect a different verdict than in the reference condition (CheckList: DIR)."""


@frozen(kw_only=True)
class NotAbove:
    """Expect no higher level than in the reference condition (CheckList: DIR)."""


@frozen(kw_only=True)
class NotBelow:
    """Expect no lower level than in the reference condition (CheckList: DIR)."""


@frozen(kw_only=True)
class Equals:
    """Expect a stated canonical label (CheckList: MFT)."""

    label: str


# Classes and no enum, because one of them carries a label.
Expectation: TypeAlias = Same | Changes | NotAbove | NotBelow | Equals
"""The behaviour expected of a reliable judge under a condition."""


@frozen(kw_only=True)
class Message:
    """One message of a chat."""

    role: str
    """`system`, `user` or `assistant`."""
    content: str


@frozen(kw_only=True)
class Prompt:
    """A prompt template of a case that replaces the judge's own."""

    name: str
    user: str
    """Jinja2 source; variables: `task`, `labels`, and the item's fields."""
    system: str = ""
    language: str = ""
    original: str = ""
    """The template that this one paraphrases, for validators to compare; empty: none."""


@frozen(kw_only=True)
class Sampling:
    """Sampling parameters of a model; None keeps the model's own setting."""

    temperature: float | None = None
    top_p: float | None = None
    # Beyond what any model writes, a number is a typing error.
    max_tokens: int | None = field(default=None, validator=optional(le(10_000_000)))
    seed: int | None = None
    reasoning_effort: str | None = None


@frozen(kw_only=True)
class Provenance:
    """Which component made a case, and how, in enough detail to make it again."""

    component: str = ""
    """Qualified name, `distribution/name`."""
    version: str = ""
    model: str = ""
    """Fingerprint of the model that wrote it; empty for rules."""
    seed: int | None = None
    details: Mapping[str, Json] = Factory(dict)
    """Whatever the perturber records, such as attempts, edits or similarities."""


@frozen(kw_only=True)
class Draft:
    """A changed question proposed by a perturber; validators decide whether it becomes a case."""

    variant: str = ""
    strength: float = 0.0
    # The changes alone: the store keeps a case as its difference from its item.
    fields: Mapping[str, Json] = Factory(dict)
    """The changed fields; the others keep the item's values."""
    expectation: Expectation | None = Same()
    """None if nothing can be expected, as with two identical responses and no tie."""
    # None and not a written identity: a perturber that changes no label need not know the labels.
    label_map: Mapping[str, str] | None = None
    """Presented label -> canonical label; None: identity."""
    option_order: str = ""
    polarity: Polarity = Polarity.POSITIVE
    prompt: Prompt | None = None
    task: Task | None = None
    """The task as presented, if the condition changes scale, rubric or instruction."""
    sampling: Sampling = Sampling()
    repeats: int = 1
    """How often each judge is asked; every repeat is a separate call."""
    vary_seed: bool = False
    """Whether every repeat gets a different sampling seed."""
    output: str = ""
    """The form that the reply is asked for in, one of `OUTPUT_MODES`; empty: the judge's own."""
    model: str = ""
    """Fingerprint of the model that wrote it, for the provenance."""
    details: Mapping[str, Json] = Factory(dict)


@frozen(kw_only=True)
class Skip:
    """An item, or one variant of it, that a perturber skips; counted and reported."""

    reason: str
    """A short text without item content, because reports count skips by this text."""
    variant: str = ""
    details: Mapping[str, Json] = Factory(dict)


@frozen(kw_only=True)
class Validation:
    """A validator's decision about one draft."""

    accepted: bool
    score: float | None = None
    reason: str = ""
    """Why it is rejected: a short text without item content, because reports count rejections by this text."""
    label: str | None = None
    """The canonical label that the validator itself gave, if it gives one."""
    details: Mapping[str, Json] = Factory(dict)
    """Stored with the draft. If it has `votes` (voter -> vote, None: not cast), the report shows their agreement."""


@frozen(kw_only=True)
class Case:
    """Item x condition: the question as presented, and the expected behaviour of a reliable judge."""

    id: str
    task: str
    """Name of its task in the suite."""
    test: str
    """Name of the suite's test; `reference` for the unperturbed question."""
    item_id: str
    condition: Condition = Condition()
    fields: Mapping[str, Json]
    """All fields as presented."""
    prompt: Prompt | None = None
    presented_task: Task | None = None
    """The task as presented, if it differs from the suite's."""
    expectation: Expectation | None = None
    """None if there is neither a gold label nor a reference verdict to compare with."""
    label_map: Mapping[str, str]
    """Presented label -> canonical label, for every presented label."""
    sampling: Sampling = Sampling()
    repeats: int = 1
    vary_seed: bool = False
    # Copied from the item, so that a trial can be judged and recorded from its case alone.
    gold: str | None = None
    stratum: str = ""
    group: str = ""
    provenance: Provenance = Provenance()
