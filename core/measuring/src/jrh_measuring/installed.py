"""What is installed, to measure records without a run: metrics and flags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from jrh import Json, MetricSpec
from jrh.document.convert import structure
from jrh.plugins import Metric
from jrh.plugins.loading import load_plugins
from jrh.plugins.registry import Entry, Plugins
from jrh.running.without_suite import builder_without_suite
from jrh.suite import Resolved
from jrh.suite.definition import Use
from jrh.values import Flag


def load_metrics(
    names: Sequence[str] = (),
    *,
    plugins: Sequence[str] = (),
    options: Mapping[str, Mapping[str, Json]] | None = None,
) -> Mapping[str, Metric]:
    """Build installed metrics, to measure records without a run.

    Args:
        names: the metrics, `name` or `distribution/name`; those that every suite gets where empty.
        plugins: plugins to load, as `--plugins`; also how a local one is loaded.
        options: options by the name a metric is asked for; the defaults where none are given.

    Returns:
        Metric by the name it was asked for, in that order; by the component's own where none was.

    Raises:
        JrhError: a name is unknown or ambiguous, a plugin cannot be used, or an option is wrong.
    """
    registry = load_plugins(plugins).plugins
    if not names:
        resolved = default_metrics(registry)
    else:
        resolved = tuple(
            _resolve(registry.metrics.find(name), name, options.get(name) if options else None) for name in names
        )
    builder = builder_without_suite(registry)
    return {metric.use.name: builder.build(metric) for metric in resolved}


def default_metrics(plugins: Plugins) -> tuple[Resolved[MetricSpec], ...]:
    """Resolve the metrics that a suite gets which names none, in the order of loading."""
    entries = [entry for entry in plugins.metrics if entry.spec.default]
    names = [entry.spec.name for entry in entries]
    # Where two distributions have a metric of one name, only the qualified name tells them apart.
    return tuple(
        _resolve(entry, entry.spec.name if names.count(entry.spec.name) == 1 else entry.qualified) for entry in entries
    )


def _resolve(entry: Entry[MetricSpec], name: str, options: Mapping[str, Json] | None = None) -> Resolved[MetricSpec]:
    # Without a suite file, relative paths start at the working directory.
    built: object = structure(dict(options or {}), entry.spec.options, base=Path())
    return Resolved(use=Use(name=name, component=entry.qualified), entry=entry, options=built)


def meant_by(measure: str) -> str:
    """Ask which measure is meant by a name that none has, such as `accuracy`; empty for any other name."""
    return installed_plugins().metrics.meant_by(measure)


def better_values() -> Mapping[str, str]:
    """Return which values of a measure speak for a judge, by its name, as installed metrics declare it.

    `higher`, `lower` or `zero`; empty if none do.
    """
    return {info.name: info.better for entry in installed_plugins().metrics for info in entry.spec.measures}


def measure_roles() -> Mapping[str, str]:
    """Return the role of every measure that installed metrics declare, by its name; empty where it has none."""
    return {info.name: info.role for entry in installed_plugins().metrics for info in entry.spec.measures}


def load_flags(plugins: Sequence[str] = ()) -> Mapping[str, Flag]:
    """Return the flags that the installed plugins declare, by name.

    Args:
        plugins: plugins to load, as `--plugins`.

    Raises:
        JrhError: a plugin cannot be used.
    """
    return (load_plugins(plugins).plugins if plugins else installed_plugins()).flags_by_name()


@cache
def installed_plugins() -> Plugins:
    """Return the registries of what is installed.

    Loaded once: finding some forty distributions takes 50 ms and more, and reporters ask once per table.
    """
    return load_plugins().plugins
