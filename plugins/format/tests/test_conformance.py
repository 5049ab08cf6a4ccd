"""The contracts every perturber and validator holds."""

from typing import ClassVar

import jrh_format.plugin
from jrh import Draft, Item
from jrh_testing import PerturberContract, ValidatorContract

ITEM = Item(id="1", fields={"request": "?", "response": "One word. Two - words."})


class TestFormat(PerturberContract):
    plugin = jrh_format.plugin
    component = "format"
    options: ClassVar = {"strengths": [0.3, 1.0]}


class TestTypos(PerturberContract):
    plugin = jrh_format.plugin
    component = "typos"
    options: ClassVar = {"strengths": [0.1, 1.0]}


class TestOneTypoPerWord(ValidatorContract):
    plugin = jrh_format.plugin
    component = "one-typo-per-word"
    accepted = (
        (ITEM, Draft(fields={"response": "One wrod. Two - wors."})),
        (ITEM, Draft(fields={"response": "One woord. Two - wotds."})),
        (ITEM, Draft()),
    )
    rejected = (
        (ITEM, Draft(fields={"response": "One word. Two words."})),
        (ITEM, Draft(fields={"response": "One drow. Two - words."})),
        (ITEM, Draft(fields={"response": "Ome word. Two - words!"})),
        (ITEM, Draft(fields={"answer": "One wrod. Two - words."})),
    )


class TestWordsUnchanged(ValidatorContract):
    plugin = jrh_format.plugin
    component = "words-unchanged"
    accepted = (
        (ITEM, Draft(variant="spaces", fields={"response": "One   word.  Two - words."})),
        (ITEM, Draft(variant="bullets", fields={"response": "- One word.\n- Two - words."})),
        (ITEM, Draft()),
    )
    rejected = (
        (ITEM, Draft(variant="spaces", fields={"response": "One word. Two words."})),
        (ITEM, Draft(variant="spaces", fields={"response": "- One word.\n- Two - words."})),
        (ITEM, Draft(variant="bullets", fields={"response": "- One word.\n- Too - words."})),
        (ITEM, Draft(variant="crlf", fields={"answer": "One word. Two - words."})),
    )
