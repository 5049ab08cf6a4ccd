"""What the tests of the sources share."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import jrh_sources.plugin
import pytest
from jrh import Item, JrhError, Json, Scale, Task
from jrh_testing import build

sys.path.insert(0, str(Path(__file__).parent))

YES_NO = Task(name="t", scale=Scale.of_labels("YES", "NO"))

Read = Callable[..., Sequence[Item]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Write a file as given and read its items the way a suite would."""

    def read_items(
        content: str | bytes, *, source: str = "csv", task: Task = YES_NO, **options: Json
    ) -> Sequence[Item]:
        name = f"data.{source}"
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        built = build(jrh_sources.plugin, source, options={"path": name, **options}, task=task, base=tmp_path)
        return built.read()

    return read_items


@pytest.fixture
def complaint(read: Read) -> Callable[..., str]:
    """Read a file that is in some way wrong and return what is said about it."""

    def complain(content: str | bytes, **options: object) -> str:
        with pytest.raises(JrhError) as caught:
            read(content, **options)
        return str(caught.value)

    return complain
