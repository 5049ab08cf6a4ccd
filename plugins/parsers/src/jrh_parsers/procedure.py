"""Decide what a text says: announced statements count before considered ones, those before mentions.

1. Announced: the slot of a marker (`Verdict: X`, `[[X]]`, `<score>X</score>`), or a last line or sentence that is
   nothing but a decision. The last one binds.
2. Considered: a first line or sentence that is a decision, conclusions (`I would choose X`, `but X`), and statements
   that no decision can be made or will be made. The last one binds, except that a decision followed by "I cannot
   decide" is neither.
3. Mentioned: labels in prose. They count only if all of them agree and none is denied.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from attrs import evolve
from jrh import Status

from jrh_parsers import cues
from jrh_parsers.finding import Finding, Grammar, off_scale, unparsable
from jrh_parsers.labels import has_negation

_SLOT_LENGTH = 240
_SLOT_WORDS = 3
_LAST_SENTENCE = re.compile(r"(?:[.!?][\"'*)]{0,3}\s+|\n)(?=[^\n]*$)")
_SENTENCE_BREAK = re.compile(r"[.!?]\s")
_BLANK_LINES = re.compile(r"[\s*\"'`:_>~{(-]{0,40}\n[\s*\"'`_>~{(-]{0,40}")
_OPENING_GOES_ON = re.compile(
    r"[*\"'`)\]]{0,4}(?:\s?[,:;(]|\s-\s|\s+(?:because|since|as|wins|is\s(?:\w{1,12}ly\s|the\s)?(?:better|best|stronger|"
    r"preferred|preferable|superior|winner))\b)",
    re.IGNORECASE,
)
_OPENING_ENDS = re.compile(r"[\s*\"'`)\]}_]{0,6}(?:\([^()\n]{0,80}\))?[*\"'`]{0,3}(?:[.!;](?:\s|$)|\n|$)")
_ONE_WORD = re.compile(r"[\W_]{0,20}[^\W_][\w'/.+-]{0,24}[\W_]{0,20}")
_HEADS = re.compile(r"[*`\"')\]\s]{0,5}:")
_MAX_LINES = 200
_ENUMERATED = re.compile(r"(?P<number>\d{1,3})[.):]\s")


def decide(text: str, grammar: Grammar) -> Finding:
    """Return the decision of a text, or why there is none; never raises."""
    if not text.strip():
        return unparsable("the reply is empty")
    # Once for all readers: the scale restated in the reply must not look like a decision.
    text = grammar.prepare(text)
    decision = last_announcement(text, grammar) or last_conclusion(text, grammar) or common_mention(text, grammar)
    return decision or _one_word(text) or unparsable("no decision is stated")


def last_announcement(text: str, grammar: Grammar) -> Finding | None:
    """Return the last decision that is announced as one."""
    marked = (*_marker_findings(text, grammar), *_bracket_findings(text, grammar))
    return max((*marked, *_last_sentence(text, grammar)), key=lambda finding: finding.start, default=None)


def marks_verdict(text: str, grammar: Grammar) -> bool:
    """Tell whether a decision is marked as the verdict: `Verdict: NO`, `[[A]]`."""
    return any(True for _ in _marker_findings(text, grammar)) or any(True for _ in _bracket_findings(text, grammar))


def last_conclusion(text: str, grammar: Grammar) -> Finding | None:
    """Return the last conclusion, abstention or refusal, or the decision that the text opens with."""
    concluded = sorted(conclusions(text, grammar), key=lambda finding: finding.start)
    declined = sorted(_refusals(text, grammar), key=lambda finding: finding.start)
    opening = _first_sentence(text, grammar)
    if opening is None:
        return max([*concluded, *declined], key=lambda finding: finding.start, default=None)
    # A judge that decides at the start and declines later has taken it back, unless it concludes again.
    if declined and not (concluded and concluded[-1].start > declined[-1].start):
        return unparsable("a decision, and a statement that none can be made", opening.start, declined[-1].end)
    return max([opening, *concluded], key=lambda finding: finding.start)


def common_mention(text: str, grammar: Grammar) -> Finding | None:
    """Return the decision that all mentions agree on, or a finding that they disagree."""
    first: Finding | None = None
    for finding in grammar.mentions(text):
        # One denied or doubtful mention makes all of them doubtful.
        if finding.status is Status.UNPARSABLE:
            return finding
        if first is not None and (finding.status, finding.label) != (first.status, first.label):
            return unparsable("more than one decision is stated", first.start, finding.end)
        first = first or finding
    return first


def read_answer(text: str, grammar: Grammar) -> Finding | None:
    """Read a text that is nothing but an answer, such as the value of a JSON key."""
    finding = _slot(grammar.prepare(text), 0, grammar)
    return finding or (off_scale(text, 0, len(text)) if _short(text) else None)


def _marker_findings(text: str, grammar: Grammar) -> Iterator[Finding]:
    for match in cues.MARKER.finditer(text):
        prefix = text[max(0, match.start() - cues.PREFIX_LENGTH) : match.start()]
        if _announces(match, prefix, at_start=match.start() <= cues.PREFIX_LENGTH):
            finding = _slot(text, match.end(), grammar)
            if finding is not None:
                yield evolve(finding, start=match.end())


def _announces(match: re.Match[str], prefix: str, *, at_start: bool) -> bool:
    # A window that starts inside the text must not look like the start of a line.
    anchored = prefix if at_start else "x" + prefix
    if cues.MARKER_PREFIX.search(anchored) is None:
        return False
    # `Response: A` may quote the item; `Better response: A` chooses.
    noun = match[0].split(maxsplit=1)[0].strip("*\"'`:=-").casefold()
    if noun.rstrip("s") in cues.BARE_NOUNS and not cues.CHOOSING.search(prefix):
        return False
    # `is` also makes ordinary sentences: only with `final` or the like does it announce.
    return not match["sign"][0].isalpha() or bool(cues.FINAL.search(prefix[-30:]))


def _slot(text: str, at: int, grammar: Grammar) -> Finding | None:
    # The answer may be on the next line.
    blank = _BLANK_LINES.match(text, at)
    at = blank.end() if blank is not None else at
    line_end = text.find("\n", at, at + _SLOT_LENGTH)
    line_end = line_end if line_end >= 0 else min(len(text), at + _SLOT_LENGTH)
    line = text[at:line_end]
    finding = grammar.read(line, 0, slot=True)
    if finding is not None:
        return evolve(finding, start=at, end=at + finding.end)
    if cues.ABSTENTION_SLOT.match(line):
        return Finding(status=Status.ABSTAINED, start=at, end=line_end, detail="no answer where one is announced")
    # A sentence in the slot: `Verdict: I would choose B`.
    inner = last_conclusion(line, grammar) or common_mention(line, grammar)
    if inner is not None:
        return evolve(inner, start=at, end=line_end)
    # A short text that is no label is a label of another scale; a long one is prose.
    first_clause = re.split(r"[.,;(\n]", line.strip(" *\"'`"), maxsplit=1)[0]
    return off_scale(first_clause, at, line_end) if _short(first_clause) else None


def _short(text: str) -> bool:
    return 0 < len(re.findall(r"[^\W_][\w'/.-]*", text)) <= _SLOT_WORDS


def _bracket_findings(text: str, grammar: Grammar) -> Iterator[Finding]:
    for match in cues.WRAPPED.finditer(text):
        group = next(name for name in ("brackets", "boxed", "element") if match[name] is not None)
        finding = _slot(match[group], 0, grammar)
        if finding is not None:
            yield evolve(finding, start=match.start(group), end=match.end(group))


def _last_sentence(text: str, grammar: Grammar) -> Iterator[Finding]:
    """Yield the decision that a text ends with, if it ends with one."""
    body = text.rstrip()
    window = max(0, len(body) - _SLOT_LENGTH)
    parts = list(_LAST_SENTENCE.finditer(body, window))
    # The shortest suffix that is a decision counts: `4. B` is option B.
    starts = [part.end() for part in reversed(parts)] + ([0] if window == 0 else [])
    for start in starts:
        sentence = body[start:]
        finding = grammar.read(sentence, 0, slot=True)
        if finding is not None and cues.CLOSE.match(sentence, finding.end):
            yield evolve(finding, start=start + finding.start, end=start + finding.end)
            return


def _first_sentence(text: str, grammar: Grammar) -> Finding | None:
    finding = grammar.read(text, 0, slot=False)
    if finding is None or "\n" in text[: finding.start].strip():
        return None
    if _OPENING_ENDS.match(text, finding.end) and not _begins_list(text, finding):
        return finding
    # `A good essay ...` begins with a letter and chooses nothing.
    if not _OPENING_GOES_ON.match(text, finding.end) or _begins_headings(text, finding, grammar):
        return None
    # An opening decision that the text contradicts later is no decision.
    contrary = [other for other in grammar.mentions(text) if other.ok and other.label != finding.label]
    return unparsable("more than one decision is stated", finding.start, contrary[0].end) if contrary else finding


def _begins_list(text: str, found: Finding) -> bool:
    item = _ENUMERATED.match(text, found.start)
    return item is not None and re.search(rf"\n\s{{0,8}}{int(item['number']) + 1}[.):]\s", text) is not None


def _begins_headings(text: str, found: Finding, grammar: Grammar) -> bool:
    """Return whether `A: ... B: ...` lists the options rather than choosing one."""
    if not re.match(r"[*\"'`)\]]{0,4}\s?[:-]", text[found.end :][:8]):
        return False
    lines = islice(re.finditer(r"\n[\s*#>-]{0,8}(?=\S)", text), _MAX_LINES)
    heads = (grammar.read(text, line.end(), slot=False) for line in lines)
    return any(head is not None and head.label != found.label and _HEADS.match(text, head.end) for head in heads)


def conclusions(text: str, grammar: Grammar) -> Iterator[Finding]:
    """Yield the clauses that state a decision: `the answer is B`, `I would rate it a 4`, `..., so NO`."""
    for match in cues.STRONG.finditer(text):
        # Judges also quote the answer that the item gives.
        if match["answer"] and _stands_for_a_number(text, match):
            continue
        before = re.split(r"[.!?;,\n]", text[max(0, match.start() - 60) : match.start()])[-1]
        if cues.SUPPOSED.search(before):
            continue
        finding = next(iter(grammar.scan(text, match.end(), _clause_end(text, match.end()))), None)
        if finding is not None:
            denied = has_negation(text, match.end(), finding.start) or cues.NEGATION.search(before)
            yield unparsable("a decision is denied", finding.start, finding.end) if denied and finding.ok else finding
    yield from _weak_conclusions(text, grammar)


def _weak_conclusions(text: str, grammar: Grammar) -> Iterator[Finding]:
    for match in cues.WEAK.finditer(text):
        # The decision follows at once or not at all.
        window = text[match.end() : match.end() + cues.CLAUSE_LENGTH]
        finding = grammar.read(window, 0, slot=False)
        if finding is not None and "\n" not in window[: finding.start] and cues.AFTER_WEAK.match(window, finding.end):
            yield evolve(finding, start=match.end() + finding.start, end=match.end() + finding.end)


def _stands_for_a_number(text: str, match: re.Match[str]) -> bool:
    """Return whether `the answer is 4` may speak of the item's answer and not of a score."""
    following = text[match.end() : match.end() + 12].lstrip("* a\"'`")
    return following[:1].isdigit() and not re.search(
        r"\b(?:my|final)\s$", text[max(0, match.start() - 10) : match.start()]
    )


def _clause_end(text: str, at: int) -> int:
    limit = min(len(text), at + cues.CLAUSE_LENGTH)
    end = cues.CLAUSE_END.search(text, at, limit)
    return end.start() if end is not None else limit


def _refusals(text: str, grammar: Grammar) -> Iterator[Finding]:
    refusal = cues.REFUSAL.match(text)
    if refusal is not None and cues.ABSTENTION.match(text, refusal.start()) is None:
        abstained = cues.ABSTENTION.search(text, refusal.start(), refusal.end() + cues.CLAUSE_LENGTH)
        if abstained is None or abstained.start() > refusal.end():
            yield Finding(status=Status.REFUSED, start=0, end=refusal.end(), detail="the judge declines to answer")
    for match in cues.ABSTENTION.finditer(text):
        around = grammar.scan(text, max(0, match.start() - 60), min(len(text), match.end() + 60))
        # A label such as INSUFFICIENT INFORMATION is a decision, not an abstention.
        if not any(label.ok and label.start < match.end() and label.end > match.start() for label in around):
            detail = "the judge says that it cannot decide"
            yield Finding(status=Status.ABSTAINED, start=match.start(), end=match.end(), detail=detail)


def _one_word(text: str) -> Finding | None:
    if cues.ABSTENTION_SLOT.fullmatch(text.strip()):
        return Finding(status=Status.ABSTAINED, start=0, end=len(text), detail="the reply says that there is no answer")
    return off_scale(text, 0, len(text)) if _ONE_WORD.fullmatch(text) else None
