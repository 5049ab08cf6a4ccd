"""Prompt templates: Jinja2, sandboxed, strict about undefined names, rendered once.

Text from an item enters as the value of a variable and is never rendered itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from jrh.errors import JrhError

if TYPE_CHECKING:
    from jinja2 import Template
    from jinja2.sandbox import SandboxedEnvironment


def render(source: str, variables: Mapping[str, object]) -> str:
    """Render a template once.

    Raises:
        JrhError: the template is not valid, uses an undefined name, does what the sandbox forbids, or raises anything
            else, such as a filter that is given the wrong type.
    """
    from jinja2 import TemplateError

    try:
        return _compile(source).render(variables)
    except TemplateError as error:
        raise JrhError(f"prompt template: {error.message}") from error
    except Exception as error:  # a template is a small program, and a mistake in it may raise whatever Python raises
        raise JrhError(f"prompt template: {type(error).__name__}: {error}") from error


def variables_of(source: str) -> frozenset[str]:
    """Return the names a template needs from outside; raise `JrhError` where it is not valid."""
    from jinja2 import TemplateSyntaxError, meta

    try:
        return frozenset(meta.find_undeclared_variables(_environment().parse(source)))
    except TemplateSyntaxError as error:
        raise JrhError(f"prompt template, line {error.lineno}: {error.message}") from error


@lru_cache(maxsize=1)
def _environment() -> SandboxedEnvironment:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    # Prompts are plain text for a model: HTML escaping would change what the judge reads.
    return ImmutableSandboxedEnvironment(undefined=StrictUndefined, autoescape=False, keep_trailing_newline=True)


@lru_cache(maxsize=512)
def _compile(source: str) -> Template:
    return _environment().from_string(source)
