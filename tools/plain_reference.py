"""Write the reference of a package as plain Markdown: signatures and whole docstrings, no directives."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator, Mapping
from enum import Enum
from importlib import import_module
from typing import Any

from reference import docstring_of


def package_page(package: str, purpose: str, names: Mapping[str, str]) -> str:
    """Return the page of a package; `names` leads to the modules that define them."""
    parts = [f"# {package}\n\n{purpose}\n"]
    for name, module in sorted(names.items(), key=lambda pair: pair[0].lower()):
        value = getattr(import_module(module), name)
        parts.append(f"\n## `{name}`\n\n{_head(name, value)}{_text(docstring_of(import_module(module), name))}")
        if inspect.isclass(value):
            parts.extend(_members(value))
    return "".join(parts)


def _head(name: str, value: Any) -> str:
    """Return the signature as a block of code; nothing for constants, enums and exceptions."""
    if not (inspect.isclass(value) or inspect.isroutine(value)):
        return ""
    if inspect.isclass(value) and (issubclass(value, (Enum, BaseException)) or getattr(value, "_is_protocol", False)):
        return f"```python\nclass {name}({', '.join(base.__name__ for base in value.__bases__)})\n```\n\n"
    try:
        shown = str(inspect.signature(value))
    except (TypeError, ValueError):
        return ""
    shown = re.sub(r"(: |-> )'([^']*)'", r"\1\2", shown)  # annotations are text, and shown in quotes
    shown = re.sub(r"<(?:class '[\w.]*?(\w+)'|([A-Z]\w+\.\w+): [^<>]*)>", r"\1\2", shown)
    shown = re.sub(r"NOTHING|<[^<>]*>", "...", shown)
    if inspect.isclass(value):
        shown = re.sub(r" -> None$", "", shown)
    return f"```python\n{'async ' * inspect.iscoroutinefunction(value)}{name}{shown}\n```\n\n"


def _members(value: type) -> Iterator[str]:
    """Yield the fields of a class with their docstrings, then its public methods."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(value)))
    except (OSError, TypeError):
        return
    (body,) = (node.body for node in tree.body if isinstance(node, ast.ClassDef))
    for node, after in zip(body, [*body[1:], None], strict=True):
        match node:
            case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
                below = after.value if isinstance(after, ast.Expr) else None
                text = below.value if isinstance(below, ast.Constant) and isinstance(below.value, str) else ""
                if not name.startswith("_"):
                    kind = f": {ast.unparse(node.annotation)}" if isinstance(node, ast.AnnAssign) else ""
                    yield f"### `{value.__name__}.{name}`\n\n```python\n{name}{kind}\n```\n\n{_text(text)}"
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if not name.startswith("_"):
                prefix = "async " * isinstance(node, ast.AsyncFunctionDef)
                returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
                shown = f"{prefix}{name}({ast.unparse(node.args)}){returns}"
                heading = f"### `{value.__name__}.{name}`\n\n```python\n{shown}\n```\n\n"
                yield heading + _text(ast.get_docstring(node) or "")


def _text(text: str) -> str:
    """Return a docstring as Markdown: sections such as `Args:` are bold, and their entries a list."""
    lines, section = [], False
    for line in inspect.cleandoc(text).split("\n") if text else []:
        if re.fullmatch(r"(Args|Returns|Raises|Yields|Attributes|Example|Examples|Note):", line):
            section = line in ("Args:", "Raises:", "Attributes:")
            lines += [f"**{line[:-1]}**", ""]
        else:
            found = re.fullmatch(r"    (\*{0,2}\w[\w.]*): (.*)", line) if section else None
            lines.append(f"- `{found[1]}`: {found[2]}" if found else re.sub("^    ", "  " if section else "", line))
            section = section and (not line or line.startswith(" "))
    return "\n".join(lines).strip() + "\n\n" if lines else ""
