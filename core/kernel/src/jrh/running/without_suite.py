"""Components built without a suite: installed metrics and flags, and those that a store remembers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jrh.document.convert import structure
from jrh.errors import JrhError
from jrh.models.client import StandIn
from jrh.plugins.factories import LOCAL
from jrh.plugins.loading import Loaded, load_plugins
from jrh.plugins.protocols import Metric
from jrh.plugins.registry import Entry, Plugins
from jrh.plugins.specs import MetricSpec, ReporterSpec
from jrh.running.building import Builder
from jrh.running.run_log import Quiet
from jrh.running.stages.summary import Summary
from jrh.suite.definition import Suite, Use
from jrh.suite.resolved import Resolved, ResolvedSuite
from jrh.values.json_values import Json
from jrh.values.measures import Flag
from jrh.values.report import ComponentUsed


def load_metrics(
    names: Sequence[str] = (),
    *,
    plugins: Sequence[str] = (),
    options: Mapping[str, Mapping[str, Json]] | None = None,
) -> Mapping[str, Metric]:
    """Build installed metrics, to measure records without a run.

    Args:
        names: the metrics, `name` or `distribution/name`; those that every suite gets where empty.
        plugins: allow-list of plugins, as `--plugins`; also how a local one is loaded.
        options: options by the name a metric is asked for; the defaults where none are given.

    Returns:
        Metric by the name it was asked for, in that order; by the component's own where none was.

    Raises:
        JrhError: a name is unknown or ambiguous, a plugin cannot be used, or an option is wrong.
    """
    found = load_plugins(tuple(plugins)).plugins
    if not names:
        resolved = default_metrics(found)
    else:
        resolved = tuple(
            _resolved(found.metrics.find(name), name, options.get(name) if options else None) for name in names
        )
    builder = builder_without_suite(found, resolved)
    return {each.use.name: builder.build(each) for each in resolved}


def load_flags(plugins: Sequence[str] = ()) -> Mapping[str, Flag]:
    """Return the flags that the installed plugins declare, by name.

    Args:
        plugins: allow-list of plugins, as `--plugins`.

    Raises:
        JrhError: a plugin cannot be used.
    """
    return load_plugins(tuple(plugins)).plugins.declared_flags()


def builder_without_suite(plugins: Plugins, metrics: tuple[Resolved[MetricSpec], ...] = ()) -> Builder:
    """Return what builds components of no suite: there is no task, no model and nothing of a run."""
    suite = ResolvedSuite(
        suite=Suite(name="metrics", tasks=(), judges=()),
        sources=(),
        models={},
        tests=(),
        judges=(),
        metrics=metrics,
        reporters=(),
    )
    return Builder(suite, plugins, Quiet, StandIn)


def default_metrics(plugins: Plugins) -> tuple[Resolved[MetricSpec], ...]:
    """Resolve the metrics that a suite gets which names none, in the order of loading."""
    entries = [entry for entry in plugins.metrics if entry.spec.default]
    names = [entry.spec.name for entry in entries]
    return tuple(
        _resolved(entry, entry.spec.name if names.count(entry.spec.name) == 1 else entry.qualified) for entry in entries
    )


def _resolved(entry: Entry[MetricSpec], name: str, options: Mapping[str, Json] | None = None) -> Resolved[MetricSpec]:
    built: object = structure(dict(options or {}), entry.spec.options, base=Path())
    return Resolved(use=Use(name=name, component=entry.qualified), entry=entry, options=built)


def suite_of_summary(summary: Summary, loaded: Loaded, reporters: tuple[Resolved[ReporterSpec], ...]) -> ResolvedSuite:
    """Make what metrics and reporters are built from out of what the store remembers."""
    suite = Suite(
        name=summary.suite,
        tasks=(),
        judges=(),
        seed=summary.seed,
        level=summary.level,
        resamples=summary.resamples,
        findings=summary.findings,
    )
    metrics = [each for each in summary.components if each.role == "metric"]
    return ResolvedSuite(
        suite=suite,
        sources=(),
        models={},
        tests=(),
        judges=(),
        metrics=tuple(_again(_installed(loaded, each), each.name, each.options) for each in metrics),
        reporters=reporters,
    )


def _installed(loaded: Loaded, used: ComponentUsed) -> Entry[MetricSpec]:
    """Find a metric the run was made with; say how to load it where it came from a local plugin."""
    try:
        return loaded.plugins.metrics.find(used.component)
    except JrhError as error:
        if used.version != LOCAL:
            raise
        raise JrhError(
            f"the run used the metric '{used.name}' of a local plugin; pass the same --plugins as the run did\n{error}"
        ) from error


def _again(entry: Entry[Any], name: str, options: Mapping[str, Any]) -> Resolved[Any]:
    use = Use(name=name, component=entry.qualified)
    return Resolved(use=use, entry=entry, options=structure(dict(options), entry.spec.options))
