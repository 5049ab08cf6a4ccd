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
from collections.abc import Iterator, Mapping, Sequence
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
INDEX: Final = """\
# jrh

`jrh` measures how far you can trust an LLM judge. Start with the [README](README.md), or, to extend jrh, with a
[plugin of one file](docs/writing-plugins.md).

{}
"""
TREE: Final = "```{{toctree}}\n:caption: {}\n:maxdepth: 1\n\n{}\n```\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Put the sources together, build the site, and return the exit code."""
    parser = argparse.ArgumentParser(prog="pages.py", description="Build the site.")
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "site", help="where the pages go")
    output: Path = parser.parse_args(arguments).output
    source = output.with_name(f"{output.name}-source")
    for directory in (source, output):
        shutil.rmtree(directory, ignore_errors=True)
    pages = list(copied(source))
    reference = list(generated(source))
    (source / "index.md").write_text(INDEX.format("\n".join(trees(pages, reference))), encoding="utf-8")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-j", "2", "-b", "html"]
    done = subprocess.run([*command, "-c", str(ROOT / "docs" / "site"), str(source), str(output)], check=False)
    if done.returncode:
        return 1
    as_markdown(source, output, [*pages, *reference])
    missing = [f"{name} is not in the index" for name in unreachable(output)]
    missing += [f"{page}: {target} leads nowhere" for page, target in broken(output)]
    for line in missing:
        print(f"pages: {line}", file=sys.stderr)
    print(f"pages: {len(pages)} pages and {len(reference)} of reference in {output}")
    return 1 if missing else 0


def copied(source: Path) -> Iterator[str]:
    """Copy the pages and pictures of the repository; yield the pages. Links to what is no page lose their target."""
    paths = [path for place in PLACES for path in sorted(ROOT.glob(place)) if path.name not in ELSEWHERE]
    pages = {path.relative_to(ROOT).as_posix() for path in paths}
    shutil.copytree(ROOT / "docs" / "images", source / "docs" / "images")
    for path in paths:
        name = path.relative_to(ROOT).as_posix()
        target = source / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(linked(path.read_text(encoding="utf-8"), path.parent, pages), encoding="utf-8")
        yield name


def linked(text: str, place: Path, pages: set[str]) -> str:
    """Return a page whose links lead to pages, headings, pictures and other sites; others are text."""

    def led(found: re.Match[str]) -> str:
        mark, shown, target = found.groups()
        if mark or target.startswith("#") or re.match(r"[a-z]+:", target):
            return found[0]
        path = (place / target.partition("#")[0]).resolve()
        return found[0] if path.is_file() and path.relative_to(ROOT).as_posix() in pages else shown

    parts = _FENCED.split(text.replace("```mermaid", "```text"))
    return "".join(part if part.startswith("```") else _LINK.sub(led, part) for part in parts)


def trees(pages: Sequence[str], reference: Sequence[str]) -> Iterator[str]:
    """Yield the parts of the table of contents."""
    authors = ["docs/writing-plugins.md", "docs/hooks.md", "plugins/scaffold/README.md", "core/testing/README.md"]
    # In the order of the documentation's own table of contents.
    contents = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    places = {page: contents.find(f"({page.removeprefix('docs/')}") for page in pages}
    others = sorted((page for page in pages if page not in authors), key=lambda page: places[page] % len(contents))
    parts = {
        "Guides": [page for page in others if page.startswith("docs/guides/")],
        "Using jrh": [page for page in others if page.startswith("docs/") and page.count("/") == 1],
        "Extending jrh": authors,
        "Reference": list(reference),
        "Plugins": [page for page in others if page.startswith("plugins")],
    }
    listed = {page for some in parts.values() for page in some}
    parts["The project"] = [page for page in pages if page not in listed and page != "README.md"]
    yield TREE.format("Start", "Read me first <README>")
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


def as_markdown(source: Path, output: Path, pages: Sequence[str]) -> None:
    """Copy every page as Markdown next to its HTML, with the pictures, and list them in `llms.txt`."""
    shutil.copytree(source / "docs" / "images", output / "docs" / "images")
    rendered = {f"reference/{package}.md": names for package, names in (public_names() | companions()).items()}
    for page in pages:
        if page in rendered:
            package = page.removeprefix("reference/").removesuffix(".md")
            text = package_page(package, PURPOSE[package], rendered[page])
            (output / page).write_text(text, encoding="utf-8")
        else:
            shutil.copyfile(source / page, output / page)
    (output / "llms.txt").write_text(llms((ROOT / "docs" / "index.md").read_text(encoding="utf-8"), pages), "utf-8")


def llms(index: str, pages: Sequence[str]) -> str:
    """Return the pages with one line each, as the documentation's own index has them; other pages come last."""
    lines = ["# jrh", "", "> Stress tests for LLM judges. Every page of this site as Markdown.", ""]
    lines.append("- [README](README.md): what jrh does, and the first suite")
    listed = {"README.md"}
    for line in re.sub(r"\n +(?=\S)", " ", index).split("\n"):
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
