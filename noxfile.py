"""Run the quick tests on every Python that jrh supports.

    nox                     # 3.11, 3.12 and 3.13, as far as they are installed
    nox -s tests-3.13 -- core/stats

What follows `--` goes to pytest. `JRH_WHOLE=1` runs the whole suite without the tests in a browser.
"""

from __future__ import annotations

import os
from pathlib import Path

import nox

ROOT = Path(__file__).parent
PYTHONS = ("3.11", "3.12", "3.13")
QUICK = "not slow and not browser"
WHOLE = "not browser"

nox.options.default_venv_backend = "uv|virtualenv"
nox.options.error_on_missing_interpreters = False
nox.options.download_python = "never"  # an interpreter that is missing is skipped, not fetched


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """Install everything editable with the tested versions, and run the tests."""
    places = [
        path.parent
        for place in ("core", "plugins", "plugins-contrib")
        for path in ROOT.glob(f"{place}/*/pyproject.toml")
    ]
    editable = [word for place in sorted(places) for word in ("-e", f"./{place.relative_to(ROOT)}")]
    constrained = ("--constraint", "constraints.txt")
    session.install(*constrained, "setuptools", "wheel")
    session.install(*constrained, "--no-build-isolation", *editable, "-e", ".[dev]")
    marks = WHOLE if os.environ.get("JRH_WHOLE") else QUICK
    session.run(
        "python", "-m", "pytest", "-m", marks, "--hypothesis-profile", "quick", *(session.posargs or ("--quiet",))
    )
