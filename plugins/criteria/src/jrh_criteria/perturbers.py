"""Perturbers: the criteria of a call in other orders and numbers; other texts of criteria, rubrics and responses."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Generic, TypeVar

from attrs import evolve, frozen
from jrh import (
    BuildContext,
    Changes,
    Draft,
    Equals,
    Expectation,
    Item,
    Json,
    NotAbove,
    NotBelow,
    Polarity,
    Same,
    Skip,
    Task,
)
from jrh.hashing import shuffled
from jrh.values import CRITERION_FIELD, TOGETHER_FIELD, Criterion, criteria_of_call

from jrh_criteria.mode import together_text
from jrh_criteria.options import (
    FillerOptions,
    HaloOptions,
    NegatedOptions,
    OrderOptions,
    PerCallOptions,
    RubricOptions,
    WordingOptions,
)

NO_CRITERIA: Final = Skip(reason="the task has no criteria; set `mode: criteria`")
Options = TypeVar("Options")


def item_criterion(item: Item) -> tuple[str, str]:
    """Return id and text of the item's criterion; empty without one."""
    field = item.fields.get(CRITERION_FIELD)
    return (str(field["id"]), str(field["text"])) if item.criterion and isinstance(field, Mapping) else ("", "")


def call_of(item: Item) -> dict[str, str]:
    """Return id -> text of all criteria of the item's call, in order; also where it is the only one."""
    name, text = item_criterion(item)
    return dict(criteria_of_call(item.fields)) or {name: text}


def rubric_of(item: Item, task: Task) -> tuple[Criterion, ...]:
    """Return all criteria of the item's response."""
    if item.criterion is None or task.criteria is None:
        return ()
    return task.criteria.entries or item.criterion.others or (item.criterion.criterion,)


def call_fields(item: Item, call: Mapping[str, str]) -> dict[str, Json]:
    """Return the fields that ask these criteria in one call, for the verdict on that of the item."""
    name, _ = item_criterion(item)
    fields: dict[str, Json] = {CRITERION_FIELD: {"id": name, "text": call[name]}}
    if len(call) > 1:
        fields[TOGETHER_FIELD] = together_text(call.items())
    # An empty text hides the list of the item, whose fields a draft inherits.
    elif TOGETHER_FIELD in item.fields:
        fields[TOGETHER_FIELD] = ""
    return fields


def poles(task: Task) -> tuple[str, str] | None:
    """Return the labels for met and not met; None where there are more, or levels."""
    apart = task.criteria.not_applicable if task.criteria else ""
    labels = [label for label in task.scale.labels if label != apart]
    if task.scale.ordered or len(labels) != 2:  # noqa: PLR2004 - met and not met
        return None
    # The label that the scale declares counts as met, wherever it is listed.
    met = task.scale.positive_label or labels[0]
    return met, next(label for label in labels if label != met)


@frozen
class CriteriaPerturber(ABC, Generic[Options]):
    """Perturb items that have a criterion; tasks without criteria are skipped."""

    options: Options
    context: BuildContext

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:
        """Return the outcomes for an item, or why it has none."""
        return list(self.outcomes(item)) if item.criterion else [NO_CRITERIA]

    @abstractmethod
    def outcomes(self, item: Item) -> Iterable[Draft | Skip]:
        """Return the outcomes for an item with a criterion, in order."""


NO_EVIDENCE: Final = "no criterion of the response has its evidence in the text"
SHARED: Final = "the criterion's own evidence overlaps the text to cut"
ALREADY: Final = "the criterion is already unmet"
NOT_TEXT: Final = "the judged field is not text"


class Halo(CriteriaPerturber[HaloOptions]):
    """Cut the evidence of one criterion out of each response, chosen by the seed."""

    def outcomes(self, item: Item) -> Iterable[Draft | Skip]:
        """Return the response without the evidence: `own` for the criterion it belongs to, `others` for the rest."""
        (name,) = self.context.task.judged_fields[:1]
        text = item.fields.get(name)
        if not isinstance(text, str):
            return [Skip(reason=NOT_TEXT)]
        rubric = rubric_of(item, self.context.task)
        quotes = {criterion.id: quote for criterion in rubric if (quote := self._quote(item, criterion.id, text))}
        if not quotes:
            return [Skip(reason=NO_EVIDENCE)]
        ids = sorted(quotes)
        # The id of the item is that of the response here, so all its criteria lose the same evidence.
        cut = ids[self.context.seed(item.id) % len(ids)]
        return [self._draft(item, name, text, cut, quotes)]

    def _draft(self, item: Item, name: str, text: str, cut: str, found: dict[str, str]) -> Draft | Skip:
        criterion, _ = item_criterion(item)
        variant = "own" if criterion == cut else "others"
        expectation = self._own_verdict(item) if criterion == cut else Same()
        if isinstance(expectation, Skip):
            return expectation
        # A space, so that the words around the gap do not become one.
        shorter = text.replace(found[cut], " ")
        # Its own evidence is cut as well, so a changed verdict would be no halo.
        if criterion != cut and criterion in found and found[criterion] not in shorter:
            return Skip(reason=SHARED, variant=variant)
        return Draft(
            variant=variant,
            fields={name: shorter},
            expectation=expectation,
            repeats=self.options.repeats,
            details={"cut": cut},
        )

    def _own_verdict(self, item: Item) -> Expectation | Skip | None:
        two = poles(self.context.task)
        # Without two opposite labels and a gold label, it is not known what cutting the evidence does.
        if two is None or item.gold is None:
            return None
        return Equals(label=two[1]) if item.gold == two[0] else Skip(reason=ALREADY, variant="own")

    def _quote(self, item: Item, criterion: str, text: str) -> str:
        column = self.options.evidence.replace("{id}", criterion)
        quote = item.metadata.get(column, item.fields.get(column))
        return quote if isinstance(quote, str) and quote.strip() and quote in text else ""


INVERTED: Final = "The opposite of the following is asked for, and what it asks for is a fault: {text}"
NO_RUBRIC: Final = "the task has no rubric"
NO_OTHER: Final = "there is no other rubric; name one with `other`"


@frozen
class RubricMatters:
    """Show an inverted rubric, an empty one, or that of another task."""

    options: RubricOptions
    context: BuildContext

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:
        """Return a draft for every variant."""
        if item.criterion is None and not self.context.task.rubric.strip():
            return [Skip(reason=NO_RUBRIC)]
        return [self._draft(item, variant) for variant in self.options.variants]

    def _draft(self, item: Item, variant: str) -> Draft | Skip:
        shown = self._of_criteria(item, variant) if item.criterion else self._of_task(variant)
        if shown is None:
            return Skip(reason=NO_OTHER, variant=variant)
        return evolve(shown, variant=variant, expectation=Changes(), repeats=self.options.repeats)

    def _of_task(self, variant: str) -> Draft | None:
        """Return the draft of a task with one rubric."""
        if variant == "other":
            text = self.options.other.content if self.options.other else None
        else:
            text = "" if variant == "empty" else INVERTED.format(text=self.context.task.rubric)
        return None if text is None else Draft(task=evolve(self.context.task, rubric=text))

    def _of_criteria(self, item: Item, variant: str) -> Draft | None:
        call = call_of(item)
        texts = self._others(item, call) if variant == "other" else {}
        if variant == "other" and not texts:
            return None
        if variant != "other":
            template = "" if variant == "empty" else INVERTED
            texts = {name: template.format(text=text) for name, text in call.items()}
        return Draft(fields=call_fields(item, texts))

    def _others(self, item: Item, call: Mapping[str, str]) -> Mapping[str, str]:
        """Return the text of another criterion for each one of the call: the named one, or the next of the rubric."""
        if self.options.other is not None:
            return dict.fromkeys(call, self.options.other.content)
        rubric = rubric_of(item, self.context.task)
        following = {criterion.id: rubric[(place + 1) % len(rubric)].text for place, criterion in enumerate(rubric)}
        # A lone criterion has no other to be exchanged with.
        return {} if len(rubric) == 1 else {name: following[name] for name in call}


NEGATED: Final = "It is not the case that the following holds: {text}"
NOT_TWO: Final = "only a criterion that is met or not met can be negated"


class OtherWording(CriteriaPerturber[WordingOptions]):
    """Add a sentence to every criterion of the call that makes it stricter, or more lenient."""

    def outcomes(self, item: Item) -> Iterable[Draft | Skip]:
        """Yield the stricter wording and the more lenient one."""
        for variant, text in (("strict", self.options.strict.content), ("lenient", self.options.lenient.content)):
            if text.strip():
                call = {name: f"{old.rstrip()} {text.strip()}" for name, old in call_of(item).items()}
                yield Draft(
                    variant=variant,
                    fields=call_fields(item, call),
                    expectation=self._expectation(item, variant),
                    repeats=self.options.repeats,
                )

    def _expectation(self, item: Item, variant: str) -> Expectation | None:
        """Say what a reliable judge does: levels go one way, and what is not met stays so if asked more strictly.

        Of labels without an order nothing is expected where a doubt may decide.
        """
        # Of levels, a stricter wording can only lower a verdict, whatever the gold label is.
        if self.context.task.scale.ordered:
            return NotAbove() if variant == "strict" else NotBelow()
        two = poles(self.context.task)
        settled = two is not None and item.gold == two[1 if variant == "strict" else 0]
        return Same() if settled else None


class Negated(CriteriaPerturber[NegatedOptions]):
    """Negate the item's criterion, and no other of the call; the opposite label then means the same."""

    def outcomes(self, item: Item) -> Iterable[Draft | Skip]:
        """Return the negated criterion."""
        two = poles(self.context.task)
        if two is None:
            return [Skip(reason=NOT_TWO)]
        criterion, text = item_criterion(item)
        met, unmet = two
        return [
            Draft(
                variant="negated",
                fields=call_fields(item, {**call_of(item), criterion: NEGATED.format(text=text)}),
                # Criteria that do not apply do not apply when negated either, so their label maps to itself.
                label_map={**self.context.task.scale.identity_map(), met: unmet, unmet: met},
                polarity=Polarity.INVERTED,
                repeats=self.options.repeats,
            )
        ]


ALONE: Final = "one criterion in the call has no order"
AS_IT_IS: Final = "the task asks so many per call already"
SAME_ID: Final = "a criterion of the rubric has the id of the irrelevant one"
EXTRA: Final = "irrelevant"
"""Id of the criterion that is added."""


class OtherOrder(CriteriaPerturber[OrderOptions]):
    """Show the criteria of a call in another order, the same for all criteria of a response."""

    def outcomes(self, item: Item) -> Iterable[Draft | Skip]:
        """Return the reversed order and the random ones."""
        call = list(call_of(item).items())
        if len(call) == 1:
            return [Skip(reason=ALONE)]
        orders = {"reversed": call[::-1]}
        for number in range(1, self.options.shuffles + 1):
            # The id is that of the response, so that all criteria of a call see one order.
            orders[f"shuffled-{number}"] = shuffled(call, self.context.seed(item.id, number))
        return [
            Draft(variant=name, fields=call_fields(item, dict(order)), repeats=self.options.repeats)
            for name, order in orders.items()
        ]


class OtherSize(CriteriaPerturber[PerCallOptions]):
    """Ask more or fewer criteria in one call."""

    def outcomes(self, item: Item) -> Iterable[Draft | Skip]:
        """Return a draft for every size that is not the task's."""
        return [self._outcome(item, size) for size in self.options.sizes]

    def _outcome(self, item: Item, size: int | str) -> Draft | Skip:
        criterion, _ = item_criterion(item)
        rubric = [(entry.id, entry.text) for entry in rubric_of(item, self.context.task)]
        length = len(rubric) if size == "all" else int(size)
        place = [name for name, _ in rubric].index(criterion)
        # Divided as the task's own calls are: from the start of the rubric, without overlap.
        call = dict(rubric[place - place % length :][:length])
        variant = "all-per-call" if size == "all" else f"{size}-per-call"
        if call == call_of(item):
            return Skip(reason=AS_IT_IS, variant=variant)
        return Draft(variant=variant, fields=call_fields(item, call), repeats=self.options.repeats)


class Filler(CriteriaPerturber[FillerOptions]):
    """Add a criterion that does not matter to the call."""

    def outcomes(self, item: Item) -> Iterable[Draft | Skip]:
        """Return the call with the criterion first, and with it last."""
        call, extra = call_of(item), {EXTRA: self.options.text.content}
        if EXTRA in call:
            return [Skip(reason=SAME_ID)]
        return [
            Draft(variant=name, fields=call_fields(item, fields), repeats=self.options.repeats)
            for name, fields in (("first", extra | call), ("last", call | extra))
        ]
