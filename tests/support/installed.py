"""An environment in which this repository is installed as a release: wheels of all its distributions at one version.

A component of an editable install is identified by the digest of its source, so any edit changes ids and the numbers
drawn from them. In this environment it is identified by its distribution and version alone.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import venv
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
VERSION: Final = "0.1.0"
"""What the wheels say, whatever the version of the sources."""
_LITTER: Final = shutil.ignore_patterns("__pycache__", "*.egg-info", "build", "tests")


def install(directory: Path) -> Path:
    """Build and install all distributions without a network; return the directory of the environment's programs.

    About four seconds of one core. Other libraries are links to those of the running environment. Nothing is written to
    the sources.
    """
    wheels, environment = directory / "wheels", directory / "environment"
    build(staged(directory / "sources"), wheels)
    venv.create(environment, symlinks=True)
    programs = environment / "bin"
    options = ("--no-deps", "--no-index", "--no-compile", "--quiet", "--disable-pip-version-check")
    files = sorted(wheels.glob("*.whl"))
    _succeed(sys.executable, "-m", "pip", "--python", programs / "python", "install", *options, *files)
    (packages,) = environment.glob("lib/python*/site-packages")
    link_libraries(packages)
    return programs


def staged(sources: Path) -> Path:
    """Copy what the distributions are built from, at the version of the wheels."""
    sources.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):  # the root distribution has no code
        shutil.copy(ROOT / name, sources)
    for place in ("core", "plugins", "plugins-contrib"):
        shutil.copytree(ROOT / place, sources / place, ignore=_LITTER)
    spec = importlib.util.spec_from_file_location("manifests", ROOT / "tools" / "manifests.py")
    assert spec is not None
    assert spec.loader is not None
    manifests = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(manifests)
    manifests.set_version(sources, VERSION)
    return sources


def build(sources: Path, wheels: Path) -> None:
    """Build the wheels with the setuptools of this environment, all in one process: starting it is most of the time."""
    wheels.mkdir()
    _succeed(sys.executable, Path(__file__), sources, wheels)


def link_libraries(packages: Path) -> None:
    """Link everything that is installed in the running environment, but nothing of jrh, and nothing editable.

    An environment with `system_site_packages`, or a path that names the directory, would process its `.pth` files, and
    these lead to the sources.
    """
    for directory in (Path(each) for each in sys.path):
        if directory.name not in ("site-packages", "dist-packages"):
            continue
        for path in sorted(directory.iterdir()):
            link = packages / path.name
            own = path.name.startswith(("jrh", "__editable__", "__pycache__")) or path.suffix == ".pth"
            if not own and not link.exists():
                link.symlink_to(path.absolute())


def _succeed(*command: str | Path) -> None:
    done = subprocess.run(
        [str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{command[:3]} ended with {done.returncode}:\n{done.stdout[-4000:]}")


def _build_all(sources: Path, wheels: Path) -> None:
    from setuptools import build_meta

    # setuptools looks at what is installed for every command of a build: four fifths of the time.
    metadata.entry_points = cache(metadata.entry_points)
    for manifest in (sources / "pyproject.toml", *sorted(sources.glob("*/*/pyproject.toml"))):
        os.chdir(manifest.parent)
        build_meta.build_wheel(str(wheels))


if __name__ == "__main__":
    _build_all(Path(sys.argv[1]), Path(sys.argv[2]))
