"""A suite as plain values, for commands that write another one from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jrh.document.yaml_reader import read_document
from jrh.running.from_python import build_request
from jrh.running.outcome import Settings
from jrh.running.remembered_plugins import load_for_suite
from jrh.suite import ResolvedSuite, judge_models
from jrh.suite.overrides import override


def read_suite(
    suite: Path, *, plugins: Sequence[str] = (), overrides: Sequence[str] = ()
) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """Read and check a suite; return it as plain values, and the names of its judges; asks no model, writes nothing.

    Args:
        suite: the file.
        plugins: plugins to load, as `--plugins`.
        overrides: `key=value`, as `--set`.

    Raises:
        JrhError: the suite or a plugin cannot be used.
    """
    resolved = _resolve(suite, plugins, overrides)
    document = read_document(suite)
    for setting in overrides:
        document = override(document, setting)
    values = document.value if isinstance(document.value, Mapping) else {}  # it is one: the suite has been read
    return values, tuple(use.name for use in resolved.suite.judges)


def read_judge_models(suite: Path, *, plugins: Sequence[str] = (), overrides: Sequence[str] = ()) -> Mapping[str, str]:
    """Return the name of the model that each judge of a suite asks; asks no model and writes nothing.

    Arguments and errors as `read_suite`; judges without a model are left out.
    """
    return judge_models(_resolve(suite, plugins, overrides))


def _resolve(suite: Path, plugins: Sequence[str], overrides: Sequence[str]) -> ResolvedSuite:
    settings = Settings(plugins=plugins, overrides=tuple(overrides))
    return build_request(suite, settings, load_for_suite(suite, settings)).resolved
