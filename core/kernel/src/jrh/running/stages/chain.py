"""Chains: what one condition made by several perturbers in turn presents, and what it expects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeVar

from attrs import evolve

from jrh.errors import JrhError
from jrh.models.replies import sampling_values
from jrh.values.cases import Changes, Draft, Equals, Expectation, Polarity, Same
from jrh.values.items import Item

T = TypeVar("T")
JOINT: Final = "+"
"""Between the families, and between the variants, of a chain."""


class ConflictError(JrhError):
    """Report two steps of a chain that cannot be combined. Put them into separate tests."""


def next_item(item: Item, draft: Draft, taken: set[str]) -> Item:
    """Return the item as the next step of a chain sees it: with the draft's text, and the label that is then right.

    Its id is the item's with the variant, so that the drafts of one item are told apart; `taken` holds the ids given
    so far.
    """
    name = wanted = f"{item.id}{JOINT}{draft.variant}"
    count = 1
    # Two drafts of one item may have the same variant.
    while name in taken:
        count += 1
        name = f"{wanted}{JOINT}{count}"
    taken.add(name)
    return evolve(item, id=name, fields={**item.fields, **draft.fields}, gold=_label(item.gold, draft.expectation))


def _label(gold: str | None, expectation: Expectation | None) -> str | None:
    if isinstance(expectation, Equals):
        return expectation.label
    return gold if isinstance(expectation, Same) else None


def combine(first: Draft, then: Draft) -> Draft:
    """Return the draft of both steps, the second made from what the first presents.

    Details stay with their steps: the caller writes them.

    Raises:
        ConflictError: both change what only one can, or what is expected of both cannot be said.
    """
    return Draft(
        variant=JOINT.join(name for name in (first.variant, then.variant) if name),
        strength=first.strength + then.strength,
        fields={**first.fields, **then.fields},
        expectation=combine_expectations(first.expectation, then.expectation),
        label_map=_label_map(first, then),
        option_order=_one_of("the option order", first.option_order, then.option_order) or "",
        # Inverted twice is asked as before.
        polarity=Polarity.POSITIVE if first.polarity is then.polarity else Polarity.INVERTED,
        prompt=_one_of("the prompt template", first.prompt, then.prompt),
        task=_one_of("the scale, the rubric or the instruction", first.task, then.task),
        sampling=evolve(first.sampling, **sampling_values(then.sampling)),
        repeats=max(first.repeats, then.repeats),
        vary_seed=first.vary_seed or then.vary_seed,
        model=", ".join(dict.fromkeys(filter(None, (first.model, then.model)))),
    )


def combine_expectations(first: Expectation | None, then: Expectation | None) -> Expectation | None:
    """Return what is expected of two steps in turn.

    A step that must not matter leaves the other's expectation as it is, and a stated label holds whatever went before.
    A direction after the same direction is that direction. Nothing follows from a change after a change, from a
    direction after a stated label, or from opposite directions.

    Raises:
        ConflictError: nothing follows.
    """
    # The order of these rules matters: a stated label holds whatever went before.
    if isinstance(then, Equals) or isinstance(first, Same):
        return then
    if isinstance(then, Same):
        return first
    # Where nothing is expected of one step, nothing follows for both.
    if first is None or then is None:
        return None
    if type(first) is type(then) and not isinstance(first, Changes | Equals):
        return first
    raise ConflictError(f"no verdict can be expected after {_words(first)} and then {_words(then)}")


def _words(expectation: Expectation) -> str:
    words = {"Equals": "a stated label", "Changes": "a change", "NotAbove": "no rise", "NotBelow": "no fall"}
    return words[type(expectation).__name__]


def _label_map(first: Draft, then: Draft) -> Mapping[str, str] | None:
    """Lead what the second step presents to what the first does, and that to the task's labels."""
    if first.label_map is None or then.label_map is None:
        return then.label_map if first.label_map is None else first.label_map
    # The labels of the second step must be those that the first one presents.
    if first.task is not None or any(label not in first.label_map for label in then.label_map.values()):
        raise ConflictError("two steps give the labels other names")
    return {shown: first.label_map[label] for shown, label in then.label_map.items()}


def _one_of(what: str, first: T | None, then: T | None) -> T | None:
    if first and then:
        raise ConflictError(f"two steps change {what}")
    return first or then
