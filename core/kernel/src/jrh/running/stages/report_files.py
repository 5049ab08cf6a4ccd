"""Documents on the disk: whole or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import TypeAlias

from jrh.errors import PluginError, StoreError

Content: TypeAlias = str | bytes | Iterable[bytes] | Mapping[str, str | bytes]
"""What a reporter returns for the disk: text, bytes, chunks of bytes, or files by name."""


def write_document(path: Path, content: Content) -> Path:
    """Write what a reporter made; an old file is replaced only by a whole new one.

    Args:
        path: the file, or the directory where the content is a mapping; it is made where it is missing. Files of other
            names that lie in a directory stay.
        content: the document.

    Raises:
        StoreError: it cannot be written.
        PluginError: a file of a directory has no plain name.
    """
    if not isinstance(content, Mapping):
        return _write(path, _chunks(content))
    odd = [name for name in content if PurePosixPath(name).name != name or "\\" in name or name in ("", ".", "..")]
    if odd:
        raise PluginError(f"'{odd[0]}' is not a plain file name")
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"cannot make '{path}': {error.strerror or error}") from error
    for name, part in content.items():
        _write(path / name, _chunks(part))
    return path


def _chunks(content: str | bytes | Iterable[bytes]) -> Iterator[bytes]:
    if isinstance(content, str):
        yield content.encode("utf-8", "replace")
    elif isinstance(content, bytes):
        yield content
    else:
        yield from content


def _write(path: Path, chunks: Iterator[bytes]) -> Path:
    partial = path.with_name(f".{path.name}.partial")
    try:
        with partial.open("wb") as file:
            for chunk in chunks:
                file.write(chunk)
        partial.replace(path)
    except OSError as error:
        raise StoreError(f"cannot write '{path}': {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
    return path
