"""How often `jrh watch` raises an alarm, in planted worlds in which the judge changes and in which it does not.

`python -m tests.studies.watch [--studies 1000] [--seed 1]` prints two tables. A study is a store with alpha 5% and
three streams (verdicts, agreement with people, failures). In the first table nothing changes for a year of 52 looks;
next to `jrh watch`, with fewer draws than it has, which leaves its promise as it is, is a sign test by betting that
compares every look with the first one. In the second, the judge changes for good after look 12 of 24; its p-values are
those of the normal distribution, in which `jrh watch` simulates futures. Every world also has its alarms by stream.

Nothing was tuned to these worlds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from attrs import frozen
from jrh_decide.monitor import both_sides, capital_of, differing_scores, look_p_values, normal_p_values, sum_by_cluster
from jrh_measuring import Codes, Floats

from tests.studies.command import print_study

LOOKS: Final = 52
CHANGE: Final = 12
ALPHA: Final = 0.05
AFTER: Final = 24
DRAWS: Final = 39
TOGETHER: Final = 50
"""Studies that share the draws of a look."""
STREAMS: Final = ("verdicts", "agreement", "failures")
Random = np.random.Generator


@frozen(kw_only=True)
class World:
    """A judge, and what becomes of it."""

    name: str
    items: int = 60
    shared: int = 1
    """Items of a cluster, which share half of a look's luck."""
    repeats: int = 1
    noise: float = 0.1
    """Share of items on which the judge wavers, at any rate; it hardly does on the others."""
    missing: float = 0.0
    """Share of missing verdicts, more where the judge wavers."""
    changed: float = 0.0
    """Share of items whose verdicts turn round."""
    lost: float = 0.0
    """Share of verdicts that go missing in addition."""
    slow: bool = False
    """Whether the change takes 20 looks to be complete."""
    outages: float = 0.0
    """Share of looks in which half of the verdicts are missing, in all clusters at once."""

    def draw(self, random: Random) -> Codes:
        """Draw verdicts of a year, shape (looks, items, repeats); 1 is right."""
        wavers = random.random(self.items) < self.noise
        rate = np.where(wavers, random.random(self.items), np.where(random.random(self.items) < 0.85, 0.99, 0.01))
        size = (LOOKS, self.items, self.repeats)
        clusters = np.arange(self.items) // self.shared
        alike = np.broadcast_to(random.random((LOOKS, self.items // self.shared))[:, clusters, None], size)
        luck = np.where(random.random(size) < (0.5 if self.shared > 1 else 0.0), alike, random.random(size))
        part = np.clip((np.arange(LOOKS) - CHANGE + 1) / (20 if self.slow else 1), 0, 1)
        # By cluster: items that belong together turn round together.
        turned = random.random(self.items // self.shared)[clusters] < self.changed * part[:, None]
        codes = (luck < np.where(turned[:, :, None], 1 - rate[None, :, None], rate[None, :, None])).astype(np.int64)
        gone = self.missing * np.where(wavers, 3.0, 0.8)[None, :] + self.lost * part[:, None]
        gone = np.where(random.random(LOOKS)[:, None] < self.outages, 0.5, gone)
        codes[random.random(size) < gone[:, :, None]] = -1
        return codes


QUIET: Final = (
    World(name="10 of 100 items waver"),
    World(name="half of the items waver", noise=0.5),
    World(name="clusters of 4", noise=0.3, shared=4),
    World(name="three repeats, clusters of 4", noise=0.3, shared=4, repeats=3),
    World(name="15% missing, more where it wavers", noise=0.3, missing=0.15),
    World(name="15% missing, clusters of 4", noise=0.3, shared=4, missing=0.15),
    World(name="no noise", noise=0.0),
)
LOUD: Final = (
    World(name="5% of the items turn round", changed=0.05),
    World(name="10% of the items turn round", changed=0.1),
    World(name="20% of the items turn round", changed=0.2),
    World(name="10%, 200 items", changed=0.1, items=200),
    World(name="20%, clusters of 4", changed=0.2, shared=4, items=200),
    World(name="20%, within 20 looks", changed=0.2, slow=True),
    World(name="20% more missing, verdicts as before", missing=0.05, lost=0.2, noise=0.3),
    World(name="outages in 5% of the looks", outages=0.05),
)


def sign_test(codes: Codes) -> float:
    """Return the most that betting on one side wins whose signs are changes against the first look, every week."""
    signs = (codes[1:, :, 0] - codes[:1, :, 0])[:, :, None]
    # As if each week brought new items: the noise of the one baseline counts 51 times.
    gains = [np.log1p(side * 0.2 * np.sign(signs)).sum(axis=(1, 2)).cumsum() for side in (-1, 1)]
    return float(np.exp(gains).mean(axis=0).max())


def alarms(codes: Codes, clusters: Codes, random: Random | None) -> Floats:
    """Return the look of the first alarm, shape (streams, studies); infinite without one.

    Args:
        codes: verdicts, shape (studies, looks, items, repeats).
        clusters: of the items.
        random: draws looks; None: p-values of the normal distribution.
    """
    studies, looks, items, repeats = codes.shape
    flat = codes.swapaxes(0, 1).reshape(looks, studies * items, repeats)
    size = int(clusters.max()) + 1
    everywhere = (np.arange(studies)[:, None] * size + clusters).ravel()
    p_values = []
    for look in range(2, looks + 1):
        seen = flat[:look]
        scores = differing_scores(seen, 2), np.where(seen >= 0, seen, np.nan), (seen < 0).astype(np.float64)
        sums = [sum_by_cluster(each, everywhere).reshape(look, studies, size) for each in scores]
        if random is None:
            worse = np.minimum(normal_p_values(-sums[1]), normal_p_values(sums[1]))
            p_values.append(np.array([normal_p_values(sums[0]), np.minimum(2 * worse, 1), normal_p_values(sums[2])]))
        else:
            different, agrees, missing = look_p_values(sums, random, DRAWS)
            p_values.append(np.array([different, both_sides(agrees), missing]))
    capital = capital_of(np.moveaxis(np.array(p_values), 0, -1))[0] >= len(STREAMS) / ALPHA
    return np.where(capital.any(axis=-1), capital.argmax(axis=-1) + 2, np.inf)


def watched(world: World, studies: int, random: Random, *, looks: int = LOOKS) -> tuple[Floats, int]:
    """Return the first alarms, shape (streams, studies), and how many sign tests raise one."""
    clusters, found, naive = np.arange(world.items) // world.shared, [], 0
    for start in range(0, studies, TOGETHER):
        codes = np.array([world.draw(random)[:looks] for _ in range(min(TOGETHER, studies - start))])
        found.append(alarms(codes, clusters, random if looks == LOOKS else None))
        naive += sum(sign_test(np.maximum(each, 0)) >= 1 / ALPHA for each in codes)
    return np.concatenate(found, axis=1), naive


def lines(studies: int, seed: int) -> Iterator[str]:
    """Yield a line per world."""
    yield f"nothing changes | alarms in {LOOKS} looks, of {studies:,} | " + " | ".join(STREAMS) + " | sign test"
    for at, world in enumerate(QUIET):
        found, naive = watched(world, studies, np.random.default_rng([seed, at]))
        streams = " | ".join(str(count) for count in np.isfinite(found).sum(axis=1))
        yield f"{world.name} | {np.isfinite(found).any(axis=0).sum()} | {streams} | {naive}"
    yield f"a change after look {CHANGE} | alarms | before it | " + " | ".join(STREAMS) + " | looks up to it, median"
    for at, world in enumerate(LOUD):
        found, _ = watched(world, studies, np.random.default_rng([seed, 100 + at]), looks=AFTER)
        first = found.min(axis=0)
        late = first[np.isfinite(first) & (first > CHANGE)]
        streams = " | ".join(str(count) for count in np.isfinite(found).sum(axis=1))
        median = f"{np.median(late) - CHANGE:g}" if len(late) else "-"
        yield f"{world.name} | {np.isfinite(first).sum()} | {(first <= CHANGE).sum()} | {streams} | {median}"


if __name__ == "__main__":
    print_study("watch", lines, studies=1000, about="jrh watch")
