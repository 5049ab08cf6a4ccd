"""Check texts: empty responses, truncated responses, templates that ask the inverted question."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from jrh import Scale, ScaleKind, Task
from jrh.text import counted

from jrh_audit.facts import Facts, Finding, some
from jrh_audit.options import AuditOptions

_ENDED: Final = 0.5
"""If at least this share of the long texts ends like a sentence, the others count as truncated."""
_OPPOSITE: Final = re.compile(
    r"\b(?:in(?:accura\w+|correct\w*|coheren\w+)|irrelevan\w+|un(?:true|supported|related)|untrue|errors?|mistakes?"
    r"|false|wrong|worse|worst|weaker|poor(?:ly)?|bad(?:ly)?|poorer|less\s+(?:relevant|accurate|coherent|helpful|suitable|useful))\b",
    re.IGNORECASE,
)
_STRAIGHT: Final = re.compile(
    r"\b(?:accura\w+|correct\w*|coheren\w+|relevan\w+|true|right|better|best|stronger|good|excellent|hold|fits?|well)\b",
    re.IGNORECASE,
)


def empty(facts: Facts, options: AuditOptions) -> Iterator[Finding]:  # noqa: ARG001
    """Find items without a text to judge."""
    if facts.empty:
        yield Finding(
            kind="empty-responses",
            evidence=f"{counted(len(facts.empty), 'item')} with an empty {' or '.join(facts.task.judged_fields)}",
            consequence="A verdict on an empty text measures nothing: add the texts or remove the items.",
            affected=len(facts.empty),
            items=len(facts),
            examples=some(facts.empty),
        )


def truncated(facts: Facts, options: AuditOptions) -> Iterator[Finding]:  # noqa: ARG001
    """Find texts that end in the middle of a sentence, where most long texts of the set do not."""
    cut = list(facts.cut)
    if cut and facts.ended / facts.long >= _ENDED:
        yield Finding(
            kind="truncated-responses",
            evidence=f"{counted(len(cut), 'item')} whose text ends in mid-sentence",
            consequence="They were probably cut off. A judge may mark them down for that alone.",
            affected=len(cut),
            items=len(facts),
            examples=some(cut),
        )


def opposite_polarity(facts: Facts, options: AuditOptions) -> Iterator[Finding]:  # noqa: ARG001
    """Find prompts of the items that seem to ask the inverted question."""
    task, prompts = facts.task, facts.prompts
    turned = [name for name, text in prompts.items() if asks_for_opposite(text, task.scale)]
    if turned and len(turned) < len(prompts):
        yield Finding(
            kind="opposite-polarity",
            evidence=f"{len(turned)} of {counted(len(prompts), 'template')} seem to ask for the opposite",
            consequence="Unless their labels are reversed, JSS counts a template's polarity as instability of the "
            f"judge. Declare `labels: {_turned(task)}`.",
            affected=len(facts),
            items=len(facts),
            examples=tuple(turned),
        )


def asks_for_opposite(template: str, scale: Scale) -> bool:
    """Guess from its words whether a template asks for a fault and for no quality. English only.

    What the template says its labels mean decides, as in `YES (has errors)` or `5 = poor`; otherwise all its words.
    """
    bare = re.sub(r"\{\{.*?\}\}", " ", template)
    best = scale.labels[-1] if scale.kind is ScaleKind.ORDINAL else scale.positive_label
    told = [
        (label == best) == bool(_OPPOSITE.search(meaning))
        for label in scale.labels
        if best is not None
        for meaning in _meanings(bare, label)
        if _names_fault(meaning) or _names_quality(meaning)
    ]
    return 2 * sum(told) > len(told) if told else _names_fault(bare)


def _meanings(text: str, label: str) -> Iterator[str]:
    """Yield what a text says a label means: in brackets, or after `=`."""
    pattern = rf"(?<!\w){re.escape(label)}\s*(?:\(([^()\n]{{1,80}})\)|=\s*([^,;.()\n\d]{{1,40}}))"
    yield from (bracketed or after for bracketed, after in re.findall(pattern, text))


def _names_fault(text: str) -> bool:
    return bool(_OPPOSITE.search(text)) and not _names_quality(text)


def _names_quality(text: str) -> bool:
    return bool(_STRAIGHT.search(_OPPOSITE.sub(" ", text)))


def _turned(task: Task) -> str:
    return f"{{{', '.join(f'{one}: {other}' for one, other in task.scale.swap_map().items())}}}"
