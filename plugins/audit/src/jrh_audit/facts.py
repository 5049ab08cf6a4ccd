"""Read the items of a task once, keep of each what the checks ask (no texts), and say what was found."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from typing import Final

import numpy as np
from attrs import frozen
from jrh import Item, Json, Mode, Task
from jrh.text import flat_text
from jrh.values import item_text, link_members
from numpy.typing import NDArray

from jrh_audit.measure_list import CONCERNS
from jrh_audit.similarity import Texts

EXAMPLES: Final = 5
"""Examples that a finding names."""


@frozen(kw_only=True)
class Finding:
    """One thing that a data set cannot show, or that makes its numbers misleading."""

    kind: str
    """Short name, such as `constant-gold`."""
    evidence: str
    """What was found, with its numbers."""
    consequence: str
    """What it means for the reader of a report, and what to do."""
    affected: int
    """Number of items affected."""
    items: int
    """Number of items of the task."""
    examples: tuple[str, ...] = ()
    """Ids of some of the items."""

    @property
    def concerns(self) -> tuple[str, ...]:
        """Return the names of the measures affected; empty: all."""
        return CONCERNS.get(self.kind, ())

    @property
    def sentence(self) -> str:
        """Return evidence, examples and consequence as one text."""
        some = f" ({', '.join(self.examples)})" if self.examples else ""
        return f"{self.evidence}{some}. {self.consequence}"


def some(ids: list[str], most: int = EXAMPLES) -> tuple[str, ...]:
    """Return the first few ids, with an ellipsis if there are more."""
    return (*ids[:most], *(["..."] if len(ids) > most else []))


_LONG: Final = 80
"""Shorter texts may end without a full stop, so they are not checked for truncation."""
_ENDS: Final = re.compile(r"[.!?\u2026\u3002\uff01\uff1f:;)\]}>\"'\u201d\u2019\u00bb*`|_~-]")
_CUT: Final = re.compile(r"[\w,]")
_DIGEST: Final = 16
"""Bytes that tell texts apart."""


class Facts:
    """What the checks ask about the items of a task, in the order of the items."""

    def __init__(self, items: Iterable[Item], task: Task) -> None:
        """Read the items, once."""
        self.task = task
        self.ids: list[str] = []
        self.golds: list[str | None] = []
        self.strata: Counter[str | None] = Counter()
        self._shown = bytearray()
        """Digests of the texts that a judge sees, one after the other."""
        self.rows = 0
        """Rows of the file that the items come from."""
        self.pairs = 0
        self.prompts: dict[str, str] = {}
        """Templates that the items bring."""
        self.empty: list[str] = []
        """Ids of the items without a text to judge."""
        self.cut: dict[str, None] = {}
        """Ids of the items with a long text that ends in mid-sentence."""
        self.long = 0
        """Long texts."""
        self.ended = 0
        """Those that end like a sentence."""
        self.places = array("q")
        """The first item of every text."""
        self.texts = Texts()
        """Texts in the order of `places`."""
        # `gold.by_length` reads `response` of every pointwise task, whatever it judges.
        measured = task.judged_fields if task.mode is not Mode.POINTWISE else ("response", *task.judged_fields)
        self._sizes = {name: array("q") for name in measured}
        self._keys: list[str] = []
        self._labels: dict[str, str] = {}
        self._first: set[bytes] = set()
        for item in items:
            self._add(item)
        # Only needed while reading; with many items the digests would stay in memory until the report is written.
        self._first.clear()

    def __len__(self) -> int:
        """Return the number of items."""
        return len(self.ids)

    def finding(
        self, kind: str, evidence: str, consequence: str, affected: int | None = None, examples: tuple[str, ...] = ()
    ) -> Finding:
        """Return a finding about the items; without a number it affects all of them."""
        return Finding(
            kind=kind,
            evidence=evidence,
            consequence=consequence,
            affected=len(self) if affected is None else affected,
            items=len(self),
            examples=examples,
        )

    def sizes(self, name: str) -> NDArray[np.int64]:
        """Return the characters of a judged field, shape (items,)."""
        return np.array(self._sizes[name], dtype=np.int64)

    def repetitions(self) -> list[list[int]]:
        """Return the places of the items that show a judge the same as others, by the first of them."""
        shown = np.frombuffer(self._shown, dtype=np.dtype((np.void, _DIGEST)))
        _, first, code, times = np.unique(shown, return_index=True, return_inverse=True, return_counts=True)
        groups: dict[int, list[int]] = {}
        for place in np.flatnonzero(times[code] > 1).tolist():
            groups.setdefault(int(first[code[place]]), []).append(place)
        return list(groups.values())

    @cached_property
    def cluster(self) -> Sequence[int]:
        """The number of every item's cluster, from 0 on."""
        names = self._join_clusters(range(len(self)))
        numbers: dict[str, int] = {}
        codes = array("q")
        alone = 0
        for item_id in self.ids:
            name = names.get(item_id)
            if name is None:
                codes.append(alone + len(numbers))
                alone += 1
            else:
                if name not in numbers:
                    numbers[name] = alone + len(numbers)
                codes.append(numbers[name])
        return codes

    @property
    def clusters(self) -> int:
        """The number of clusters of the items: what every interval counts."""
        return max(self.cluster, default=-1) + 1

    def cluster_codes(self, places: Sequence[int]) -> NDArray[np.int64]:
        """Number the clusters among the items in these places, shape (places,)."""
        names = self._join_clusters(places)
        chosen = [names.get(self.ids[place], self.ids[place]) for place in places]
        return np.unique(np.array(chosen, dtype=object), return_inverse=True)[1].astype(np.int64)

    def places_with_label(self) -> list[int]:
        """Return the places of the items whose gold label is on the scale."""
        return [place for place, gold in enumerate(self.golds) if gold is not None and gold in self.task.scale]

    def _join_clusters(self, places: Sequence[int]) -> dict[str, str]:
        """Join items as the kernel does, from digests; return the clusters of those that share an id, group or text.

        Of the others only numbers are held: two keys of one number do no harm, as the keys themselves decide.
        """
        keys = (key for place in places for key in self._keys_of(place) if key.strip())
        # Most keys occur once, so that the union of clusters runs over few items.
        numbers = np.sort(np.fromiter(map(hash, keys), dtype=np.int64))
        shared = set(numbers[1:][numbers[1:] == numbers[:-1]].tolist())
        meet = (place for place in places if not shared.isdisjoint(map(hash, self._keys_of(place)))) if shared else ()
        return link_members((self.ids[place], self._keys_of(place)) for place in meet)

    def _keys_of(self, place: int) -> tuple[str, str, str]:
        shown = self._shown[place * _DIGEST : (place + 1) * _DIGEST]
        # The prefixes keep an id, a group and a digest apart that happen to be spelled alike.
        return f"\0{self.ids[place]}", self._keys[place], f"\n{shown.hex()}" * (shown != _NOTHING)

    def _add(self, item: Item) -> None:
        self.strata[item.stratum] += 1
        # Equal labels share one string: even a large set has few different ones.
        self.golds.append(None if item.gold is None else self._labels.setdefault(item.gold, item.gold))
        self.ids.append(item.id)
        self._keys.append(item.group or item.id)
        # One bytearray, as a list of so many short bytes objects takes several times the memory.
        self._shown += _digest(item_text(item))
        for name, sizes in self._sizes.items():
            sizes.append(_size(item.fields.get(name)))
        self._add_ends(item)
        self._add_metadata(item.metadata)
        self._add_text(_judged_text(item, self.task))

    def _add_ends(self, item: Item) -> None:
        values = [item.fields.get(name) for name in self.task.judged_fields]
        if any(map(_is_empty, values)):
            self.empty.append(item.id)
        for text in values:
            if isinstance(text, str) and len(text) >= _LONG:
                # White space at the end hides neither a full stop nor a cut.
                last = text.rstrip()[-1:]
                self.long += 1
                self.ended += bool(_ENDS.match(last))
                if _CUT.match(last):
                    self.cut[item.id] = None

    def _add_metadata(self, metadata: Mapping[str, Json]) -> None:
        self.rows += _whole(metadata.get("rows"))
        if isinstance(pairs := metadata.get("pairs"), Sequence):
            self.pairs += len(pairs)
        if isinstance(prompts := metadata.get("prompts"), Mapping):
            self.prompts |= {name: text for name, text in prompts.items() if isinstance(text, str)}

    def _add_text(self, text: str) -> None:
        digest = _digest(text)
        if digest not in self._first:
            self._first.add(digest)
            self.places.append(len(self.ids) - 1)
            self.texts.add(text)


def _digest(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogatepass")).digest()[:_DIGEST]


_NOTHING: Final = _digest("")


def _judged_text(item: Item, task: Task) -> str:
    """Return the parts of an item that a judge sees, as one text."""
    return "\n".join(" ".join(flat_text(item.fields.get(name)).split()) for name in ("request", *task.judged_fields))


def _size(value: Json) -> int:
    return len(value) if isinstance(value, str) else len(str(value or ""))


def _whole(value: Json) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 1


def _is_empty(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip()) or value in ([], {}, ())
