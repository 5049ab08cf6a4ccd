"""The file in which people's labels are kept: JSON Lines, to which rows are added and nothing else is done.

Labels outlive every run and are worth more than one, so they are a file of their own that people can read, compare and
put under version control. Every row is on disk (fsync) before the page says "saved".
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from attrs import evolve, frozen
from filelock import FileLock, Timeout

from jrh.document.convert import structure, to_json
from jrh.document.plain_files import check_plain, read_plain
from jrh.errors import JrhError
from jrh.text.visible import is_person_name
from jrh.values.person_labels import LabelSettings, PersonLabel

VERSION: Final = 1
LARGEST: Final = 256_000_000
"""Bytes of a file of labels."""
_HEADER: Final = "jrh-labels"
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
                file.write(_line({_HEADER: VERSION, **_plain(settings)}))
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(self.path)
            _sync_directory(self.path.parent)
        except OSError as error:
            raise JrhError(f"cannot write '{self.path}': {error.strerror or error}") from error

    def add(self, labels: Iterable[PersonLabel]) -> None:
        """Append rows in one write; they are durable when this returns."""
        text = b"".join(_line(_plain(each)) for each in labels)
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


def read_labels(path: Path) -> tuple[LabelSettings, tuple[PersonLabel, ...]]:
    """Read a file of labels. A last line without an end was never acknowledged, and is left out.

    Raises:
        JrhError: there is no such file, or a line is not what jrh writes; the text names file and line.
    """
    try:
        lines = read_plain(path, LARGEST).split(b"\n")[:-1]
    except FileNotFoundError:
        raise JrhError(f"there is no label file '{path}' yet; `jrh label` creates it") from None
    except OSError as error:
        raise JrhError(f"cannot read the labels '{path}': {error.strerror or error}") from error
    header = _read(path, 1, lines[0]) if lines else {}
    if header.pop(_HEADER, None) != VERSION:
        raise JrhError(f"{path}:1: this is not a label file that this version of jrh can read")
    try:
        settings = structure(header, LabelSettings)
    except JrhError as error:
        raise JrhError(f"{path}:1: {error}") from error
    return settings, tuple(_row(path, number, line) for number, line in enumerate(lines[1:], start=2))


def _row(path: Path, number: int, line: bytes) -> PersonLabel:
    found = _read(path, number, line)
    try:
        row = structure(found, PersonLabel)
    except JrhError as error:
        raise JrhError(f"{path}:{number}: {error}") from error
    if not is_person_name(row.labeller):
        raise JrhError(f"{path}:{number}: the labeller's name does not have 1 to 80 visible characters")
    return evolve(row, number=number - 1)


def _read(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise JrhError(f"{path}:{number}: this line is not what jrh writes; restore the file, or remove the line")
    return found


def _mend(path: Path) -> None:
    try:
        check_plain(path, LARGEST)
        with path.open("rb+") as file:
            text = file.read()
            if not text.endswith(b"\n"):
                file.truncate(text.rfind(b"\n") + 1)
    except FileNotFoundError:
        return
    except OSError as error:
        raise JrhError(f"cannot write '{path}': {error.strerror or error}") from error


def _plain(value: object) -> dict[str, Any]:
    found = to_json(value)
    assert isinstance(found, Mapping)  # both are attrs classes
    return {name: each for name, each in found.items() if name != "number" and each not in ("", None)}


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii") + b"\n"


def _sync_directory(folder: Path) -> None:
    try:
        number = os.open(folder, os.O_RDONLY)
    except OSError:  # not every system opens a directory
        return
    try:
        os.fsync(number)
    finally:
        os.close(number)
