"""Local datasets of Hugging Face, read a block at a time, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import jrh_sources.plugin
import pyarrow as pa
import pytest
from jrh import JrhError, Scale, Task
from jrh_testing import DataSourceContract, build
from pyarrow import parquet

YES_NO = Task(name="t", scale=Scale.of_labels("YES", "NO"))


def table(first: int, count: int = 3) -> pa.Table:
    numbers = range(first, first + count)
    return pa.table(
        {
            "q": [f"{n}?" for n in numbers],
            "response": [f"answer {n}" for n in numbers],
            "label": ["YES"] * count,
            "image": [b"\xff"] * count,
        }
    )


def saved(folder: Path, *tables: pa.Table) -> None:
    """Write tables as `save_to_disk` does: streams of Arrow."""
    folder.mkdir(parents=True)
    for number, each in enumerate(tables):
        file = folder / f"data-{number:05}-of-{len(tables):05}.arrow"
        with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_stream(sink, each.schema) as writer:
            writer.write_table(each, max_chunksize=2)


def read(tmp_path: Path, **options: object):
    options = {"columns": {"request": "q"}, **options}
    return list(build(jrh_sources.plugin, "huggingface", options=options, task=YES_NO, base=tmp_path).read())


def test_a_saved_dataset_is_read_in_the_order_of_its_files(tmp_path):
    saved(tmp_path / "d", table(0), table(3))
    found = read(tmp_path, path="d")
    assert [item.fields["request"] for item in found] == [f"{n}?" for n in range(6)]
    assert [item.id for item in found] == [f"row-{n}" for n in range(1, 7)]
    assert all("image" not in item.metadata for item in found)


def test_a_split_is_chosen_by_name(tmp_path):
    saved(tmp_path / "d" / "train", table(0))
    saved(tmp_path / "d" / "test", table(9, 1))
    assert [item.fields["request"] for item in read(tmp_path, path="d", split="test")] == ["9?"]
    with pytest.raises(JrhError, match="d has the splits test, train; choose one with `split`"):
        read(tmp_path, path="d")
    with pytest.raises(JrhError, match="d has no split 'dev'; it has test, train"):
        read(tmp_path, path="d", split="dev")


def test_parquet_shards_of_the_hub_are_one_split(tmp_path):
    (tmp_path / "d" / "data").mkdir(parents=True)
    for number in range(2):
        parquet.write_table(table(3 * number), tmp_path / "d" / "data" / f"train-0000{number}-of-00002.parquet")
    assert len(read(tmp_path, path="d")) == 6


def test_items_come_while_the_file_is_read(tmp_path):
    saved(tmp_path / "d", table(0, 2000))
    source = build(
        jrh_sources.plugin,
        "huggingface",
        options={"path": "d", "columns": {"request": "q"}},
        task=YES_NO,
        base=tmp_path,
    )
    items = iter(source.read())
    before = pa.total_allocated_bytes()
    next(items)
    assert pa.total_allocated_bytes() - before < 100_000  # two rows of a chunk, not 2,000


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"path": "nowhere"}, "nowhere: no such file or folder"),
        ({"path": "empty"}, "empty has no .arrow or .parquet file"),
        ({"path": "bad"}, "is not a readable Arrow file"),
        ({"path": "d", "columns": {"request": "x"}}, "no column 'x' (columns.request)"),
        ({"path": "d", "columns": {"request": "image"}}, "column 'image' (columns.request) is binary"),
        ({}, "not both"),
        ({"path": "d", "dataset": "a/b"}, "not both"),
        ({"dataset": "../../etc/passwd"}, "is not a name on the Hugging Face Hub, such as `owner/name`"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_sentence(tmp_path, options, said):
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "a.arrow").write_bytes(b"\xff" * 40)
    saved(tmp_path / "d", table(0))
    with pytest.raises(JrhError) as caught:
        read(tmp_path, **options)
    assert said in str(caught.value)


def test_without_the_library_the_hub_says_what_to_install(tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(JrhError, match=r"pip install 'jrh-sources\[huggingface\]'"):
        read(tmp_path, dataset="owner/name")


class TestHuggingface(DataSourceContract):
    plugin = jrh_sources.plugin
    component = "huggingface"
    task = YES_NO
    options: ClassVar = {"path": "a.parquet", "columns": {"request": "q"}}

    @property
    def files(self):
        sink = pa.BufferOutputStream()
        parquet.write_table(table(0), sink)
        return {"a.parquet": sink.getvalue().to_pybytes()}
