"""The audit's rule about opposite polarity holds for the templates that come with jrh-prompts."""

from __future__ import annotations

from jrh import Mode, Scale
from jrh_audit.texts import asks_for_opposite
from jrh_prompts.options import Inventory
from jrh_prompts.templates import Shipped, load_templates


def test_of_the_shipped_templates_only_the_inverted_one_reads_as_opposite() -> None:
    found = [load_templates(kind) for kind in Inventory]
    named = [each.name for one in found for each in one.templates if asks_for_opposite(each.user, _scale(one))]
    assert named == ["fact-errors"]


def _scale(found: Shipped) -> Scale:
    if found.mode is Mode.PAIRWISE:
        return Scale.of_pairs()
    return Scale.of_levels(1, 5) if "5" in found.labels else Scale.of_labels(*found.labels)
