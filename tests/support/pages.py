"""Reads a written page without a browser."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser

from attrs import Factory, define

_VOID = frozenset({"meta", "link", "br", "hr", "img", "input"})


@define
class Node:
    """An element with what is in it."""

    tag: str
    attributes: dict[str, str] = Factory(dict)
    inside: list[Node | str] = Factory(list)

    @property
    def text(self) -> str:
        """Return all text in the element, white space made single."""
        return " ".join("".join(self._texts()).split())

    def _texts(self) -> Iterator[str]:
        for each in self.inside:
            if isinstance(each, str):
                yield each
            else:
                yield from each._texts()

    def walk(self) -> Iterator[Node]:
        """Yield the element and all elements in it."""
        yield self
        for each in self.inside:
            if isinstance(each, Node):
                yield from each.walk()

    def all(self, tag: str = "", *, kind: str = "", having: str = "") -> list[Node]:
        """Return the elements with a tag, a class and an attribute, each where given."""
        return [
            node
            for node in self.walk()
            if tag in ("", node.tag)
            and (not kind or kind in node.attributes.get("class", "").split())
            and (not having or having in node.attributes)
        ]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Node("document")
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = Node(tag, {name: value or "" for name, value in attrs})
        self.open[-1].inside.append(node)
        if tag not in _VOID:
            self.open.append(node)

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].inside.append(data)


def read_page(text: str) -> Node:
    """Return the page as a tree; every element that is opened has to be closed, in order."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == [reader.root], f"<{reader.open[-1].tag}> is not closed"
    return reader.root


def same_number(written: str, value: float) -> bool:
    """Tell whether a number is written to the digits it has: `0.93`, `<0.01`, `>0.99`, `$1,234.5`, `about 12`."""
    bare = written.replace(",", "").replace("$", "").replace("about ", "").replace("at least ", "").strip()
    bare = bare.removeprefix("p = ").removeprefix("p ")
    if bare.startswith("<"):
        return 0 < value < float(bare[1:])
    if bare.startswith(">"):
        return float(bare[1:]) < value < 1
    if "e" in bare:
        digits = len(bare.partition("e")[0].partition(".")[2])
        return abs(float(bare) / value - 1) <= 10.0**-digits
    digits = len(bare.partition(".")[2])
    return abs(float(bare) - value) <= 0.5 * 10.0**-digits + 1e-12
