"""What is aimed at with one item: which text is rewritten, and what a reliable judge then says."""

from __future__ import annotations

from typing import Final

from attrs import frozen
from jrh import Equals, Expectation, Item, JrhError, Mode, NotAbove, Scale, Skip, Task
from jrh.authoring import WrittenBy

from jrh_label_flip.options import BY_RULES, FALSE_STATEMENTS, NEVER_BETTER, Damage, Error, LabelFlipOptions

_TWO: Final = 2
NO_GOLD: Final = Skip(reason="the item has no gold label")


@frozen(kw_only=True)
class Aim:
    """The rewriting one item gets."""

    field: str
    """The field that is rewritten."""
    expectation: Expectation
    wanted: str
    """In words for a model: which label the result has to deserve."""
    other: str | None = None
    """The field with the other response of a pair."""
    worsens: bool = True
    """Whether errors lead to the aim; if not, the response has to become right."""


@frozen(kw_only=True)
class Aims:
    """Decides what is aimed at with an item, and which errors lead there."""

    scale: Scale
    mode: Mode
    by: WrittenBy
    positive: str
    target: str | None
    damage: Damage

    @classmethod
    def of(cls, options: LabelFlipOptions, task: Task, by: WrittenBy) -> Aims:
        """Check the options against the task.

        Raises:
            JrhError: a label is not on the scale, or the scale needs a target that is not given or not reachable.
        """
        _check(options, task, by)
        scale = task.scale
        default = Damage.OTHER if by is WrittenBy.RULES else Damage.PREFERRED
        return cls(
            scale=scale,
            mode=task.mode,
            by=by,
            positive=options.positive or scale.labels[0],
            target=options.target,
            damage=options.damage or default,
        )

    def errors(self) -> tuple[Error, ...]:
        """Return the kinds of error that are made if the suite names none."""
        if self.by is WrittenBy.MODEL:
            return (Error.FLIP,)
        return tuple(error for error in BY_RULES if not self._unfit(error))

    def aim(self, item: Item, error: Error) -> Aim | Skip:
        """Return what is aimed at with an item, or why the error cannot lead anywhere."""
        unfit = self.by is WrittenBy.RULES and self._unfit(error)
        if unfit:
            return Skip(reason=unfit, variant=error.value)
        if self.mode is Mode.PAIRWISE:
            return self._of_pair(item)
        return self._of_level(item, error) if self.scale.ordered else self._of_label(item, error)

    def _unfit(self, error: Error) -> str:
        """Say why errors that a rule makes prove nothing on this scale; empty where they do."""
        if self.mode is Mode.PAIRWISE:
            return "" if error in NEVER_BETTER else "this error can make the other response of a pair better"
        if self.scale.ordered or self.target is not None or error in FALSE_STATEMENTS:
            return ""
        return "this error does not make a right response wrong"

    def _of_label(self, item: Item, error: Error) -> Aim | Skip:
        if item.gold is None:
            return NO_GOLD
        target = self.target or next(
            label for label in self.scale.labels if (label == self.positive) != (item.gold == self.positive)
        )
        if item.gold == target:
            return Skip(reason="the response has the target label already")
        if error is not Error.FLIP and item.gold != self.positive:
            return Skip(reason="the response is not right, and an error does not make it so")
        return Aim(field="response", expectation=Equals(label=target), wanted=target, worsens=target != self.positive)

    def _of_level(self, item: Item, error: Error) -> Aim | Skip:
        if self.target is not None:
            if item.gold is None:
                return NO_GOLD
            if self.scale.rank(item.gold) <= self.scale.rank(self.target):
                return Skip(reason="the response is not above the target level")
            return Aim(field="response", expectation=Equals(label=self.target), wanted=self.target)
        if self.by is WrittenBy.RULES and error not in NEVER_BETTER:
            if item.gold is None:
                return NO_GOLD
            if 2 * self.scale.rank(item.gold) < len(self.scale.labels):
                # What a poor response says may be wrong, and its order bad: a change could be an improvement.
                return Skip(reason="the gold level is too low for a change to be an error for certain")
        return Aim(field="response", expectation=NotAbove(), wanted="a clearly lower level")

    def _of_pair(self, item: Item) -> Aim | Skip:
        if item.gold is None:
            return NO_GOLD
        first, second = self.scale.options
        if item.gold == self.scale.tie:
            # Two responses of equal worth: an error in either makes the other one win.
            return Aim(field="response_b", expectation=Equals(label=first), wanted=first, other="response_a")
        worse = second if item.gold == first else first
        loser = item.gold if self.damage is Damage.PREFERRED else worse
        winner = worse if loser == item.gold else item.gold
        fields = {first: "response_a", second: "response_b"}
        return Aim(field=fields[loser], expectation=Equals(label=winner), wanted=winner, other=fields[winner])


def _check(options: LabelFlipOptions, task: Task, by: WrittenBy) -> None:
    if task.mode is Mode.PAIRWISE:
        _check_pairs(options, by)
        return
    scale = task.scale
    # A suite may have a task on an ordinal scale beside this one; `positive` means nothing there.
    positive = None if scale.ordered else options.positive
    for name, label in (("positive", positive), ("target", options.target)):
        if label is not None and label not in scale:
            raise JrhError(f"label-flip: `{name}: {label}` is not on the scale {', '.join(scale.labels)}")
    if scale.ordered and by is WrittenBy.RULES and options.target is not None:
        raise JrhError("label-flip: no rule can reach a level; name a `model`, or leave `target` out")
    if not scale.ordered and len(scale.labels) > _TWO and options.target is None:
        raise JrhError(
            f"label-flip: the scale has {len(scale.labels)} labels; say with `target` which one the rewritten "
            f"response has to get: {', '.join(scale.labels)}"
        )


def _check_pairs(options: LabelFlipOptions, by: WrittenBy) -> None:
    if options.target is not None:
        raise JrhError("label-flip: a pair has no other target than the other response; leave `target` out")
    if by is WrittenBy.RULES and options.damage is Damage.PREFERRED:
        raise JrhError(
            "label-flip: no rule can tell that an error makes the better response the worse one; "
            "name a `model` for `damage: preferred`, or leave `damage` out"
        )
