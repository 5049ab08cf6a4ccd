"""The rules, one per kind of error: a passage in, the edits that are possible out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

from jrh_label_flip.options import Error
from jrh_label_flip.passages import Edit, Passage
from jrh_label_flip.rules.antonyms import antonyms
from jrh_label_flip.rules.entities import dates, entities
from jrh_label_flip.rules.form import agreement, exchanges, misspellings, removals
from jrh_label_flip.rules.negation import contradictions, negations
from jrh_label_flip.rules.numbers import calculations, numbers, units

Rule: TypeAlias = Callable[[Passage], Iterator[Edit]]

RULES: Final[Mapping[Error, Rule]] = {
    Error.NEGATION: negations,
    Error.ANTONYM: antonyms,
    Error.NUMBER: numbers,
    Error.CALCULATION: calculations,
    Error.UNIT: units,
    Error.DATE: dates,
    Error.ENTITY: entities,
    Error.CONSISTENCY: contradictions,
    Error.REMOVED_FACT: removals,
    Error.SEQUENCE: exchanges,
    Error.SPELLING: misspellings,
    Error.GRAMMAR: agreement,
}
