"""Define the three tests by rules, offline; what a rule cannot prove becomes a skip."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from attrs import evolve, frozen
from jrh import Draft, Expectation, Item, Json, Same, Skip, Task

from jrh_agentic import aims
from jrh_agentic.aims import Aim, Labels
from jrh_agentic.messages import Original, call_faults, describe_edits, tool_names
from jrh_agentic.options import STATEMENTS, PerturbationOptions, Style, Violation
from jrh_agentic.rules import statements, style
from jrh_agentic.rules.possible import Possible, apply, choose
from jrh_agentic.rules.statements import asks_for_agreement, forbids_invention, required_tools

if TYPE_CHECKING:
    # Edits by rules never load the pipeline.
    from jrh_agentic.pipeline import Pipeline


Outcomes: TypeAlias = Iterable[Aim | Draft | Skip]
"""What comes of an item, in order; an aim is for models to reach."""


def keep(aim: Aim) -> Draft:
    """Return the transcript as it is, where it is what is wanted already."""
    return Draft(
        variant=aim.variant, expectation=aim.expectation, details={"by": "rules", "rule": "untouched", "edits": []}
    )


@frozen(kw_only=True)
class TranscriptPerturber:
    """Transcripts as a test wants them: found by rules, or edited by models towards aims."""

    outcomes: Callable[[Item, Original], Outcomes]
    """Returns an item's outcomes in order, and aims where models have to edit."""
    pipeline: Pipeline | None = None
    most_aims: int = 1
    """The most aims of one item."""

    def most_calls(self, items: Sequence[Item]) -> Mapping[str, int]:
        """Return the most calls to each model."""
        calls = self.pipeline.most_calls() if self.pipeline else {}
        return {name: most * self.most_aims * len(items) for name, most in calls.items()}

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:
        """Return a draft or a skip for everything that is wanted, in order."""
        original = Original.of(item)
        if isinstance(original, Skip):
            return [original]
        return [await self._edit(item, original, outcome) for outcome in self.outcomes(item, original)]

    async def _edit(self, item: Item, original: Original, outcome: Aim | Draft | Skip) -> Draft | Skip:
        if not isinstance(outcome, Aim):
            return outcome
        assert self.pipeline is not None
        return await self.pipeline.edit(item, original, outcome)


@frozen(kw_only=True)
class Violations:
    """Edits that violate an entry, each kind where the entry asks for what it breaks."""

    task: Task
    labels: Labels
    options: PerturbationOptions
    seed: Callable[..., int]
    """Derives a seed from what it is for."""

    def of(self, item: Item, original: Original) -> Outcomes:
        """Yield a draft or a skip per kind and number of edits, in the order of the options."""
        aim = aims.violation(self.labels, item)
        if isinstance(aim, Skip):
            yield aim
            return
        for kind in self.options.variants:
            possible = self._possible(item, original, kind)
            if isinstance(possible, Skip):
                yield evolve(possible, variant=kind.value)
                continue
            seed = self.seed(item.id, kind.value)
            for count in self.options.edits:
                yield draft(original, possible, count, kind.value, aim.expectation, seed=seed)

    def _possible(self, item: Item, original: Original, kind: Violation) -> list[Possible] | Skip:
        messages = original.messages
        if kind is Violation.MISSING_STEP:
            demanded = self._tools_to_remove(original)
            return demanded if isinstance(demanded, Skip) else statements.remove_steps(messages, demanded)
        if not self._breaks(kind):
            return Skip(reason="the entry does not clearly require statements to agree with tool results")
        if kind is Violation.CONTRADICTED_RESULT:
            return statements.contradict_results(messages)
        if kind is Violation.UNMADE_CALL:
            return statements.claim_calls(messages, self.options.claims)
        return statements.swap_values(messages, self.seed(item.id, "values"), anywhere=self.options.anywhere)

    def _tools_to_remove(self, original: Original) -> tuple[str, ...] | Skip:
        named = self.options.demands.get(self.task.name)
        # Tools that the suite names are required whatever the entry says.
        if named is None and not self._breaks(Violation.MISSING_STEP):
            return Skip(reason="by the suite's settings, this does not violate the entry")
        called = tool_names(original.messages)
        demanded = required_tools(self._entry, original.messages) if named is None else named
        tools = tuple(tool for tool in demanded if tool in called)
        return tools or Skip(reason="the entry does not clearly require a tool that is called")

    def _breaks(self, kind: Violation) -> bool:
        named = self.options.breaks.get(self.task.name)
        if named is not None:
            return kind in named
        # A result that no tool returned agrees with none.
        invented = kind is Violation.UNMADE_CALL and forbids_invention(self._entry)
        return kind not in STATEMENTS or invented or asks_for_agreement(self._entry)

    @property
    def _entry(self) -> str:
        return self.task.rubric or self.task.instruction


def reach_levels(item: Item, _original: Original, *, levels: Sequence[str], by_model: bool) -> Outcomes:
    """Yield the transcript as it is for its gold level, the one level a rule can reach; aim at every other."""
    for aim in map(aims.level, levels):
        otherwise = aim if by_model else Skip(reason="rules cannot reach a level", variant=aim.variant)
        yield keep(aim) if aim.label == item.gold else otherwise


def keep_good(item: Item, _original: Original, *, labels: Labels, by_model: bool) -> Outcomes:
    """Return the transcript as it is where its gold label says that it satisfies the entry; else aim at a repair."""
    if item.gold == labels.satisfies:
        return [keep(aims.good(labels))]
    if by_model:
        return [aims.repair(labels)]
    return [Skip(reason="rules cannot repair a transcript" if item.gold else "the item has no gold label")]


def restyle(item: Item, original: Original, kinds: Sequence[Style], seed: Callable[..., int]) -> Outcomes:
    """Yield a draft or a skip per kind of change that does not change the meaning, in order."""
    for kind in kinds:
        possible = style.possible(original.messages, kind)
        # All of them at once: no number of changes without a meaning may matter.
        count = max(1, len(possible))
        yield draft(original, possible, count, kind.value, Same(), seed=seed(item.id, kind.value))


def draft(
    original: Original, possible: Sequence[Possible], count: int, kind: str, expectation: Expectation, *, seed: int
) -> Draft | Skip:
    """Make so many of the possible edits, or say why not."""
    chosen = choose(possible, count, seed)
    if len(chosen) < count:
        reason = "fewer places than edits" if possible else "the rule finds nothing to change"
        return Skip(reason=reason, variant=kind, details={"possible": len(possible), "edits": count})
    messages, edits = apply(original.messages, chosen, kind)
    # Only new faults count: a log whose calls are broken already may still be edited.
    if not messages or call_faults(messages) - call_faults(original.messages):
        return Skip(reason="the calls would no longer be well-formed", variant=kind)
    details: dict[str, Json] = {"by": "rules", "rule": kind, "possible": len(possible), "seed": seed}
    return Draft(
        variant=kind,
        strength=float(len(edits)),
        fields=original.field(messages),
        expectation=expectation,
        details={**details, **describe_edits(edits), "messages": len(original.messages)},
    )
