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
from jrh import Record, RunReport, Task, derive_seed
from jrh.plugins import Metric, RuleScope, RuleSpec
from jrh.plugins.specs import Spec
from jrh.values import Finding, FindingSettings
from jrh_interchange import measure_records
from jrh_measuring import Claim, Hypothesis, Situation, load_metrics, measures_by_role
from jrh_measuring.findings.design import designs_of
from jrh_measuring.findings.measure_index import MeasureIndex

from jrh_testing.contracts.base import ComponentContract
from jrh_testing.reports import empty_report, sample_records
from jrh_testing.samples import sample_tasks

# What a judge has decided; everything else of a record belongs to the design.
_VERDICT = ("status", "presented", "canonical", "probability", "rationale", "detail", "score")


class RuleContract(ComponentContract):
    """Contract tests for every rule, over the measures of all installed metrics."""

    role: ClassVar[type[Spec]] = RuleSpec

    def hypotheses(self, base: Path, report: RunReport) -> list[tuple[Hypothesis, ...]]:
        """Return the chains of all judges of a report."""
        rule = self.build_component(base)
        return [tuple(chain) for situation in situations(report) for chain in rule.hypotheses(situation.design)]

    def test_hypotheses_do_not_change_when_verdicts_are_permuted_or_missing(self, base: Path) -> None:
        """If this fails: state hypotheses from the design alone; give one that cannot be estimated the p-value 1.

        A hypothesis that depends on a verdict is chosen by the data that test it, and its error rate is unknown.
        """
        # Rules about data test no hypothesis: they have no error rate to protect.
        if self.spec.scope is RuleScope.DATA:
            return
        for number in range(len(sample_tasks())):
            first = self.hypotheses(base, measure_sample(number))
            reports = (
                measure_sample(number, permuted=True),
                *(measure_sample(number, missing=share) for share in (0.0, 0.5)),
            )
            for other in reports:
                assert self.hypotheses(base, other) == first

    def test_weights_do_not_grow_along_a_chain(self, base: Path) -> None:
        """If this fails: a later hypothesis of a chain weighs no more than the one before it."""
        if self.spec.scope is RuleScope.DATA:
            return
        for report in sample_measures():
            for chain in self.hypotheses(base, report):
                weights = [hypothesis.weight for hypothesis in chain]
                # Chained Holm hands on what a rejected hypothesis leaves: a heavier one later would spend more than
                # there is.
                assert all(later <= earlier for earlier, later in pairwise(weights)), weights

    def test_what_it_writes_is_declared(self, base: Path) -> None:
        """If this fails: list every kind of finding under `kinds` of the declaration."""
        rule, kinds = self.build_component(base), {kind.name for kind in self.spec.kinds}
        for report in (empty_report(), *sample_measures()):
            if self.spec.scope is RuleScope.DATA:
                findings = list(rule.claims(report))
                assert all(isinstance(finding, Finding) for finding in findings)
                assert {finding.kind for finding in findings} <= kinds
                continue
            for situation in situations(report):
                claims = list(rule.claims(situation))
                assert all(isinstance(finding, Claim) for finding in claims)
                assert {finding.kind for finding in claims} <= kinds

    def test_it_reads_only_what_it_declares(self, base: Path) -> None:
        """If this fails: list every measure, or its role, under `reads` of the declaration.

        A name that occurs only in the code couples two plugins, and no list shows it.
        """
        if self.spec.scope is RuleScope.DATA:
            return
        rule, roles = self.build_component(base), measures_by_role()
        declared = {name for read_name in self.spec.reads for name in roles.get(read_name, {read_name})}
        for report in sample_measures():
            for situation in situations(report):
                read: set[str] = set()
                watched = _record_reads(situation, read)
                for chain in rule.hypotheses(watched.design):
                    for hypothesis in chain:
                        rule.test(hypothesis, watched)
                # A generator reads nothing until it is consumed.
                list(rule.claims(watched))
                # The p-value of a measure, and the least it can be, go with the measure.
                names = {name.removesuffix("-least").removesuffix("-p") for name in read}
                undeclared = {
                    name
                    for name in names
                    if not any(fnmatchcase(f"{name}{p}", read_name) for read_name in declared for p in ("", "-p"))
                }
                assert not undeclared, undeclared


class _ReadRecorder(dict[Any, Any]):
    """A mapping that notes the names of the measures that are looked up in it."""

    def __init__(self, known: Mapping[Any, Any], name_of: Callable[[Any], str], read: set[str]) -> None:
        super().__init__(known)
        self._name_of, self._read = name_of, read

    def get(self, key: Any, default: Any = None) -> Any:
        self._read.add(self._name_of(key))
        return super().get(key, default)


def _record_reads(situation: Situation, read: set[str]) -> Situation:
    """Return a situation that notes the names of the measures that are read in it."""
    index = MeasureIndex(
        wholes=_ReadRecorder(situation.index.wholes, itemgetter(1), read),
        by_place=_ReadRecorder(situation.index.by_place, attrgetter("name"), read),
        parts=_ReadRecorder(situation.index.parts, itemgetter(1), read),
    )
    return evolve(
        situation,
        index=index,
        design=evolve(situation.design, places=_ReadRecorder(situation.design.places, str, read)),
    )


def situations(report: RunReport) -> Iterator[Situation]:
    """Yield every judge of a report, with no hypothesis decided."""
    index = MeasureIndex.of(report.measures)
    for design in designs_of(report, FindingSettings(), {}, measures_by_role()):
        yield Situation(design=design, index=index, flags=report.flags)


def sample_measures() -> list[RunReport]:
    """Return the measured sample records of every kind of task."""
    return [measure_sample(number) for number in range(len(sample_tasks()))]


@cache
def measure_sample(number: int, *, permuted: bool = False, missing: float = 0.1) -> RunReport:
    """Measure the sample records of a task, as they are or with the verdicts of each judge exchanged."""
    task = sample_tasks()[number]
    records = sample_records(task, missing=missing)
    return measure_records(
        "sample", [task], _permute_verdicts(task, records) if permuted else records, metrics=_metrics()
    )


@cache
def _metrics() -> dict[str, Metric]:
    return dict(load_metrics())


def _permute_verdicts(task: Task, records: Sequence[Record]) -> Iterator[Record]:
    """Yield the records, with the verdicts of every judge in an order that has nothing to do with the questions."""
    for judge in dict.fromkeys(row.judge for row in records):
        rows = [row for row in records if row.judge == judge]
        # An order by hash: permuting within a judge keeps its counts and breaks every link to the questions.
        order = sorted(range(len(rows)), key=lambda place: derive_seed(1, task.name, judge, place))
        for row, other in zip(rows, order, strict=True):
            yield evolve(row, **{name: getattr(rows[other], name) for name in _VERDICT})
