"""Cases: what each draft becomes, the id that its content gives it, and the tables of cases and drafts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from attrs import Factory, evolve, frozen

from jrh.document.convert import unstructure
from jrh.hashing import content_id
from jrh.running.building import Builder
from jrh.running.identity import identity
from jrh.running.schedule import AskedCase
from jrh.running.stages.assembly import Line, Outcome
from jrh.running.stages.chain import JOINT
from jrh.running.stages.drafts import PLUGIN_ERROR
from jrh.store.cases_table import KEPT, REJECTED, SKIPPED, DraftRow
from jrh.store.cases_table import items_id as all_items_id
from jrh.store.run_store import Store
from jrh.store.temporary import Spool, spool_values
from jrh.suite.resolved import ResolvedTest
from jrh.values.cases import REFERENCE, Case, Condition, Draft, Equals, Provenance, Same, Sampling, Skip
from jrh.values.items import Item, Task

UNCHANGED: Final = "jrh: the question is unchanged; the reference condition asks it already"
"""Reason why a draft is rejected among others that change something."""


@frozen(kw_only=True)
class Perturbed:
    """What one test made of one task's items."""

    cases: Sequence[Case]
    outcomes: tuple[Outcome, ...]
    unchanged: Mapping[int, str] = Factory(dict)
    """Place of an outcome -> its case, which asks the reference question."""

    def drop_unchanged(self) -> Perturbed:
        """Reject the cases that ask the reference question: one of the test's changes something.

        A test that changes nothing at all is about reruns. Any other would count the reference question as its own.
        """
        if not self.unchanged:
            return self
        outcomes = list(self.outcomes)
        for place in self.unchanged:
            outcomes[place] = (*outcomes[place][:2], UNCHANGED)
        dropped = frozenset(self.unchanged.values())
        return Perturbed(cases=tuple(case for case in self.cases if case.id not in dropped), outcomes=tuple(outcomes))

    @property
    def plugin_raised(self) -> bool:
        """Tell whether a plugin raised, so that cases are missing that a mended one would make."""
        return any(PLUGIN_ERROR in reason_of(draft, rejection) for _, draft, rejection in self.outcomes)


def reference_cases(task: Task, items: Iterable[Item], repeats: int) -> Sequence[Case]:
    """Put every item under the unperturbed condition; many cases wait in a temporary file."""
    return spool_values(Case, (_reference_case(task, item, repeats) for item in items))


def _reference_case(task: Task, item: Item, repeats: int) -> Case:
    right = Equals(label=item.gold) if item.gold is not None else None
    return _case(task, REFERENCE, item, Draft(expectation=right, repeats=repeats), Condition(), Provenance())


def build_cases(lines: Sequence[Line], test: ResolvedTest, task: Task, seed: int) -> Perturbed:
    """Make the cases of the drafts that were kept; equal ones count once."""
    outcomes: list[Outcome] = []
    cases: dict[str, Case] = {}
    unchanged: dict[int, str] = {}
    for line in lines:
        item, draft, rejection = line.outcome
        if isinstance(draft, Draft) and not rejection:
            case = _case_of_draft(test, task, line, seed)
            # A case's id has that of its item, so an equal one is in the same slice.
            rejection = "" if cases.setdefault(case.id, case) is case else "jrh: the same case again"
            if not rejection and isinstance(draft.expectation, Same) and not _changes(item, draft, task):
                unchanged[len(outcomes)] = case.id
        outcomes.append((item, draft, rejection))
    return Perturbed(cases=tuple(cases.values()), outcomes=tuple(outcomes), unchanged=unchanged)


def _changes(item: Item, draft: Draft, task: Task) -> bool:
    """Tell whether a draft asks another question than the reference condition does."""
    renamed = any(presented != meant for presented, meant in (draft.label_map or {}).items())
    texts = any(name not in item.fields or item.fields[name] != value for name, value in draft.fields.items())
    otherwise = draft.prompt is not None or draft.sampling != Sampling() or draft.task not in (None, task)
    return texts or renamed or otherwise


def _case_of_draft(test: ResolvedTest, task: Task, line: Line, run_seed: int) -> Case:
    draft = line.draft
    assert isinstance(draft, Draft)
    # A chain is a condition of its own: the families and versions of all its steps.
    entries = [step.component.entry for step in test.steps]
    condition = Condition(
        family=JOINT.join(entry.spec.name for entry in entries),
        variant=draft.variant,
        template=draft.prompt.name if draft.prompt else "",
        option_order=draft.option_order,
        polarity=draft.polarity,
        strength=draft.strength,
        language=draft.prompt.language if draft.prompt else "",
        output=draft.output,
    )
    provenance = Provenance(
        component=" + ".join(entry.qualified for entry in entries),
        version=" + ".join(entry.version for entry in entries),
        model=draft.model,
        seed=run_seed,
        details=draft.details,
    )
    if test.use.repeats is not None:
        draft = evolve(draft, repeats=test.use.repeats)
    return _case(task, test.use.name, line.item, draft, condition, provenance)


def _case(task: Task, test: str, item: Item, draft: Draft, condition: Condition, provenance: Provenance) -> Case:
    fields = {**item.fields, **draft.fields}
    case = Case(
        id="",
        task=task.name,
        test=test,
        item_id=item.id,
        condition=condition,
        fields=fields,
        prompt=draft.prompt,
        presented_task=draft.task if task.criteria is None else (draft.task or task).presented(fields),
        expectation=draft.expectation,
        label_map=dict(draft.label_map) if draft.label_map is not None else task.scale.identity_map(),
        sampling=draft.sampling,
        repeats=draft.repeats,
        vary_seed=draft.vary_seed,
        gold=item.gold,
        stratum=item.stratum,
        group=item.group or item.id,
        provenance=provenance,
    )
    return assign_id(task, case)


def assign_id(task: Task, case: Case) -> Case:
    """Return a case with the id that its content gives it."""
    # The id is that of a case without one.
    if case.id:
        case = evolve(case, id="")
    return evolve(case, id=content_id(_task_id(task), unstructure(case)))


@lru_cache(maxsize=64)
def _task_id(task: Task) -> str:
    # Which label counts as positive is for the measures: declaring it later must not ask the judges again.
    # The same holds for the weights of criteria, whose texts are in the cases.
    plain = unstructure(evolve(task, scale=evolve(task.scale, positive="")))
    assert isinstance(plain, dict)
    return content_id({name: part for name, part in plain.items() if name != "criteria"})


def reason_of(draft: Draft | Skip, rejection: str) -> str:
    """Return why there is no case of a draft; empty where there is one."""
    return draft.reason if isinstance(draft, Skip) else rejection


def stage_digest(builder: Builder, test: ResolvedTest | None, task: Task, items_id: str) -> str:
    """Return the id of everything the cases depend on; without a test, of the reference condition."""
    suite = builder.resolved.suite
    made_by: list[Any] = [suite.reference_repeats]
    if test is not None:
        made_by = [
            [identity(part, builder.resolved) for part in test.components],
            [use.on_mismatch.value for use in (test.use, *test.use.steps)],
            test.use.repeats,
            unstructure(test.use.sample),
        ]
        # Only where it is set: without it a digest, and so every stored case, stays what it was.
        if test.use.ids:
            made_by.append(sorted(test.use.ids))
        if _sees_more(builder, test, task):
            made_by.append(all_items_id(builder.data(task)))
    return content_id(suite.seed, unstructure(task), items_id, made_by)


def _sees_more(builder: Builder, test: ResolvedTest, task: Task) -> bool:
    """Tell whether a perturber of the test sees items that the task's or the test's sample leaves out."""
    use = next(use for use in builder.resolved.suite.tasks if use.task.name == task.name)
    left_out = use.data.sample is not None or builder.resolved.limit is not None
    return left_out and any(step.component.entry.spec.whole_data for step in test.steps)


class Writing:
    """Writes the cases and drafts of one test over one task as they are made."""

    def __init__(self, store: Store, task: Task, test: str, *, planned: bool = False) -> None:
        """Begin. What an earlier run made stays until `finish`; `planned` keeps what a plan needs of new cases."""
        self._writing = store.cases.writing(task.name, test)
        self._task = task
        self.new = Spool(AskedCase) if planned else None
        """The cases as a plan sees them, where it is made meanwhile."""
        self._changes = False
        self.plugin_raised = False
        """A plugin raised, so that cases are missing that a mended one would make."""

    def put(self, made: Perturbed) -> None:
        """Write a slice."""
        if not self._changes and len(made.unchanged) < len(made.cases):
            # So far every case asked the reference question.
            self._changes = True
            self._writing.reject_all(UNCHANGED)
            if self.new is not None:
                self.new.clear()
        result = made.drop_unchanged() if self._changes else made
        self._writing.put(result.cases, draft_rows(result))
        if self.new is not None:
            self.new.add(AskedCase.of(case, self._task) for case in result.cases)
        self.plugin_raised = self.plugin_raised or made.plugin_raised

    def show(self, digest: str) -> None:
        """Let readers see what is made so far, under an id that no finished test has."""
        self._writing.show(digest)

    def finish(self, digest: str) -> None:
        """Replace what an earlier run made, and note what the cases were made from."""
        self._writing.finish(digest)


def draft_rows(made: Perturbed) -> list[DraftRow]:
    """Return what became of every draft, in order."""
    # Cases come in the order of the drafts that were kept.
    cases = iter(made.cases)
    rows = []
    for item, draft, rejection in made.outcomes:
        state = SKIPPED if isinstance(draft, Skip) else REJECTED if rejection else KEPT
        case_id = next(cases).id if state == KEPT else None
        reason = reason_of(draft, rejection)
        rows.append(DraftRow(item_id=item.id, draft=draft, state=state, reason=reason, case_id=case_id))
    return rows
