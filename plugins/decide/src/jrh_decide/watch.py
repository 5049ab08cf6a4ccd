"""Has a judge drifted? Each call adds a run of the same items to a store, and says whether there is an alarm."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
from attrs import define, evolve, field, frozen
from jrh import JrhError, MetricContext, RunReport, Scale, content_id, open_report
from jrh.running import run_state
from jrh.text import clean_text, count_noun
from jrh_measuring import Codes, Floats, is_named, read_trials
from jrh_measuring.comparing.causes import fingerprint

from jrh_decide.monitor import (
    LEAST_P,
    both_sides,
    capital_of,
    differing_scores,
    likely_start,
    look_p_values,
    simulate_delays,
    sum_by_cluster,
)
from jrh_decide.swap import prompt_parts
from jrh_decide.watch_store import Anchors, Look, open_looks

FEWEST_LOOKS: Final = 3
"""Of two looks, neither tells which is the odd one out."""


class Stream(Enum):
    """What is watched; each stream is a monitor of its own."""

    VERDICTS = "verdicts"
    """Another label than in other looks."""
    LEVEL = "level"
    """Where the verdict is on its scale, 0 to 1."""
    AGREEMENT = "agreement with people"
    MISSING = "failures"
    """No verdict, whatever the reason; never a score of the other streams."""


@frozen(kw_only=True)
class Watched:
    """The state of one stream."""

    stream: Stream
    now: float | None
    """Sum over the verdicts of the last look; None: there is none."""
    of: int
    """These verdicts; for failures, the verdicts that were asked for."""
    before: float | None
    """What `now` was on average in the looks before, for as many verdicts; for `verdicts`, of pairs of looks."""
    p: float | None
    """Of the last look alone; not corrected."""
    evidence: float
    """What bets on a change have made of 1."""
    alarm_at: int | None
    """Look at which the evidence first was enough; None: never."""
    since: int | None
    """Look from which on the change is most likely; None without an alarm."""


@frozen(kw_only=True)
class Delay:
    """How soon a change would be seen."""

    shift: float
    verdicts: int
    """Verdicts of a look that change."""
    share: float
    """Simulated futures with an alarm within the looks that were simulated."""
    median: int | None
    """Looks up to the alarm, in the median future; None: half of them have none."""


@frozen(kw_only=True)
class Watch:
    """The answer of `jrh watch`."""

    store: str
    run: str
    judge: str
    look: int
    added: bool
    """False: the store had this run, or none was given."""
    alpha: float
    needed: float
    """Evidence of a stream that is an alarm."""
    items: int
    clusters: int
    verdicts: int
    """Asked for in a look."""
    streams: tuple[Watched, ...]
    served: tuple[str, ...]
    """What the provider says it served in the last look; empty: it does not say."""
    served_first: tuple[str, ...]
    served_changed_at: tuple[int, ...]
    """Looks that something else answered than the look before."""
    updated_at: tuple[int, ...]
    """Looks before which jrh or a plugin changed."""
    delay: Delay | None
    run_before: str
    """Run of the last look before the change, or of the first one."""

    @property
    def alarms(self) -> tuple[Watched, ...]:
        """Return the streams with an alarm, the earliest first."""
        found = [watched for watched in self.streams if watched.alarm_at is not None]
        return tuple(sorted(found, key=lambda watched: watched.alarm_at or 0))


@define(kw_only=True, eq=False)
class Monitor:
    """The looks at the anchors, and what follows from them."""

    anchors: Anchors
    looks: list[Look] = field(factory=list)

    @cached_property
    def codes(self) -> Codes:
        """Return the verdicts, shape (looks, items, repeats)."""
        return np.array([look.verdicts for look in self.looks], dtype=np.int64)

    @cached_property
    def streams(self) -> tuple[Stream, ...]:
        """Return what the anchors allow to watch; fixed by the first look, so that alpha is shared before any data."""
        ranked, labelled = (self.anchors.levels >= 0).any(), (np.array(self.anchors.gold) >= 0).any()
        there = {Stream.LEVEL: ranked, Stream.AGREEMENT: labelled}
        return tuple(stream for stream in Stream if there.get(stream, True))

    @property
    def needed(self) -> float:
        """Return the evidence that is an alarm: the streams share alpha equally."""
        return len(self.streams) / self.anchors.alpha

    def scores(self, stream: Stream, codes: Codes) -> Floats:
        """Return the scores of verdicts; NaN where they say nothing."""
        if stream is Stream.MISSING:
            return np.asarray(codes < 0, dtype=np.float64)
        if stream is Stream.VERDICTS:
            return differing_scores(codes, len(self.anchors.labels))
        if stream is Stream.LEVEL:
            level = self.anchors.levels[np.arange(codes.shape[1])[None, :, None], codes]
            return np.where((codes >= 0) & (level >= 0), level, np.nan)
        gold = np.array(self.anchors.gold)[None, :, None]
        return np.where((codes >= 0) & (gold >= 0), codes == gold, np.nan)

    def test(self, codes: Codes, random: np.random.Generator) -> dict[str, float]:
        """Return the p-value of the last of several looks in every stream."""
        clusters = np.array(self.anchors.clusters)
        sums = [sum_by_cluster(self.scores(stream, codes), clusters) for stream in self.streams]
        p_values = zip(self.streams, np.maximum(look_p_values(sums, random), LEAST_P), strict=True)
        sided = {Stream.LEVEL, Stream.AGREEMENT}
        return {stream.value: float(both_sides(p) if stream in sided else p) for stream, p in p_values}

    def p_values(self, stream: Stream) -> Floats:
        """Return the p-values of a stream, from the second look on."""
        return np.array([look.p[stream.value] for look in self.looks[1:]])

    def watched(self, stream: Stream) -> Watched:
        """Return the state of a stream."""
        p_values = self.p_values(stream)
        capital = capital_of(p_values)[0] if len(p_values) else np.ones(1)
        alarms = np.flatnonzero(capital >= self.needed)
        scores = self.scores(stream, self.codes)
        now, of, before = scores[-1], int((~np.isnan(scores[-1])).sum()), scores[:-1]
        total: float | None = float(np.nansum(now)) if of else None
        mean: float | None = None if np.isnan(before).all() else float(np.nanmean(before))
        if stream is Stream.VERDICTS:
            total, mean = _differing_pairs(self.codes, len(self.anchors.labels))
        return Watched(
            stream=stream, now=total, of=of, before=None if mean is None else mean * of,
            p=float(p_values[-1]) if len(p_values) else None, evidence=float(capital[-1]),
            # The p-value of the second look is the first.
            alarm_at=int(alarms[0]) + 2 if len(alarms) else None,
            since=likely_start(p_values[: alarms[0] + 1]) + 2 if len(alarms) else None,
        )  # fmt: skip

    def delay(self, shift: float) -> Delay | None:
        """Return how soon a lasting change of the verdicts would be seen; None: the noise is not known yet."""
        if len(self.looks) < FEWEST_LOOKS:
            return None
        clusters = np.array(self.anchors.clusters)
        p_values, size = self.p_values(Stream.VERDICTS), int(clusters.max()) + 1
        delays = simulate_delays(
            self.codes, len(self.anchors.labels), clusters, p_values,
            shift=shift, needed=self.needed, seed=len(self.looks),
        )  # fmt: skip
        median = np.quantile(delays, 0.5, method="higher")
        return Delay(
            shift=shift,
            verdicts=round(max(1, round(shift * size)) / size * self.codes[-1].size),
            share=float(np.isfinite(delays).mean()),
            median=int(median) if np.isfinite(median) else None,
        )


def _differing_pairs(codes: Codes, labels: int) -> tuple[float | None, float | None]:
    """Return how many verdicts of the last look differ from one of an earlier look, on average, and how often any do.

    Only verdicts of different looks are compared: those of one look have more in common than the judge alone.
    """
    counts = np.stack([(codes == label).sum(axis=2) for label in range(labels)], axis=2).astype(np.float64)
    earlier, last = counts[:-1].sum(axis=0), counts[-1]
    there = earlier.sum(axis=1) > 0
    if not there.any():
        return None, None
    same = (last * earlier).sum(axis=1)[there] / earlier.sum(axis=1)[there]
    now = float(last.sum(axis=1)[there].sum() - same.sum())
    pairs = earlier.sum(axis=1) ** 2 - (counts[:-1].sum(axis=2) ** 2).sum(axis=0)
    alike = (earlier**2).sum() - (counts[:-1] ** 2).sum()
    return now, float(1 - alike / pairs.sum()) if pairs.sum() else None


def find_watch(
    store: Path, run: Path | None, *, judge: str = "", alpha: float | None = None, shift: float = 0.05
) -> Watch:
    """Add a run to a store, which is made if it is new, and say whether there is an alarm; asks no model.

    Args:
        store: the file; rows are only ever added to it.
        run: the run to add; None: nothing. One that the store has already is not added again.
        judge: the judge to watch; needed at the first look if the run has several.
        alpha: probability that a judge that never changes ever raises an alarm; chosen at the first look.
        shift: share of the verdicts for whose change the delay is simulated.

    Raises:
        JrhError: the run is not finished, not of the same items and judge, or reused replies; or the file is no store.
    """
    with open_looks(store, write=run is not None) as file:
        monitor, added = _check_settings(file.anchors, file.looks, store, judge, alpha), False
        if run is not None:
            state = run_state(run)
            if state.imported:
                raise JrhError(f"'{run}' was imported: nothing says what gave its verdicts; watch a run that jrh made")
            if state.ended is None or not state.ended.complete:
                raise JrhError(f"'{run}' is not finished; finish it with `jrh run`")
            with open_report(run) as report:
                anchors, look = _read_look(report, run, monitor, judge, alpha or 0.05)
            added = look.id not in {known.id for known in file.looks}
            if added:
                if monitor is not None and file.looks:
                    codes = np.array([*(known.verdicts for known in file.looks), look.verdicts], dtype=np.int64)
                    # By what was answered: the same looks have the same p-values, and trying again draws nothing new.
                    random = np.random.default_rng(int(content_id(len(file.looks), look.verdicts), 16))
                    look = evolve(look, p=monitor.test(codes, random))
                file.add(anchors, look)
        if file.anchors is None or not file.looks:
            raise JrhError(f"'{store}' has no look yet; add a run: jrh watch {store} RUN")
        return _describe(Monitor(anchors=file.anchors, looks=list(file.looks)), store, added=added, shift=shift)


def _check_settings(
    anchors: Anchors | None, looks: Sequence[Look], store: Path, judge: str, alpha: float | None
) -> Monitor | None:
    if anchors is None:
        return None
    asked = {"--judge": (judge or anchors.judge, anchors.judge), "--alpha": (alpha or anchors.alpha, anchors.alpha)}
    for option, (given, stored) in asked.items():
        if given != stored:
            raise JrhError(
                f"'{store}' was begun with {option} {stored}, not {given}: what an alarm means is chosen before the "
                f"first look; leave {option} out, or begin another store"
            )
    return Monitor(anchors=anchors, looks=list(looks))


def _read_look(report: RunReport, run: Path, monitor: Monitor | None, judge: str, alpha: float) -> tuple[Anchors, Look]:
    name = monitor.anchors.judge if monitor else judge or (report.judges[0] if len(report.judges) == 1 else "")
    if name not in report.judges:
        known = ", ".join(map(clean_text, report.judges))
        raise JrhError(f"which judge of '{run}' is to be watched? Pass --judge with one of: {known}")
    served = _read_served(report, run, name)
    parts = fingerprint(report, name)
    if not parts:
        raise JrhError(f"'{run}' does not say what gave its verdicts: judge '{clean_text(name)}' has no fingerprint")
    verdicts, anchors = _read_verdicts(report, run, name, alpha)
    if monitor is not None:
        check_same(monitor.anchors, anchors, run)
        verdicts = _in_order_of(monitor.anchors, anchors, verdicts)
        anchors = monitor.anchors
    process = _first_process(run)
    return anchors, Look(
        # Two runs of one suite have the same id; their ends differ, or the times of their stages if they end within a
        # second. A copy of a run elsewhere is no other look.
        id=content_id(report.run_id, process),
        run=str(run),
        ended=str(process["ended"]),
        served=served,
        fingerprint=content_id(parts),
        verdicts=verdicts.tolist(),
    )


def _read_served(report: RunReport, run: Path, judge: str) -> tuple[str, ...]:
    """Return what the provider says it served; replies that another run paid for are refused: they show nothing new."""
    sources = [each for each in report.evidence.sources() if (each.role, each.name) == ("judge", judge)]
    reused = sum(source.replies for source in sources if source.reused)
    if reused:
        raise JrhError(
            f"{reused:,} of {count_noun(sum(source.replies for source in sources), 'reply', 'replies')} in '{run}' "
            "come from an earlier run: a look needs new ones. Run the suite with --no-cache and another --run-dir"
        )
    return tuple(sorted({source.model_version for source in sources} - {""}))


def _read_verdicts(report: RunReport, run: Path, judge: str, alpha: float) -> tuple[Codes, Anchors]:
    """Return the codes of the verdicts by item and repeat, and the items they are about."""
    tasks = {summary.task.name: summary.task for summary in report.tasks}
    trials = read_trials(report.records, MetricContext(tasks=tasks))
    rows = np.flatnonzero(is_named(trials.judge, judge) & trials.reference)
    rows = rows[np.lexsort((trials.place[rows], trials.repeat[rows], trials.item.codes[rows], trials.task.codes[rows]))]
    keys = np.stack([trials.task.codes[rows], trials.item.codes[rows]], axis=1)
    items, first, counts = np.unique(keys, axis=0, return_index=True, return_counts=True)
    if not len(items) or len(set(counts.tolist())) > 1 or report.incomplete:
        raise JrhError(f"'{run}' has not asked '{clean_text(judge)}' about every item equally often; finish the run")
    texts = {
        (task, item.id): content_id(item.fields) for task, some in report.evidence.items().items() for item in some
    }
    named = [(trials.task.names[task], trials.item.names[item]) for task, item in items.tolist()]
    of_item = rows[first]
    # Those of the scales, and not of this run: a label may first occur in a later look.
    labels = sorted({label for task in tasks.values() for label in task.scale.labels})
    code = np.array([*(labels.index(label) if label in labels else -1 for label in trials.labels), -1])
    anchors = Anchors(
        judge=judge,
        alpha=alpha,
        identity=content_id([[part[0], part[1], part[4]] for part in fingerprint(report, judge)]),  # type: ignore[index]
        prompt=content_id([[name, prompt_parts(task)] for name, task in tasks.items()]),
        labels=labels,
        items=[[*key, texts.get(key, "")] for key in named],
        clusters=np.unique(trials.cluster.codes[of_item], return_inverse=True)[1].tolist(),
        repeats=int(counts[0]),
        gold=code[trials.gold[of_item]].tolist(),
        positions={name: _positions(task.scale, labels) for name, task in tasks.items()},
    )
    return code[trials.label[rows]].reshape(len(items), -1), anchors


def _positions(scale: Scale, labels: Sequence[str]) -> list[float]:
    """Return where labels are on a scale, from 0 to 1; -1 where it has no direction."""
    if scale.ordered:
        top = len(scale.labels) - 1
        return [scale.rank(label) / top if label in scale else -1.0 for label in labels]
    passing = scale.positive_label if len(scale.labels) == 2 else None  # noqa: PLR2004
    return [float(label == passing) if passing and label in scale else -1.0 for label in labels]


def check_same(stored: Anchors, found: Anchors, run: Path) -> None:
    """Refuse other items, another question and another judge: what the user changed is no drift."""
    old, new = ({tuple(item) for item in anchors.items} for anchors in (stored, found))
    if old != new:
        raise JrhError(
            f"the items of '{run}' are not those of the first look: {len(old - new):,} are missing or have another "
            f"text, {len(new - old):,} are new; anchors stay as they are: run the same suite, or begin another store"
        )
    for what, before, after in (
        ("the instruction, rubric or scale", stored.prompt, found.prompt),
        ("the judge, its model or its options", stored.identity, found.identity),
    ):
        if before != after:
            raise JrhError(
                f"in '{run}', {what} changed since the first look: that is your change, and no drift; begin another "
                "store, and compare both runs with `jrh swap`"
            )


def _in_order_of(stored: Anchors, found: Anchors, verdicts: Codes) -> Codes:
    """Return verdicts in the order in which the first look has the items."""
    if found.repeats != stored.repeats:
        raise JrhError(
            f"the run asks every item {count_noun(found.repeats, 'time')}, the first look {stored.repeats}; a look "
            "is compared with looks of its kind: use the same `reference: {repeats: ...}`, or begin another store"
        )
    place = {tuple(item): at for at, item in enumerate(found.items)}
    return verdicts[[place[tuple(item)] for item in stored.items]]


def _first_process(run: Path) -> Mapping[str, object]:
    """Return when the first process of a run ended, and how long each stage took."""
    try:
        process = json.loads((run / "run.json").read_text(encoding="utf-8"))["processes"][0]
        return {"ended": process["ended"], "seconds": process["seconds"]}
    except (OSError, ValueError, LookupError, TypeError):
        raise JrhError(f"'{run / 'run.json'}' does not say when the run ended; run the suite again") from None


def _describe(monitor: Monitor, store: Path, *, added: bool, shift: float) -> Watch:
    looks, anchors = monitor.looks, monitor.anchors
    streams = tuple(monitor.watched(stream) for stream in monitor.streams)
    alarms = [watched for watched in streams if watched.alarm_at is not None]
    since = min(alarms, key=lambda watched: watched.alarm_at or 0).since if alarms else None
    return Watch(
        store=str(store),
        run=looks[-1].run,
        judge=anchors.judge,
        look=len(looks),
        added=added,
        alpha=anchors.alpha,
        needed=monitor.needed,
        items=len(anchors.items),
        clusters=len(set(anchors.clusters)),
        verdicts=int(monitor.codes[-1].size),
        streams=streams,
        served=looks[-1].served,
        served_first=looks[0].served,
        served_changed_at=tuple(_changes([look.served for look in looks])),
        updated_at=tuple(_changes([look.fingerprint for look in looks])),
        delay=None if alarms else monitor.delay(shift),
        run_before=looks[(since or 2) - 2].run,
    )


def _changes(values: Sequence[object]) -> Iterator[int]:
    """Yield the looks, from 1, whose value is not that of the look before."""
    for number, (before, after) in enumerate(pairwise(values), start=2):
        if before != after:
            yield number
