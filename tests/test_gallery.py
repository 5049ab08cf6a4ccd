"""The gallery shows every kind of plot that the page draws, and how each misleads."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import pytest
import yaml
from jrh_report.drawings import PlotKind
from jrh_testing import loop_over

pytestmark = pytest.mark.inside
ROOT = Path(__file__).parents[1]
HTML = ROOT / "plugins" / "report" / "src" / "jrh_report" / "html"
TEXT = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## `([a-z]+)`[^\n]*\n(.*?)(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL))


def joined(pattern: str) -> str:
    return "\n".join(file.read_text(encoding="utf-8") for file in HTML.glob(pattern))


def test_the_gallery_has_one_section_for_every_kind_of_plot():
    assert list(SECTIONS) == [kind.value for kind in PlotKind]


@loop_over("kind", PlotKind)
def test_every_kind_has_a_small_picture_and_two_sentences(kind: PlotKind):
    found = re.search(r"!\[([^\]]{30,})\]\((images/[a-z]+\.png)\)\n\n(.*)", SECTIONS[kind], re.DOTALL)
    assert found is not None
    assert found[2] == f"images/{kind}.png"
    picture = (ROOT / "docs" / found[2]).read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) < 60_000
    assert len(re.findall(r"\.(?=\s)", found[3])) == 2


def test_everything_the_page_draws_is_of_a_kind_and_every_kind_is_drawn():
    tables = re.findall(r'data-plot="(\w+)"', joined("templates/*.j2"))
    assert sorted([*tables, PlotKind.FOREST, PlotKind.PLANE, PlotKind.CURVE]) == sorted(PlotKind)
    drawings = (HTML.parent / "drawings.py").read_text(encoding="utf-8")
    assert set(re.findall(r"PlotKind\.(\w+)", drawings)) == {"HEAT", "FOREST", "MATRIX"}
    assert "PlotKind(part.kind)" in drawings  # `curve` and `plane` are kinds of one part


def test_the_pictures_are_of_suites_without_models():
    suites = [yaml.safe_load(file.read_text()) for file in (ROOT / "tools" / "gallery").glob("*.yaml")]
    assert len(suites) == 5
    for suite in suites:
        assert "models" not in suite
        assert all(judge == "baseline" or judge["judge"] == "simulated" for judge in suite["judges"])


def test_the_first_screens_are_there_in_every_width_and_in_dark_colours():
    text = TEXT.partition("## First screens")[2].partition("\n## ")[0]
    shown = re.findall(r"!\[[^\]]{30,}\]\((images/screens/([a-z-]+)-(\w+)\.png)\)", text)
    views = {"1440": 1440, "1280": 1280, "390": 390, "dark": 1440}
    assert [shot[1:] for shot in shown] == [
        (name, view) for name in ("demo", "no-labels", "judges-by-tests", "gate") for view in views
    ]
    for path, _, view in shown:
        picture = (ROOT / "docs" / path).read_bytes()
        assert len(picture) < 90_000
        # The header of a PNG: its width and height are the window's.
        assert struct.unpack(">II", picture[16:24]) == (views[view], 900)
