"""Render prompt templates: Jinja2, sandboxed, strict about undefined names, rendered once.

Text from an item enters as the value of a variable and is never rendered itself.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING

from jrh import JrhError, content_id

if TYPE_CHECKING:
    from jinja2 import Template
    from jinja2.sandbox import SandboxedEnvironment


def render(source: str, variables: Mapping[str, object]) -> str:
    """Render a template once.

    Raises:
        JrhError: the template is not valid, uses an undefined name, does what the sandbox forbids, or raises anything
            else, such as a filter that is given the wrong type.
    """
    if "{" not in source and "\r" not in source:  # no variables, as in most system prompts: skip compilation
        return source
    try:
        return _compile(source).render(variables)
    # The sandbox bounds single texts; many of them together can still be too much.
    except MemoryError:
        raise JrhError("prompt template: rendering it takes more memory than is available") from None
    except Exception as error:  # a template is a small program: a mistake in it can raise any exception
        from jinja2 import TemplateError

        if isinstance(error, TemplateError):
            raise JrhError(f"prompt template: {error.message}") from error
        raise JrhError(f"prompt template: {type(error).__name__}: {error}") from error


@lru_cache(maxsize=128)  # every judge of a suite asks for its templates, and most have the same
def template_variables(source: str) -> frozenset[str]:
    """Return the variables that a template needs; raise `JrhError` if it is not valid."""
    from jinja2 import TemplateSyntaxError, meta

    try:
        return frozenset(meta.find_undeclared_variables(_environment().parse(source)))
    except TemplateSyntaxError as error:
        raise JrhError(f"prompt template, line {error.lineno}: {error.message}") from error


@lru_cache(maxsize=128)
def load_template(package: str, name: str) -> str:
    """Return the template `prompts/<name>.j2` shipped with a package, without its final line break."""
    return files(package).joinpath("prompts", f"{name}.j2").read_text(encoding="utf-8").removesuffix("\n")


def check_template(what: str, source: str, *, known: Collection[str], needed: str) -> None:
    """Check a template before it is used.

    Args:
        what: names the template in the message, such as "label-flip: the prompt template".
        source: the template.
        known: the available variables.
        needed: the variable that it must use.

    Raises:
        JrhError: it is not valid, uses an unknown name, or does not use the one that is needed.
    """
    # Undefined names would fail in the middle of a run, after the first calls have been paid for.
    used = template_variables(source)
    unknown = sorted(used - set(known))
    if unknown or needed not in used:
        wrong = f"uses unknown variables ({', '.join(unknown)})" if unknown else f"does not show {{{{ {needed} }}}}"
        raise JrhError(f"{what} {wrong}; variables: {', '.join(sorted(known))}")


def tag_mark(*shown: object) -> str:
    """Return a suffix for the tags around texts in a prompt: no text contains its own hash, so none can close a tag."""
    return content_id(*shown)[:8]


@lru_cache(maxsize=1)
def _environment() -> SandboxedEnvironment:
    from jrh_authoring.template_sandbox import PromptEnvironment

    return PromptEnvironment()


# The same few templates are rendered for every case of a run; compiling takes longer than rendering.
@lru_cache(maxsize=512)
def _compile(source: str) -> Template:
    return _environment().from_string(source)
