"""How often findings of plugins are false where nothing is wrong, and how often they find a planted defect.

    python -m tests.studies.claims_of_plugins [--studies 1000] [--seed 1] [--only halo,scores]

A row is a world; every study is one report with items and judges of its own. The figure is the share of reports with
at least one of the findings named. Worlds marked `*` were used while the rules were written; the others were not.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from typing import Any

import numpy as np
from attrs import evolve, frozen
from jrh import MetricContext, RecordTable, Scale, Task
from jrh.plugins import Metric
from jrh.values import Flag, TaskSummary
from jrh_measuring import findings_of, load_flags, load_metrics
from jrh_testing import empty_report
from numpy.typing import NDArray
from scipy.stats import binom

TASK = Task(name="t", scale=Scale.of_labels("YES", "NO"))
LABELS = np.array(TASK.scale.labels)
ALPHA = 0.05
_ATTACKS = 10
_PAGE = (
    *("as-expected", "gold-accuracy", "rerun-disagreement", "noise-excess", "accuracy-change", "accuracy-equivalence"),
    *("excess-equivalence", "missing-by-condition", "covariate-effect", "rubric-effect", "attack-success"),
    "score-quality",
)
"""Metrics of a whole page."""
CHANGES = frozenset(
    f"{kind}:{severity}"
    for kind in (
        *("moves-more-than-reruns", "accuracy-change", "accuracy-equivalence", "misses-changes", "covariate-effect"),
        *("missing-by-condition", "missing-by-label", "missing-by-error", "halo", "obeys-attacks"),
        *("scores-shift", "scores-order", "scores-inverted"),
    )
    for severity in ("bad", "warning", "info", "good")
) - {"accuracy-equivalence:good", "covariate-effect:good", "scores-order:info"}
"""What is false of a page on which nothing changes, and scores and covariates have nothing to do with verdicts."""


class Rows:
    """Rows of a table of records, condition by condition."""

    def __init__(self, judges: int, items: int, gold: NDArray[np.int64]) -> None:
        self.judge, self.item = np.indices((judges, items)).reshape(2, -1)
        self.gold, self.columns = gold, {}

    def ask(self, answer: NDArray[np.int64], *, test: str, repeat: int = 0, **columns: Any) -> None:
        """Add one answer per judge and item; `columns` are texts, or numbers of the shape of `answer`."""
        size = len(self.item)
        values: dict[str, Any] = {
            "task": ["t"] * size,
            "test": [test] * size,
            "family": [columns.pop("family", test)] * size,
            "variant": [columns.pop("variant", "")] * size,
            "judge": [f"judge-{number}" for number in self.judge],
            "item_id": [f"i{number:04}" for number in self.item],
            "group": columns.pop("group", [f"i{number:04}" for number in self.item]),
            "repeat": [float(repeat)] * size,
            "gold": LABELS[self.gold[self.item]].tolist(),
            "expectation": ["equals" if test == "reference" else "same"] * size,
            "status": ["ok"] * size,
            "canonical": LABELS[answer.ravel()].tolist(),
            **{name: np.asarray(column).ravel().tolist() for name, column in columns.items()},
        }
        for name, column in values.items():
            self.columns.setdefault(name, []).extend(column)

    def table(self) -> RecordTable:
        """Return the table."""
        return RecordTable.from_columns(self.columns)


def claims(records: RecordTable, metrics: tuple[str, ...], items: int) -> frozenset[str]:
    """Measure one report, and return its findings as `kind:severity`."""
    context = MetricContext(tasks={"t": TASK}, resamples=1000, seed=1)
    # The permutation test of excess disagreement draws 20 times as many where few are as extreme.
    contexts = dict.fromkeys(("noise-excess", "rubric-effect"), evolve(context, resamples=100))
    measures = tuple(
        measure for name in metrics for measure in _metrics()[name].measure(records, contexts.get(name, context))
    )
    judges = tuple(sorted(judge for judge in records.counts("judge") if judge))
    reference = records.where(records.equals("test", "reference") & records.equals("judge", judges[0]))
    gold = {str(label): count for label, count in reference.counts("gold").items()}
    report = evolve(
        empty_report(),
        tasks=(TaskSummary(task=TASK, items=items, labelled=items, gold=gold),),
        judges=judges,
        measures=measures,
        records=records,
        flags=_flags(),
    )
    return frozenset(f"{finding.kind}:{finding.severity.value}" for finding in findings_of(report))


@cache
def _metrics() -> dict[str, Metric]:
    return dict(load_metrics(_PAGE))


@cache
def _flags() -> Mapping[str, Flag]:
    return load_flags()


@frozen(kw_only=True)
class World:
    """A page whose truth is known."""

    name: str
    draw: Callable[[np.random.Generator], RecordTable]
    metrics: tuple[str, ...]
    items: int
    kinds: frozenset[str]
    """Findings that are counted."""
    power: bool = False
    """They are true."""
    share: float = 1.0
    """Of the studies asked for: large pages take seconds each."""


def halo_page(
    generator: np.random.Generator, *, noise: float, reruns: int, moved: float = 0.0, judges: int = 1, repeats: int = 1
) -> RecordTable:
    """40 responses with 4 criteria; cutting the evidence of another criterion moves a share of verdicts."""
    responses, criteria = 40, 4
    size = responses * criteria
    gold = generator.integers(0, 2, size)
    rows = Rows(judges, size, gold)
    group = [f"r{number // criteria:03}" for number in rows.item]

    def asked(right: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.where(generator.random((judges, size)) < noise, 1 - right, right)

    for repeat in range(reruns):
        rows.ask(asked(gold), test="reference", repeat=repeat, group=group)
    # Half of what moves comes in whole responses.
    whole = np.repeat(generator.random((judges, responses)) < moved, criteria, axis=1)
    swayed = np.where(generator.random((judges, size)) < 0.5, whole, generator.random((judges, size)) < moved)
    for repeat in range(repeats):
        right = np.where(swayed, 1 - gold, gold)
        rows.ask(asked(right), test="halo", family="halo", variant="others", repeat=repeat, group=group)
    return rows.table()


def score_page(
    generator: np.random.Generator,
    *,
    reruns: int,
    drop: float = 0.0,
    noise: float = 0.0,
    shift: float = 0.0,
    falls: float = 0.0,
    kept_mean: float = 0.0,
    tests: int = 1,
) -> RecordTable:
    """60 items scored by quality; `drop`: any answer loses 3 standard deviations; `shift`, `falls`: the test does.

    `kept_mean`: the test lowers the score of so many items by 4, and raises the others so that the mean stays.
    """
    items = 60
    quality = generator.normal(size=(1, items))
    rows = Rows(1, items, (quality[0] + generator.normal(size=items) > 0).astype(np.int64))

    def scored(more: Any = 0.0) -> NDArray[np.float64]:
        lost = 3.0 * (generator.random(quality.shape) < drop)
        return quality + noise * generator.normal(size=quality.shape) - lost + more

    for repeat in range(reruns):
        score = scored()
        rows.ask((score > 0).astype(np.int64), test="reference", repeat=repeat, score=score)
    for number in range(tests):
        more = shift - 3.0 * (generator.random(quality.shape) < falls)
        if kept_mean:
            more = np.where(generator.random(quality.shape) < kept_mean, -4.0, 4.0 * kept_mean / (1 - kept_mean))
        score = scored(more)
        rows.ask((score > 0).astype(np.int64), test=f"test-{number}", score=score)
    return rows.table()


def attack_page(
    generator: np.random.Generator, *, items: int, obeyed: float, noise: float = 0.0, alike: bool = False
) -> RecordTable:
    """Each of ten attacks is obeyed on a share of the items, of its own or (`alike`) the same ones."""
    rows = Rows(1, items, np.ones(items, dtype=np.int64))
    luck = generator.random(items)

    def asked(obeys: NDArray[np.bool_]) -> NDArray[np.int64]:
        said = np.where(obeys, 0, 1)
        noisy = generator.random(items) < noise
        return np.where(noisy, 1 - said, said)[None]

    nowhere = np.zeros(items, dtype=np.bool_)
    for repeat in range(2):
        rows.ask(asked(nowhere), test="reference", repeat=repeat)
    for number in range(_ATTACKS):
        low = 0.0 if alike else number * obeyed
        obeys = (luck >= low) & (luck < low + obeyed)
        rows.ask(asked(obeys), test="injection", family="injection", variant=f"kind-{number}@end")
        rows.ask(asked(nowhere), test="injection", family="injection", variant=f"control:kind-{number}@end")
    return rows.table()


def whole_page(
    generator: np.random.Generator, *, judges: int, tests: int, items: int = 60, noise: float = 0.1, reruns: int = 2
) -> RecordTable:
    """A page without any effect: formats, halo and two attacks in turn; scores and covariates of their own."""
    gold = generator.integers(0, 2, items)
    rows = Rows(judges, items, gold)
    belief = np.where(generator.random((judges, items)) < 0.8, gold, 1 - gold)
    sizes = np.tile(generator.normal(size=items), judges).tolist()
    covariates = [f'{{"size": {size}}}' for size in sizes]
    quality = generator.normal(size=(judges, items))

    def ask(test: str, repeat: int, **columns: Any) -> None:
        lost = 3.0 * (generator.random(quality.shape) < 0.03)
        noisy = generator.random(belief.shape) < noise
        answer = np.where(noisy, generator.integers(0, 2, belief.shape), belief)
        score = quality + 0.2 * generator.normal(size=quality.shape) - lost
        rows.ask(answer, test=test, repeat=repeat, score=score, covariates=covariates, **columns)

    for repeat in range(reruns):
        ask("reference", repeat)
    for number in range(tests):
        test = f"test-{number}"
        if number % 3 == 1:
            ask(test, 0, family="halo", variant="others")
        elif number % 3 == 2:
            for variant in ("command@end", "control:command@end", "plea@end", "control:plea@end"):
                ask(test, 0, family="injection", variant=variant)
        else:
            ask(test, 0, family="format", variant="spaces")
            ask(test, 1, family="format", variant="spaces")
    return rows.table()


def worlds() -> Iterator[World]:
    """Yield all worlds."""
    yield from _halo_worlds()
    yield from _score_worlds()
    yield from _attack_worlds()
    yield from _page_worlds()


def _halo_worlds() -> Iterator[World]:
    halo = partial(World, metrics=("rubric-effect",), items=160, kinds=frozenset({"halo:bad"}))
    for noise in (0.02, 0.05, 0.1):
        yield halo(name=f"halo*: none, asked once, noise {noise:g}", draw=partial(halo_page, noise=noise, reruns=1))
    for noise, reruns, repeats in ((0.02, 2, 1), (0.05, 2, 1), (0.1, 2, 1), (0.05, 5, 1), (0.05, 2, 3)):
        name = f"halo: none, {reruns} reruns, test x{repeats}, noise {noise:g}"
        yield halo(name=name, draw=partial(halo_page, noise=noise, reruns=reruns, repeats=repeats))
    draw = partial(halo_page, noise=0.05, reruns=2, judges=8)
    yield halo(name="halo*: none, 2 reruns, 8 judges, noise 0.05", draw=draw, share=0.2)
    draw = partial(halo_page, noise=0.02, reruns=2, judges=8)
    yield halo(name="halo: none, 2 reruns, 8 judges, noise 0.02", draw=draw, share=0.2)
    for moved, reruns in ((0.08, 2), (0.16, 2), (0.16, 1)):
        draw = partial(halo_page, noise=0.05, reruns=reruns, moved=moved)
        yield halo(name=f"halo*: {moved:g} moved, {reruns} reruns", draw=draw, power=True)


def _score_worlds() -> Iterator[World]:
    score = partial(World, metrics=("score-quality",), items=60, kinds=frozenset({"scores-shift:warning"}))
    for reruns, drop in ((2, 0.02), (2, 0.05), (10, 0.02), (10, 0.03)):
        name = f"scores*: unchanged, {reruns} reruns, drops {drop:g}"
        yield score(name=name, draw=partial(score_page, reruns=reruns, drop=drop))
    for reruns, drop, noise, tests in ((5, 0.025, 0.0, 1), (3, 0.04, 0.1, 1), (5, 0.03, 0.05, 6), (2, 0.0, 0.5, 1)):
        name = f"scores: unchanged, {reruns} reruns, drops {drop:g}, noise {noise:g}, {tests} tests"
        draw = partial(score_page, reruns=reruns, drop=drop, noise=noise, tests=tests)
        yield score(name=name, draw=draw)
    for kept, reruns in ((0.025, 1), (0.05, 1), (0.05, 2), (0.1, 1)):
        name = f"scores*: mean kept, {kept:g} fall by 4, {reruns} asked"
        yield score(name=name, draw=partial(score_page, reruns=reruns, kept_mean=kept))
    draw = partial(score_page, reruns=2, kept_mean=0.025, noise=0.05)
    yield score(name="scores: mean kept, 0.025 fall by 4, 2 asked, noise 0.05", draw=draw)
    for how in ({"noise": 0.5, "shift": 0.3}, {"noise": 0.1, "shift": 0.25}, {"falls": 0.15}, {"falls": 0.3}):
        name = f"scores*: 2 reruns, {', '.join(f'{key} {value:g}' for key, value in how.items())}"
        yield score(name=name, draw=partial(score_page, reruns=2, **how), power=True)


def _attack_worlds() -> Iterator[World]:
    attack = partial(World, metrics=("attack-success",), kinds=frozenset({"withstands-attacks:good"}))
    for items, obeyed in ((200, 0.01), (400, 0.01), (400, 0.005), (800, 0.005)):
        name = f"attacks*: {items} items, {10 * obeyed:.0%} obey one of 10"
        yield attack(name=name, items=items, draw=partial(attack_page, items=items, obeyed=obeyed), share=0.5)
    for items, obeyed in ((60, 0.0), (100, 0.0), (200, 0.0), (400, 0.001)):
        name = f"attacks: {items} items, {10 * obeyed:.0%} obey one of 10"
        draw = partial(attack_page, items=items, obeyed=obeyed)
        yield attack(name=name, items=items, draw=draw, power=True, share=0.2)
    draw = partial(attack_page, items=400, obeyed=0.02, alike=True)
    yield attack(name="attacks: 400 items, the same 2% obey all", items=400, draw=draw, power=True, share=0.2)


def _page_worlds() -> Iterator[World]:
    page = partial(World, metrics=_PAGE, items=60, kinds=CHANGES)
    for judges, tests, share in ((1, 1, 0.4), (1, 3, 0.4), (1, 12, 0.2), (3, 6, 0.2), (8, 3, 0.1), (8, 12, 0.1)):
        draw = partial(whole_page, judges=judges, tests=tests)
        yield page(name=f"page: {judges} judges, {tests} tests, any false claim", draw=draw, share=share)
    draw = partial(whole_page, judges=2, tests=6, reruns=1, noise=0.05)
    yield page(name="page: 2 judges, 6 tests, asked once, any false claim", draw=draw, share=0.2)
    draw = partial(whole_page, judges=2, tests=6, reruns=5, noise=0.05)
    yield page(name="page: 2 judges, 6 tests, 5 reruns, any false claim", draw=draw, share=0.2)


def share_of_claims(world: World, studies: int, seed: int) -> tuple[int, dict[str, int]]:
    """Return in how many of so many studies a finding is made, and how often each."""
    counts: dict[str, int] = {}
    alarms = 0
    for study in range(studies):
        records = world.draw(np.random.default_rng([seed, study]))
        made = claims(records, world.metrics, world.items) & world.kinds
        alarms += bool(made)
        for kind in made:
            counts[kind] = counts.get(kind, 0) + 1
    return alarms, counts


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--only", default="", help="worlds whose name begins so, or with one of several such words separated by commas"
    )
    options = parser.parse_args()
    for world in worlds():
        if not world.name.startswith(tuple(options.only.split(","))):
            continue
        studies = max(int(options.studies * world.share), 1)
        alarms, counts = share_of_claims(world, studies, options.seed)
        # Significantly above 5%: the lower end of what 99.9% of samples at 5% stay within.
        wrong = "" if world.power or alarms <= binom.ppf(0.999, studies, ALPHA) else "  TOO MANY"
        detail = ", ".join(f"{kind} {count}" for kind, count in sorted(counts.items())) if len(counts) > 1 else ""
        what = "power" if world.power else "false"
        print(f"{world.name:62} {what} {alarms / studies:6.1%} of {studies}{wrong}  {detail}".rstrip(), flush=True)


if __name__ == "__main__":
    main()
