"""Hashes of many texts are in a temporary file; the pairs are the same with it, without it and with a part of it."""

from __future__ import annotations

import random
from tempfile import TemporaryFile
from typing import IO

import pytest
from jrh_audit import similarity


def _texts() -> list[str]:
    draw = random.Random(1)
    texts = [" ".join(f"w{draw.randrange(900)}" for _ in range(40)) for _ in range(300)]
    return [*texts, texts[7], "", texts[150] + " more"]


@pytest.mark.parametrize("room", [0, 1, 3, 1000])
def test_hashes_that_find_no_room_on_the_disk_stay_in_memory(room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = similarity.similar(_texts(), 0.8)
    writes = 0

    class Disk:
        """A disk that is full after some writes, and writes half of what it is given at a time."""

        def __init__(self, **options: object) -> None:
            self._file: IO[bytes] = TemporaryFile(buffering=0)  # noqa: SIM115 - as long as the disk
            self.seek, self.read, self.close = self._file.seek, self._file.read, self._file.close

        def write(self, data: bytearray) -> int:
            nonlocal writes
            writes += 1
            if writes > room:
                raise OSError(28, "No space left on device")
            return self._file.write(data[: len(data) // 2 or 1])

    monkeypatch.setattr(similarity, "TemporaryFile", Disk)
    monkeypatch.setattr(similarity, "_IN_MEMORY", 1000)
    assert similarity.similar(_texts(), 0.8) == expected
    assert len(expected.pairs) == 2
    assert writes > 0


def test_without_a_place_for_temporary_files_hashes_stay_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = similarity.similar(_texts(), 0.8)

    def nowhere(**options: object) -> IO[bytes]:
        raise FileNotFoundError(2, "No usable temporary directory found")

    monkeypatch.setattr(similarity, "TemporaryFile", nowhere)
    monkeypatch.setattr(similarity, "_IN_MEMORY", 1000)
    assert similarity.similar(_texts(), 0.8) == expected
