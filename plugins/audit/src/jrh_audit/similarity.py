"""Find texts that share most of their word triples, in time and memory that grow with the number of texts.

Broder (1997) compares texts by the smallest hashes of their shingles; Bayardo, Ma and Srikant (2007) find the pairs
that can be similar by the rarest elements of each set (prefix filter), Xiao et al. (2008) by how many of these they
share. From memory: not consulted.
"""

from __future__ import annotations

import re
import weakref
from array import array
from collections.abc import Iterable, Iterator
from itertools import pairwise
from math import ceil
from tempfile import SpooledTemporaryFile
from typing import Final, TypeAlias
from zlib import crc32

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

Hashes: TypeAlias = NDArray[np.uint32]
Numbers: TypeAlias = NDArray[np.int64]
Places: TypeAlias = NDArray[np.int32]
"""Half the memory of what NumPy counts with; 100,000 texts have some five million entries."""
WORDS: Final = 3
"""Words per shingle (overlapping word n-gram)."""
KEPT: Final = 256
"""Word triples kept of a text, those of the smallest hashes; of texts that have more the index is an estimate, whose
standard error is .025 near .8."""
MOST_TEXTS: Final = 100_000
"""Texts that are compared: with 1 KB each at most 100 MB."""
NEIGHBOURS: Final = 32
"""Texts before it that a text meets through one rare triple."""
COMPARED: Final = 16
"""Texts that a text is compared with word by word."""
_BLOCK: Final = 500
"""Texts whose candidates are held at once."""
_SIZE: Final = np.dtype(np.uint32).itemsize
_IN_MEMORY: Final = 2**22
"""Bytes of hashes that need no file: those of some 4,000 texts."""
_BUCKETS: Final = (2**20, 2**24)
"""Counters of how common triples are, for few texts and for many: an order by shared counters is as exact as one by
frequencies. Where each triple has one of its own, those of a single text need no place in the index."""
_MANY: Final = 10_000
_COUNTED: Final = 255
"""Up to which number is counted."""
_WORD: Final = re.compile(r"[^\W_]+")
_FACTORS: Final = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], dtype=np.uint64)


@frozen(kw_only=True)
class Similar:
    """The pairs that were found."""

    pairs: list[tuple[int, int]]
    """Places of the texts, the earlier one first."""
    cut: int
    """Texts that were not compared with every text that may be similar; 0: the search was exhaustive."""


class _Sets:
    """Sets of hashes; those of many texts are in a temporary file, and are read one at a time."""

    def __init__(self) -> None:
        self._file = SpooledTemporaryFile(_IN_MEMORY, prefix="jrh-audit-")  # noqa: SIM115 - as long as the sets
        weakref.finalize(self, self._file.close)
        self._ends = array("q", [0])

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, place: int) -> Hashes:
        start, end = self._ends[place : place + 2]
        # Reading and writing share the position of one file, so that both seek first.
        self._file.seek(start * _SIZE)
        return np.frombuffer(self._file.read((end - start) * _SIZE), dtype=np.uint32)

    def add(self, hashes: Hashes) -> None:
        """Add a set."""
        self._file.seek(self._ends[-1] * _SIZE)
        self._file.write(hashes.tobytes())
        self._ends.append(self._ends[-1] + len(hashes))

    def smallest_first(self) -> list[int]:
        """Return the places of the sets that are not empty, in the order of their two smallest hashes."""
        places: list[int] = []
        # A set of one hash comes before all others that begin with it.
        first, second = array("q"), array("q")
        for place in range(len(self)):
            if len(hashes := self[place]):
                places.append(place)
                first.append(int(hashes[0]))
                second.append(int(hashes[1]) if len(hashes) > 1 else -1)
        return [places[rank] for rank in np.lexsort((np.array(second), np.array(first))).tolist()]


class Texts:
    """Texts to compare, of which only word triples are kept."""

    def __init__(self) -> None:
        """Begin without texts."""
        self._sets = _Sets()
        self._left_out = 0

    def add(self, text: str) -> None:
        """Add a text, up to `MOST_TEXTS`."""
        if len(self._sets) < MOST_TEXTS:
            self._sets.add(_triples(text)[:KEPT])
        else:
            self._left_out += 1

    def similar(self, threshold: float) -> Similar:
        """Return the pairs that `similar` finds, as places in the order of `add`."""
        search = _Search(self._sets, threshold)
        return Similar(pairs=sorted(search.pairs()), cut=search.cut + self._left_out)


def similar(texts: Iterable[str], threshold: float) -> Similar:
    """Return the pairs of texts whose sets of word triples have a Jaccard index of at least the threshold.

    Texts without words join no pair. All pairs are found unless many texts share their rarest triples; `cut` counts
    the texts that this leaves pairs of unseen.
    """
    gathered = Texts()
    for text in texts:
        gathered.add(text)
    return gathered.similar(threshold)


def _triples(text: str) -> Hashes:
    """Return the distinct word triples of a text as hashes, sorted; two of one hash count as one.

    The hash is the same in every process, or what a cut search finds would change from run to run.
    """
    words = np.fromiter((crc32(word.encode("utf-8", "surrogatepass")) for word in _WORD.findall(text.casefold())), int)
    if not len(words):
        return np.zeros(0, dtype=np.uint32)
    # A text of fewer words is one shingle; no word has the number 0.
    words = np.concatenate([words + 1, np.zeros(max(WORDS - len(words), 0), dtype=int)]).astype(np.uint64)
    mixed = np.zeros(len(words) - WORDS + 1, dtype=np.uint64)
    for place, factor in enumerate(_FACTORS):
        mixed += words[place : place + len(mixed)] * factor
        mixed ^= mixed >> np.uint64(29)
    return np.unique(((mixed * _FACTORS[1]) >> np.uint64(32)).astype(np.uint32))


class _Search:
    """Finds similar sets block by block, in an order in which similar ones are near each other."""

    def __init__(self, sets: _Sets, threshold: float) -> None:
        self._threshold = threshold
        # Sets of a high index have the smallest hash in common more often than not.
        self._places = sets.smallest_first()
        self._sets = sets
        self._common = np.zeros(_BUCKETS[len(self._places) > _MANY], dtype=np.uint8)
        for start in range(0, len(self._places), _BLOCK):
            hashes = np.concatenate([sets[place] for place in self._places[start : start + _BLOCK]])
            buckets, times = np.unique(hashes % len(self._common), return_counts=True)
            # Saturates at one byte: beyond that a triple is common, and how common no longer matters.
            self._common[buckets] = np.minimum(self._common[buckets] + times, _COUNTED)
        self.cut = 0

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Yield the places of similar sets."""
        triples, owners = self._index()
        starts = np.searchsorted(owners, np.arange(0, len(self._places) + _BLOCK, _BLOCK))
        # Entries by triple, and within one in the order of the sets: neighbours of an entry come just before it.
        by_triple = np.lexsort((triples,)).astype(np.int32)
        rank = np.empty_like(by_triple)
        rank[by_triple] = np.arange(len(by_triple), dtype=np.int32)
        for start, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
            yield from self._block(triples, owners, by_triple, rank[start:end])

    def _index(self) -> tuple[NDArray[np.uint64], Places]:
        """Return the rarest triples of every set that it may not do without in a similar pair, and its place.

        An overlap of at least ceil(t * n) triples cannot lie entirely in the last ceil(t * n) - 1 of them.
        """
        prefixes = []
        for place in self._places:
            ordered = np.sort(self._rank(self._sets[place]))
            needed = ordered[: len(ordered) - ceil(self._threshold * len(ordered)) + 1]
            # A triple of a single text joins no pair. What is left is a copy: a view would keep the whole set.
            prefixes.append(needed[needed >> np.uint64(32) > 1])
        owners = np.repeat(np.arange(len(prefixes), dtype=np.int32), [len(prefix) for prefix in prefixes])
        return np.concatenate([np.zeros(0, dtype=np.uint64), *prefixes]), owners

    def _set(self, place: int) -> Hashes:
        """Return the set in a place of the order of the search."""
        return self._sets[self._places[place]]

    def _rank(self, hashes: Hashes) -> NDArray[np.uint64]:
        """Return numbers in the order of how common triples are."""
        return self._common[hashes % len(self._common)].astype(np.uint64) << np.uint64(32) | hashes

    def _block(
        self, triples: NDArray[np.uint64], owners: Places, by_triple: Places, rank: Places
    ) -> Iterator[tuple[int, int]]:
        """Yield the similar pairs whose later set is in a block."""
        mine = triples[by_triple[rank]]
        keys = []
        full: Places = np.zeros(0, dtype=np.int32)
        for back in range(1, NEIGHBOURS + 2):
            at = rank - back
            same = (at >= 0) & (triples[by_triple[at]] == mine)
            if back > NEIGHBOURS:
                full = np.unique(owners[by_triple[rank[same]]])
                break
            rank, mine = rank[same], mine[same]
            # One number per pair, so that `unique` counts shared triples without an array of rows.
            keys.append(owners[by_triple[rank]].astype(np.int64) * len(self._places) + owners[by_triple[rank - back]])
        pair_codes, shared = np.unique(np.concatenate(keys), return_counts=True)
        later, earlier = np.divmod(pair_codes, len(self._places))
        many = frozenset(full.tolist())
        for start, end in _runs(later):
            place = int(later[start])
            candidates = earlier[start:end]
            if place in many:
                self.cut += 1
            if len(candidates) > COMPARED:
                candidates = self._likely(place, candidates, shared[start:end], counted=place not in many)
                if len(candidates) > COMPARED:
                    self.cut += place not in many
                    candidates = candidates[:COMPARED]
            yield from self._similar_pairs(place, candidates)

    def _likely(self, one: int, others: Numbers, shared: Numbers, *, counted: bool) -> Numbers:
        """Return the sets that share most of their rarest triples with a set, most first.

        Where all shared ones are counted, those that share too few are left out: with overlap o of n and m triples,
        o / (n + m - o) reaches t from o = t / (1 + t) * (n + m) on, and at most max(n, m) * t of it is not in the
        prefixes.
        """
        order = np.lexsort((-shared,))
        if not counted:
            return others[order]
        sizes = np.array([len(self._set(other)) for other in others.tolist()])
        size = len(self._set(one))
        # Of sets of which only a part is kept, the union counts as far as it is kept.
        wanted = np.where(
            np.maximum(sizes, size) < KEPT,
            np.ceil(self._threshold / (1 + self._threshold) * (sizes + size) - 1e-9),
            np.ceil(self._threshold * np.maximum(sizes, size) - 1e-9),
        )
        outside = np.ceil(self._threshold * np.maximum(sizes, size)) - 1
        likely: Numbers = others[order][(shared >= wanted - outside)[order]]
        return likely

    def _similar_pairs(self, one: int, others: Numbers) -> Iterator[tuple[int, int]]:
        mine = self._set(one)
        for other in self._overlaps(mine, others):
            if _index_of(mine, self._set(other)) >= self._threshold:
                places = self._places[one], self._places[other]
                yield min(places), max(places)

    def _overlaps(self, mine: Hashes, others: Numbers) -> list[int]:
        """Return the sets with enough triples in common: an index of t takes t times those of the larger set."""
        if not len(others):
            return []
        sets = [self._set(other) for other in others.tolist()]
        sizes = np.array([len(hashes) for hashes in sets])
        every = np.concatenate(sets)
        same = mine[np.minimum(np.searchsorted(mine, every), len(mine) - 1)] == every
        common = np.add.reduceat(same, np.cumsum(sizes) - sizes, dtype=np.int64)
        enough: list[int] = others[common >= self._threshold * np.maximum(sizes, len(mine)) - 1e-9].tolist()
        return enough


def _runs(values: Numbers) -> Iterator[tuple[int, int]]:
    """Yield start and end of every run of equal values."""
    edges = [0, *(np.flatnonzero(np.diff(values)) + 1).tolist(), len(values)]
    yield from ((start, end) for start, end in pairwise(edges) if start < end)


def _index_of(one: Hashes, other: Hashes) -> float:
    """Return the Jaccard index of two sets, estimated from the smallest hashes of their union where one was cut."""
    both = np.sort(np.concatenate([one, other]))
    twice = both[1:] == both[:-1]
    # Nothing was cut from either set: the index is exact.
    if max(len(one), len(other)) < KEPT:
        return float(twice.sum() / (len(both) - twice.sum()))
    threshold = np.unique(both)[KEPT - 1] if len(both) - twice.sum() >= KEPT else both[-1]
    inside = int((twice & (both[1:] <= threshold)).sum())
    return inside / min(KEPT, len(both) - int(twice.sum()))
