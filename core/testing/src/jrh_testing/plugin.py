"""Provide pytest fixtures, enabled with `pytest_plugins = ["jrh_testing.plugin"]`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from jrh_testing.runner import Project
from jrh_testing.server.thread import ChatServer


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Provide an empty project with a cache of its own."""
    return Project(tmp_path)


@pytest.fixture
def chat_server() -> Iterator[ChatServer]:
    """Provide a running chat server that answers YES; `misbehave` gives it faults."""
    with ChatServer() as server:
        yield server
