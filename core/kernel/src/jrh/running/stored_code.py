"""Judges whose code is gone: a run directory remembers what they were, and holds the verdicts they gave."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from attrs import evolve

from jrh.errors import EmptyStoreError, JrhError
from jrh.plugins.component_identity import Source, SourceKind
from jrh.plugins.specs import JudgeSpec
from jrh.running.component_changes import KnownSource, remembered
from jrh.store.database import FILENAME
from jrh.store.run_store import Store
from jrh.suite.resolved import Resolved, ResolvedSuite


def with_stored_code(suite: ResolvedSuite, run_dir: Path) -> ResolvedSuite:
    """Identify judges whose code is gone by what the run directory remembers of it; writes nothing.

    Such a judge cannot be built. Its stored verdicts count as its own as long as nothing else about it has changed.

    Raises:
        JrhError: the code of a judge is gone and the run directory does not know it.
    """
    if not any(source.missing or source.kind is SourceKind.PROGRAM for each in suite.judges for source in each.sources):
        return suite
    known = _known(run_dir)
    judges = tuple(_as_stored(judge, known.get(judge.use.name, ())) for judge in suite.judges)
    unknown = [each.missing for judge in judges for each in judge.sources if each.missing and not each.files]
    if unknown:
        raise JrhError("\n".join(unknown))
    return evolve(suite, judges=judges)


def unchecked(suite: ResolvedSuite) -> Iterator[str]:
    """Say which judges are identified by what was stored, because their code is gone."""
    for judge in suite.judges:
        for why in (source.missing for source in judge.sources if source.missing):
            yield f"the code of judge '{judge.use.name}' cannot be checked; the run uses its stored identity ({why})"


def _known(run_dir: Path) -> dict[str, tuple[KnownSource, ...]]:
    if not (run_dir / FILENAME).is_file():
        return {}
    try:
        store = Store.view(run_dir)
    except EmptyStoreError:
        return {}
    try:
        return {each.name: each.sources for each in remembered(store) if each.role == "judge"}
    finally:
        store.close()


def _as_stored(judge: Resolved[JudgeSpec], known: Sequence[KnownSource]) -> Resolved[JudgeSpec]:
    files = {(each.kind, each.written): each.files for each in known}
    sources = []
    for source in judge.sources:
        then = files.get((source.kind.value, source.written), {})
        missing = source.missing or _gone(source, then)
        sources.append(evolve(source, files=then, missing=missing) if missing else source)
    return evolve(judge, sources=tuple(sources))


def _gone(source: Source, then: Mapping[str, str]) -> str:
    """Return what is wrong with a command that named a file then and does not find it now."""
    if source.kind is not SourceKind.PROGRAM:
        return ""
    names = {Path(name).name for name in then}
    words = [word for word in source.written if Path(word).name in names and not (source.base / word).exists()]
    return f"file '{source.base / words[0]}' not found" if words else ""
