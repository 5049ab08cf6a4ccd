"""Build an sdist and a wheel of every distribution of the repository, and check them.

    python tools/dist.py [--output DIRECTORY]

The build uses the setuptools of this environment and needs no network. `docs/release.md` says what is checked.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
PLACES: Final = ("core/*", "plugins/*", ".")
"""Where the distributions of a release lie. Contributed plugins are released by their authors."""
AT_ONCE: Final = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Build, check, and return the exit code."""
    parser = argparse.ArgumentParser(prog="dist.py", description="Build and check all distributions.")
    parser.add_argument("--output", type=Path, default=ROOT / "dist", help="where the files go")
    output = parser.parse_args(arguments).output
    projects = dict(distributions(ROOT))
    build(projects.values(), output)
    problems = [*incomplete(projects, output), *(p for path in sorted(output.glob("*.whl")) for p in lacking(path))]
    for problem in problems:
        print(f"dist: {problem}", file=sys.stderr)
    checked = subprocess.run(
        [sys.executable, "-m", "twine", "check", "--strict", *map(str, files(output))], check=False
    )
    if problems or checked.returncode:
        return 1
    print(f"dist: {len(projects)} distributions, an sdist and a wheel of each, in {output}")
    return 0


def distributions(root: Path) -> Iterator[tuple[str, Path]]:
    """Yield the name and directory of every distribution of a release, in a stable order."""
    for place in PLACES:
        for manifest in sorted(root.glob(f"{place}/pyproject.toml")):
            yield tomllib.loads(manifest.read_text(encoding="utf-8"))["project"]["name"], manifest.parent


def files(output: Path) -> list[Path]:
    """Return what has been built."""
    return sorted([*output.glob("*.whl"), *output.glob("*.tar.gz")])


def build(projects: Iterable[Path], output: Path) -> None:
    """Build everything into the directory; files of an earlier build go first, so that only this one is checked."""
    for path in files(output):
        path.unlink()
    output.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for path, done in pool.map(lambda path: (path, _build_one(path, output)), projects):
            if done.returncode:
                raise SystemExit(f"dist: {path.relative_to(ROOT)} cannot be built:\n{done.stdout}")


def _build_one(path: Path, output: Path) -> subprocess.CompletedProcess[str]:
    # Without --wheel, `build` makes the wheel from the sdist: what the sdist lacks, the wheel lacks, and is found.
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(output), str(path)]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


def incomplete(projects: Mapping[str, Path], output: Path) -> Iterator[str]:
    """Yield what a release lacks: a file of a distribution, or the one version that all share."""
    versions = set()
    for name in projects:
        stem = name.replace("-", "_")
        for pattern in (f"{stem}-*.whl", f"{stem}-*.tar.gz"):
            built = [path.name for path in output.glob(pattern)]
            if len(built) != 1:
                yield f"{name}: expected one {pattern}, found {', '.join(built) or 'none'}"
            versions |= {name.removeprefix(f"{stem}-").removesuffix(".tar.gz").split("-")[0] for name in built}
    if len(versions) > 1:
        yield f"versions differ: {', '.join(sorted(versions))}"


def lacking(wheel: Path) -> Iterator[str]:
    """Yield what one wheel lacks: the licence text, and the mark that its code is typed."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        licences = [name for name in names if ".dist-info/licenses/" in name and archive.read(name).strip()]
    if not licences:
        yield f"{wheel.name}: no licence text"
    packages = {name.split("/")[0] for name in names if name.endswith(".py")}
    for package in sorted(packages):
        if f"{package}/py.typed" not in names:
            yield f"{wheel.name}: no {package}/py.typed"


if __name__ == "__main__":
    sys.exit(main())
