"""Test the contract of every validator."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from jrh.plugins.specs import Scope, Spec, ValidatorSpec
from jrh.values.cases import Draft, Validation
from jrh.values.items import Item

from jrh_testing.contracts.base import ComponentContract
from jrh_testing.contracts.content import assert_countable, assert_json
from jrh_testing.samples import ODD_TEXTS, with_text


class ValidatorContract(ComponentContract):
    """Contract tests for every validator; provide drafts it accepts and drafts it rejects."""

    role: ClassVar[type[Spec]] = ValidatorSpec
    accepted: ClassVar[tuple[tuple[Item, Draft], ...]] = ()
    """Pairs of item and draft that it has to accept."""
    rejected: ClassVar[tuple[tuple[Item, Draft], ...]] = ()
    """Pairs of item and draft that it has to reject."""

    def validate(self, base: Path, drafts: Sequence[tuple[Item, Draft]]) -> list[Validation]:
        """Build the validator and let it decide about the drafts."""
        validator = self.built(base)

        async def work() -> list[Validation]:
            if self.spec.scope is Scope.SET:
                return list(await validator.validate_set(drafts))
            return list(await asyncio.gather(*(validator.validate(item, draft) for item, draft in drafts)))

        return asyncio.run(work())

    @property
    def known(self) -> tuple[tuple[Item, Draft], ...]:
        """Return all the drafts the contract was given."""
        return (*self.accepted, *self.rejected)

    def test_it_accepts_and_rejects(self, base: Path) -> None:
        """If this fails: it decides wrongly, or one kind of draft is lacking: set `accepted` and `rejected`."""
        assert self.accepted, "give at least one draft that is accepted"
        assert self.rejected, "give at least one draft that is rejected; a validator that rejects nothing is none"
        decisions = [validation.accepted for validation in self.validate(base, self.known)]
        assert decisions == [True] * len(self.accepted) + [False] * len(self.rejected), (
            f"in order, accepted first, it decides {decisions}"
        )

    def test_the_same_drafts_are_decided_the_same(self, base: Path) -> None:
        """If this fails: something draws without `context.seed(...)` or keeps state."""
        assert self.validate(base, self.known) == self.validate(base, self.known), "a second decision differs"

    def test_the_order_of_drafts_does_not_matter(self, base: Path) -> None:
        """If this fails: one draft's decision leaks into the next one's, or a set is answered in another order."""
        forward = self.validate(base, self.known)
        backward = self.validate(base, tuple(reversed(self.known)))
        assert backward == forward[::-1], "the drafts are decided otherwise in another order"

    def test_rejections_can_be_counted(self, base: Path) -> None:
        """If this fails: a rejection needs a short reason without item content; the rest belongs into `details`."""
        for (item, _), validation in zip(self.known, self.validate(base, self.known), strict=True):
            assert_json(validation.details, f"details of the validation of '{item.id}'")
            if not validation.accepted:
                assert_countable(validation.reason, item)

    def test_labels_are_on_the_scale(self, base: Path) -> None:
        """If this fails: a validator that judges gives a canonical label of the task, or None."""
        scale = self.tasks()[0].scale
        for validation in self.validate(base, self.known):
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
