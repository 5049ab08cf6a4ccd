"""Write to the terminal: the only place that does, so that nothing reaches it with control sequences in it.

Messages quote suites, tables, stored names and replies of servers, which may hold anything. Answers go to standard
output; errors, warnings, notes and progress to standard error.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
from io import StringIO
from typing import Any, Final

from jrh.errors import JrhError
from jrh.text.display import clean_lines, visible

_STYLE: Final = re.compile(r"(\x1b\[[0-9;]*m)")
"""Colours and weights, which jrh's own tables have."""
_CONCEALED: Final = re.compile(r"[\[;]0*8[;m]")
"""The style that hides text."""
_PLAIN_WIDTH: Final = 160
"""Where there is no terminal, lines are this long, so that tables do not wrap."""
_ANY_LENGTH: Final = 2**31


def say(text: str = "", *, nl: bool = True, styled: bool = False, data: bool = False) -> None:
    """Print on standard output, without terminal control sequences.

    Args:
        text: any text.
        nl: end with a line feed.
        styled: keep colours and weights.
        data: the text is for programs: lines have any length, and what is not written to a terminal stays as it is.

    Raises:
        JrhError: standard output cannot be written to, such as a full disk.
    """
    if styled:
        text = "".join(_keep_style(part) for part in _STYLE.split(text))
    elif not data:
        text = clean_lines(text)
    elif sys.stdout.isatty():
        text = clean_lines(text, _ANY_LENGTH)
    _write(text, nl=nl, err=False, data=data)


def say_next(*words: object) -> None:
    """Print the command to type next, on standard output."""
    say(f"Next: {shlex.join(['jrh', *map(str, words)])}")


def tell(text: str) -> None:
    """Print a message on standard error, without secrets and without terminal control sequences."""
    from jrh.text.redact import Redactor

    redacted = Redactor.from_environment()
    # Redact twice: before a long line is cut within a secret, and after what interrupts a secret is removed.
    _write(redacted(clean_lines(redacted(text))), nl=True, err=True)


def show(table: Any) -> None:
    """Print a table or another renderable of `rich` on standard output; with colour on a terminal that has it."""
    from rich.console import Console

    terminal = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    out = StringIO()
    Console(
        force_jupyter=False,  # else rich shows in the cell, not in the file
        file=out,
        width=shutil.get_terminal_size().columns if terminal else _PLAIN_WIDTH,
        force_terminal=terminal,
        highlight=False,
        markup=False,
        no_color=not terminal or None,
    ).print(table)
    say(out.getvalue(), nl=False, styled=terminal)


def _keep_style(part: str) -> str:
    if _STYLE.fullmatch(part):
        return "" if _CONCEALED.search(part) else part
    return "\n".join(map(visible, part.split("\n")))


_PLAIN: Final = str.maketrans(
    {"\u00b1": "+/-", "\u2265": ">=", "\u2264": "<=", "\u2260": "!=", "\u2026": "...", "\u2192": "->", "\u00d7": "x"}
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-")
    | dict.fromkeys("\u2018\u2019", "'")
    | dict.fromkeys("\u201c\u201d", '"')
    # Lines and corners of tables.
    | dict.fromkeys(map(chr, range(0x2500, 0x2580)), "+")
    | dict.fromkeys("\u2500\u2501\u2504\u2505\u2508\u2509\u254c\u254d\u2550\u2574\u2576\u2578\u257a", "-")
    | dict.fromkeys("\u2502\u2503\u2506\u2507\u250a\u250b\u2551", "|")
)
"""What replaces a character that the output's encoding does not have."""


def _showable(text: str, encoding: str | None, *, data: bool) -> str:
    """Replace what an encoding cannot show: in prose by what looks like it, in data by JSON's escapes."""
    name = encoding or "utf-8"
    try:
        text.encode(name)
    except UnicodeEncodeError:
        if data:
            return "".join(sign if sign.encode(name, "ignore") else json.dumps(sign)[1:-1] for sign in text)
        # What has no likeness becomes a question mark: a message must never end the program.
        return text.translate(_PLAIN).encode(name, "replace").decode(name)
    return text


def _write(text: str, *, nl: bool, err: bool, data: bool = False) -> None:
    import click

    stream = sys.stderr if err else sys.stdout
    try:
        click.echo(_showable(text, getattr(stream, "encoding", None), data=data), nl=nl, err=err)
        stream.flush()
    # The reader, such as `head`, has what it wanted: the program ends without a message.
    except BrokenPipeError:
        raise
    except OSError as error:
        if err:
            return  # there is no other place to say so
        raise JrhError(f"cannot write to standard output: {error.strerror or error}") from None
