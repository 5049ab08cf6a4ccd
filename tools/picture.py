"""Take the picture in the README: the top of the demo's HTML report.

    python tools/picture.py RUN_DIR [--output FILE]

Needs Chromium (`make browser`), playwright and pillow.
"""

from __future__ import annotations

import argparse
import io
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

WIDTH, HEIGHT = 1200, 1440
COLOURS: Final = 128
"""Colours of the file: with so few, text stays sharp and the picture small."""
FLAGS: Final = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking")


def main(arguments: Sequence[str] | None = None) -> int:
    """Open the report, write the picture, and return the exit code."""
    parser = argparse.ArgumentParser(prog="picture.py", description="Take a screenshot of a run's report.")
    parser.add_argument("run", type=Path, help="a run directory with report.html")
    parser.add_argument("--output", type=Path, default=Path("docs/images/report.png"))
    options = parser.parse_args(arguments)
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        print("picture: no Chromium here; run `make browser`", file=sys.stderr)
        return 2
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_bytes(reduced(taken(options.run / "report.html", chromium)))
    print(f"picture: {options.output}, {options.output.stat().st_size:,} bytes")
    return 0


def taken(page: Path, chromium: str) -> bytes:
    """Return a PNG of the top of the page, in light colours."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=list(FLAGS))
        try:
            view = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
            view.goto(page.resolve().as_uri())
            return view.screenshot()
        finally:
            browser.close()


def reduced(png: bytes) -> bytes:
    """Return the PNG with few colours."""
    from PIL import Image

    out = io.BytesIO()
    Image.open(io.BytesIO(png)).convert("RGB").quantize(COLOURS).save(out, "PNG", optimize=True)
    return out.getvalue()


if __name__ == "__main__":
    sys.exit(main())
