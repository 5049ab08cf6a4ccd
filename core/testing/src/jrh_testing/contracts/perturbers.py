"""Test the contracts of what makes drafts, and of what decides about them: perturbers and validators."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar, TypeAlias

from attrs import evolve
from jrh import Draft, Equals, Item, NotAbove, NotBelow, PerturberSpec, Scope, Skip, Task, Validation, ValidatorSpec
from jrh.plugins.specs import Spec

from jrh_testing.contracts.base import ComponentContract, assert_countable, assert_json
from jrh_testing.samples import ODD_TEXTS, with_text

Result: TypeAlias = tuple[Item, Draft | Skip]


class PerturberContract(ComponentContract):
    """Contract tests for every perturber, item-wise or over the whole set."""

    role: ClassVar[type[Spec]] = PerturberSpec
    also_changes: ClassVar[tuple[str, ...]] = ()
    """Fields other than the judged ones that this family changes by design, such as `request` for translations."""

    def perturb(self, base: Path, task: Task, items: Sequence[Item]) -> list[Result]:
        """Build the perturber and give it the items, in this order and all at once."""
        perturber = self.build_component(base, task)

        async def work() -> list[Result]:
            # A set-wise perturber sees all items at once and says itself which draft belongs to which item.
            if self.spec.scope is Scope.SET:
                return list(await perturber.perturb_set(items))
            results = await asyncio.gather(*(perturber.perturb(item) for item in items))
            return [(item, result) for item, outcomes in zip(items, results, strict=True) for result in outcomes]

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
            # Items are shared by all tests of a run: one that is changed in place changes what the next one sees.
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
            # Without a map the labels mean themselves.
            mapped = presented.identity_map() if draft.label_map is None else draft.label_map
            assert set(mapped) == set(presented.labels), (
                f"the label map has {', '.join(mapped)}; presented are {', '.join(presented.labels)}"
            )
            strange = [label for label in mapped.values() if label not in task.scale]
            assert not strange, f"the label map leads to {', '.join(strange)}, which the task does not have"

    def test_expectations_fit_the_scale(self, base: Path) -> None:
        """If this fails: expect a canonical label of the task's scale; 'above' and 'below' need an ordinal one."""
        for task, _, draft in self.drafts(base):
            expected, scale = draft.expectation, task.scale
            if isinstance(expected, Equals):
                labels = ", ".join(scale.labels)
                assert expected.label in scale, f"a draft expects '{expected.label}', which is not one of {labels}"
            if isinstance(expected, NotAbove | NotBelow):
                # Above and below have no meaning among labels without order.
                assert scale.ordered, f"a draft expects {type(expected).__name__} on a scale without order"

    def test_every_draft_is_asked_at_least_once(self, base: Path) -> None:
        """If this fails: `repeats` is less than 1; a draft that is not to be asked is a `Skip`."""
        for _, item, draft in self.drafts(base):
            assert draft.repeats >= 1, f"a draft of '{item.id}' has repeats={draft.repeats}"

    def test_no_draft_comes_twice(self, base: Path) -> None:
        """If this fails: two equal drafts are one case; use `repeats`, or tell them apart by `variant`."""
        for task, results in self.results(base):
            for item in self.items_of(task):
                drafts = [result for owner, result in results if owner.id == item.id and isinstance(result, Draft)]
                # Ids are hashes of content: equal drafts would be one case, and its second answer a rerun.
                twice = [draft.variant for place, draft in enumerate(drafts) if draft in drafts[:place]]
                assert not twice, f"'{item.id}' gets the same draft twice: variant '{', '.join(twice)}'"

    def test_skips_can_be_counted(self, base: Path) -> None:
        """If this fails: reasons are counted by text; put what belongs to one item into `details`."""
        for _, results in self.results(base):
            for item, result in results:
                if isinstance(result, Skip):
                    assert_countable(result.reason, item)
                    assert_json(result.details, f"details of a skip of '{item.id}'")


class ValidatorContract(ComponentContract):
    """Contract tests for every validator; provide drafts it accepts and drafts it rejects."""

    role: ClassVar[type[Spec]] = ValidatorSpec
    accepted: ClassVar[tuple[tuple[Item, Draft], ...]] = ()
    """Pairs of item and draft that it has to accept."""
    rejected: ClassVar[tuple[tuple[Item, Draft], ...]] = ()
    """Pairs of item and draft that it has to reject."""

    def validate(self, base: Path, drafts: Sequence[tuple[Item, Draft]]) -> list[Validation]:
        """Build the validator and let it decide about the drafts."""
        validator = self.build_component(base)

        async def work() -> list[Validation]:
            if self.spec.scope is Scope.SET:
                return list(await validator.validate_set(drafts))
            return list(await asyncio.gather(*(validator.validate(item, draft) for item, draft in drafts)))

        return asyncio.run(work())

    @property
    def examples(self) -> tuple[tuple[Item, Draft], ...]:
        """Return all the drafts the contract was given."""
        return (*self.accepted, *self.rejected)

    def test_it_accepts_and_rejects(self, base: Path) -> None:
        """If this fails: it decides wrongly, or one kind of draft is lacking: set `accepted` and `rejected`."""
        assert self.accepted, "give at least one draft that is accepted"
        assert self.rejected, "give at least one draft that is rejected; a validator that rejects nothing is none"
        decisions = [validation.accepted for validation in self.validate(base, self.examples)]
        assert decisions == [True] * len(self.accepted) + [False] * len(self.rejected), (
            f"in order, accepted first, it decides {decisions}"
        )

    def test_the_same_drafts_are_decided_the_same(self, base: Path) -> None:
        """If this fails: something draws without `context.seed(...)` or keeps state."""
        assert self.validate(base, self.examples) == self.validate(base, self.examples), "a second decision differs"

    def test_the_order_of_drafts_does_not_matter(self, base: Path) -> None:
        """If this fails: one draft's decision leaks into the next one's, or a set is answered in another order."""
        forward = self.validate(base, self.examples)
        backward = self.validate(base, tuple(reversed(self.examples)))
        assert backward == forward[::-1], "the drafts are decided otherwise in another order"

    def test_rejections_can_be_counted(self, base: Path) -> None:
        """If this fails: a rejection needs a short reason without item content; the rest belongs into `details`."""
        for (item, _), validation in zip(self.examples, self.validate(base, self.examples), strict=True):
            assert_json(validation.details, f"details of the validation of '{item.id}'")
            if not validation.accepted:
                assert_countable(validation.reason, item)

    def test_labels_are_on_the_scale(self, base: Path) -> None:
        """If this fails: a validator that judges gives a canonical label of the task, or None."""
        scale = self.tasks()[0].scale
        for validation in self.validate(base, self.examples):
            assert validation.label is None or validation.label in scale, f"label {validation.label!r}"

    def test_odd_texts_are_decided(self, base: Path) -> None:
        """If this fails: an unusual but real text makes it raise; accept or reject it instead."""
        mode = self.tasks()[0].mode
        item = self.items_of(self.tasks()[0])[0]
        fields = [with_text(item, mode, text) for text in ODD_TEXTS]
        drafts = [
            (item, Draft(variant=str(place), fields={name: values[name] for name in mode.judged_fields}))
            for place, values in enumerate(fields)
        ]
        assert len(self.validate(base, drafts)) == len(drafts), "there is not one validation per draft"
