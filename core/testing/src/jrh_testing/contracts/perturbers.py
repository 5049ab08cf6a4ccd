"""Test the contract of every perturber."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar, TypeAlias

from attrs import evolve
from jrh.plugins.specs import PerturberSpec, Scope, Spec
from jrh.values.cases import Draft, Equals, NotAbove, NotBelow, Skip
from jrh.values.items import Item, Task
from jrh.values.scales import Scale

from jrh_testing.contracts.base import ComponentContract
from jrh_testing.contracts.content import assert_countable, assert_json
from jrh_testing.samples import ODD_TEXTS, with_text

Result: TypeAlias = tuple[Item, Draft | Skip]


class PerturberContract(ComponentContract):
    """Contract tests for every perturber, item-wise or over the whole set."""

    role: ClassVar[type[Spec]] = PerturberSpec
    also_changes: ClassVar[tuple[str, ...]] = ()
    """Fields beside the judged ones that this family changes by design, such as `request` for translations."""

    def perturb(self, base: Path, task: Task, items: Sequence[Item]) -> list[Result]:
        """Build the perturber and give it the items, in this order and all at once."""
        perturber = self.built(base, task)

        async def work() -> list[Result]:
            if self.spec.scope is Scope.SET:
                return list(await perturber.perturb_set(items))
            results = await asyncio.gather(*(perturber.perturb(item) for item in items))
            return [(item, result) for item, found in zip(items, results, strict=True) for result in found]

        return asyncio.run(work())

    def results(self, base: Path) -> Iterator[tuple[Task, list[Result]]]:
        """Yield the results for every task to test with."""
        for task in self.tasks():
            yield task, self.perturb(base, task, self.items_of(task))

    def drafts(self, base: Path) -> Iterator[tuple[Task, Item, Draft]]:
        """Yield the drafts for every task to test with."""
        for task, results in self.results(base):
            for item, result in results:
                if isinstance(result, Draft):
                    yield task, item, result

    def test_it_drafts_something_for_every_mode(self, base: Path) -> None:
        """If this fails: nothing is drafted, so nothing else is tested; declare the modes it treats, or set `items`."""
        for task, results in self.results(base):
            drafts = [result for _, result in results if isinstance(result, Draft)]
            assert drafts, f"no draft for any item of a {task.mode.value} task"

    def test_results_are_drafts_and_skips_of_the_items(self, base: Path) -> None:
        """If this fails: return `Draft` and `Skip`, and from a set only for the items that were given."""
        for task, results in self.results(base):
            ids = {item.id for item in self.items_of(task)}
            for item, result in results:
                assert isinstance(result, Draft | Skip), f"a result is {type(result).__name__}"
                assert item.id in ids, f"a result belongs to '{item.id}', which was not given"

    def test_same_items_give_same_drafts(self, base: Path) -> None:
        """If this fails: something draws without `context.seed(...)`, or a set decides an order."""
        for task, results in self.results(base):
            assert self.perturb(base, task, self.items_of(task)) == results, "the same items give other drafts"

    def test_the_order_of_items_does_not_matter(self, base: Path) -> None:
        """If this fails: state is shared between items; derive each seed from the item's id."""
        for task, results in self.results(base):
            turned = self.perturb(base, task, tuple(reversed(self.items_of(task))))
            for item in self.items_of(task):
                before = [result for owner, result in results if owner.id == item.id]
                after = [result for owner, result in turned if owner.id == item.id]
                assert after == before, f"'{item.id}' gets other drafts when the items come in another order"

    def test_odd_texts_are_treated_or_skipped(self, base: Path) -> None:
        """If this fails: an unusual but real text makes it raise; return a `Skip` for what it cannot treat."""
        for task in self.tasks():
            item = self.items_of(task)[0]
            odd = [
                evolve(item, id=f"odd-{place}", fields=with_text(item, task.mode, text))
                for place, text in enumerate(ODD_TEXTS)
            ]
            for _, result in self.perturb(base, task, odd):
                assert isinstance(result, Draft | Skip), f"a result is {type(result).__name__}"

    def test_items_are_left_as_they_are(self, base: Path) -> None:
        """If this fails: a nested value, such as a transcript's message, is changed in place; copy it."""
        for task in self.tasks():
            items = self.items_of(task)
            before = copy.deepcopy(items)
            self.perturb(base, task, items)
            assert items == before, "an item was changed in place"

    def test_drafts_change_only_what_is_judged(self, base: Path) -> None:
        """If this fails: a draft sets other fields than the judged ones; where that is meant, say `also_changes`."""
        for task, item, draft in self.drafts(base):
            allowed = {*task.mode.judged_fields, *self.also_changes}
            other = [name for name in draft.fields if name not in allowed]
            assert not other, f"a draft of '{item.id}' changes {', '.join(other)}"

    def test_drafts_can_be_stored(self, base: Path) -> None:
        """If this fails: fields or details hold something that is not JSON."""
        for _, item, draft in self.drafts(base):
            assert_json(draft.fields, f"fields of a draft of '{item.id}'")
            assert_json(draft.details, f"details of a draft of '{item.id}'")

    def test_every_presented_label_has_a_meaning(self, base: Path) -> None:
        """If this fails: the label map has to map every label of the scale as presented to one of the task's scale."""
        for task, _, draft in self.drafts(base):
            presented = (draft.task or task).scale
            mapped = presented.identity_map() if draft.label_map is None else draft.label_map
            assert set(mapped) == set(presented.labels), (
                f"the label map has {', '.join(mapped)}; presented are {', '.join(presented.labels)}"
            )
            strange = [label for label in mapped.values() if label not in task.scale]
            assert not strange, f"the label map leads to {', '.join(strange)}, which the task does not have"

    def test_expectations_fit_the_scale(self, base: Path) -> None:
        """If this fails: expect a canonical label of the task's scale; 'above' and 'below' need an ordinal one."""
        for task, _, draft in self.drafts(base):
            _assert_expectation_fits(draft, task.scale)

    def test_every_draft_is_asked_at_least_once(self, base: Path) -> None:
        """If this fails: `repeats` is less than 1; a draft that is not to be asked is a `Skip`."""
        for _, item, draft in self.drafts(base):
            assert draft.repeats >= 1, f"a draft of '{item.id}' has repeats={draft.repeats}"

    def test_no_draft_comes_twice(self, base: Path) -> None:
        """If this fails: two equal drafts are one case; use `repeats`, or tell them apart by `variant`."""
        for task, results in self.results(base):
            for item in self.items_of(task):
                own = [result for owner, result in results if owner.id == item.id and isinstance(result, Draft)]
                twice = [draft.variant for place, draft in enumerate(own) if draft in own[:place]]
                assert not twice, f"'{item.id}' gets the same draft twice: variant '{', '.join(twice)}'"

    def test_skips_can_be_counted(self, base: Path) -> None:
        """If this fails: reasons are counted by text; put what belongs to one item into `details`."""
        for _, results in self.results(base):
            for item, result in results:
                if isinstance(result, Skip):
                    assert_countable(result.reason, item)
                    assert_json(result.details, f"details of a skip of '{item.id}'")


def _assert_expectation_fits(draft: Draft, scale: Scale) -> None:
    if isinstance(draft.expectation, Equals):
        label = draft.expectation.label
        assert label in scale, f"a draft expects '{label}', which is not one of {', '.join(scale.labels)}"
    if isinstance(draft.expectation, NotAbove | NotBelow):
        assert scale.ordered, f"a draft expects {type(draft.expectation).__name__} on a scale without order"
