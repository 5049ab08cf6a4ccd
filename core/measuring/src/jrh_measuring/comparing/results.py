"""Define the findings of a comparison as values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum

from attrs import Factory, frozen
from jrh.values import ClaimFamily

from jrh_measuring.served_models import served_note


class Answer(Enum):
    """The conclusion about a difference."""

    IDENTICAL = "identical"
    """No verdict and no score differs."""
    BETTER = "better"
    WORSE = "worse"
    HIGHER = "higher"
    """For scores of which neither more nor less is better."""
    LOWER = "lower"
    NOT_SHOWN = "no difference shown"
    """The data do not show a difference; there may still be one."""
    EMPTY = "nothing to compare"


class Within(Enum):
    """The conclusion about a declared margin, corrected over the comparison."""

    EQUIVALENT = "equivalent"
    """The difference is shown to be smaller than the margin."""
    DIFFERENT = "different"
    """The difference is shown to be larger."""
    UNDECIDED = "undecided"


class Direction(Enum):
    """How a changed verdict affects a case."""

    WORSE = "worse"
    SIDEWAYS = "moved"
    """Neither verdict is better, or the case has no expectation."""
    BETTER = "better"


@frozen(kw_only=True)
class SideName:
    """One judge of one run."""

    label: str
    """A label that distinguishes it from the other sides."""
    run: str
    """The directory as given by the user."""
    suite: str
    judge: str
    simulated: bool
    served: tuple[str, ...] | None = None
    """What the provider says it served; None: no model was asked."""


def served_to(*sides: SideName) -> Iterator[str]:
    """Yield a sentence on what was served to the judges of several sides, if a provider says it."""
    served = {side.label: side.served for side in sides if side.served is not None}
    yield from filter(None, [served_note(served, served)])


@frozen(kw_only=True)
class Matching:
    """How the cases of two sides were matched."""

    by_id: int
    """Cases with the same id: the same question to the last character, and the same provenance."""
    by_place: int
    """Cases of the same item under the same condition whose ids differ."""
    other_text: int
    """Cases matched by place and compared whose fields differ."""
    looked_at: int
    """Cases matched by place whose fields could be compared; at most a thousand are."""
    ambiguous: int
    """Cases left out because several share a place and the sides have different numbers of them."""
    gold_changed: int
    """Cases left out because the gold label differs."""
    only_first: Mapping[str, int]
    """Test -> cases that only the first side has."""
    only_second: Mapping[str, int]
    other_ids: int = 0
    """Items matched by their text whose ids differ."""
    other_items: int = 0
    """Items left out with all their cases because their text differs."""
    labels: Mapping[str, str] = Factory(dict)
    """Label of the second side -> what the first calls it, where the names differ."""

    @property
    def case_count(self) -> int:
        """Return how many cases are compared."""
        return self.by_id + self.by_place


@frozen(kw_only=True)
class Row:
    """One measure of one test: the second side minus the first."""

    measure: str
    task: str
    test: str
    unit: str
    """`proportion`, `levels` or `score`."""
    first: float | None
    """Mean score of the first side over the paired cases."""
    second: float | None
    difference: float | None
    low: float | None
    high: float | None
    method: str
    cases: int
    """Cases that both sides have a score for."""
    items: int
    """Items of these cases."""
    clusters: int
    """Clusters of these items: the unit of analysis."""
    better: int
    """Cases on which the second side scores better; of a weighted score, higher."""
    worse: int
    p: float | None
    """Not adjusted; None where nothing can be tested. The family of the comparison decides."""
    same_as: str
    """The measure of the same task and test that is the same difference by definition; empty where none is."""
    test_method: str
    answer: Answer
    equivalence: Within | None
    """Within the declared margin; None without one."""
    unpaired: int
    """Cases of the measure that lack a score on either side."""
    missing_first: Mapping[str, int]
    """Trials of the first side without a verdict, by status."""
    missing_second: Mapping[str, int]


@frozen(kw_only=True)
class Noise:
    """How often one side disagrees with itself: repeats of the identical question, in the reference condition."""

    differing: int
    """Pairs of repeats whose verdicts differ."""
    pairs: int
    items: int
    clusters: int
    rate: float | None
    """None if no case has two verdicts."""
    low: float | None
    high: float | None
    missing: Mapping[str, int]
    """Trials of the reference condition without a verdict, by status."""


@frozen(kw_only=True)
class Changes:
    """How often the verdict itself differs, case and repeat matched."""

    task: str
    test: str
    trials: int
    items: int
    clusters: int
    changed: int
    rate: float | None
    low: float | None
    high: float | None
    missing: int
    """Repeats asked of both sides that have no verdict on one side or both."""
    noise_first: Noise | None
    """Rerun noise of the first side in the task; None where it has no reference condition there."""
    noise_second: Noise | None


@frozen(kw_only=True)
class Cause:
    """A difference between the sides that may explain different verdicts."""

    kind: str
    """`judge`, `model`, `answered by`, `task`, `parser`, `stage`, `perturber`, `validator`, `data source`, `jrh` or
    `seed`."""
    what: str
    before: str
    after: str


@frozen(kw_only=True)
class Flip:
    """One case whose verdict changed."""

    case_first: str
    case_second: str
    item: str
    task: str
    test: str
    variant: str
    template: str
    option_order: str
    expected: str
    """The label that is stated, or what is expected: `same`, `changes`, ...; empty where nothing is."""
    gold: str
    """The item's gold label; empty where unlabelled."""
    before: tuple[str, ...]
    """The labels by repeat, or the status where there is none."""
    after: tuple[str, ...]
    score_before: float | None
    score_after: float | None
    direction: Direction


@frozen(kw_only=True)
class Pair:
    """The comparison of two sides."""

    first: SideName
    second: SideName
    matching: Matching
    rows: tuple[Row, ...]
    changes: tuple[Changes, ...]
    causes: tuple[Cause, ...]
    recorded: bool
    """Whether both runs record the origin of their verdicts; imported ones do not."""
    flips: tuple[Flip, ...]
    """The worst first; at most as many as were asked for."""
    flipped: Mapping[str, int]
    """Direction -> cases, all of them."""
    missing_cases: int
    """Matched cases without any verdict on one side or both."""
    missing_first: Mapping[str, int]
    """Trials of the first side without a verdict, by status, over the matched cases."""
    missing_second: Mapping[str, int]
    verdict: str = ""
    """The sentence that the comparison opens with."""


@frozen(kw_only=True)
class Point:
    """What one side's verdicts on the cases that all sides share cost, and how many of them are correct."""

    side: SideName
    cases: int
    items: int
    clusters: int
    correct: float | None
    low: float | None
    high: float | None
    trials: int
    cost: float
    """US dollars of the compared trials whose price is known; not what the run cost."""
    unknown: int
    """Trials of unknown price; if this is not 0, the cost is a lower bound."""
    per_thousand: float | None
    """US dollars per thousand trials; None if a price is unknown."""
    frontier: bool | None
    """Whether no other side is as accurate for less or more accurate for as much; None if unknown."""


@frozen(kw_only=True)
class Comparison:
    """All findings of a comparison."""

    level: float
    margin: float | None
    pairs: tuple[Pair, ...]
    family: ClaimFamily
    """The tests behind what is shown, over all pairs."""
    curve: tuple[Point, ...]
    notes: tuple[str, ...]
    unfinished: tuple[str, ...] = ()
    """Which runs are not finished, and why: said before all else."""

    @property
    def case_count(self) -> int:
        """Return how many cases are compared, over all pairs."""
        return sum(pair.matching.case_count for pair in self.pairs)

    @property
    def has_score(self) -> bool:
        """Return whether any case has a score on both sides."""
        return any(row.answer is not Answer.EMPTY for pair in self.pairs for row in pair.rows)
