"""Build the site: the pages of the repository, and a reference that is generated from code, schema and commands.

    python tools/pages.py [--output DIRECTORY]

Every page is also written as Markdown, and `llms.txt` lists them. Warnings are errors.
"""

from __future__ import annotations

import argparse
import json
import posixpath
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

import click
from check_links import broken
from plain_reference import package_page
from reference import PURPOSE, companions, public_names

ROOT: Final = Path(__file__).resolve().parents[1]
PLACES: Final = (
    "*.md",
    "docs/*.md",
    "docs/guides/*.md",
    "docs/skill/*.md",
    "docs/decisions/*.md",
    "core/*/README.md",
    "plugins/*/README.md",
    "plugins-contrib/*/README.md",
)
ELSEWHERE: Final = ("CODE_OF_CONDUCT.md",)
_LINK: Final = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
_FENCED: Final = re.compile(r"(```.*?```)", re.DOTALL)
_HEADING: Final = re.compile(r"^(#+) +(.+)$", re.MULTILINE)
TREE: Final = "```{{toctree}}\n:caption: {}\n:maxdepth: 1\n:hidden:\n\n{}\n```\n"
INDEX: Final = "docs/index.md"
"""The documentation's own index: its first part is the front page, its headings are the parts of the site."""
TOGETHER: Final = {
    "docs/data.md": ("Data", ("docs/data.md", "docs/shipped-data.md")),
    "docs/decisions.md": ("Decision records", ("docs/decisions/*.md",)),
    "docs/errors.md": ("Errors and messages", ("docs/errors.md", "docs/messages.md")),
    "docs/guides/hundred-labels.md": (
        "A hundred labels, and low agreement",
        ("docs/guides/hundred-labels.md", "docs/guides/low-agreement.md"),
    ),
    "docs/guides/retired-judge.md": (
        "A retired judge, and a quarterly audit",
        ("docs/guides/retired-judge.md", "docs/guides/quarterly-audit.md"),
    ),
    "docs/project.md": (
        "Maturity, benchmarks, releases",
        ("docs/maturity.md", "docs/benchmarks.md", "docs/release.md"),
    ),
    "docs/scale.md": ("Large runs", ("docs/guides/big-runs.md", "docs/scale.md")),
    "core/libraries.md": ("Libraries", ("core/*/README.md",)),
}
"""Pages of the site that several files of the repository make up: title and files, in this order."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Put the sources together, build the site, and return the exit code."""
    parser = argparse.ArgumentParser(prog="pages.py", description="Build the site.")
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "site", help="where the pages go")
    output: Path = parser.parse_args(arguments).output
    source = output.with_name(f"{output.name}-source")
    for directory in (source, output):
        shutil.rmtree(directory, ignore_errors=True)
    index = (ROOT / INDEX).read_text(encoding="utf-8")
    files = [path.relative_to(ROOT).as_posix() for place in PLACES for path in sorted(ROOT.glob(place))]
    files = [name for name in files if name not in ELSEWHERE]
    site = Site(files, TOGETHER | plugin_pages(index))
    pages = list(site.write(source))
    reference = list(generated(source))
    front = site.rewrite(index.partition("\n## ")[0], INDEX, "index.md")
    (source / "index.md").write_text("\n".join([front, *trees(index, site, pages, reference)]), encoding="utf-8")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-j", "2", "-b", "html"]
    done = subprocess.run([*command, "-c", str(ROOT / "docs" / "site"), str(source), str(output)], check=False)
    if done.returncode:
        return 1
    as_markdown(output, files, reference)
    site.forward(output)
    missing = [f"{name} is not in the index" for name in unreachable(output)]
    missing += [f"{page}: {target} leads nowhere" for page, target in broken(output)]
    for line in missing:
        print(f"pages: {line}", file=sys.stderr)
    print(f"pages: {len(pages)} pages and {len(reference)} of reference in {output}")
    return 1 if missing else 0


class Site:
    """The pages that the files of the repository become: most one each, some together on one."""

    def __init__(self, files: Sequence[str], together: Mapping[str, tuple[str, Sequence[str]]]) -> None:
        """Place the files: `together` is page -> title and files, or patterns of files."""
        self.files = frozenset(files)
        self.titles = {page: title for page, (title, _) in together.items()}
        self.parts: dict[str, list[str]] = {}
        for page, (_, patterns) in together.items():
            found = [name for pattern in patterns for name in files if fnmatchcase(name, pattern)]
            # What introduces the others comes first.
            self.parts[page] = sorted(found, key=lambda name: name != "docs/decisions/README.md")
        self.page_of = {name: page for page, names in self.parts.items() for name in names}

    def write(self, source: Path) -> Iterator[str]:
        """Write the pages and copy the pictures; yield the pages."""
        shutil.copytree(ROOT / "docs" / "images", source / "docs" / "images")
        for name in sorted(self.files - {INDEX} - set(self.page_of)):
            text = self.rewrite((ROOT / name).read_text(encoding="utf-8"), name, name)
            yield write_page(source, name, text)
        for page, names in self.parts.items():
            texts = (self.rewrite((ROOT / name).read_text(encoding="utf-8"), name, page) for name in names)
            parts = (labelled(text, name) for text, name in zip(texts, names, strict=True))
            yield write_page(source, page, "\n\n".join([f"# {self.titles[page]}", *parts]) + "\n")

    def rewrite(self, text: str, name: str, page: str) -> str:
        """Return the text of a file as it is on a page: links lead to pages and headings; what is none is text."""

        def led(match: re.Match[str]) -> str:
            mark, shown, target = match.groups()
            place, _, anchor = target.partition("#")
            path = posixpath.normpath(posixpath.join(posixpath.dirname(name), place)) if place else name
            if mark:  # pictures of other sites are not used
                return f"![{shown}]({relative(path, page)})"
            if path in self.page_of:
                return f"[{shown}](#{label(path, anchor)})"
            if not place or re.match(r"[a-z]+:", target):
                return match[0]
            if path not in self.files:
                return shown
            if path == INDEX:  # the parts of the front page are no headings, but those of the contents
                return f"[{shown}]({relative('index.md', page)})"
            return f"[{shown}]({relative(path, page)}{'#' if anchor else ''}{anchor})"

        return outside_of_code(text.replace("```mermaid", "```text"), lambda part: _LINK.sub(led, part))

    def forward(self, output: Path) -> None:
        """Leave, where a file had a page of its own, one that leads to where its text is now."""
        moved = {name: (page, label(name)) for name, page in self.page_of.items() if name != page}
        for name, (page, anchor) in (moved | {INDEX: ("index.md", "")}).items():
            target = relative(page, name).removesuffix(".md") + ".html" + (f"#{anchor}" if anchor else "")
            text = FORWARD.format(target)
            write_page(output, name.removesuffix(".md") + ".html", text)


FORWARD: Final = """\
<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Moved</title><meta http-equiv="refresh" content="0; url={0}"></head>
<body><a href="{0}">This page has moved.</a></body></html>
"""


def write_page(directory: Path, name: str, text: str) -> str:
    """Write a page and return its name."""
    target = directory / name
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")
    return name


def relative(path: str, page: str) -> str:
    """Return the address of a path as a page names it."""
    return posixpath.relpath(path, posixpath.dirname(page) or ".")


def label(name: str, anchor: str = "") -> str:
    """Return the label of a file's heading, unique in the site; without an anchor, that of its title."""
    return re.sub(r"[^a-z0-9]+", "-", f"{name.removesuffix('.md')}-{anchor}".lower()).strip("-")


def labelled(text: str, name: str) -> str:
    """Return a file's text as part of a page: headings one level lower, each with a label."""
    seen: dict[str, int] = {}

    def lowered(match: re.Match[str]) -> str:
        marks, title = match.groups()
        # As Markdown viewers make anchors: words in lower case, joined by hyphens, numbered where they repeat.
        slug = re.sub(r"[^\w\- ]", "", _LINK.sub(r"\2", title).lower()).replace(" ", "-")
        seen[slug] = seen.get(slug, -1) + 1
        anchor = slug if not seen[slug] else f"{slug}-{seen[slug]}"
        return f"({label(name, '' if len(marks) == 1 else anchor)})=\n#{marks} {title}"

    return outside_of_code(text, lambda part: _HEADING.sub(lowered, part))


def outside_of_code(text: str, change: Callable[[str], str]) -> str:
    """Return a text in which everything but fenced code is changed."""
    return "".join(part if part.startswith("```") else change(part) for part in _FENCED.split(text))


def plugin_pages(index: str) -> dict[str, tuple[str, Sequence[str]]]:
    """Return a page for each group of the index's table of plugins: title and READMEs."""
    pages: dict[str, tuple[str, list[str]]] = {}
    for line in index.partition("\n## Plugins")[2].splitlines():
        if group := re.match(r"\| \*\*(.+?)\*\*", line):
            page = f"plugins/{label(group[1])}.md"
            pages[page] = (f"Plugins: {group[1][0].lower()}{group[1][1:]}", [])
        elif link := re.match(r"\| \[[^\]]+\]\(\.\./([^)]+)\)", line):
            pages[page][1].append(link[1])
    return dict(pages)


def linked(text: str, place: Path, pages: set[str]) -> str:
    """Return a page whose links lead to pages, headings, pictures and other sites; others are text."""

    def led(found: re.Match[str]) -> str:
        mark, shown, target = found.groups()
        if mark or target.startswith("#") or re.match(r"[a-z]+:", target):
            return found[0]
        path = (place / target.partition("#")[0]).resolve()
        return found[0] if path.is_file() and path.relative_to(ROOT).as_posix() in pages else shown

    return outside_of_code(text.replace("```mermaid", "```text"), lambda part: _LINK.sub(led, part))


def trees(index: str, site: Site, pages: Sequence[str], reference: Sequence[str]) -> Iterator[str]:
    """Yield the parts of the table of contents: those of the documentation's own index, in its order."""
    parts: dict[str, list[str]] = {"Start": ["README.md"]}
    listed = {"README.md"}
    for part in index.split("\n## ")[1:]:
        title, _, lines = part.partition("\n")
        parts[title] = []
        for link in _LINK.finditer(lines):
            path = posixpath.normpath(posixpath.join("docs", link[3].partition("#")[0]))
            page = site.page_of.get(path, path)
            if page in pages and page not in listed:
                listed.add(page)
                parts[title].append(page)
    parts["Reference"] += reference
    parts["The project"] = [page for page in pages if page not in listed]
    for name, some in parts.items():
        yield TREE.format(name, "\n".join(page.removesuffix(".md") for page in some))


def generated(source: Path) -> Iterator[str]:
    """Write the reference; yield its pages."""
    (source / "reference").mkdir()
    texts = {f"{package}.md": _package(package, names) for package, names in (public_names() | companions()).items()}
    texts["suite.md"] = suite_page(json.loads((ROOT / "schemas" / "suite.schema.json").read_text(encoding="utf-8")))
    texts["commands.md"] = commands_page()
    for name, text in texts.items():
        (source / "reference" / name).write_text(text, encoding="utf-8")
        yield f"reference/{name}"


def _package(package: str, names: Mapping[str, str]) -> str:
    from importlib import import_module
    from inspect import isclass, isroutine

    parts = [f"# {package}\n\n{PURPOSE[package]}\n"]
    for name in sorted(names, key=str.lower):
        value = getattr(import_module(package), name)
        kind = "class" if isclass(value) else "function" if isroutine(value) else "data"
        options = "\n   :members:\n   :undoc-members:" if kind == "class" else ""
        where = names[name] if kind == "data" else package
        parts.append(f"\n## `{name}`\n\n```{{eval-rst}}\n.. auto{kind}:: {where}.{name}{options}\n```\n")
    return "".join(parts)


def suite_page(schema: Mapping[str, Any]) -> str:
    """Return the suite file, key by key, as its JSON Schema has it."""
    parts = ["# The suite file, key by key\n\nGenerated from the JSON Schema, which `jrh schema suite` prints.\n"]
    parts.append(_keys("The suite", schema))
    for name, each in sorted(schema.get("$defs", {}).items()):
        if each.get("properties"):
            parts.append(_keys(name, each))
    return "".join(parts)


def _keys(name: str, schema: Mapping[str, Any]) -> str:
    head = "| key | type | default | meaning |\n|---|---|---|---|\n"
    rows = [f"\n## {name}\n\n{_cell(schema.get('description', ''))}\n\n{head}"]
    required = set(schema.get("required", ()))
    for key, value in schema.get("properties", {}).items():
        default = "required" if key in required else f"`{json.dumps(value['default'])}`" if "default" in value else ""
        rows.append(f"| `{key}` | {_cell(_type(value))} | {_cell(default)} | {_cell(value.get('description', ''))} |\n")
    return "".join(rows)


def _type(value: Mapping[str, Any]) -> str:
    if "$ref" in value:
        return str(value["$ref"]).rpartition("/")[2]
    if "enum" in value:
        return ", ".join(f"`{each}`" for each in value["enum"])
    for several in ("anyOf", "oneOf"):
        if several in value:
            return " or ".join(dict.fromkeys(found for each in value[several] if (found := _type(each))))
    kind = value.get("type", "const" if "const" in value else "")
    if kind == "array" and isinstance(value.get("items"), Mapping):
        return f"list of {_type(value['items'])}"
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def _cell(text: str) -> str:
    return " ".join(str(text).split()).replace("|", "\\|").replace("<", "&lt;")


def commands_page() -> str:
    """Return every command with its options."""
    from jrh.cli import cli

    parts = ["# Commands\n\nEvery command with its options, as `--help` shows them.\n"]
    parts.extend(_commands(cli, "jrh", None))
    return "".join(parts)


def _commands(command: click.Command, name: str, parent: click.Context | None) -> Iterator[str]:
    context = click.Context(command, info_name=name, parent=parent, max_content_width=100)
    if isinstance(command, click.Group):
        for each in command.list_commands(context):
            found = command.get_command(context, each)
            if found is not None:
                yield from _commands(found, each, context)
    else:
        yield f"\n## {context.command_path}\n\n```text\n{command.get_help(context)}\n```\n"


def as_markdown(output: Path, files: Sequence[str], reference: Sequence[str]) -> None:
    """Write every file as Markdown next to the HTML, with the pictures, and list them in `llms.txt`."""
    shutil.copytree(ROOT / "docs" / "images", output / "docs" / "images")
    packages = public_names() | companions()
    for name in files:
        path = ROOT / name
        write_page(output, name, linked(path.read_text(encoding="utf-8"), path.parent, set(files)))
    for page in reference:
        package = page.removeprefix("reference/").removesuffix(".md")
        if package in packages:
            write_page(output, page, package_page(package, PURPOSE[package], packages[package]))
        else:
            shutil.copyfile(output.with_name(f"{output.name}-source") / page, output / page)
    text = llms((ROOT / INDEX).read_text(encoding="utf-8"), [*files, *reference])
    (output / "llms.txt").write_text(text, encoding="utf-8")


def llms(index: str, pages: Sequence[str]) -> str:
    """Return the pages with one line each, as the documentation's own index has them; other pages come last."""
    lines = ["# jrh", "", "> Stress tests for LLM judges. Every page of this site as Markdown.", ""]
    lines.append("- [README](README.md): what jrh does, and the first suite")
    listed = {"README.md"}
    lists = index[index.find("## ") :]  # what comes before is the front page
    for line in re.sub(r"\n +(?=\S)", " ", lists).split("\n"):
        if line.startswith("## "):
            lines += ["", line, ""]
        # A row of the table of plugins is an entry like those of the lists.
        found = re.match(r"(?:- |\| )(.*)", line)
        links = list(_LINK.finditer(found[1])) if found else []
        about = found[1].removeprefix(links[0][0]).strip(" |:") if found and links else ""
        for place, link in enumerate(links):
            page = posixpath.normpath(f"docs/{link[3].partition('#')[0]}")
            if page in pages and page not in listed:
                listed.add(page)
                text = _LINK.sub(r"\2", about) if place == 0 and found and found[1].startswith(link[0]) else ""
                lines.append(f"- [{link[2]}]({page})" + (f": {text}" if text and not text.startswith(",") else ""))
    lines += ["", "## Optional", "", *(f"- [{page}]({page})" for page in pages if page not in listed)]
    return "\n".join(lines) + "\n"


def unreachable(output: Path) -> list[str]:
    """Return the public names that the site's index lacks."""
    from sphinx.util.inventory import InventoryFile

    with (output / "objects.inv").open("rb") as file:
        found = InventoryFile.load(file, "", lambda base, name: base + name)
    known = {name.rpartition(".")[2] for kind in found.values() for name in kind}
    public = (public_names() | companions()).items()
    return [f"{package}.{name}" for package, names in public for name in names if name not in known]


if __name__ == "__main__":
    sys.exit(main())
