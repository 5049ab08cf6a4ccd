"""The environment that renders prompts: Jinja2's sandbox, with limits on what a template may grow to.

A template is written by whoever writes the suite, and a slip of the finger (`{{ 'x' * 10**10 }}`) must not take the
machine's memory. Every operation that makes a text longer than its parts is checked before it is done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, MutableMapping, Sized
from functools import wraps
from inspect import signature
from typing import Any, Final

from attrs import fields
from jinja2 import StrictUndefined, nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.exceptions import SecurityError
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jrh import Task

LARGEST: Final = 16 * 1024 * 1024
"""Characters of a rendered template and of every text and list in it; no model reads more."""
WIDEST: Final = 100_000
"""The largest number that says how wide, how deep or how many, such as the width of `center`."""
_BITS: Final = 100_000
_LONGEST_MARK: Final = 1000
"""Characters of what is put before or after every line."""
_OF_TASKS: Final = frozenset(field.name for field in fields(Task))
_UNBOUNDED: Final = frozenset({"center", "expandtabs", "format", "format_map", "ljust", "rjust", "zfill"})
"""Methods of a text whose result may have any width; a prompt has no columns to align."""


class PromptEnvironment(ImmutableSandboxedEnvironment):
    """Jinja2's sandbox without unbounded growth."""

    # Jinja2 calls `call_binop` only for the operators listed here; `~` is compiled elsewhere, see `_Generator`.
    intercepted_binops = frozenset({"*", "**", "+", "%"})

    def __init__(self) -> None:
        """Prompts are plain text for a model: HTML escaping would change what the judge reads."""
        super().__init__(undefined=StrictUndefined, autoescape=False, keep_trailing_newline=True)
        self.globals.pop("lipsum")  # random text: the same suite would not ask the same question twice
        for name in _UNBOUNDED & set(self.filters):
            del self.filters[name]
        for name, check in _FILTERS.items():
            self.filters[name] = _with_check(name, self.filters[name], check)

    def make_globals(self, d: MutableMapping[str, Any] | None) -> dict[str, Any]:
        """Return the globals of a template, merged with its variables.

        A copy: looking names up in a chain of mappings takes half the rendering time.
        """
        return {**self.globals, **(d or {})}

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Return an attribute, if the sandbox allows it; the fields of a task are known to be harmless."""
        # Nearly every prompt reads fields of its task; they need no check.
        if type(obj) is Task and attribute in _OF_TASKS:
            return getattr(obj, attribute)
        return super().getattr(obj, attribute)

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Refuse the methods of a text that pad it to any width, besides what Jinja2 refuses."""
        return not (isinstance(obj, str) and attr in _UNBOUNDED) and super().is_safe_attribute(obj, attr, value)

    def wrap_str_format(self, value: Any) -> None:
        """Wrap nothing: `format` is refused."""

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Calculate, unless the result could be too large."""
        _OPERATORS[operator](left, right)
        return super().call_binop(context, operator, left, right)

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N805
        """Call a method of a text or anything else, unless the result could be too large."""
        # A bound method of a text, such as `"x".join`, carries the text as `__self__`.
        text = getattr(__obj, "__self__", None)
        if isinstance(text, str):
            args = _check_method(text, getattr(__obj, "__name__", ""), args)
        return super().call(__context, __obj, *args, **kwargs)

    @staticmethod
    def concat(parts: Iterable[str]) -> str:
        """Join the parts of a rendered text, as long as they are not too much."""
        texts, length = [], 0
        for part in parts:
            length += len(part)
            # Checked while joining: the whole text may not fit into memory.
            if length > LARGEST:
                _check_size(length)
            texts.append(part)
        return "".join(texts)


class _Generator(CodeGenerator):
    """Compile `~` to a call that checks lengths."""

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:  # noqa: N802 - Jinja2's name
        """Write the call."""
        self.write("environment.concat(map(str, (")
        for part in node.nodes:
            self.visit(part, frame)
            self.write(", ")
        self.write(")))")


PromptEnvironment.code_generator_class = _Generator


def _check_size(size: int, most: int = LARGEST) -> None:
    if size > most:
        raise SecurityError(f"its result is longer than {most:,}")


def _length(value: Any) -> int:
    return len(value) if isinstance(value, Sized) else 0


def _times(left: Any, right: Any) -> None:
    if isinstance(left, int) and isinstance(right, int):
        # The bits of a product are at most the sum of the bits, so nothing is computed to find out.
        _check_size(left.bit_length() + right.bit_length(), _BITS)
    elif isinstance(left, int) or isinstance(right, int):
        number, value = (left, right) if isinstance(left, int) else (right, left)
        # A list of long texts is small as a list and large as a prompt.
        inside = sum(map(_length, value)) if isinstance(value, (list, tuple)) else 0
        _check_size((_length(value) + inside) * number)


def _power(left: Any, right: Any) -> None:
    if isinstance(left, int) and isinstance(right, int):
        # The bits of a power are about the bits of the base times the exponent.
        _check_size(left.bit_length() * right, _BITS)


def _plus(left: Any, right: Any) -> None:
    _check_size(_length(left) + _length(right))


def _modulo(left: Any, _right: Any) -> None:
    if isinstance(left, str):
        raise SecurityError("a pattern with % may have any width; write the parts with ~")


_OPERATORS: Final[dict[str, Callable[[Any, Any], None]]] = {"*": _times, "**": _power, "+": _plus, "%": _modulo}


def _check_method(text: str, name: str, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Check a call of a method of a text; return its arguments, which an iterator in them is read into."""
    if name == "replace":
        _check_replace(text, *args)
    elif name == "join" and args:
        # An iterator can be read only once: it is counted here and joined later.
        parts = list(args[0])
        _check_join(parts, text)
        return (parts, *args[1:])
    return args


def _check_replace(text: Any, old: Any = "", new: Any = "", *_: Any) -> None:
    if isinstance(text, str) and isinstance(old, str) and isinstance(new, str):
        # An upper bound: what is taken out is not subtracted.
        _check_size(len(text) + text.count(old) * len(new))


def _check_join(parts: list[Any], mark: Any) -> None:
    _check_size(sum(map(_length, parts)) + _length(mark) * len(parts))


def _check_counts(value: int) -> Callable[[list[Any]], None]:
    """Check the arguments that follow the value a filter is applied to: numbers, and marks that come in every line."""

    def check(args: list[Any]) -> None:
        for argument in args[value + 1 :]:
            if isinstance(argument, int):
                _check_size(argument, WIDEST)
        _check_size(sum(map(_length, args[value + 1 :])), _LONGEST_MARK)

    return check


_FILTERS: Final[dict[str, Callable[[list[Any]], None]]] = {
    **{name: _check_counts(0) for name in ("batch", "indent", "slice")},
    # Jinja2 hands these its environment or context first.
    **{name: _check_counts(1) for name in ("tojson", "wordwrap")},
    "join": lambda args: _check_join(args[1], args[2] if len(args) > 2 else ""),  # noqa: PLR2004
    "replace": lambda args: _check_replace(*args[1:]),
}


def _with_check(name: str, filter_: Callable[..., Any], check: Callable[[list[Any]], None]) -> Callable[..., Any]:
    """Return a filter that checks its arguments first."""
    parameters = signature(filter_)

    @wraps(filter_)
    def filter_with_check(*args: Any, **kwargs: Any) -> Any:
        bound = parameters.bind(*args, **kwargs)
        arguments = list(bound.args)
        if name == "join":
            arguments[1] = list(arguments[1])  # an iterator can be read only once
        check([*arguments, *bound.kwargs.values()])
        return filter_(*arguments, **bound.kwargs)

    return filter_with_check
