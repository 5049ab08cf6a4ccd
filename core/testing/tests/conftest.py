"""How the kit's own tests run a contract against a planted component."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from jrh_testing import ChatServer

Failing = Callable[..., list[str]]


@pytest.fixture
def failing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Failing:
    """Return a function that runs a contract against a component and returns the names of the tests that fail."""

    def run(contract: type, hook: str, spec: Any, **settings: Any) -> list[str]:
        plugin = SimpleNamespace(**{hook: lambda: [spec]})
        subject = type("Planted", (contract,), {"plugin": plugin, "component": spec.name, **settings})()
        for name, content in subject.files.items():
            (tmp_path / name).write_text(content)
        if hasattr(subject, "key_variables"):
            for name in subject.key_variables:
                monkeypatch.setenv(name, "canary-7f3a-do-not-print")
        return [name for name in dir(subject) if name.startswith("test_") and _fails(getattr(subject, name), tmp_path)]

    return run


def _fails(test: Callable[..., None], base: Path) -> bool:
    wanted = inspect.signature(test).parameters
    given: dict[str, Any] = {"base": base} if "base" in wanted else {}
    try:
        if "wire" in wanted and not test.__self__.endpoint_options("http://127.0.0.1:1/v1"):
            return False  # as the fixture skips it
        if "wire" in wanted:
            with ChatServer(answer="YES") as server:
                test(**given, wire=server)
        else:
            test(**given)
    except pytest.skip.Exception:
        return False
    except (Exception, pytest.fail.Exception):
        return True
    return False
