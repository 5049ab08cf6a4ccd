"""Write the file in which people's labels are kept: JSON Lines, to which rows are added and nothing else is done.

Labels outlive every run and are worth more than one, so they are a file of their own that people can read, compare and
put under version control. Every row is on disk (fsync) before the page says "saved".
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from attrs import frozen
from filelock import FileLock, Timeout
from jrh import JrhError
from jrh_interchange import check_table_file

from jrh_review.person_labels import LabelSettings, PersonLabel, label_line, labels_header

LARGEST: Final = 256_000_000
"""Bytes of a file of labels."""
_LOCK: Final = ".lock"


@frozen(kw_only=True)
class LabelsLog:
    """A file of labels that is open for adding; no other process adds to it meanwhile."""

    path: Path
    _lock: FileLock

    @classmethod
    def open(cls, path: Path) -> LabelsLog:
        """Lock a file, which may not exist yet, and cut a row off that a kill left half-written.

        Raises:
            JrhError: another process uses it, or it cannot be written.
        """
        lock = FileLock(f"{path}{_LOCK}")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise JrhError(f"'{path}' is in use by another `jrh label`") from None
        except OSError as error:
            raise JrhError(f"cannot write '{path}': {error.strerror or error}") from error
        try:
            _mend(path)
        except BaseException:
            lock.release()
            raise
        return cls(path=path, lock=lock)

    def close(self) -> None:
        """Let others use the file."""
        self._lock.release()
        Path(f"{self.path}{_LOCK}").unlink(missing_ok=True)

    def start(self, settings: LabelSettings) -> None:
        """Write the header of a new file, or that of a file without labels again."""
        fresh = self.path.with_name(f"{self.path.name}.new")
        try:
            with fresh.open("wb") as file:
                file.write(labels_header(settings))
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(self.path)
            _sync_directory(self.path.parent)
        except OSError as error:
            raise JrhError(f"cannot write '{self.path}': {error.strerror or error}") from error

    def add(self, labels: Iterable[PersonLabel]) -> None:
        """Append rows in one write; they are durable when this returns."""
        text = b"".join(map(label_line, labels))
        try:
            with self.path.open("ab") as file:
                before = file.tell()
                try:
                    file.write(text)
                    file.flush()
                    os.fsync(file.fileno())
                except OSError:
                    os.ftruncate(file.fileno(), before)  # nothing is half there when the page says "not saved"
                    raise
        except OSError as error:
            raise JrhError(f"cannot write '{self.path}': {error.strerror or error}") from error


def _mend(path: Path) -> None:
    try:
        check_table_file(path, LARGEST)
        with path.open("rb+") as file:
            text = file.read()
            if not text.endswith(b"\n"):
                file.truncate(text.rfind(b"\n") + 1)
    except FileNotFoundError:
        return
    except OSError as error:
        raise JrhError(f"cannot write '{path}': {error.strerror or error}") from error


def _sync_directory(folder: Path) -> None:
    try:
        number = os.open(folder, os.O_RDONLY)
    except OSError:  # not every system opens a directory
        return
    try:
        os.fsync(number)
    finally:
        os.close(number)
