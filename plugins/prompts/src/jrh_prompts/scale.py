"""The perturber `scale`: the same question on another scale, mapped back to the task's levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import floor

from attrs import evolve, frozen
from jrh import BuildContext, Draft, Item, JrhError, Polarity, Same, Scale, ScaleKind, Skip, Task

from jrh_prompts.options import ScaleOptions, ScaleVariant

NO_ORDER = "the task's scale has no order"
ROUNDING = "to the nearest level, halves up"
SAME_SCALE = "the scale is the task's own"


@frozen(kw_only=True)
class OtherScale:
    """Another scale, as shown to the judge."""

    scale: Scale
    label_map: Mapping[str, str]
    """Presented label -> the task's level."""
    sentence: str
    """The sentence added to the instruction."""
    polarity: Polarity = Polarity.POSITIVE
    rounding: str = ""
    """How several presented labels map to one level; empty for a one-to-one map."""


@frozen(kw_only=True)
class ScalePerturber:
    """Ask about every item on the other scales; expect the reference verdict, after mapping to the task's levels."""

    options: ScaleOptions
    task: Task
    scales: Mapping[str, OtherScale | str]
    """Name -> the scale, or the reason why the task is skipped."""

    @classmethod
    def build(cls, options: ScaleOptions, context: BuildContext) -> ScalePerturber:
        """Work out the scales for a task; raise `JrhError` if a variant does not fit the task's scale."""
        task = context.task
        scales = {name: other_scale(name, variant, task.scale) for name, variant in options.variants.items()}
        return cls(options=options, task=task, scales=scales)

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:  # noqa: ARG002 - the same for all items
        """Return one draft per scale, in the order of the options."""
        return [self._outcome(name, other) for name, other in self.scales.items()]

    def _outcome(self, name: str, other: OtherScale | str) -> Draft | Skip:
        if isinstance(other, str):
            return Skip(reason=other, variant=name)
        task = self.task
        instruction = f"{task.instruction}\n\n{other.sentence}".strip()
        return Draft(
            variant=name,
            task=evolve(task, scale=other.scale, instruction=instruction),
            label_map=other.label_map,
            polarity=other.polarity,
            expectation=Same(),
            repeats=self.options.repeats,
            details={"rounding": other.rounding} if other.rounding else {},
        )


def other_scale(name: str, variant: ScaleVariant, scale: Scale) -> OtherScale | str:
    """Return the other scale, or the reason why it does not apply to the task's scale.

    Raises:
        JrhError: the range has fewer levels than the scale, or the number of labels differs from the scale's.
    """
    # New labels suit any scale; ranges and reversal need an order.
    if variant.labels:
        return _label_scale(name, variant.labels, scale)
    if scale.kind is not ScaleKind.ORDINAL:
        return NO_ORDER
    if variant.reversed:
        return _reverse_scale(scale)
    assert variant.range is not None
    return _range_scale(name, variant.range, scale)


def rescale(place: int, places: int, levels: int) -> int:
    """Map a 0-based position on a longer scale to a 0-based level of the task's scale.

    level = place * (levels - 1) / (places - 1), to the nearest whole number, halves up; exact arithmetic.
    """
    # Fractions, because halves are common here: floats could round 2.5 to either side.
    return floor(Fraction(place * (levels - 1), places - 1) + Fraction(1, 2))


def _range_scale(name: str, ends: tuple[int, int], scale: Scale) -> OtherScale | str:
    low, high = ends
    presented = Scale.of_levels(low, high)
    # The test would compare the task with itself.
    if presented.labels == scale.labels:
        return SAME_SCALE
    # Two of the task's levels would share one presented label.
    if len(presented.labels) < len(scale.labels):
        raise JrhError(
            f"scale: variant '{name}' has {len(presented.labels)} levels, fewer than the task's {len(scale.labels)}: "
            "the verdict could not be mapped back. Use a range with at least as many levels"
        )
    places, levels = len(presented.labels), len(scale.labels)
    mapped = {label: scale.labels[rescale(place, places, levels)] for place, label in enumerate(presented.labels)}
    sentence = (
        f"Give your answer on a scale from {low} to {high}: {low} stands for level {scale.labels[0]} and {high} for "
        f"level {scale.labels[-1]}, the others evenly between."
    )
    return OtherScale(
        scale=presented, label_map=mapped, sentence=sentence, rounding=ROUNDING if places > levels else ""
    )


def _reverse_scale(scale: Scale) -> OtherScale:
    mapped = scale.swap_map()
    sentence = f"Give your answer on the reversed scale: {_label_list(mapped)}."
    return OtherScale(scale=scale, label_map=mapped, sentence=sentence, polarity=Polarity.INVERTED)


def _label_scale(name: str, labels: tuple[str, ...], scale: Scale) -> OtherScale | str:
    if labels == scale.labels:
        return SAME_SCALE
    if len(labels) != len(scale.labels):
        raise JrhError(
            f"scale: variant '{name}' has {len(labels)} labels, but the task has {len(scale.labels)} "
            f"({', '.join(scale.labels)}); give one for each"
        )
    mapped = dict(zip(labels, scale.labels, strict=True))
    # Pairwise scales list the tie last.
    presented = Scale(kind=scale.kind, labels=labels, tie=labels[-1] if scale.tie is not None else None)
    return OtherScale(scale=presented, label_map=mapped, sentence=f"Answer with other labels: {_label_list(mapped)}.")


def _label_list(mapped: Mapping[str, str]) -> str:
    return ", ".join(f"{label} for {meant}" for label, meant in mapped.items())
