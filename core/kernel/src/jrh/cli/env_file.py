"""Read the file of `--env-file`: only KEY=VALUE lines, in python-dotenv's format."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from jrh.errors import JrhError

if TYPE_CHECKING:
    from dotenv.parser import Binding

_MOST: Final = 10
"""Maximum number of reported lines; the message only counts the others."""


def read_environment(path: Path) -> None:
    """Set the variables of the file that are not set already.

    Comments, blank lines, `export` and quotes are allowed; nothing is interpolated. Of a line that is none of these
    only the number is told, as it may hold a key.

    Raises:
        JrhError: the file cannot be read, or a line is expected KEY=VALUE.
    """
    for name, value in _variables(path).items():
        os.environ.setdefault(name, value)


def _variables(path: Path) -> Mapping[str, str]:
    from dotenv.parser import parse_stream

    found: dict[str, str] = {}
    wrong: list[int] = []
    for binding in parse_stream(io.StringIO(_text(path))):
        if binding.key is None and not binding.error:
            continue  # a comment, or blank lines
        if binding.error or binding.key is None or binding.value is None or "=" in binding.key:
            wrong.append(_line(binding))
        else:
            found[binding.key] = binding.value
    if wrong:
        rest = len(wrong) - _MOST
        lines = [f"--env-file: {path}:{line}: expected KEY=VALUE" for line in wrong[:_MOST]]
        more = [f"and {rest} more lines"] if rest > 0 else []
        what_to_do = "Write one KEY=VALUE per line, with matching quotes or none; # starts a comment."
        raise JrhError("\n".join([*lines, *more, what_to_do]))
    return found


def _text(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise JrhError(f"--env-file: no such file: '{path}'") from None
    except OSError as error:
        raise JrhError(f"--env-file: cannot read '{path}': {error.strerror or type(error).__name__}") from error
    except UnicodeDecodeError:
        raise JrhError(f"--env-file: '{path}' is not UTF-8 text; save it as UTF-8") from None
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise JrhError(f"--env-file: {path}:{line}: contains a NUL character; save the file as UTF-8 text")
    return text


def _line(binding: Binding) -> int:
    """Return the line of a binding; python-dotenv counts the white space before it as part of it."""
    written = binding.original.string
    before = written[: len(written) - len(written.lstrip())]
    return binding.original.line + before.count("\n")
