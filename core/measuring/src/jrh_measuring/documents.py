"""Write documents for people: untrusted text is escaped, comments are fitted, pages are made from templates."""

from __future__ import annotations

import os
import re
import shutil
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from jrh.errors import JrhError
from jrh.places import cache_directory
from jrh.text.display import LIMIT, clean_text, visible_text

if TYPE_CHECKING:
    from jinja2 import Environment, FileSystemBytecodeCache
    from jinja2.bccache import Bucket
    from jinja2.nodes import EvalContext

_REMEMBERED: Final = 4096
"""Size of the cache of escaped texts: the same names occur in many rows."""
_MARKUP: Final = re.compile(r"([\\`*_\[\]|~$])")
_BLOCK: Final = re.compile(r"^(?:[#=]|[-+](?=[\s+-]|$)|\d+(?=[.)](?:\s|$)))")
"""Starts of a line that Markdown turns into a heading, a list or a rule."""
_ENTITIES: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_BREAK: Final = "\u200b"
"""A zero-width space, which splits a word invisibly. `clean_text` removes those in the original text."""
_ACTIVE: Final = re.compile(
    r"@(?=\w)"  # mentions, which notify people, and addresses
    r"|#(?=\d)|\bGH-(?=\d)"  # references to issues
    r"|\b(?:https?|ftp|mailto|xmpp):(?=\S)|\bwww(?=\.)"  # addresses that become links by themselves
    r"|:(?=[\w+-]+:)",  # names of emoji
    re.IGNORECASE,
)
"""Text that GitHub links or replaces after resolving entities and backslashes, so escaping does not stop it."""
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Characters that act on a terminal, and those that reorder text."""
_FORMULA: Final = ("=", "+", "-", "@", "|", "%", "\t", "\r", "\n")
"""Characters at the start of a cell that make (or may make) a spreadsheet treat it as a formula."""
LONGEST_COMMENT: Final = 65_536
"""Maximum length of a GitHub comment, in characters."""
_PAGES: Final = "pages"
"""Directory of compiled templates in the user's cache. Their code depends on the options of `page_environment`: where
those change, the name has to change."""
_WRITABLE_BY_OTHERS: Final = stat.S_IWGRP | stat.S_IWOTH


def markdown_text(text: str, limit: int = 200) -> str:
    """Escape the text so that GitHub shows it literally, even in a table cell: no markup, no HTML, one line.

    A zero-width space breaks mentions, issue references and bare addresses.
    """
    return _escape_line(clean_text(text, limit))


@lru_cache(maxsize=_REMEMBERED)
def _escape_line(line: str) -> str:
    marked = _MARKUP.sub(r"\\\1", _inert(line))
    start = _BLOCK.match(marked)
    if start is None:
        return marked
    # A digit cannot be escaped: the dot or the bracket behind the number is.
    return f"{start[0]}\\{marked[start.end() :]}" if start[0].isdigit() else f"\\{marked}"


def html_text(text: str, limit: int = 200) -> str:
    """Escape the text for HTML within Markdown, where backslashes do not escape."""
    return _inert(clean_text(text, limit))


def _inert(line: str) -> str:
    broken = _ACTIVE.sub(lambda found: found[0] + _BREAK, line)
    return "".join(_ENTITIES.get(character, character) for character in broken)


def formula_safe(text: str) -> str:
    """Escape the text for a CSV cell: prefix an apostrophe if a spreadsheet would treat the text as a formula.

    Lone surrogates become U+FFFD and control characters escapes (`escape_controls`); the CSV writer does the quoting.
    For text, not for numbers.
    """
    storable = escape_controls(text).encode("utf-8", "replace").decode("utf-8")
    return f"'{storable}" if storable.lstrip(" ").startswith(_FORMULA) else storable


def escape_controls(text: str) -> str:
    r"""Return the text with control characters as visible escapes, such as `\x1b` and `\u202e`, for tables of text.

    Tabs and line breaks stay. Texts that differ still differ, and a terminal that shows the table obeys none of them.
    """
    return _CONTROLS.sub(_escape_code, text)


def _escape_code(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}"  # noqa: PLR2004 - the escapes of Python and JSON


def plain_table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> Any:
    """Return a table of `rich` without lines, for `terminal_text`."""
    # Loaded where it is used: most commands print no table.
    from rich.table import Table

    table = Table(*columns, box=None, pad_edge=False)
    for row in rows:
        table.add_row(*row)
    return table


def terminal_text(parts: Iterable[Any], width: int = 160) -> str:
    """Return lines of text, and tables of `rich`, as a terminal shows them: without colour, and lines are not broken.

    Args:
        parts: in their order.
        width: of tables where the output is no terminal.
    """
    # Loaded where it is used: most commands print no table.
    from rich.console import Console

    # What is printed goes to a buffer first, which has no width that `rich` could ask for.
    if sys.stdout.isatty() and os.environ.get("TERM") != "dumb":
        width = shutil.get_terminal_size().columns
    out = StringIO()
    console = Console(
        file=out, force_jupyter=False, width=width, highlight=False, markup=False, emoji=False, no_color=True
    )
    for part in parts:
        # Only tables are fitted: a sentence that is broken into lines cannot be searched or copied.
        console.print(part, soft_wrap=isinstance(part, str))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def closing_lines(simulated: Iterable[str], notes: Iterable[str]) -> Iterator[str]:
    """Yield how the text of an answer ends: which judges are simulated, and what else it rests on."""
    if names := [clean_text(name) for name in simulated]:
        yield f"Simulated judges: {', '.join(names)}."
    yield from dict.fromkeys(clean_text(note, 400) for note in notes)


def comment_length(text: str) -> int:
    """Count characters like GitHub, or more strictly: characters above U+FFFF count twice."""
    return len(text.encode("utf-16-le", "replace")) // 2


def lines_that_fit(text_of: Callable[[int], str], count: int, room: int) -> int:
    """Return how many of the first lines of a text fit, 0 to `count`; fewer lines never make a longer text.

    Args:
        text_of: returns the text with a given number of lines; it states how many lines are omitted.
        count: number of all lines.
        room: maximum number of characters, counted by `comment_length`.
    """
    if comment_length(text_of(count)) <= room:
        return count
    # Bisection, since every try renders the text.
    low, high = 0, count
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if comment_length(text_of(middle)) <= room else (low, middle)
    return low


def page_environment(package: str, shown: Mapping[str, Any], *, limit: int = LIMIT) -> Environment:
    """Return an environment for the templates of a package, in its directory `templates`.

    Texts pass through `visible_text` and Jinja's escaping; markup made by the package itself stays as it is. A variable
    that is not defined is an error. Compiled templates are kept in the user's cache.

    Args:
        package: import name of the package.
        shown: what every template can use.
        limit: characters shown of a text.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined, pass_eval_context

    # Without the context, Jinja would call it while it compiles a constant, and keep what it returned: byte code would
    # depend on the code of jrh.
    @pass_eval_context
    def finalize(_context: EvalContext, value: object) -> object:
        return visible_text(value, limit) if type(value) is str else value

    environment = Environment(
        loader=PackageLoader(package, "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        bytecode_cache=_page_cache(),
    )
    environment.globals.update(shown)
    return environment


def _page_cache() -> FileSystemBytecodeCache | None:
    """Return where compiled templates are kept, because compiling those of one page takes longer than filling them.

    Cached code is executed, so the directory must be writable by this user alone; None if there is no such directory.
    """
    from jinja2 import FileSystemBytecodeCache

    class Pages(FileSystemBytecodeCache):
        def load_bytecode(self, bucket: Bucket) -> None:
            try:
                super().load_bytecode(bucket)
            except Exception:  # a file that was cut can be anything
                bucket.reset()

    folder = cache_directory() / _PAGES
    try:
        for path in (folder.parent, folder):  # `parents` would ignore the mode of the first
            path.mkdir(parents=True, exist_ok=True, mode=0o700)
        return Pages(str(folder)) if _is_own(folder) else None
    except OSError:
        return None


def _is_own(folder: Path) -> bool:
    if not hasattr(os, "getuid"):  # as on Windows, where the mode says nothing of who can write
        return False
    state = folder.lstat()
    return stat.S_ISDIR(state.st_mode) and state.st_uid == os.getuid() and not state.st_mode & _WRITABLE_BY_OTHERS


def write_whole(path: Path, content: bytes) -> None:
    """Write a file atomically: on a full disk, an earlier one stays. What is no regular file is written directly.

    Creates missing directories, as pytest does for its reports.

    Raises:
        JrhError: the file cannot be written.
    """
    partial = path.with_name(f".{path.name}.partial")
    # A pipe or a device cannot be replaced by another file, and a link has to stay one.
    special = path.is_symlink() or (path.exists() and not path.is_file())
    try:
        with suppress(FileExistsError):  # the parent is a file: reported when writing fails below
            path.parent.mkdir(parents=True, exist_ok=True)
        if special:
            path.write_bytes(content)
        else:
            partial.unlink(missing_ok=True)  # a link in its place leads elsewhere
            with partial.open("xb") as file:
                file.write(content)
            partial.replace(path)
    except OSError as error:
        if not special:
            with suppress(OSError):
                partial.unlink(missing_ok=True)
        raise JrhError(f"cannot write '{path}': {error.strerror or error}") from error
