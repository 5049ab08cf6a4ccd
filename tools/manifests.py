"""Bring the `pyproject.toml` files into step with the plugins that exist.

    python tools/manifests.py [--check]
    python tools/manifests.py --set-version 0.2.0

Every distribution gets the same version, licence and classifiers, and the lists of plugins in the root file are written
again between their marks. `tests/test_plugin_shape.py` fails where this has not been run.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
ON_REQUEST: Final = frozenset({"jrh-inspect", "jrh-litellm", "jrh-pytest"})
"""Shipped plugins that are extras of `jrh`: their libraries bring packages that not everybody needs."""
NOT_INSTALLED_YET: Final[frozenset[str]] = frozenset()
"""New packages: import-linter needs them installed, which an environment made before them does not have. They are taken
out of here as soon as environments are made again."""
COMMON: Final = """\
license = "MIT"
license-files = ["LICENSE"]
classifiers = [
  "Development Status :: 3 - Alpha",
  "Intended Audience :: Science/Research",
  "Operating System :: OS Independent",
  "Programming Language :: Python :: 3 :: Only",
  "Programming Language :: Python :: 3.11",
  "Programming Language :: Python :: 3.12",
  "Programming Language :: Python :: 3.13",
  "Topic :: Scientific/Engineering :: Artificial Intelligence",
  "Typing :: Typed",
]
"""
_COMMON: Final = re.compile(
    r'^license = "MIT"\n(license-files = .*\n)?(classifiers = \[\n(  .*\n)*\]\n)?', re.MULTILINE
)
_BLOCK: Final = re.compile(r"(?P<open> *# <(?P<name>[a-z]+)>.*\n)(.*\n)*?(?P<close> *# </(?P=name)>\n)")


def main(arguments: Sequence[str] | None = None) -> int:
    """Write what is out of step, or with `--check` name it; return the exit code."""
    parser = argparse.ArgumentParser(prog="manifests.py", description="Bring all pyproject.toml files into step.")
    parser.add_argument("--check", action="store_true", help="change nothing; fail if something would change")
    parser.add_argument("--set-version", metavar="VERSION", help="give all distributions a version, and jrh itself")
    given = parser.parse_args(arguments)
    check = given.check
    if given.set_version:
        set_version(ROOT, given.set_version)
    stale = {path: text for path, text in current(ROOT) if path.read_text(encoding="utf-8") != text}
    for path, text in stale.items():
        print(f"{path.relative_to(ROOT)}: {'is out of step; run `make pyproject`' if check else 'written'}")
        if not check:
            path.write_text(text, encoding="utf-8")
    return 1 if check and stale else 0


def current(root: Path) -> Iterator[tuple[Path, str]]:
    """Yield every manifest of the repository with the text it should have."""
    for path in (root / "pyproject.toml", *manifests(root, "core/*", "plugins/*", "plugins-contrib/*")):
        text = _COMMON.sub(lambda _: COMMON, path.read_text(encoding="utf-8"), count=1)
        if path.parent == root:
            text = _with_lists(text, lists(root))
        yield path, text


def set_version(root: Path, version: str) -> None:
    """Write the version of jrh, of its distributions, and of what they require of each other.

    Raises:
        SystemExit: it is not a version of three numbers, with `rc1` or the like at most.
    """
    if not re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc)\d+)?", version):
        raise SystemExit(f"manifests: '{version}' is not a version such as 0.2.0 or 0.2.0rc1")
    module = root / "core" / "kernel" / "src" / "jrh" / "version.py"
    texts = {path: path.read_text(encoding="utf-8") for path in (module, *manifests(root, ".", "core/*", "plugins/*"))}
    for path, text in texts.items():
        own = re.sub(r'^(version|__version__: Final) = "[^"]+"', rf'\1 = "{version}"', text, flags=re.MULTILINE)
        whole = re.sub(r'("jrh(?:-[a-z-]+)?(?:\[[a-z,]+\])?==)[^"]+"', rf'\g<1>{version}"', own)
        path.write_text(whole, encoding="utf-8")


def lists(root: Path) -> Mapping[str, Sequence[str]]:
    """Return the lists of the root manifest by the name of their block."""
    shipped = [tomllib.loads(path.read_text(encoding="utf-8"))["project"] for path in manifests(root, "plugins/*")]
    folders = [path.parent for path in manifests(root, "plugins/*", "plugins-contrib/*")]
    return {
        "plugins": [f"{each['name']}=={each['version']}" for each in shipped if each["name"] not in ON_REQUEST],
        "packages": sorted(
            {path.parent.name for folder in folders for path in folder.glob("src/*/__init__.py")} - NOT_INSTALLED_YET
        ),
    }


def manifests(root: Path, *places: str) -> list[Path]:
    """Return the manifests in some places, in the order of their names."""
    return [path for place in places for path in sorted(root.glob(f"{place}/pyproject.toml"))]


def _with_lists(text: str, blocks: Mapping[str, Sequence[str]]) -> str:
    def written(found: re.Match[str]) -> str:
        indent = found["open"][: len(found["open"]) - len(found["open"].lstrip())]
        lines = "".join(f'{indent}"{entry}",\n' for entry in blocks[found["name"]])
        return f"{found['open']}{lines}{found['close']}"

    return _BLOCK.sub(written, text)


if __name__ == "__main__":
    sys.exit(main())
