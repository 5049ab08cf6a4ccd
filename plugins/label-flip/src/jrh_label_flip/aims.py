"""Choose for each item which text to rewrite and what a reliable judge should then say."""

from __future__ import annotations

from typing import Final

from attrs import frozen
from jrh import Equals, Expectation, Item, JrhError, Mode, NotAbove, Scale, Skip, Task
from jrh.values import option_field
from jrh_authoring import WrittenBy

from jrh_label_flip.options import BY_RULES, FALSE_STATEMENTS, NEVER_BETTER, Damage, Error, LabelFlipOptions

_TWO: Final = 2
NO_GOLD: Final = Skip(reason="the item has no gold label")


@frozen(kw_only=True)
class Aim:
    """The rewrite planned for one item."""

    field: str
    """The field that is rewritten."""
    expectation: Expectation
    wanted: str
    """The label that the result should earn, in words for the model."""
    other: str | None = None
    """The field with the other response of a pair."""
    worsens: bool = True
    """Whether errors lead to the aim; if not, the response must become right."""


@frozen(kw_only=True)
class Aims:
    """Decides the aim for an item and which errors lead there."""

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
            JrhError: A label is not on the scale, or the scale needs a target that is missing or unreachable.
        """
        _check(options, task, by)
        scale = task.scale
        # The worse response stays the worse one after any error, which is all that rules can promise.
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
        """Return the default kinds of error, for suites that name none."""
        if self.by is WrittenBy.MODEL:
            return (Error.FLIP,)
        return tuple(error for error in BY_RULES if not self._unfit(error))

    def aim(self, item: Item, error: Error) -> Aim | Skip:
        """Return the aim for an item, or a skip that says why the error proves nothing."""
        # A model reads the aim and can reach it by any error; a rule does not read the text.
        unfit = self.by is WrittenBy.RULES and self._unfit(error)
        if unfit:
            return Skip(reason=unfit, variant=error.value)
        if self.mode is Mode.PAIRWISE:
            return self._of_pair(item)
        return self._of_level(item, error) if self.scale.ordered else self._of_label(item, error)

    def _unfit(self, error: Error) -> str:
        """Return why rule-made errors prove nothing on this scale; empty if they do."""
        if self.mode is Mode.PAIRWISE:
            return "" if error in NEVER_BETTER else "this error could improve the other response of the pair"
        if self.scale.ordered or self.target is not None or error in FALSE_STATEMENTS:
            return ""
        return "this error does not make a right response wrong"

    def _of_label(self, item: Item, error: Error) -> Aim | Skip:
        if item.gold is None:
            return NO_GOLD
        # Of two labels the other one; of more, `_check` has required a target.
        target = self.target or next(
            label for label in self.scale.labels if (label == self.positive) != (item.gold == self.positive)
        )
        # An error cannot bring about a label that is there already.
        if item.gold == target:
            return Skip(reason="the response already has the target label")
        if error is not Error.FLIP and item.gold != self.positive:
            return Skip(reason="the response is wrong already; an error cannot make it right")
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
                # A poor response may be wrong or badly ordered, so a change could improve it.
                return Skip(reason="gold level too low for an edit to be clearly an error")
        # How much an error lowers the level is a matter of the rubric, so that only the direction is claimed.
        return Aim(field="response", expectation=NotAbove(), wanted="a clearly lower level")

    def _of_pair(self, item: Item) -> Aim | Skip:
        if item.gold is None:
            return NO_GOLD
        if len(self.scale.options) > _TWO:
            return self._of_several(item.gold)
        first, second = self.scale.options
        if item.gold == self.scale.tie:
            # The responses are tied: an error in either makes the other one win.
            return Aim(field="response_b", expectation=Equals(label=first), wanted=first, other="response_a")
        worse = second if item.gold == first else first
        loser = item.gold if self.damage is Damage.PREFERRED else worse
        winner = worse if loser == item.gold else item.gold
        fields = {first: "response_a", second: "response_b"}
        return Aim(field=fields[loser], expectation=Equals(label=winner), wanted=winner, other=fields[winner])

    def _of_several(self, gold: str) -> Aim | Skip:
        """Return the aim among three options or more: another response gets worse, and the best one stays the best."""
        if self.damage is Damage.PREFERRED or gold == self.scale.tie:
            return Skip(reason="with three responses or more it is unclear which one would win")
        gold_place = self.scale.options.index(gold)
        # Any other response would do; the next one is the same in every run.
        loser = (gold_place + 1) % len(self.scale.options)
        return Aim(
            field=option_field(loser), expectation=Equals(label=gold), wanted=gold, other=option_field(gold_place)
        )


def _check(options: LabelFlipOptions, task: Task, by: WrittenBy) -> None:
    if task.mode is Mode.PAIRWISE:
        _check_pairs(options, by)
        return
    scale = task.scale
    # The suite may also have a task on an ordinal scale, where `positive` has no meaning.
    positive = None if scale.ordered else options.positive
    for name, label in (("positive", positive), ("target", options.target)):
        if label is not None and label not in scale:
            raise JrhError(f"label-flip: `{name}: {label}` is not on the scale {', '.join(scale.labels)}")
    if scale.ordered and by is WrittenBy.RULES and options.target is not None:
        raise JrhError("label-flip: rules cannot reach a level; name a `model`, or leave `target` out")
    if not scale.ordered and len(scale.labels) > _TWO and options.target is None:
        raise JrhError(
            f"label-flip: the scale has {len(scale.labels)} labels; set `target` to the one the rewritten "
            f"response should get: {', '.join(scale.labels)}"
        )


def _check_pairs(options: LabelFlipOptions, by: WrittenBy) -> None:
    if options.target is not None:
        raise JrhError("label-flip: pairwise tasks take no `target`; leave it out")
    if by is WrittenBy.RULES and options.damage is Damage.PREFERRED:
        raise JrhError(
            "label-flip: rules cannot ensure that an error makes the better response the worse one; "
            "name a `model` for `damage: preferred`, or leave `damage` out"
        )
