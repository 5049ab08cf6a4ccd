"""Define the three tests by rules, offline; what a rule cannot prove becomes a skip."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import evolve, frozen
from jrh import Draft, Equals, Expectation, Item, Json, Same, Skip, Task

from jrh_agentic import aims
from jrh_agentic.aims import Aim, Labels
from jrh_agentic.messages import Original, call_faults, called_tools, described
from jrh_agentic.options import STATEMENTS, PerturbationOptions, Style, Violation
from jrh_agentic.rules import statements, style
from jrh_agentic.rules.possible import Possible, apply, choose
from jrh_agentic.rules.statements import asks_for_agreement, demanded_tools, forbids_invention


def untouched(aim: Aim) -> Draft:
    """Return the transcript as it is, where it is what is wanted already."""
    return Draft(
        variant=aim.variant, expectation=aim.expectation, details={"by": "rules", "rule": "untouched", "edits": []}
    )


@frozen(kw_only=True)
class Violations:
    """Edits that violate an entry, each kind where the entry asks for what it breaks."""

    task: Task
    labels: Labels
    options: PerturbationOptions
    seed: Callable[..., int]
    """Derives a seed from what it is for."""

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:
        """Return a draft or a skip per kind and number of edits, in the order of the options."""
        original = Original.of(item)
        aim = aims.violation(self.labels, item)
        if isinstance(original, Skip):
            return [original]
        if isinstance(aim, Skip):
            return [aim]
        return [outcome for kind in self.options.variants for outcome in self._kind(item, original, kind)]

    def _kind(self, item: Item, original: Original, kind: Violation) -> list[Draft | Skip]:
        possible = self._possible(item, original, kind)
        if isinstance(possible, Skip):
            return [evolve(possible, variant=kind.value)]
        expectation = Equals(label=self.labels.violates)
        return [
            drafted(original, possible, count, kind.value, expectation, seed=self.seed(item.id, kind.value))
            for count in self.options.edits
        ]

    def _possible(self, item: Item, original: Original, kind: Violation) -> list[Possible] | Skip:
        messages = original.messages
        if kind is Violation.MISSING_STEP:
            demanded = self._demanded(original)
            return demanded if isinstance(demanded, Skip) else statements.missing_steps(messages, demanded)
        if not self._broken_by(kind):
            return Skip(reason="the entry does not clearly require statements to agree with tool results")
        if kind is Violation.CONTRADICTED_RESULT:
            return statements.contradicted_results(messages)
        if kind is Violation.UNMADE_CALL:
            return statements.unmade_calls(messages, self.options.claims)
        return statements.swapped_values(messages, self.seed(item.id, "values"), anywhere=self.options.anywhere)

    def _demanded(self, original: Original) -> tuple[str, ...] | Skip:
        named = self.options.demands.get(self.task.name)
        if named is None and not self._broken_by(Violation.MISSING_STEP):
            return Skip(reason="by the suite's settings, this does not violate the entry")
        called = called_tools(original.messages)
        demanded = demanded_tools(self._entry, original.messages) if named is None else named
        found = tuple(tool for tool in demanded if tool in called)
        return found or Skip(reason="the entry does not clearly require a tool that is called")

    def _broken_by(self, kind: Violation) -> bool:
        named = self.options.breaks.get(self.task.name)
        if named is not None:
            return kind in named
        # A result that no tool returned agrees with none.
        invented = kind is Violation.UNMADE_CALL and forbids_invention(self._entry)
        return kind not in STATEMENTS or invented or asks_for_agreement(self._entry)

    @property
    def _entry(self) -> str:
        return self.task.rubric or self.task.instruction


@frozen(kw_only=True)
class LevelsKept:
    """The one level a rule can reach: the one the transcript has."""

    levels: tuple[str, ...]

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:
        """Return a draft for the gold level, and a skip for every other."""
        original = Original.of(item)
        if isinstance(original, Skip):
            return [original]
        return [
            untouched(aims.level(level))
            if level == item.gold
            else Skip(reason="rules cannot reach a level", variant=f"level-{level}")
            for level in self.levels
        ]


@frozen(kw_only=True)
class Levelled:
    """Replaces `agent-positives` on a scale with levels; a suite may also have a task without levels."""

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:  # noqa: ARG002 - the signature is the protocol's
        """Skip every item."""
        return [Skip(reason="the entry has levels; use agent-perturbation, which reaches each level")]


@frozen(kw_only=True)
class Satisfied:
    """Transcripts that satisfy the entry as they are."""

    labels: Labels

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:
        """Return the transcript as it is where its gold label says that it satisfies the entry."""
        original = Original.of(item)
        if isinstance(original, Skip):
            return [original]
        if item.gold != self.labels.satisfies:
            return [Skip(reason="rules cannot repair a transcript" if item.gold else "the item has no gold label")]
        return [untouched(aims.good(self.labels))]


@frozen(kw_only=True)
class Restyled:
    """Style edits that do not change the meaning."""

    variants: tuple[Style, ...]
    seed: Callable[..., int]

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:
        """Return a draft or a skip per kind of change, in the order of the options."""
        original = Original.of(item)
        if isinstance(original, Skip):
            return [original]
        outcomes = []
        for kind in self.variants:
            found = style.possible(original.messages, kind)
            seed = self.seed(item.id, kind.value)
            outcomes.append(drafted(original, found, max(1, len(found)), kind.value, Same(), seed=seed))
        return outcomes


def drafted(
    original: Original, possible: Sequence[Possible], count: int, kind: str, expectation: Expectation, *, seed: int
) -> Draft | Skip:
    """Make so many of the possible edits, or say why not."""
    chosen = choose(possible, count, seed)
    if len(chosen) < count:
        reason = "fewer places than edits" if possible else "the rule finds nothing to change"
        return Skip(reason=reason, variant=kind, details={"possible": len(possible), "edits": count})
    messages, edits = apply(original.messages, chosen, kind)
    if not messages or call_faults(messages) - call_faults(original.messages):
        return Skip(reason="the calls would no longer be well-formed", variant=kind)
    details: dict[str, Json] = {"by": "rules", "rule": kind, "possible": len(possible), "seed": seed}
    return Draft(
        variant=kind,
        strength=float(len(edits)),
        fields=original.field(messages),
        expectation=expectation,
        details={**details, **described(edits), "messages": len(original.messages)},
    )
