"""Check the links of a built site without a network: every page, picture and heading that a page leads to is there.

    python tools/check_links.py [DIRECTORY]

Both forms of the site are checked: HTML with its anchors, and the Markdown next to it, from `llms.txt` on.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Final
from urllib.parse import unquote

ROOT: Final = Path(__file__).resolve().parents[1]
_FENCED: Final = re.compile(r"^( *)(```+|~~~+).*?^\1\2", re.DOTALL | re.MULTILINE)
_LINK: Final = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what leads nowhere; return 1 if anything does."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    site = Path(given[0]) if given else ROOT / "build" / "site"
    if not (site / "index.html").is_file():
        print(f"{site} holds no site; run `make docs`", file=sys.stderr)
        return 2
    found = list(broken(site))
    for page, target in found:
        print(f"{page}: {target} leads nowhere", file=sys.stderr)
    return 1 if found else 0


def broken(site: Path) -> Iterator[tuple[str, str]]:
    """Yield page and target of every link within the site that leads nowhere."""
    for page in sorted([*site.rglob("*.html"), *site.rglob("*.md"), site / "llms.txt"]):
        for target in _targets(page):
            if not re.match(r"[a-z][a-z+.-]*:|//", target) and not _there(page, target):
                yield page.relative_to(site).as_posix(), target


def _there(page: Path, target: str) -> bool:
    path, _, anchor = unquote(target).partition("#")
    path = path.partition("?")[0]
    place = (page.parent / path).resolve() if path else page
    if place.is_dir():
        place /= "index.html"
    if not place.is_file():
        return False
    return not anchor or place.suffix != ".html" or anchor in _read(place).anchors


def _targets(page: Path) -> Iterator[str]:
    if page.suffix == ".html":
        yield from _read(page).targets
        return
    text = re.sub(r"`[^`\n]*`", "", _FENCED.sub("", page.read_text(encoding="utf-8")))
    yield from (found[1] for found in _LINK.finditer(text))


class _Page(HTMLParser):
    """Collects the anchors and the targets of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.targets: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.anchors.update(value for name in ("id", "name") if (value := values.get(name)))
        target = values.get("src") if tag in ("img", "script") else values.get("href") if tag in ("a", "link") else None
        if target and target != "#":
            self.targets.append(target)


@cache
def _read(page: Path) -> _Page:
    found = _Page()
    found.feed(page.read_text(encoding="utf-8"))
    return found


if __name__ == "__main__":
    sys.exit(main())
