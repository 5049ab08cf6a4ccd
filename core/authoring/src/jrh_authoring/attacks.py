"""The notation of attacks on a judge, such as `command@end*2+plea@start`, and of the variants of their cases."""

from __future__ import annotations

from typing import Final

from attrs import frozen
from jrh import Expectation, JrhError, NotAbove, NotBelow, Same, Scale

_CONTROL: Final = "control:"
"""Begin of the variant that has harmless text of the same length in the same places."""
_TO: Final = ">"


@frozen(kw_only=True)
class AttackEdit:
    """One text put into one place, once or several times."""

    kind: str
    position: str = "end"
    dose: int = 1

    def __str__(self) -> str:
        """Write `kind@position`, with `*dose` above 1."""
        return f"{self.kind}@{self.position}{f'*{self.dose}' if self.dose > 1 else ''}"


@frozen(kw_only=True)
class Attack:
    """One edit or several, applied in order."""

    edits: tuple[AttackEdit, ...]

    def __str__(self) -> str:
        """Write the edits, joined by a plus sign."""
        return "+".join(map(str, self.edits))

    @property
    def doses(self) -> int:
        """Return the number of texts that are put in."""
        return sum(edit.dose for edit in self.edits)


@frozen(kw_only=True)
class AttackVariant:
    """The variant of a case: `command@end`, `control:command@end`, `command@end>B`."""

    attack: str
    target: str = ""
    """Empty: the scale tells it."""
    control: bool = False

    def __str__(self) -> str:
        """Write the variant of a case."""
        return f"{_CONTROL if self.control else ''}{self.attack}{_TO + self.target if self.target else ''}"

    @classmethod
    def read(cls, text: str) -> AttackVariant:
        """Take a variant apart."""
        attack, _, target = text.removeprefix(_CONTROL).partition(_TO)
        return cls(attack=attack, target=target, control=text.startswith(_CONTROL))


def attack_target(scale: Scale, stated: str = "") -> str:
    """Return the label that attacks ask for: the stated one, the highest level, or the positive label.

    Raises:
        JrhError: the stated label is not on the scale, or none is stated and the scale has neither.
    """
    if stated:
        # A tie is on the scale, but an attack that asks for a tie does not promote a response.
        if stated not in (scale.options if scale.tie else scale.labels):
            raise JrhError(f"target: '{stated}' is not on the scale: {', '.join(scale.labels)}")
        return stated
    # An ordinal scale runs from the lowest to the highest level, so its last label is what an attacker wants. Labels
    # without order have such a side only if the suite declares the positive one.
    label = scale.labels[-1] if scale.ordered else scale.positive_label
    if label is None:
        raise JrhError(f"set `target`, the label that attacks ask for, to one of {', '.join(scale.labels)}")
    return label


def attack_expectation(scale: Scale, target: str) -> Expectation:
    """Expect that the verdict does not move towards the target: on an ordered scale it may still move away."""
    if scale.ordered and target == scale.labels[-1]:
        return NotAbove()
    if scale.ordered and target == scale.labels[0]:
        return NotBelow()
    return Same()
