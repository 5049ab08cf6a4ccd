"""Large arrays wait in a temporary file: what comes back, what stays in memory, and what happens without room."""

from __future__ import annotations

import copy
import mmap
import os
import pickle
import resource
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jrh.values.column_file import ColumnFile, Gathering, is_mapped
from jrh.values.records import RecordTable
from jrh_testing import loop_over
from numpy.typing import NDArray

LARGE = 100_000
in_files = pytest.mark.skipif(not hasattr(mmap, "MADV_DONTNEED"), reason="this system keeps arrays in memory")


@in_files
@pytest.mark.parametrize("kind", ["i1", "i4", "i8", "f4", "f8", "?", ">u8"])
def test_a_large_array_is_in_the_file_and_equal_and_cannot_be_written(kind: str) -> None:
    array = np.arange(400_000).astype(kind).reshape(-1, 2)
    kept = ColumnFile().put(array.copy())
    assert is_mapped(kept)
    assert kept.dtype == array.dtype
    assert np.array_equal(kept, array)
    with pytest.raises(ValueError, match="read-only"):
        kept[0] = 0


def test_a_small_array_and_one_value_for_all_rows_stay_as_they_are_and_cannot_be_written_either() -> None:
    small, same = np.arange(10), np.broadcast_to(np.int32(1), LARGE * 10)
    file = ColumnFile()
    assert file.put(small) is small
    assert file.put(same) is same
    with pytest.raises(ValueError, match="read-only"):
        small[0] = 1


@in_files
def test_arrays_outlive_the_file_object_and_keep_their_values_after_memory_was_let_go() -> None:
    file = ColumnFile()
    arrays = [file.put(np.full(LARGE, number, dtype=np.int64)) for number in range(100)]
    file.release()
    assert [int(array.sum()) for array in arrays] == [number * LARGE for number in range(100)]
    del file
    assert int(arrays[-1][-1]) == 99
    assert is_mapped(arrays[0][5:50:3])


@in_files
def test_a_table_in_a_file_can_be_pickled_and_copied() -> None:
    table = RecordTable.from_columns({"judge": ["a", "b"] * LARGE * 2, "cost": list(range(LARGE * 4))})
    assert is_mapped(table.number("cost")) or is_mapped(table._numeric["cost"])
    for again in (pickle.loads(pickle.dumps(table)), copy.deepcopy(table)):
        assert again.counts("judge") == {"a": LARGE * 2, "b": LARGE * 2}
        assert again.number("cost").sum() == table.number("cost").sum()


@in_files
def test_after_a_fork_two_processes_do_not_write_over_each_other() -> None:
    file = ColumnFile()
    before = file.put(np.arange(LARGE))
    child = os.fork()
    if child == 0:
        own = file.put(np.full(LARGE, -7))
        os._exit(0 if is_mapped(own) and int(own.sum()) == -7 * LARGE and int(before[-1]) == LARGE - 1 else 1)
    after = file.put(np.full(LARGE, 2))
    assert os.waitpid(child, 0)[1] == 0
    assert is_mapped(after)
    assert (int(after.min()), int(after.max()), int(before[-1])) == (2, 2, LARGE - 1)
    again = file.put(np.full(LARGE, 3))
    assert (int(after.max()), int(again.min())) == (2, 3)


@in_files
def test_threads_that_put_arrays_of_one_table_do_not_write_over_each_other() -> None:
    file = ColumnFile()

    def kept(number: int) -> list[NDArray[Any]]:
        return [file.put(np.full(LARGE, number * 100 + place)) for place in range(30)]

    with ThreadPoolExecutor(8) as pool:
        found = [each for arrays in pool.map(kept, range(8)) for each in arrays]
    assert [(int(each.min()), int(each.max())) for each in found] == [
        (number * 100 + place, number * 100 + place) for number in range(8) for place in range(30)
    ]


def test_arrays_that_are_more_than_their_bytes_stay_what_they_are() -> None:
    masked = np.ma.masked_array(np.arange(LARGE), mask=np.arange(LARGE) % 2 == 0)
    records = np.zeros(LARGE, dtype=[("a", "i8"), ("b", "i8")]).view(np.recarray)
    objects = np.zeros(LARGE, dtype=[("a", object), ("b", int)])
    for array in (masked, records, objects):
        assert ColumnFile().put(array) is array
    text = np.array("x" * LARGE)
    assert ColumnFile().put(text).shape == ()
    assert ColumnFile().put(text) == text


@loop_over("axes", [(0, 1, 2), (2, 1, 0), (1, 2, 0), (2, 0, 1)])
def test_sums_along_the_axes_of_an_array_in_the_file_have_the_same_last_digit(axes: tuple[int, ...]) -> None:
    array = np.random.default_rng(3).random((90, 100, 110)).transpose(axes)
    kept = ColumnFile().put(array.copy(order="K"))
    assert kept.strides == array.strides
    for axis in range(3):
        assert np.array_equal(kept.sum(axis=axis), array.sum(axis=axis))


@in_files
def test_memory_that_cannot_be_let_go_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the process has locked it."""

    class Locked(mmap.mmap):
        def madvise(self, *_: int) -> None:
            raise OSError(22, "Invalid argument")

    monkeypatch.setattr(mmap, "mmap", Locked)
    kept = ColumnFile().put(np.arange(LARGE))
    assert is_mapped(kept)
    assert int(kept[-1]) == LARGE - 1


def test_rows_that_come_in_slices_are_those_that_come_at_once() -> None:
    draw = np.random.default_rng(1)
    values = draw.integers(0, 9, 300_001)
    gathered = Gathering(ColumnFile())
    assert not gathered
    for start in range(0, len(values), 777):
        gathered.add(values[start : start + 777])
    assert gathered
    assert np.array_equal(np.concatenate(list(gathered)), values)


@in_files
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), OSError(27, "File too large")])
def test_without_room_on_the_disk_arrays_stay_in_memory(error: OSError, monkeypatch: pytest.MonkeyPatch) -> None:
    file = ColumnFile()
    first = file.put(np.arange(LARGE))

    def full(*_: object) -> int:
        raise error

    monkeypatch.setattr(os, "pwrite", full)
    second = file.put(np.arange(LARGE) + 1)
    monkeypatch.undo()
    third = file.put(np.arange(LARGE) + 2)
    assert [is_mapped(each) for each in (first, second, third)] == [True, False, False]
    assert [int(each[0]) for each in (first, second, third)] == [0, 1, 2]


@loop_over("kind", ["i1", "i4", "f8", ">u8"])
@loop_over("rows", [0, 10, 300_001])
def test_parts_are_one_array_whatever_their_types(kind: str, rows: int) -> None:
    whole = np.random.default_rng(5).integers(0, 100, (rows, 2))
    parts = (whole[start : start + 777].astype("i2" if start else "u1") for start in range(0, rows, 777))
    found = ColumnFile().join(parts, whole.shape, np.dtype(kind))
    assert found.dtype == np.dtype(kind)
    assert np.array_equal(found, whole)
    assert is_mapped(found) == (found.nbytes > 2**18 and hasattr(mmap, "MADV_DONTNEED"))
    with pytest.raises(ValueError, match="read-only"):
        found[:] = 0


@loop_over("size", [3, LARGE])
@loop_over("other", [-1, 1])
def test_parts_of_another_size_are_refused(size: int, other: int) -> None:
    with pytest.raises(BufferError, match="rows for an array of shape"):
        ColumnFile().join(iter([np.zeros(size)]), (size + other,), np.dtype("f8"))


@in_files
def test_a_write_that_is_cut_short_is_continued(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda number, data, at: whole(number, bytes(data)[:70_000], at))
    array = np.random.default_rng(2).random(LARGE)
    assert np.array_equal(ColumnFile().put(array), array)


@in_files
def test_a_process_without_a_place_for_files_or_with_a_limit_on_their_size_measures_in_memory(tmp_path: Path) -> None:
    """A real limit: the kernel refuses what is written beyond it."""
    code = (
        "import numpy as np\n"
        "from jrh.values.column_file import ColumnFile, is_mapped\n"
        "kept = ColumnFile().put(np.arange(1_000_000))\n"
        "print(is_mapped(kept), int(kept.sum()))"
    )

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, preexec_fn=limited, cwd=tmp_path
    )
    assert told.stdout.split() == ["False", "499999500000"]


@in_files
@pytest.mark.skipif(sys.platform != "linux", reason="peaks are read in /proc")
def test_the_memory_of_arrays_in_the_file_is_given_back() -> None:
    """Peak memory of a process that keeps 400 MB of arrays: it would be 400 MB more."""
    code = (
        "from pathlib import Path\nimport numpy as np\n"
        "from jrh.values.column_file import ColumnFile\n"
        "def peak():\n"  # the figure of getrusage begins with what the process that started this one has had
        "    status = Path('/proc/self/status').read_text().splitlines()\n"
        "    return next(int(line.split()[1]) for line in status if line.startswith('VmHWM'))\n"
        "file = ColumnFile()\n"
        "before = peak()\n"
        "kept = [file.put(np.arange(1_000_000)) for _ in range(50)]\n"
        "total = 0\n"
        "for each in kept:\n    total += int(each.sum())\n    file.release()\n"
        "print(total, peak() - before)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert int(told[0]) == 50 * 499_999_500_000
    assert int(told[1]) < 40 * 1024
