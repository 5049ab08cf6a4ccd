"""Who may come in: a one-time token opens a session, a cookie holds it, a second token guards its forms."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Final

from attrs import define, field, frozen

BYTES: Final = 32
"""Random bytes of a token: guessing is not a way in, so wrong guesses need no counting."""


def _token() -> str:
    return secrets.token_urlsafe(BYTES)


@frozen(kw_only=True)
class Session:
    """One browser that came in by a one-time token."""

    key: str = field(factory=_token, repr=False)
    """Value of the cookie; never part of a page."""
    csrf: str = field(factory=_token, repr=False)
    """What every form and every saving script has to send back."""


@define
class Sessions:
    """The open sessions, and the one token that opens the next."""

    announce: Callable[[str], None]
    """Called with the next one-time token whenever the last one is used up: the terminal is the only place that shows
    one."""
    _open: list[Session] = field(factory=list, init=False, repr=False)
    _token: str = field(factory=_token, init=False, repr=False)

    @property
    def token(self) -> str:
        """Return the token that opens the next session."""
        return self._token

    def enter(self, token: str) -> Session | None:
        """Exchange the one-time token for a session; None where it is wrong or was used."""
        if not _equal(token, self._token):
            return None
        self._token = _token()
        session = Session()
        self._open.append(session)
        self.announce(self._token)
        return session

    def find(self, key: str) -> Session | None:
        """Return the session of a cookie. All keys are compared, so that time tells nothing."""
        found = [session for session in self._open if _equal(key, session.key)]
        return found[0] if found else None


def may_write(session: Session, csrf: str) -> bool:
    """Tell whether a form carries its session's token."""
    return _equal(csrf, session.csrf)


def _equal(one: str, other: str) -> bool:
    return secrets.compare_digest(one.encode("utf-8", "surrogatepass"), other.encode("utf-8", "surrogatepass"))
