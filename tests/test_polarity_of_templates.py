"""The audit's rule about opposite polarity holds for the templates that come with jrh-prompts."""

from __future__ import annotations

from jrh_audit.texts import asks_for_opposite
from jrh_prompts.inventory import shipped
from jrh_prompts.options import Inventory


def test_of_the_shipped_templates_only_the_inverted_one_reads_as_opposite():
    named = [each.name for kind in Inventory for each in shipped(kind).templates if asks_for_opposite(each.user)]
    assert named == ["fact-errors"]
