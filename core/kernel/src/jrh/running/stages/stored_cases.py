"""The cases of a plan, read from the store as they are needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from attrs import evolve, frozen

from jrh.store.run_store import Store
from jrh.values.cases import Case


@frozen
class StoredCases:
    """Iterates over the cases of tests, any number of times; holds a slice at a time."""

    store: Store
    places: Sequence[tuple[str, str]]
    """Tasks and tests, in plan order."""
    change: Callable[[Case], Case | None] | None = None
    """Returns what stands for a case; None if nothing does."""

    def changed(self, change: Callable[[Case], Case | None]) -> StoredCases:
        """Return the cases that stand for these."""
        earlier = self.change
        if earlier is None:
            return evolve(self, change=change)

        def both(case: Case) -> Case | None:
            revised = earlier(case)
            return None if revised is None else change(revised)

        return evolve(self, change=both)

    def revised(self) -> Iterator[Case]:
        """Yield the cases that stand for others, in plan order."""
        if self.change is None:
            return
        for case in evolve(self, change=None):
            counted = self.change(case)
            if counted is not None and counted is not case:
                yield counted

    def __iter__(self) -> Iterator[Case]:
        """Yield the cases in plan order."""
        for task, test in self.places:
            for case in self.store.cases.iterate(task, test):
                counted = case if self.change is None else self.change(case)
                if counted is not None:
                    yield counted

    def ids(self) -> Iterator[str]:
        """Yield the ids of the cases in plan order, without reading the cases where none is changed."""
        if self.change is not None:
            yield from (case.id for case in self)
            return
        for task, test in self.places:
            yield from self.store.cases.ids(task, test)
