"""Change the layout of a template (separators, casing, enumeration, order) without changing its wording.

After FormatSpread (Sclar, Choi, Tsvetkov and Suhr 2024): layout choices without meaning should not change verdicts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from attrs import evolve

from jrh_prompts.options import Format
from jrh_prompts.template import Template

_NAMED: Final = re.compile(r"^(?P<name>[^\n{}:]{1,40}):(?P<gap>[ \t]*\n?)(?=\{\{)", re.MULTILINE)
"""The heading before a judged text: `Answer: {{`."""
_OPTION: Final = re.compile(r"^(?P<name>[A-Z]):[ \t]*(?=\{\{)", re.MULTILINE)
_JUDGED: Final = re.compile(r"\{\{")


def _dash(text: str) -> str:
    return _NAMED.sub(lambda found: f"{found['name']} - ", text)


def _line(text: str) -> str:
    return _NAMED.sub(lambda found: f"{found['name']}:\n", text)


def _upper(text: str) -> str:
    return _NAMED.sub(lambda found: f"{found['name'].upper()}:{found['gap']}", text)


def _lower(text: str) -> str:
    # A single letter is the name of an option, and so a label the judge answers with: it stays upper case.
    return _NAMED.sub(
        lambda found: found[0] if len(found["name"]) == 1 else f"{found['name'].lower()}:{found['gap']}", text
    )


def _parenthesis(text: str) -> str:
    return _OPTION.sub(lambda found: f"{found['name']}) ", text)


def _brackets(text: str) -> str:
    return _OPTION.sub(lambda found: f"[{found['name']}] ", text)


def _instruction_last(text: str) -> str:
    first, gap, rest = text.partition("\n\n")
    if not gap or _JUDGED.search(first) or not _JUDGED.search(rest):
        return text
    return f"{rest.rstrip()}\n\n{first}"


_CHANGES: Final[Mapping[Format, Callable[[str], str]]] = {
    Format.SEPARATOR_DASH: _dash,
    Format.SEPARATOR_LINE: _line,
    Format.CASING_UPPER: _upper,
    Format.CASING_LOWER: _lower,
    Format.ENUMERATION_PARENTHESIS: _parenthesis,
    Format.ENUMERATION_BRACKETS: _brackets,
    Format.INSTRUCTION_LAST: _instruction_last,
}


def reformatted(template: Template, layout: Format) -> Template | None:
    """Return the template in another layout, or None if the layout does not change it."""
    changed = _CHANGES[layout](template.user)
    if changed == template.user:
        return None
    return evolve(template, name=f"{template.name}+{layout.value}", user=changed, original=template.name)


def variants(templates: Sequence[Template], layouts: Sequence[Format]) -> Iterator[Template]:
    """Yield every template, each followed by its distinct layout variants."""
    for template in templates:
        seen = {template.user}
        yield template
        for layout in layouts:
            variant = reformatted(template, layout)
            if variant is not None and variant.user not in seen:
                seen.add(variant.user)
                yield variant
