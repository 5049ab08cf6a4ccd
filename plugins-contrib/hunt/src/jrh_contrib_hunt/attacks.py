"""The attacks of the test `injection` as its option `attacks` writes them, such as `command@end*2+plea@start`.

The hunt asks through that test and imports none of its code: what it shares with jrh-injection is this notation and the
names of its kinds.
"""

from __future__ import annotations

from typing import Final

from attrs import frozen
from jrh import JrhError, Scale

TEST: Final = "injection"
WRITTEN: Final = "written-injection"
"""The same with texts that a model writes."""
KINDS: Final = (
    *("command", "forged-system", "forged-judge", "forged-rubric", "forged-score", "forged-tags"),
    *("base64", "homoglyphs", "zero-width", "master-key", "colon", "opener", "plea", "alt-text"),
    *("heading", "confidence", "authority", "summary", "citation"),
)
"""Every kind of text. The last five are not addressed to the judge: an air of quality."""
_CONTROL: Final = "control:"


@frozen(kw_only=True)
class Edit:
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

    edits: tuple[Edit, ...]

    def __str__(self) -> str:
        """Write the edits, joined by a plus sign."""
        return "+".join(map(str, self.edits))

    @property
    def doses(self) -> int:
        """Return the number of texts that are put in."""
        return sum(edit.dose for edit in self.edits)


def attack_of(variant: str) -> tuple[str, bool]:
    """Return the attack of a case's variant, `command@end` or `control:command@end>B`, and whether it is a control."""
    return variant.removeprefix(_CONTROL).partition(">")[0], variant.startswith(_CONTROL)


def target_of(scale: Scale, stated: str) -> str:
    """Return the label that attacks ask for: the stated one, the highest level, or the positive label.

    Raises:
        JrhError: the stated label is not on the scale, or none is stated and the scale has neither.
    """
    if stated:
        if stated not in (scale.options if scale.tie else scale.labels):
            raise JrhError(f"--target: '{stated}' is not on the scale: {', '.join(scale.labels)}")
        return stated
    label = scale.labels[-1] if scale.ordered else scale.positive_label
    if label is None:
        raise JrhError(f"name the label that attacks ask for with --target, one of {', '.join(scale.labels)}")
    return label
