"""What the decisions about a case amount to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations

from attrs import frozen

from jrh.values.reviews import DECIDING, Decision, ReviewAction


@frozen(kw_only=True)
class CaseReview:
    """All that was decided about one case."""

    log: tuple[Decision, ...] = ()

    def own(self, reviewer: str) -> Decision | None:
        """Return what a reviewer decided without knowing of others; a skip counts, what was taken back does not."""
        return _standing(each for each in self.log if each.reviewer == reviewer and not each.settles)

    @property
    def blind(self) -> Mapping[str, Decision]:
        """Return the decision of everybody who decided."""
        found = {each.reviewer: self.own(each.reviewer) for each in self.log}
        return {name: each for name, each in found.items() if each is not None and each.action in DECIDING}

    @property
    def is_open(self) -> bool:
        """Tell whether two people have decided: from then on everybody may see what."""
        return len(self.blind) > 1

    @property
    def settlement(self) -> Decision | None:
        """Return the decision that settles the case, if one was made."""
        return _standing(each for each in self.log if each.settles and each.action is not ReviewAction.SKIP)

    @property
    def in_conflict(self) -> bool:
        """Tell whether people decided differently and nothing settles it."""
        different = any(one.content != other.content for one, other in combinations(self.blind.values(), 2))
        return different and self.settlement is None

    @property
    def outcome(self) -> Decision | None:
        """Return the decision that counts; None where there is none, or a conflict."""
        if self.settlement is not None:
            return self.settlement
        return None if self.in_conflict else next(iter(self.blind.values()), None)

    def counted(self, reviewers: int) -> Decision | None:
        """Return the decision that counts, once enough people have decided or somebody has settled a conflict."""
        enough = self.settlement is not None or len(self.blind) >= reviewers
        return self.outcome if enough else None

    def known_to(self, reviewer: str) -> CaseReview:
        """Return what a reviewer may know: the own decisions, and everybody's once two have decided."""
        if self.is_open:
            return self
        return CaseReview(log=tuple(each for each in self.log if each.reviewer == reviewer))

    def version(self, reviewer: str) -> int:
        """Return a number that grows with every row a reviewer may know of; it tells nothing of hidden ones."""
        return max((each.number for each in self.known_to(reviewer).log), default=0)


def _standing(log: Iterable[Decision]) -> Decision | None:
    last = next(reversed(list(log)), None)
    return None if last is None or last.action is ReviewAction.UNDO else last


def case_reviews(log: Iterable[Decision]) -> Mapping[str, CaseReview]:
    """Sort a log of decisions by case."""
    found: dict[str, list[Decision]] = {}
    for each in log:
        found.setdefault(each.case_id, []).append(each)
    return {case_id: CaseReview(log=tuple(rows)) for case_id, rows in found.items()}
