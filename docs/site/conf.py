"""Settings of the site; `make docs` builds it from what `tools/pages.py` puts together."""

from __future__ import annotations

import re
from typing import Any

from jrh import __version__

project = "jrh"
author = "The authors of jrh"
version = release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "index"
html_theme = "furo"
html_title = f"jrh {__version__}"
html_copy_source = False
html_show_sphinx = False
myst_heading_anchors = 4
myst_enable_extensions = ["linkify"]
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
# Without this an alias of numpy expands to a page.
autodoc_type_aliases = {"ArrayLike": "ArrayLike"}
autodoc_preserve_defaults = True
napoleon_numpy_docstring = False
# Suites in the pages are YAML with `...`, shells are pasted with their prompts, and mermaid needs a browser.
suppress_warnings = ["misc.highlighting_failure", "ref.python"]


_values: dict[str, list[str]] = {}
"""Docstrings of constants and fields, in which napoleon would take what is before a colon for a type."""


def restored(_app: Any, _what: str, name: str, _object: Any, _options: Any, lines: list[str]) -> None:
    """Put back the docstring of a constant or a field after napoleon."""
    if name in _values:
        lines[:] = _values.pop(name)


def as_rest(_app: Any, what: str, name: str, _object: Any, _options: Any, lines: list[str]) -> None:
    """Turn the Markdown of a docstring into what Sphinx reads: code, fences and links."""
    text = "\n".join(lines)
    text = re.sub(r"^( *)```(\w*)\n(.*?)^ *```$", _fence, text, flags=re.MULTILINE | re.DOTALL)
    parts = re.split(r"(``[^`]+``)", text)
    text = "".join(part if part.startswith("``") else _marks(part) for part in parts)
    # |x| is an absolute value here, and a substitution in Sphinx.
    parts = re.split(r"(``[^`]+``)", text)
    text = "".join(part if part.startswith("``") else re.sub(r"\|(?=\S)", r"\\|", part) for part in parts)
    lines[:] = text.split("\n")
    if what in ("attribute", "data", "property"):
        _values[name] = list(lines)


def _fence(found: re.Match[str]) -> str:
    indent, language, code = found.groups()
    inner = "".join(f"   {line}\n" if line.strip() else "\n" for line in code.split("\n"))
    return f"{indent}.. code-block:: {language or 'text'}\n\n{inner}"


def _marks(text: str) -> str:
    text = re.sub(r"(?<![`:])`([^`]+)`(?![`_])", r"``\1``", text)
    text = re.sub(
        r"\[([^\]\n]+)\]\((https?://[^)\s]+)\)", lambda found: f"`{found[1].strip('`')} <{found[2]}>`__", text
    )
    text = re.sub(r"\[([^\]\n]+)\]\([^)\s]+\)", r"\1", text)
    # A name with a star, such as `**values`, would begin strong text.
    return re.sub(r"(?<![\w`])(\*\*?)(?=\w)(?![^\n]*\*)", r"\\\1", text)


def setup(app: Any) -> None:
    """Connect what Sphinx calls."""
    app.connect("autodoc-process-docstring", as_rest, priority=100)  # before napoleon
    app.connect("autodoc-process-docstring", restored, priority=900)
