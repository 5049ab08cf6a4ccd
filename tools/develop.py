"""Install distributions of this repository editable, and what they depend on at the versions of `constraints.txt`.

    python tools/develop.py DIRECTORY|"DIRECTORY[EXTRA,...]" ...

`pip install --editable` starts setuptools three times for each distribution, which took most of the time of `make`.
Here one process builds all wheels. What is installed is the same, with the record of where it comes from (PEP 610) by
which jrh tells editable installs. uv installs, in a tenth of pip's time; pip does where uv cannot, as where only pip's
configuration names the index.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import os
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from functools import cache
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SITE = Path(sysconfig.get_path("purelib"))
PIP = (sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
UV = Path(sys.executable).with_name("uv")

SHARED = ("index_url", "find_links")
"""Settings that pip and uv both have, and uv does not read from pip's configuration."""
CONSTRAINTS = (ROOT / "constraints.txt", ROOT / "constraints-extras.txt")


def main(arguments: list[str]) -> int:
    """Build all wheels, install them, record their directories, and install what is missing."""
    places, _, extras = zip(*(argument.partition("[") for argument in arguments), strict=True)
    sources = [Path(place).resolve() for place in places]
    with tempfile.TemporaryDirectory(prefix="jrh-develop-") as directory:
        wheels = build(sources, Path(directory))
        subprocess.run([*PIP, "--no-deps", "--no-index", "--force-reinstall", *wheels], check=True)
        for source, wheel in zip(sources, wheels, strict=True):
            record_directory(source, wheel)
    names = [wheel.name.partition("-")[0] for wheel in wheels]
    wanted = [f"{name}[{extra}" if extra else name for name, extra in zip(names, extras, strict=True)]
    return install(*wanted)


def install(*wanted: str) -> int:
    """Install distributions by uv, or by pip if that fails, which then says why; return the exit code."""
    words = (*(word for path in CONSTRAINTS for word in ("--constraint", path)), *wanted)
    if UV.exists():
        command = [UV, "pip", "install", "--quiet", "--python", sys.executable, *words]
        settings = {f"UV_{name.upper()}": pip_setting(name) for name in SHARED}
        found = {name: value for name, value in settings.items() if value}
        done = subprocess.run(command, env={**found, **os.environ}, stderr=subprocess.DEVNULL, check=False)
        if done.returncode == 0:
            return 0
    return subprocess.run([*PIP, *words], check=False).returncode


def pip_setting(name: str) -> str:
    """Return a setting of pip, from its environment variable or its configuration; empty: it has none."""
    variable = os.environ.get(f"PIP_{name.upper()}", "")
    command = [sys.executable, "-m", "pip", "config", "get", f"global.{name.replace('_', '-')}"]
    return variable or subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def build(sources: list[Path], place: Path) -> list[Path]:
    """Build an editable wheel of every directory, in the order given."""
    from setuptools import build_meta

    # setuptools looks at what is installed for every command of a build: four fifths of the time.
    metadata.entry_points = cache(metadata.entry_points)
    here, wheels = Path.cwd(), []
    sys.argv = sys.argv[:1]  # setuptools takes the rest for its own
    for source in sources:
        os.chdir(source)
        wheels.append(place / build_meta.build_editable(str(place)))
    os.chdir(here)
    return wheels


def record_directory(source: Path, wheel: Path) -> None:
    """Write where an installed distribution comes from, as pip does for `--editable`."""
    with zipfile.ZipFile(wheel) as archive:
        (info,) = {name.partition("/")[0] for name in archive.namelist() if name.endswith(".dist-info/METADATA")}
    content = json.dumps({"dir_info": {"editable": True}, "url": source.as_uri()}).encode()
    (SITE / info / "direct_url.json").write_bytes(content)
    record = SITE / info / "RECORD"
    name = f"{info}/direct_url.json"
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    rows = [row for row in csv.reader(io.StringIO(record.read_text(encoding="utf-8"))) if row and row[0] != name]
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([*rows, [name, f"sha256={digest}", str(len(content))]])
    record.write_text(out.getvalue(), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
