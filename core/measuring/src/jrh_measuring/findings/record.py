"""The record of a run's findings, kept with its results: its rules, their hypotheses and what was found.

A report that is made later takes the findings from it, so that they do not depend on what is installed then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, TypeAlias, TypeVar

from attrs import frozen
from jrh import content_id
from jrh.document.convert import from_text, to_text
from jrh.errors import DamagedStoreError
from jrh.plugins.component_identity import code_digest
from jrh.plugins.registry import Plugins
from jrh.store import TableSpec
from jrh.text import clean_text, count_noun
from jrh.values import ClaimFamily, Finding

from jrh_measuring.findings.design import Place, Side

T = TypeVar("T")
Store: TypeAlias = Any
"""The store of a run, as `jrh.running.open_store` opens it."""
_TABLE: Final = TableSpec(name="measure_findings", columns={"part": "TEXT", "content": "TEXT"}, key="part")
"""Its digest is the id of the measures and records behind the findings. Merged shards decide again."""
_RULES, _HYPOTHESES, _FOUND = "rules", "hypotheses", "findings"
_SHOWN: Final = 3
"""Rules or findings that a sentence names; it counts the others."""


@frozen(kw_only=True)
class RunFindings:
    """The findings of a run, in the words of its reports."""

    findings: tuple[Finding, ...]
    family: ClaimFamily | None
    problems: tuple[str, ...] = ()
    """Rules that failed, a sentence each."""


@frozen(kw_only=True)
class RuleUsed:
    """A rule that findings were decided with."""

    name: str
    """Qualified name, `distribution/name`."""
    version: str
    digest: str = ""
    """Digest of its source; empty for an installed release, which the version identifies."""


@frozen(kw_only=True)
class TestedHypothesis:
    """A hypothesis of the family, and what was decided."""

    __test__ = False

    rule: str
    place: Place
    null: float
    side: Side
    weight: float
    """Its weight in the family; chains of other distributions may be scaled down."""
    p: float
    equivalence: bool
    rejected: bool


@frozen(kw_only=True)
class FindingsRecord:
    """What a run was decided with, and what was found."""

    rules: tuple[RuleUsed, ...]
    hypotheses: tuple[TestedHypothesis, ...]
    found: RunFindings


def rules_of(plugins: Plugins) -> tuple[RuleUsed, ...]:
    """Identify the declared rules, in the order of loading."""
    return tuple(
        RuleUsed(name=entry.qualified, version=entry.version, digest=code_digest(entry.code()))
        for entry in plugins.findings
    )


def write_record(store: Store, record: FindingsRecord) -> None:
    """Keep the record of a run with its stored measures, durably and as a whole."""
    parts = {_RULES: record.rules, _HYPOTHESES: record.hypotheses, _FOUND: record.found}
    # At once: findings of one decision with the hypotheses of another would contradict each other.
    store.table(_TABLE).replace(_basis_digest(store), [(name, to_text(part)) for name, part in parts.items()])


def read_record(store: Store) -> FindingsRecord | None:
    """Read the record of a run; None where there is none, or that of other measures or records.

    Raises:
        DamagedStoreError: it is not what was written.
    """
    findings = read_findings(store)
    if findings is None:
        return None
    rules = _part(store, _RULES, tuple[RuleUsed, ...])
    hypotheses = _part(store, _HYPOTHESES, tuple[TestedHypothesis, ...])
    return FindingsRecord(rules=rules, hypotheses=hypotheses, found=findings)


def read_findings(store: Store) -> RunFindings | None:
    """Read the findings alone; as `read_record`."""
    # Other measures or further records since then: the findings are not about them.
    if store.table(_TABLE).digest() != _basis_digest(store):
        return None
    return _part(store, _FOUND, RunFindings)


def _part(store: Store, name: str, kind: type[T]) -> T:
    rows = store.table(_TABLE).select([("part", "=", name)], columns=["content"])
    try:
        return from_text(kind, rows[0][0] if rows else "")
    except DamagedStoreError as error:
        raise DamagedStoreError(
            f"'{store.path}': the record of its findings cannot be read: it is not what jrh wrote. Run the suite again "
            "to write it again; no call is repeated"
        ) from error


def _basis_digest(store: Store) -> str:
    return content_id(store.measures.digest(), [*store.records.write_state()])


def rule_changes(then: Iterable[RuleUsed], now: Iterable[RuleUsed]) -> str:
    """Name the rules that are new (`+`), gone (`-`) or of another version or code; empty where none is."""
    old, new = ({rule.name: rule for rule in rules} for rules in (then, now))
    changed = [f"+{name}" for name in new if name not in old] + [f"-{name}" for name in old if name not in new]
    changed += [f"{name} changed" for name, rule in new.items() if old.get(name, rule) != rule]
    return join_names(changed, ", ")


def changes_of_findings(then: RunFindings, now: RunFindings) -> Iterator[str]:
    """Say how the number of hypotheses changed and which findings are new or gone, a sentence each."""
    yield f"hypotheses: {_count(then.family)} in the run, {_count(now.family)} now"
    before, after = (list(map(_full_sentence, run.findings)) for run in (then, now))
    changes = {
        "new": [sentence for sentence in after if sentence not in before],
        "gone": [sentence for sentence in before if sentence not in after],
    }
    for name, sentences in changes.items():
        if sentences:
            yield f"{count_noun(len(sentences), 'finding')} {name}: {join_names(sentences, '; ')}"


def _full_sentence(finding: Finding) -> str:
    return f"{finding.judge}: {finding.sentence}" if finding.judge else finding.sentence


def _count(family: ClaimFamily | None) -> int:
    return family.tests + family.equivalences if family else 0


def join_names(names: Sequence[str], separator: str) -> str:
    """Name the first of several, and count the others."""
    more = f"{separator}and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return separator.join(clean_text(name) for name in names[:_SHOWN]) + more
