"""Build an sdist and a wheel of every distribution of the repository, check them, install them and use them.

    python tools/dist.py [--output DIRECTORY] [--repository URL] [--no-install]
    python tools/dist.py --names

The build uses the setuptools of this environment and needs no network; installing needs a package index for what jrh
depends on. `docs/release.md` says what is checked.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
import venv
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from email import message_from_bytes
from email.message import Message
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
PLACES: Final = ("core/*", "plugins/*", ".")
"""Where the distributions of a release lie. Contributed plugins are released by their authors."""
ON_REQUEST: Final = ("jrh_inspect", "jrh_litellm", "jrh_pytest")
"""Not installed by `pip install jrh`."""
NOWHERE: Final = "https://repository.invalid/jrh"
"""Used as the repository where none is named; files built with it are for checking only."""
PAGES: Final = {
    "Homepage": "{}",
    "Documentation": "{}/blob/v{version}/docs/index.md",
    "Changelog": "{}/blob/v{version}/CHANGELOG.md",
    "Issues": "{}/issues",
    "Source": "{}",
}
PYTHONS: Final = ("3.11", "3.12", "3.13")
AT_ONCE: Final = 2
_LINK: Final = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
_FENCED: Final = re.compile(r"(```.*?```)", re.DOTALL)


def main(arguments: Sequence[str] | None = None) -> int:
    """Build, check, install, and return the exit code."""
    parser = argparse.ArgumentParser(prog="dist.py", description="Build, check and install all distributions.")
    parser.add_argument("--output", type=Path, default=ROOT / "dist", help="where the files go")
    parser.add_argument(
        "--repository", default=os.environ.get("JRH_REPOSITORY", NOWHERE), help="address of the sources"
    )
    parser.add_argument("--no-install", action="store_true", help="build and check only")
    parser.add_argument("--names", action="store_true", help="print the names of the distributions, and build nothing")
    given = parser.parse_args(arguments)
    projects = dict(distributions(ROOT))
    if given.names:
        print("\n".join(projects))
        return 0
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as place:
        copies = {name: staged(path, Path(place) / name, given.repository) for name, path in projects.items()}
        build(copies.values(), given.output)
    print(f"dist: built {len(projects)} distributions in {time.monotonic() - started:.0f} s")
    problems = [*incomplete(projects, given.output), *unsound(projects, given.output)]
    for problem in problems:
        print(f"dist: {problem}", file=sys.stderr)
    twine = (sys.executable, "-m", "twine", "check", "--strict")
    if problems or subprocess.run([*twine, *map(str, files(given.output))], check=False).returncode:
        return 1
    if not given.no_install:
        installed_and_used(given.output)
    print(f"dist: {len(projects)} distributions, an sdist and a wheel of each, in {given.output}")
    if given.repository == NOWHERE:
        print("dist: built for checking only; set JRH_REPOSITORY to the address of the sources for a release")
    return 0


def staged(project: Path, copy: Path, repository: str) -> Path:
    """Copy a distribution, with absolute links in its README and the addresses of its pages in its manifest."""
    away = shutil.ignore_patterns("__pycache__", "*.egg-info", "build", "dist", ".*_cache")
    if project == ROOT:  # it has no code of its own
        copy.mkdir(parents=True)
        for name in ("pyproject.toml", "README.md", "LICENSE"):
            shutil.copy(project / name, copy)
    else:
        shutil.copytree(project, copy, ignore=away)
    manifest = (copy / "pyproject.toml").read_text(encoding="utf-8")
    version = tomllib.loads(manifest)["project"]["version"]
    urls = "".join(f'{name} = "{page.format(repository, version=version)}"\n' for name, page in PAGES.items())
    manifest = manifest.replace("\n[tool.setuptools", f"\n[project.urls]\n{urls}\n[tool.setuptools", 1)
    (copy / "pyproject.toml").write_text(manifest, encoding="utf-8")
    readme = (copy / "README.md").read_text(encoding="utf-8")
    (copy / "README.md").write_text(absolute(readme, project, repository, version), encoding="utf-8")
    return copy


def absolute(text: str, project: Path, repository: str, version: str) -> str:
    """Return a README whose relative links lead to the sources of this version, as a package index needs them."""

    def led(found: re.Match[str]) -> str:
        mark, shown, target = found.groups()
        if re.match(r"[a-z]+:", target):
            return found[0]
        name, hash_, anchor = target.partition("#")
        path = (project / (name or "README.md")).resolve().relative_to(ROOT).as_posix()
        return f"{mark}[{shown}]({repository}/{'raw' if mark else 'blob'}/v{version}/{path}{hash_}{anchor})"

    parts = _FENCED.split(text)
    return "".join(part if part.startswith("```") else _LINK.sub(led, part) for part in parts)


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
                raise SystemExit(f"dist: {path.name} cannot be built:\n{done.stdout}")


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


def unsound(projects: Mapping[str, Path], output: Path) -> Iterator[str]:
    """Yield what is wrong with the wheels."""
    sources = {name.replace("-", "_"): path / "src" for name, path in projects.items()}
    for wheel in sorted(output.glob("*.whl")):
        yield from lacking(wheel, sources.get(wheel.name.split("-")[0]))


def lacking(wheel: Path, source: Path | None = None) -> Iterator[str]:
    """Yield what one wheel lacks, or has and should not have.

    Args:
        wheel: the wheel.
        source: the directory `src` that it was made of; None: its files are not compared.
    """
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        licences = [name for name in names if ".dist-info/licenses/" in name and archive.read(name).strip()]
        metadata = next((archive.read(name) for name in names if name.endswith(".dist-info/METADATA")), b"")
    if not licences:
        yield f"{wheel.name}: no licence text"
    packages = {name.split("/")[0] for name in names if name.endswith(".py")}
    for package in sorted(packages):
        if f"{package}/py.typed" not in names:
            yield f"{wheel.name}: no {package}/py.typed"
    if source is not None:
        wanted = set(_of_package(source))
        has = {name for name in names if ".dist-info/" not in name}
        yield from (f"{wheel.name}: no {name}" for name in sorted(wanted - has))
        yield from (f"{wheel.name}: {name} does not belong there" for name in sorted(has - wanted))
        yield from (f"{wheel.name}: {what}" for what in unstated(message_from_bytes(metadata)))


def _of_package(source: Path) -> Iterator[str]:
    for path in source.glob("**/*"):
        parts = path.relative_to(source).parts
        if path.is_file() and "__pycache__" not in parts and not parts[0].endswith(".egg-info"):
            yield "/".join(parts)


def unstated(metadata: Message) -> Iterator[str]:
    """Yield what the metadata of a distribution do not say, and links in its README that lead nowhere."""
    classifiers = set(metadata.get_all("Classifier") or ())
    for version in PYTHONS:
        if f"Programming Language :: Python :: {version}" not in classifiers:
            yield f"no classifier for Python {version}"
    stated = {each.partition(",")[0] for each in metadata.get_all("Project-URL") or ()}
    yield from (f"no address '{name}'" for name in PAGES if name not in stated)
    for name, value in (("License-Expression", "MIT"), ("Requires-Python", ">=3.11")):
        if metadata[name] != value:
            yield f"{name} is {metadata[name]}, not {value}"
    if not str(metadata["Description-Content-Type"]).startswith("text/markdown"):
        yield "the README is not declared as Markdown"
    for _, _, target in _LINK.findall(_FENCED.sub("", str(metadata.get_payload()))):
        if not re.match(r"https?://|mailto:", target):
            yield f"the README has a relative link: {target}"


def installed_and_used(output: Path) -> None:
    """Install the wheels into an empty environment, and use them outside of the repository as the README says."""
    with tempfile.TemporaryDirectory() as written:
        place = Path(written)
        venv.create(place / "venv", with_pip=True)
        wheels = [str(path) for path in output.glob("*.whl") if not path.name.startswith(ON_REQUEST)]
        suite = re.findall(r"```yaml\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)[0]
        (place / "readme.yaml").write_text(suite, encoding="utf-8")
        answers = [
            f"What is {row} plus 1?,It is {row + 1 + row % 2}.,{'YES' if row % 2 == 0 else 'NO'}" for row in range(40)
        ]
        (place / "own.csv").write_text("\n".join(["question,answer,label", *answers]), encoding="utf-8")
        python = str(place / "venv" / "bin" / "python")
        jrh = str(place / "venv" / "bin" / "jrh")
        limits = str(ROOT / "constraints.txt")
        for command in (
            [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-c", limits, *wheels],
            [jrh, "plugins", "doctor"],
            [jrh, "init"],
            [jrh, "plan", "suite.yaml"],
            [jrh, "run", "suite.yaml"],
            [jrh, "plan", "readme.yaml"],
            [jrh, "run", "readme.yaml"],
            [jrh, "init", "own.yaml", "--data", "own.csv"],  # from one's own table to an answer in two commands
            [jrh, "run", "own.yaml"],
            [jrh, "plugins", "new", "perturber", "polite", "--single-file"],
            [jrh, "plugins", "show", "polite", "--plugins", "polite.py"],
        ):
            _timed(command, place)


def _timed(command: Sequence[str], place: Path) -> None:
    started = time.monotonic()
    hidden = ("PYTHONPATH", "VIRTUAL_ENV", "JRH_CACHE_DIR")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    environment |= {"JRH_CACHE_DIR": str(place / "cache"), "NO_COLOR": "1"}
    done = subprocess.run(
        command, cwd=place, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    words = [Path(word).name for word in command if not word.endswith(".whl")]
    print(f"dist: {time.monotonic() - started:5.1f} s  {' '.join(words)}")
    if done.returncode:
        raise SystemExit(f"dist: {' '.join(words)} ended with {done.returncode}:\n{done.stdout}")


if __name__ == "__main__":
    sys.exit(main())
