"""Evidence localisation: whether a rationale points at a message that was edited, by number or by words it quotes."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from math import comb
from typing import Final

import numpy as np
from attrs import evolve, frozen
from jrh import Measure, MetricContext, RecordTable
from jrh.text import TranscriptMessage
from jrh_authoring import json_text
from jrh_measuring import (
    CONSTANT_VERDICTS,
    Floats,
    Mask,
    MeasureBuilder,
    MetricOptions,
    Scores,
    Trials,
    cells_of,
    is_named,
)

from jrh_agentic.measures.edited_cases import DRAWS, PERTURBATION, cases_with_edits, of_families

_LONGEST: Final = 20_000
"""Characters of a rationale that are read."""
_MOST_QUOTES: Final = 50
_SHORTEST_QUOTE: Final = 12
"""Characters; shorter ones stand in many messages by chance."""
_LONGEST_QUOTE: Final = 500
_MOST_NUMBERS: Final = 1_000
_ONE: Final = r"#?\[?\d{1,9}(?!\d)\]?"
_NUMBERED: Final = re.compile(
    rf"\b(?:messages?|msgs?\.?)\s*(?:nos?\.|numbers?)?\s*(?P<list>{_ONE}(?:\s*(?:,\s*and|,|and|&|or|to|through|-|\u2013)\s*{_ONE})*)",
    re.IGNORECASE,
)
_BRACKETED: Final = re.compile(r"\[(\d{1,9})\]")
_HASHED: Final = re.compile(r"(?<![\w#])#(\d{1,9})\b")
_RANGE: Final = re.compile(r"(\d+)\D*?(?:\bto\b|\bthrough\b|-|\u2013)\D*?(\d+)|(\d+)", re.IGNORECASE)
_QUOTED: Final = re.compile(
    r'"([^"]{4,2000})"|\u201c([^\u201d]{4,2000})\u201d|\u00ab([^\u00bb]{4,2000})\u00bb|`([^`]{4,2000})`'
    r"|(?<!\w)'([^'\n]{12,2000})'(?!\w)|\u2018([^\u2019\n]{12,2000})\u2019(?!\w)"
)
_STRAIGHT: Final = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2026": "..."})


def numbers_in(rationale: str) -> frozenset[int]:
    """Return the numbers of messages that a rationale names: `message 3`, `messages 3, 5-7 and 9`, `[3]`, `#3`."""
    text = rationale[:_LONGEST]
    numbers = {int(match[1]) for pattern in (_BRACKETED, _HASHED) for match in pattern.finditer(text)}
    for match in _NUMBERED.finditer(text):
        for first, last, alone in _RANGE.findall(match["list"]):
            low, high = (int(first), int(last)) if first else (int(alone), int(alone))
            # Bounded: "messages 1 to 999999999" must not fill the memory.
            numbers.update(range(low, min(high, low + _MOST_NUMBERS) + 1))
    return frozenset(numbers)


def quotes_in(rationale: str) -> tuple[str, ...]:
    """Return the passages a rationale quotes, too long to match by chance, as `bare` text."""
    quotes = (next(filter(None, match.groups()), "") for match in _QUOTED.finditer(rationale[:_LONGEST]))
    passages = dict.fromkeys(bare(quote).strip(" .,;:!?")[:_LONGEST_QUOTE] for quote in quotes)
    return tuple(quote for quote in passages if len(quote) >= _SHORTEST_QUOTE)[:_MOST_QUOTES]


def bare(text: str) -> str:
    """Return a text without what quoting changes: case, white space, typographic marks."""
    return " ".join(text.translate(_STRAIGHT).split()).casefold()


def texts_of(messages: Sequence[TranscriptMessage]) -> Mapping[int, str]:
    """Return what the assistant says, thinks and calls, as `bare` text, by the number of the message."""
    return {
        number: bare("\n".join(_parts(message)))
        for number, message in enumerate(messages, 1)
        if message.role == "assistant"
    }


def _parts(message: TranscriptMessage) -> Iterator[str]:
    yield from (message.reasoning, message.content)
    for call in message.tool_calls:
        yield f"{call.name} {json_text(call.arguments)}"


def match_messages(rationale: str, texts: Mapping[int, str]) -> frozenset[int]:
    """Return the numbers of the assistant's messages that a rationale names or quotes."""
    named = numbers_in(rationale) & texts.keys()
    quotes = quotes_in(rationale)
    quoted = {number for number, text in texts.items() if any(quote in text for quote in quotes)} if quotes else set()
    return frozenset(named | quoted)


# Few combinations of numbers, many trials.
@lru_cache(maxsize=4096)
def chance(messages: int, edited: int, pointed: int) -> float:
    """Return the probability that so many different messages, drawn at random, include an edited one.

    With n messages, e of them edited, and k pointed at: 1 - C(n - e, k) / C(n, k), the complement of the
    hypergeometric distribution at 0.
    """
    return 1.0 - comb(messages - edited, pointed) / comb(messages, pointed)


NAME: Final = "evidence-localisation"
BY_CHANCE: Final = "evidence-localisation-by-chance"
ABOVE_CHANCE: Final = "evidence-localisation-above-chance"
_HITS: Final = "right verdicts whose rationale points at an edited message, by number or in its words"
_CHANCE: Final = "the same share if each rationale pointed at as many random messages"
_NOTHING: Final = "no trial has a usable verdict"
NO_RATIONALE: Final = "no_rationale"
"""Counted as missing: the verdict is right, but comes without a rationale."""


@frozen
class EvidenceLocalisation:
    """How often a judge that gives the right verdict on a perturbed transcript points at an edited message.

    A rationale points at the assistant's messages whose numbers it names, and at those whose words it quotes. One that
    points at no message is no hit. By chance: the expected share if every rationale pointed at as many of the
    assistant's messages as it does, drawn at random; a judge that names them all hits always, and so does chance.
    """

    options: MetricOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield the share of hits, that by chance, and the difference, per task, judge and test."""
        builder = MeasureBuilder.of(records, context, self.options, draws=DRAWS)
        trials = builder.trials
        about = of_families(trials, PERTURBATION) & is_named(trials.expectation, "equals")
        if not about.any():
            return
        eligible, hits, lucky = _score_pointers(trials, context, about)

        def scores(value: Floats, *, bounded: bool = True) -> Scores:
            low, high = (0.0, 1.0) if bounded else (None, None)
            return Scores(eligible=eligible, value=value, low=low, high=high, unscored=NO_RATIONALE)

        hit, by_chance, above = scores(hits), scores(lucky), scores(hits - lucky, bounded=False)
        for whole_cell in cells_of(trials):
            cell = evolve(whole_cell, rows=whole_cell.rows[eligible[whole_cell.rows]])
            if not len(cell.rows):
                continue
            for measure in (
                builder.rate(NAME, cell, hit, nothing=_NOTHING, note=_HITS),
                builder.rate(BY_CHANCE, cell, by_chance, nothing=_NOTHING, note=_CHANCE),
                builder.mean(ABOVE_CHANCE, cell, above, limits=(-1.0, 1.0), nothing=_NOTHING, unit="difference"),
            ):
                # Only verdicts that are right count, so that all being the same says nothing about the judge.
                yield evolve(measure, flags=tuple(flag for flag in measure.flags if flag != CONSTANT_VERDICTS))


def _score_pointers(trials: Trials, context: MetricContext, about: Mask) -> tuple[Mask, Floats, Floats]:
    """Return which trials count, and per trial the hit and its chance; NaN where verdict or rationale are missing.

    Wrong verdicts do not count, nor cases without a listed edit of a message that is still there: nothing can be
    pointed at.
    """
    counts = about & (~trials.usable | (trials.label == trials.expected))
    by_case: defaultdict[str, list[int]] = defaultdict(list)
    for row in np.flatnonzero(counts).tolist():
        by_case[trials.case.names[trials.case.codes[row]]].append(row)
    eligible = np.zeros(len(counts), dtype=np.bool_)
    hits, lucky = (np.full(len(counts), np.nan) for _ in range(2))
    rationale = trials.column("rationale")
    for edited in cases_with_edits(context.evidence, sorted(by_case)):
        # Where the list of edits is shortened, a message it does not name may be edited too.
        texts = texts_of(edited.transcript()) if edited.present and edited.complete else {}
        present = set(edited.present) & texts.keys()
        for row in by_case[edited.id] if present else ():
            # Also without a rationale, which then counts as missing.
            eligible[row] = True
            words = rationale.names[rationale.codes[row]].strip()
            if trials.usable[row] and words:
                pointed = match_messages(words, texts)
                hits[row], lucky[row] = bool(pointed & present), chance(len(texts), len(present), len(pointed))
    return eligible, hits, lucky
