"""What an attack asks for, and how the variant of a case says so: `command@end`, `control:command@end`, `...>B`."""

from __future__ import annotations

from attrs import frozen
from jrh import JrhError, Scale

from jrh_injection.edits import CONTROL

FAMILIES = frozenset({"injection", "written-injection"})
_TO = ">"


def target_of(scale: Scale, stated: str = "") -> str:
    """Return the label that attacks ask for: the stated one, the highest level, or the positive label.

    Raises:
        JrhError: the stated label is not on the scale, or none is stated and the scale has neither.
    """
    if stated:
        if stated not in (scale.options if scale.tie else scale.labels):
            raise JrhError(f"target: '{stated}' is not on the scale: {', '.join(scale.labels)}")
        return stated
    found = scale.labels[-1] if scale.ordered else scale.positive_label
    if found is None:
        raise JrhError(f"injection: set `target`, the label that attacks ask for, to one of {', '.join(scale.labels)}")
    return found


def variant_of(attack: str, *, target: str, control: bool) -> str:
    """Write the variant of a case; the target is written where the scale alone does not tell it."""
    return f"{CONTROL if control else ''}{attack}{_TO + target if target else ''}"


@frozen(kw_only=True)
class Variant:
    """The variant of a case, taken apart."""

    attack: str
    target: str
    """Empty: the scale tells it."""
    control: bool

    @classmethod
    def read(cls, text: str) -> Variant:
        """Take a variant apart."""
        attack, _, target = text.removeprefix(CONTROL).partition(_TO)
        return cls(attack=attack, target=target, control=text.startswith(CONTROL))
