"""Keep compiled templates in the user's cache, because compiling those of one page takes longer than filling them."""

from __future__ import annotations

import marshal
import os
import stat
from contextlib import suppress
from hashlib import sha256
from importlib.util import MAGIC_NUMBER
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Final

from jinja2.bccache import Bucket, BytecodeCache

_FOLDER: Final = "pages"
_WRITABLE_BY_OTHERS: Final = stat.S_IWGRP | stat.S_IWOTH


class CompiledPages(BytecodeCache):
    """Compiled templates by the digest of all they were compiled from.

    What is read is executed. It is therefore read only from a directory of this user to which nobody else can write,
    and only as it was written: a changed bit of byte code could do anything. Where there is no such directory,
    templates are compiled each time.
    """

    def __init__(self, folder: Path, made_with: str) -> None:
        """Use a directory within `folder`; `made_with` stands for all but the template that byte code depends on."""
        self._folder = folder / _FOLDER
        self._made_with = made_with

    def load_bytecode(self, bucket: Bucket) -> None:
        """Read what was compiled, if it is there and whole."""
        with suppress(OSError):
            if _own(self._folder):
                kept = (self._folder / self._name(bucket)).read_bytes()
                code = kept[sha256().digest_size :]
                if sha256(code).digest() == kept[: sha256().digest_size]:
                    bucket.code = marshal.loads(code)  # noqa: S302 - written by this user, for this version of byte code

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Write what was compiled; another process may do the same."""
        with suppress(OSError):
            for folder in (self._folder.parent, self._folder):  # `parents` would ignore the mode of the first
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            if not _own(self._folder):
                return
            code = marshal.dumps(bucket.code)
            with NamedTemporaryFile(dir=self._folder, delete=False) as file:
                file.write(sha256(code).digest() + code)
            try:
                Path(file.name).replace(self._folder / self._name(bucket))
            except OSError:
                Path(file.name).unlink()

    def _name(self, bucket: Bucket) -> str:
        made_from = (MAGIC_NUMBER.hex(), self._made_with, bucket.key, bucket.checksum)
        return sha256(" ".join(made_from).encode()).hexdigest()


def _own(folder: Path) -> bool:
    """Tell whether a directory is this user's, and nobody else can write to it."""
    if not hasattr(os, "getuid"):  # as on Windows, where the mode says nothing of who can write
        return False
    found = folder.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & _WRITABLE_BY_OTHERS
