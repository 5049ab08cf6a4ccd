"""Who works in which browser."""

from __future__ import annotations

from attrs import define, field
from starlette.requests import Request


@define
class People:
    """The people at work, as named at start; each in an own browser."""

    names: tuple[str, ...]
    _chosen: dict[str, str] = field(factory=dict, init=False, repr=False)
    """Session -> person."""

    def name(self, request: Request) -> str:
        """Return who works in this browser; empty where that is not chosen yet."""
        if len(self.names) == 1:
            return self.names[0]
        return self._chosen.get(request.scope["session"].key, "")

    def choose(self, request: Request, name: str) -> bool:
        """Note who works in this browser, once: who could change it would see what the other did."""
        key = request.scope["session"].key
        if name not in self.names or self._chosen.get(key, name) != name:
            return False
        self._chosen[key] = name
        return True
