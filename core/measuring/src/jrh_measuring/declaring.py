"""Declarations of metrics: files of them, with the usual kinds of measures, and the options that metrics share."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

from attrs import frozen
from attrs.validators import deep_iterable, ge, in_
from jrh import MetricSpec, Task
from jrh.document.positions import did_you_mean
from jrh.plugins import KindSpec, MeasureInfo, RuleScope, RuleSpec, SectionSpec, option

from jrh_measuring.flags import DEGENERATE, SENSITIVE_TO_MISSING

if TYPE_CHECKING:
    from jrh.plugins.registry import Plugins

_ROBUST: Final = "cluster-robust, within the bounds (`cluster-robust-wilson`)"
_FISHER_Z: Final = "jackknife over clusters in Fisher's z (`jackknife-fisher-z`)"
_KINDS: Final[Mapping[str, Mapping[str, Any]]] = {
    # `MeasureBuilder.rate` sets this flag on any rate, so that every rate has to declare it.
    "rate": {"rate": True, "better": "lower", "flags": (SENSITIVE_TO_MISSING,)},
    "share": {"interval": "that of a rate"},
    # The unit decides more than words: `MeasureBuilder.measure` gives no coefficient for a single cluster.
    "coefficient": {"unit": "coefficient", "better": "higher", "interval": _FISHER_Z, "flags": (DEGENERATE,)},
    "difference": {"unit": "difference", "better": "zero", "interval": _ROBUST},
    "p-value": {"unit": "p-value"},
    "other": {},
}
"""Kind of measure -> the fields of its declaration that it need not repeat."""
_OPTIONS: Final = "jrh_measuring:MetricOptions"


@cache
def read_metrics(package: str) -> tuple[MetricSpec, ...]:
    """Return the metrics that a package's `metrics.toml` declares, with their measures.

    Each of `[[metrics]]` has the fields of a `MetricSpec`, `options` being `module:Class` (left out, the options that
    all metrics share). Each of its `[[metrics.measures]]` has those of a `MeasureInfo`, and `kind`, which says what the
    others default to: `rate` (a share of verdicts), `share` (another share, as of items or of pairs), `coefficient` (a
    correlation, or agreement beyond chance), `difference` (of two shares or levels), `p-value`; without it, the measure
    has a unit of its own.
    """
    return tuple(_structure_metric(**metric) for metric in _read_declarations(package)["metrics"])


def read_sections(package: str) -> tuple[SectionSpec, ...]:
    """Return the sections that a package's `metrics.toml` declares: each of `[[sections]]` has its fields.

    Without `reads` a section reads all measures that the package declares.
    """
    reads = tuple(measure.name for metric in read_metrics(package) for measure in metric.measures)
    return tuple(
        SectionSpec(**{"reads": reads, **_with_tuples(section)}) for section in _read_declarations(package)["sections"]
    )


def read_rules(package: str) -> tuple[RuleSpec, ...]:
    """Return the rules that a package's `metrics.toml` declares: each of `[[rules]]` has its fields and kinds."""
    return tuple(_structure_rule(**_with_tuples(rule)) for rule in _read_declarations(package)["rules"])


def _structure_rule(
    *, kinds: Iterable[Mapping[str, Any]], scope: str = RuleScope.JUDGE.value, **fields: Any
) -> RuleSpec:
    declared = tuple(KindSpec(**_with_tuples(kind)) for kind in kinds)
    return RuleSpec(kinds=declared, scope=RuleScope(scope), **fields)


def _with_tuples(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}


# Parsing takes longer than all else that is declared, and three hooks ask.
@cache
def _read_declarations(package: str) -> Mapping[str, Any]:
    return tomllib.loads(files(package).joinpath("metrics.toml").read_text(encoding="utf-8"))


def _structure_metric(*, measures: Iterable[Mapping[str, Any]], options: str = _OPTIONS, **fields: Any) -> MetricSpec:
    declared = tuple(_structure_measure(**measure) for measure in measures)
    return MetricSpec(measures=declared, options=resolve_name(options), **fields)


def _structure_measure(*, kind: str = "other", **fields: Any) -> MeasureInfo:
    known = {**_KINDS[kind], **fields}
    return MeasureInfo(**{**known, "flags": tuple(known.get("flags", ()))})


Factor: TypeAlias = Literal["variant", "stratum", "gold", "strength", "temperature", "output"]
"""What a test can be broken down by."""


@frozen(kw_only=True)
class MetricOptions:
    """Options that all metrics share."""

    few_items: int = option("estimates from fewer items than this are flagged `few-items`", ge(0), default=10)
    also: tuple[str, ...] = option("measures of this metric to make as well, of those made on request only", default=())

    def asks_for(self, measure: MeasureInfo) -> bool:
        """Return whether a measure is made: all are, but for those on request that neither `also` nor `all` names."""
        named = any(measure.describes(name) for name in self.also)
        return not measure.on_request or named or getattr(self, "all", False)

    def named_variants(self) -> Iterable[str]:
        """Return the tests, and variants as `test[variant]`, without whose cases the metric measures nothing."""
        return ()

    def check_suite(self, suite: Any, plugins: Plugins) -> Iterator[tuple[tuple[str | int, ...], str]]:  # noqa: ARG002
        """Yield the names in `also` that are no measures on request of a metric with these options."""
        metrics = [entry.spec for entry in plugins.metrics if entry.spec.options is type(self)] if self.also else []
        known = [measure for metric in metrics for measure in metric.measures if measure.on_request]
        for place, name in enumerate(self.also):
            if not any(measure.describes(name) for measure in known):
                hint = did_you_mean(name, [measure.name for measure in known])
                yield ("also", place), f"no such measure is made on request: '{name}'\n{hint}".rstrip()


@frozen(kw_only=True)
class BreakdownOptions(MetricOptions):
    """Options of metrics that can measure the parts of a test as well."""

    by: tuple[Factor, ...] = option(
        "also measure each level of: `variant`, `stratum`, `gold`, `strength`, `temperature`, `output`",
        deep_iterable(in_(get_args(Factor))),
        default=(),
    )


def positive_conflict(stated: str, task: Task) -> str:
    """Say that a metric's option `positive` contradicts the task's scale; empty where it does not."""
    declared = task.scale.positive
    if not stated or not declared or stated == declared:
        return ""
    return (
        f"`positive: {stated}` contradicts the positive label '{declared}' of task '{task.name}'; "
        "leave the option out and declare the label once, as `positive` of the task's scale"
    )


class PositiveLabelOptions(MetricOptions):
    """What options have in common that state a positive label."""

    __slots__ = ()
    positive: str

    def check_suite(self, suite: Any, plugins: Plugins) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """Yield that the label contradicts the scale of a task, before anything is spent on the run."""
        yield from super().check_suite(suite, plugins)
        for use in suite.tasks:
            if conflict := positive_conflict(self.positive, use.task):
                yield (), conflict
