"""Test the contract of every rule of findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from itertools import pairwise
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Any, ClassVar

from attrs import evolve
from jrh.hashing import derive_seed
from jrh.plugins.protocols import Metric
from jrh.plugins.specs import RuleScope, RuleSpec, Spec
from jrh.values.finding import Finding, FindingSettings
from jrh.values.items import Task
from jrh.values.report import RunReport
from jrh.values.verdicts import Record
from jrh_interchange import measure_records
from jrh_measuring import Claim, Hypothesis, Situation, load_metrics, measures_by_role
from jrh_measuring.findings.design import designs_of
from jrh_measuring.findings.measure_index import MeasureIndex

from jrh_testing.contracts.base import ComponentContract
from jrh_testing.reports import empty_report, sample_records
from jrh_testing.samples import sample_tasks

_VERDICT = ("status", "presented", "canonical", "probability", "rationale", "detail", "score")


class RuleContract(ComponentContract):
    """Contract tests for every rule, over the measures of all installed metrics."""

    role: ClassVar[type[Spec]] = RuleSpec

    @property
    def rule_spec(self) -> RuleSpec:
        """Return the declaration."""
        assert isinstance(self.spec, RuleSpec)
        return self.spec

    def hypotheses(self, base: Path, report: RunReport) -> list[tuple[Hypothesis, ...]]:
        """Return the chains of all judges of a report."""
        rule = self.built(base)
        return [tuple(chain) for now in situations(report) for chain in rule.hypotheses(now.design)]

    def test_hypotheses_do_not_change_when_verdicts_are_permuted_or_missing(self, base: Path) -> None:
        """If this fails: state hypotheses from the design alone; give one that cannot be estimated the p-value 1.

        A hypothesis that depends on a verdict is chosen by the data that test it, and its error rate is unknown.
        """
        if self.rule_spec.scope is RuleScope.DATA:
            return
        for number in range(len(sample_tasks())):
            first = self.hypotheses(base, measured(number))
            others = (measured(number, permuted=True), *(measured(number, missing=share) for share in (0.0, 0.5)))
            for other in others:
                assert self.hypotheses(base, other) == first

    def test_weights_do_not_grow_along_a_chain(self, base: Path) -> None:
        """If this fails: a later hypothesis of a chain weighs no more than the one before it."""
        if self.rule_spec.scope is RuleScope.DATA:
            return
        for number in range(len(sample_tasks())):
            for chain in self.hypotheses(base, measured(number)):
                weights = [each.weight for each in chain]
                assert all(later <= earlier for earlier, later in pairwise(weights)), weights

    def test_what_it_writes_is_declared(self, base: Path) -> None:
        """If this fails: list every kind of finding under `kinds` of the declaration."""
        rule, kinds = self.built(base), {kind.name for kind in self.rule_spec.kinds}
        for report in (empty_report(), *(measured(number) for number in range(len(sample_tasks())))):
            if self.rule_spec.scope is RuleScope.DATA:
                findings = list(rule.claims(report))
                assert all(isinstance(each, Finding) for each in findings)
                assert {each.kind for each in findings} <= kinds
                continue
            for now in situations(report):
                claims = list(rule.claims(now))
                assert all(isinstance(each, Claim) for each in claims)
                assert {each.kind for each in claims} <= kinds

    def test_it_reads_only_what_it_declares(self, base: Path) -> None:
        """If this fails: list every measure, or its role, under `reads` of the declaration.

        A name that stands nowhere but in the code couples two plugins, and no list shows it.
        """
        if self.rule_spec.scope is RuleScope.DATA:
            return
        rule, roles = self.built(base), measures_by_role()
        declared = {name for each in self.rule_spec.reads for name in roles.get(each, {each})}
        for number in range(len(sample_tasks())):
            for now in situations(measured(number)):
                read: set[str] = set()
                noting = _noting(now, read)
                for chain in rule.hypotheses(noting.design):
                    for hypothesis in chain:
                        rule.test(hypothesis, noting)
                list(rule.claims(noting))
                # The p-value of a measure, and the least it can be, go with the measure.
                names = {name.removesuffix("-least").removesuffix("-p") for name in read}
                undeclared = {
                    name
                    for name in names
                    if not any(fnmatchcase(f"{name}{p}", each) for each in declared for p in ("", "-p"))
                }
                assert not undeclared, undeclared


class _Noting(dict[Any, Any]):
    """A mapping that notes the names of the measures that are looked up in it."""

    def __init__(self, known: Mapping[Any, Any], name_of: Callable[[Any], str], read: set[str]) -> None:
        super().__init__(known)
        self._name_of, self._read = name_of, read

    def get(self, key: Any, default: Any = None) -> Any:
        self._read.add(self._name_of(key))
        return super().get(key, default)


def _noting(now: Situation, read: set[str]) -> Situation:
    """Return a situation that notes the names of the measures that are read in it."""
    index = MeasureIndex(
        wholes=_Noting(now.index.wholes, itemgetter(3), read),
        judged=_Noting(now.index.judged, itemgetter(1), read),
        by_place=_Noting(now.index.by_place, attrgetter("name"), read),
        parts=_Noting(now.index.parts, itemgetter(1), read),
    )
    return evolve(now, index=index, design=evolve(now.design, places=_Noting(now.design.places, str, read)))


def situations(report: RunReport) -> Iterator[Situation]:
    """Yield every judge of a report, with no hypothesis decided."""
    index = MeasureIndex.of(report.measures)
    for design in designs_of(report, FindingSettings(), {}, measures_by_role()):
        yield Situation(design=design, index=index, flags=report.flags)


@cache
def measured(number: int, *, permuted: bool = False, missing: float = 0.1) -> RunReport:
    """Measure the sample records of a task, as they are or with the verdicts of each judge exchanged."""
    task = sample_tasks()[number]
    records = sample_records(task, missing=missing)
    return measure_records("sample", [task], _permuted(task, records) if permuted else records, metrics=_metrics())


@cache
def _metrics() -> dict[str, Metric]:
    return dict(load_metrics())


def _permuted(task: Task, records: Sequence[Record]) -> Iterator[Record]:
    """Yield the records, with the verdicts of every judge in an order that has nothing to do with the questions."""
    for judge in dict.fromkeys(row.judge for row in records):
        rows = [row for row in records if row.judge == judge]
        order = sorted(range(len(rows)), key=lambda place: derive_seed(1, task.name, judge, place))
        for row, other in zip(rows, order, strict=True):
            yield evolve(row, **{name: getattr(rows[other], name) for name in _VERDICT})
