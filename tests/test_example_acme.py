"""An organisation's own package from its wheel, named by `--plugins`: its judge, price, rule, section and gate."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from support.scripts import load_script

pytestmark = pytest.mark.slow
EXAMPLE = Path(__file__).parents[1] / "examples" / "acme-judge"
PIP = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel from a copy, since a build writes next to its sources, and install it into its own directory."""
    place = tmp_path_factory.mktemp("acme")
    source = shutil.copytree(EXAMPLE, place / "source")
    build = (*PIP, "wheel", "--no-build-isolation", "--no-deps", "--wheel-dir", place, source)
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = place.glob("*.whl")
    install = (*PIP, "install", "--no-deps", "--no-index", "--target", place / "site", wheel)
    subprocess.run(install, check=True, capture_output=True)
    return place / "site"


def test_the_package_is_used_from_its_wheel_as_its_guide_says(site: Path, tmp_path: Path) -> None:
    stand_in = load_script(EXAMPLE / "stand_in.py")
    stand_in.write_store(tmp_path / "rubrics.sqlite")
    own = {"PYTHONPATH": str(site), "ACME_SECRET": stand_in.SECRET, "JRH_CACHE_DIR": str(tmp_path / "cache")}

    def jrh(*words: str) -> Any:
        command = (sys.executable, "-m", "jrh", *words)
        return subprocess.run(command, cwd=tmp_path, env=os.environ | own, capture_output=True, text=True, check=False)

    with stand_in.Service() as service:
        thread = threading.Thread(target=service.serve_forever)
        thread.start()
        suite = (EXAMPLE / "suite.yaml").read_text().replace("http://127.0.0.1:8917", service.url)
        (tmp_path / "suite.yaml").write_text(suite)
        done = jrh("run", "suite.yaml", "--plugins", "acme-judge", "--run-dir", "run", "--yes")
        service.shutdown()
        thread.join()
    assert done.returncode == 1, done.stderr
    assert "the gate failed, 1 of 1 rule" in done.stderr
    report = json.loads((tmp_path / "run" / "report.json").read_text())
    # The preflight is a call without a grade, booked like all others: a stated 0 is not believed.
    assert sum(each["cost"] for each in report["spending"]) == pytest.approx(0.004 * (len(service.asked) + 1))
    assert len(service.asked) == report["planned"] == 2 * 90 + 60
    place = ("acme-false-pass", "reference", {})
    (measure,) = (each for each in report["measures"] if (each["name"], each["test"], each["cell"]) == place)
    assert (measure["estimate"], measure["n_items"], measure["flags"]) == (0.5, 30, ["acme-old-rubric"])
    # The flag weakens the claim: without it the finding would be bad.
    (found,) = (finding for finding in report["findings"] if finding["kind"] == "acme-false-pass")
    assert (found["severity"], found["tests"]) == ("warning", ["format", "reference"])
    assert "## ACME: what would be released by mistake" in (tmp_path / "run" / "report.md").read_text()
    gated = jrh("gate", "run", "--plugins", "acme-judge", "--junit", "gate.xml")
    assert gated.returncode == 1, gated.stderr
    assert "acme-false-pass[reference]" in (tmp_path / "gate.xml").read_text()
