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
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SITE = Path(sysconfig.get_path("purelib"))
PIP = (sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
UV = Path(sys.executable).with_name("uv")

SHARED = ("INDEX_URL", "EXTRA_INDEX_URL", "FIND_LINKS")
"""Environment variables that both have, `PIP_...` and `UV_...`."""


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
    environment = {f"UV_{name}": os.environ[f"PIP_{name}"] for name in SHARED if f"PIP_{name}" in os.environ}
    words = ("--constraint", ROOT / "constraints.txt", *wanted)
    if UV.exists():
        options = ("--quiet", "--compile-bytecode", "--python", sys.executable)
        done = subprocess.run(
            [UV, "pip", "install", *options, *words],
            env={**environment, **os.environ},
            stderr=subprocess.DEVNULL,
            check=False,
        )
        if done.returncode == 0:
            return 0
    return subprocess.run([*PIP, *words], check=False).returncode


def build(sources: list[Path], place: Path) -> list[Path]:
    """Build an editable wheel of every directory, in the order given."""
    from setuptools import build_meta

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
