"""Draw the pictures of docs/gallery.md: first screens and every kind of plot of the HTML report, of simulated judges.

    python tools/screenshots.py [--output DIRECTORY]

Needs Chromium (`make browser`), playwright and pillow. The runs are seeded; the letters are the browser's.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from jrh_report.drawings import PlotKind
from picture import FLAGS, reduced

ROOT: Final = Path(__file__).parents[1]
SUITES: Final = ("plots", "evidence")
"""In tools/gallery. A kind of plot is taken from the first run that draws it."""
VIEW: Final = {"width": 900, "height": 1200}
SCREENS: Final = {
    "demo": ROOT / "examples" / "demo.yaml",
    **{name: ROOT / "tools" / "gallery" / f"{name}.yaml" for name in ("no-labels", "judges-by-tests", "gate")},
}
"""Name of a first screen -> its suite."""
VIEWS: Final = {"1440": (1440, "light"), "1280": (1280, "light"), "390": (390, "light"), "dark": (1440, "dark")}
"""Name of a view -> width of the window and colours."""
HEIGHT: Final = 900
_GATE_FAILS: Final = 1
_UNFOLD: Final = "document.querySelectorAll('details').forEach((each) => { each.open = true; })"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the suites, write the pictures, and return the exit code."""
    parser = argparse.ArgumentParser(prog="screenshots.py", description="Draw the pictures of the gallery.")
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "images")
    options = parser.parse_args(arguments)
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        print("screenshots: no Chromium here; run `make browser`", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        pages = [report_of(ROOT / "tools" / "gallery" / f"{suite}.yaml", Path(folder) / suite) for suite in SUITES]
        pictures = taken(pages, chromium)
        screens = first_screens(
            {name: report_of(suite, Path(folder) / f"screen-{name}") for name, suite in SCREENS.items()}, chromium
        )
    for name, png in screens.items():
        file = options.output / "screens" / f"{name}.png"
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(reduced(png))
        print(f"screenshots: {file.name}, {file.stat().st_size:,} bytes")
    for kind, png in pictures.items():
        file = options.output / f"{kind}.png"
        file.write_bytes(reduced(png))
        print(f"screenshots: {file.name}, {file.stat().st_size:,} bytes")
    missing = [kind for kind in PlotKind if kind not in pictures]
    if missing:
        print(f"screenshots: no run draws {', '.join(missing)}", file=sys.stderr)
    return 1 if missing else 0


def report_of(suite: Path, run: Path) -> Path:
    """Run a suite; return its page."""
    jrh = Path(sys.executable).with_name("jrh")
    done = subprocess.run([jrh, "run", suite, "--run-dir", run], check=False, stdout=subprocess.DEVNULL)
    # The gate of one of them fails: that is what its screen shows.
    if done.returncode not in (0, _GATE_FAILS):
        done.check_returncode()
    return run / "report.html"


def first_screens(pages: Mapping[str, Path], chromium: str) -> dict[str, bytes]:
    """Return a PNG of the top of each page in each view, by `NAME-VIEW`."""
    from playwright.sync_api import sync_playwright

    found: dict[str, bytes] = {}
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=list(FLAGS))
        try:
            for name, page in pages.items():
                for view, (width, colours) in VIEWS.items():
                    size = {"width": width, "height": HEIGHT}
                    window = browser.new_page(viewport=size, color_scheme=colours)  # type: ignore[arg-type]
                    window.goto(page.resolve().as_uri())
                    found[f"{name}-{view}"] = window.screenshot()
                    window.close()
        finally:
            browser.close()
    return found


def taken(pages: Sequence[Path], chromium: str) -> dict[PlotKind, bytes]:
    """Return a PNG of the first plot of every kind that the pages show."""
    from playwright.sync_api import sync_playwright

    found: dict[PlotKind, bytes] = {}
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=list(FLAGS))
        try:
            for page in pages:
                view = browser.new_page(viewport=VIEW, color_scheme="light")  # type: ignore[arg-type]
                view.goto(page.resolve().as_uri())
                view.evaluate(_UNFOLD)
                for kind in PlotKind:
                    plot = view.locator(f"[data-plot={kind}]:visible").first
                    if kind not in found and plot.count():
                        found[kind] = plot.screenshot()
        finally:
            browser.close()
    return found


if __name__ == "__main__":
    sys.exit(main())
