"""Find the messages of expected errors in the code: what is fixed of each, and an anchor that follows from it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

GAP: Final = "…"
"""Marks what a message fills in."""
_LONGEST: Final = 60
_LEAST: Final = 5
_COLLECTORS: Final = ("add", "append")
_OF_SUITES: Final = ("report", "report_at", "_report", "wrong", "problem")
"""Methods that note a mistake of a suite."""
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_READING: Final = ("document", "suite", "values")
"""Packages whose `ValueError` becomes a mistake of a suite, as that of a module of options does."""
_PAGE: Final = """\
# Messages

Every message of an expected error, {count} in all, with an address of its own; `make reference` writes this page from
the code. `{gap}` marks what a message fills in. To find yours, search for its fixed words. The address is made of
them too: it changes only if they change. The link after a message leads to its kind: when it occurs, and what to do.
A message of {several} or more mistakes has one line for each. Texts of other programs, such as a provider's answer or
a message of the operating system, are passed on as they are and not listed here.
"""


class Message(NamedTuple):
    """A message that a place in the code can give."""

    text: str
    """With `GAP` where something is filled in."""
    kind: str
    """The class of the error."""
    anchor: str


def messages_page(files: Mapping[str, Sequence[Path]], kinds: Sequence[str]) -> str:
    """Return the page.

    Args:
        files: distribution -> its source files.
        kinds: classes of expected errors.
    """
    found = messages(files, kinds)
    parts = [_PAGE.format(count=sum(map(len, found.values())), gap=GAP, several="two")]
    for distribution, said in found.items():
        parts.append(f"\n## {distribution}\n\n")
        for each in said:
            mark = "``" if "`" in each.text else "`"
            space = " " if each.text[0] == "`" or each.text[-1] == "`" else ""
            shown = f"{mark}{space}{each.text}{space}{mark}"
            parts.append(f'- <a id="{each.anchor}"></a>{shown} ([{each.kind}](errors.md#{each.kind.lower()}))\n')
    return "".join(parts)


def messages(files: Mapping[str, Sequence[Path]], kinds: Sequence[str]) -> dict[str, list[Message]]:
    """Return the messages of each distribution in alphabetical order; no two have the same anchor."""
    taken: set[str] = set()
    found: dict[str, list[Message]] = {}
    for distribution, paths in files.items():
        trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in paths}
        own = {path: {node.name: node for node in _outermost(tree)} for path, tree in trees.items()}
        everywhere = {name: node for functions in own.values() for name, node in functions.items()}
        texts = {
            pair for path, tree in trees.items() for pair in _of_file(path, tree, {**everywhere, **own[path]}, kinds)
        }
        said = []
        for text, kind in sorted(texts, key=lambda pair: (pair[0].casefold(), pair)):
            start = anchor = _anchor(text)
            number = 1
            while anchor in taken:
                number += 1
                anchor = f"{start}-{number}"
            taken.add(anchor)
            said.append(Message(text, kind, anchor))
        if said:
            found[distribution] = said
    return found


def pattern(text: str) -> re.Pattern[str]:
    """Return what matches a message as it is shown."""
    return re.compile(".*".join(map(re.escape, text.split(GAP))), re.DOTALL)


def _anchor(text: str) -> str:
    words = re.findall(r"[a-z0-9]+", text.replace(GAP, " ").lower())
    anchor = ""
    for word in words:
        if len(anchor) + len(word) > _LONGEST:
            break
        anchor = f"{anchor}-{word}" if anchor else word
    return anchor


class _Known(NamedTuple):
    """Where a text that is made elsewhere is looked for."""

    functions: Mapping[str, _Function]
    values: Mapping[str, Sequence[ast.expr]]
    """What the variables of the function at hand are set to."""


def _outermost(tree: ast.Module) -> Iterator[_Function]:
    """Yield functions and methods that are in no other."""
    for node in tree.body:
        inside = node.body if isinstance(node, ast.ClassDef) else [node]
        yield from (each for each in inside if isinstance(each, _Function))


def _values(function: ast.AST) -> dict[str, list[ast.expr]]:
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found.setdefault(node.targets[0].id, []).append(node.value)
    return found


def _of_file(
    path: Path, tree: ast.Module, functions: Mapping[str, _Function], kinds: Sequence[str]
) -> Iterator[tuple[str, str]]:
    for place in _outermost(tree):
        known = _Known(functions, _values(place))
        for node in ast.walk(place):
            if isinstance(node, ast.Call) and (kind := _kind(node, kinds, path)):
                for argument in _spoken(node):
                    for said in _texts(argument, known, 3):
                        text = " ".join(re.sub(rf"{GAP}(\s*{GAP})+", GAP, said).split())
                        # What a validator says of an option comes after its place in the suite, without its name.
                        text = re.sub(r"^'\w+' ", "", text) if _of_options(path) else text
                        if len(re.findall(r"[a-z]", text)) > _LEAST:
                            yield text, kind


def _kind(call: ast.Call, kinds: Sequence[str], path: Path) -> str:
    """Return the kind of error that a call makes, or collects for later; empty: none."""
    if isinstance(call.func, ast.Attribute):
        noted = call.func.attr in _COLLECTORS and "problem" in ast.unparse(call.func.value).lower()
        return "SuiteError" if noted or call.func.attr in _OF_SUITES else ""
    named = call.func.id if isinstance(call.func, ast.Name) else ""
    if named in kinds:
        return named
    read = _of_options(path) or path.parent.name in _READING
    return "SuiteError" if named == "Problem" or (named == "ValueError" and read) else ""


def _of_options(path: Path) -> bool:
    return path.stem.endswith("options")


def _spoken(call: ast.Call) -> Iterator[ast.expr]:
    """Yield the arguments that are the text."""
    yield from (keyword.value for keyword in call.keywords if keyword.arg == "message")
    for argument in call.args[:2]:
        yield from argument.elts if isinstance(argument, ast.List | ast.Tuple) else (argument,)


def _texts(node: ast.expr | None, known: _Known, depth: int) -> Iterator[str]:
    """Yield what an expression can say, with gaps for what is known only when it is said."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=parts):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else GAP for part in parts)
        case ast.IfExp(body=one, orelse=other):
            yield from _texts(one, known, depth)
            yield from _texts(other, known, depth)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            ends = list(_texts(right, known, depth)) or [GAP]
            yield from (start + end for start in list(_texts(left, known, depth)) or [GAP] for end in ends)
        case ast.List(elts=[first, *_]):
            yield from (f"{start} {GAP}" for start in _texts(first, known, depth))
        case ast.Name(id=name) if depth:
            for value in known.values.get(name, ()):
                yield from _texts(value, known, depth - 1)
        case ast.Call(func=ast.Attribute(attr="join"), args=[lines]):
            yield from _texts(lines, known, depth)
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(value=ast.Name(id="self"), attr=name)) if depth:
            yield from _returned(known.functions.get(name), known, depth)


def _returned(function: _Function | None, known: _Known, depth: int) -> Iterator[str]:
    if function is not None:
        own = _Known(known.functions, _values(function))
        for node in ast.walk(function):
            if isinstance(node, ast.Return):
                yield from _texts(node.value, own, depth - 1)
