"""Count the looks that a gate takes at one growing run: every look at new data spends some of the error rate."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Final

from attrs import frozen
from jrh import content_id
from jrh.document.convert import from_text, to_text
from jrh.errors import StoreError
from jrh.running import Summary, recall
from jrh.running.stages.stored import read_records
from jrh.store.run_store import Store

from jrh_measuring.comparing.causes import judge_parts

_LOOKS: Final = "looks"
"""Key of the looks in the store: judge -> the data that were looked at, in order."""
_FIRST: Final = 0.8
"""Share of the error rate that the first look has: most runs are looked at once."""


@frozen(kw_only=True)
class Look:
    """One look at the data of a run."""

    number: int = 1
    """1 for the first look at this judge; looking again at the same data is the same look."""
    unrecorded: str = ""
    """Why the look is not recorded; empty if it is."""

    @property
    def share(self) -> float:
        """Return the share of the error rate that this look may spend.

        The first look has 4/5 of it, look k has 1 / (5 k (k - 1)). All looks together have 1, however many there are:
        the sum of 1 / (k (k - 1)) from 2 on is 1.

        Source: spending without a maximum: Lan and DeMets (1983), Biometrika 70:659-663; by Bonferroni's inequality,
        which needs nothing of the dependence between looks.
        """
        return _FIRST if self.number == 1 else (1 - _FIRST) / (self.number * (self.number - 1))


def take_look(run_dir: str | Path) -> Look:
    """Record that somebody looks at the verdicts of a run, and return which look it is.

    A judge whose component, model or task changed is another judge, and its first look a first one. The number is the
    largest over the judges. Where the run directory cannot be written to, the look is counted and not recorded.

    Raises:
        EmptyStoreError: the run has nothing to report yet.
        StoreError: there is no run in the directory.
    """
    run_dir = Path(run_dir)
    with closing(Store.view(run_dir)) as store:
        look, looks = _count_look(store)
        owner = store.meta("suite") or ""
    # A read-only run directory must not stop a gate: the look is counted, and the caller says that it is not recorded.
    try:
        if looks:
            with closing(Store.open(run_dir, owner)) as writing:
                writing.set_meta(_LOOKS, looks)
    except StoreError as error:
        return Look(number=look.number, unrecorded=str(error).splitlines()[0])
    return look


def take_look_of_run(store: Store) -> Look:
    """Record a look at the verdicts of the run that is under way, as `take_look`."""
    look, looks = _count_look(store)
    if looks:
        store.set_meta(_LOOKS, looks)
    return look


def _count_look(store: Store) -> tuple[Look, str]:
    """Return which look this is, and all looks to be recorded; empty where it is one of those."""
    summary, text = recall(store), store.meta(_LOOKS)
    current = _verdict_digests(store, summary)
    earlier = from_text(dict[str, tuple[str, ...]], text) if text else {}
    # A dict keeps the first place of a digest: looking again at the same data is not a further look.
    taken = {judge: tuple(dict.fromkeys((*earlier.get(judge, ()), digest))) for judge, digest in current.items()}
    number = max((taken[judge].index(digest) + 1 for judge, digest in current.items()), default=1)
    known = all(taken[judge] == earlier.get(judge) for judge in taken)
    return Look(number=number), "" if known else to_text({**earlier, **taken})


def _verdict_digests(store: Store, summary: Summary) -> Mapping[str, str]:
    """Return, by the identity of each judge, the digest of its verdicts."""
    records = read_records(store)
    tasks = [to_text(task.task) for task in summary.tasks]
    digests = {}
    for judge in summary.judges:
        verdicts = records.where(records.equals("judge", judge)) if len(records) else records
        if len(verdicts):
            # Sorted: records are written in the order in which replies come in, which is no part of the data.
            rows = zip(*(verdicts.text(name) for name in ("trial_id", "status", "canonical", "gold")), strict=True)
            identity = content_id(judge, [to_text(part) for part in judge_parts(summary.components, judge)], tasks)
            digests[identity] = content_id(sorted([part or "" for part in row] for row in rows))
    return digests
