"""How the variant of a case says which length and depth it has: `with@8000/0.5`, `without@8000`."""

from __future__ import annotations

import re
from typing import Final

from attrs import frozen

FAMILY: Final = "evidence"
_WITH: Final = re.compile(r"with@(?P<length>[0-9]{1,9})/(?P<depth>[0-9]\.?[0-9]{0,6})")
_WITHOUT: Final = re.compile(r"without@(?P<length>[0-9]{1,9})")


@frozen(kw_only=True)
class Variant:
    """The variant of a case, taken apart."""

    length: int
    """Tokens."""
    depth: float | None
    """None: without the evidence."""

    def __str__(self) -> str:
        """Write it."""
        return f"without@{self.length}" if self.depth is None else f"with@{self.length}/{self.depth:g}"

    @property
    def position(self) -> float:
        """Return where the evidence is, in tokens from the start."""
        return self.length * (self.depth or 0.0)

    @classmethod
    def read(cls, text: str) -> Variant | None:
        """Take a variant apart; None for variants of other tests."""
        match = _WITH.fullmatch(text)
        if match is not None:
            return cls(length=int(match["length"]), depth=float(match["depth"]))
        match = _WITHOUT.fullmatch(text)
        return None if match is None else cls(length=int(match["length"]), depth=None)
