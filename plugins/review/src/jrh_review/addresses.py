"""Make the addresses of pages: whatever a name holds, it stays a value in one place of the address."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote, urlencode


class Address(str):
    """An address made here: every character in it is plain ASCII, and it is shown as it is."""

    __slots__ = ()


def address(*steps: str, query: Mapping[str, str] | None = None, part: str = "") -> Address:
    """Return the address of a page on this server.

    Args:
        steps: of the path, of any text.
        query: names and values; empty values are left out.
        part: the place in the page.
    """
    path = "/" + "/".join(quote(step, safe="", errors="replace") for step in steps)
    filled = {name: value for name, value in (query or {}).items() if value != ""}
    asked = f"?{urlencode(filled, errors='replace')}" if filled else ""
    place = f"#{quote(part, safe='')}" if part else ""
    return Address(f"{path}{asked}{place}")
