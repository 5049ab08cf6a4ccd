"""Read the labels of a scale in free text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jrh import Scale

from jrh_parsers.cues import HYPOTHETICAL, NEGATED, NEGATION
from jrh_parsers.finding import Finding, Grammar, label_finding, unparsable
from jrh_parsers.visible import plain

_LEAD = re.compile(
    r"(?:is|are|as|be|the|an?|to be|my|answer|verdict|response|label|option|category|class|likely|most likely|probably|"
    r"definitely|clearly|simply|overall|it is|it's|that it is|it as|this as|this|it|i'd say|i say|would be|should be|"
    r"that|for|of|rated|labell?ed|classified|considered|judged|deemed)(?=[\s:*\"'`(\[]|$)",
    re.IGNORECASE,
)
_JOINED = r"[*\"'`)\]]{{0,3}}\s{{0,3}}(?:/|\||\\|\bor\b|\band\b|&{more})\s{{0,3}}(?:maybe |perhaps )?[*\"'`(\[]{{0,3}}"
_PREDICATE = re.compile(
    r"(?:\b(?:is|are|was|be|as|seems?|appears?|remains?|considered|deemed|rated|judged|labell?ed|classified|marked|"
    r"call it|it's|that's|verdict|answer)\b[:,]?\s+(?:\w{1,14}ly\s+|very\s+|quite\s+|also\s+|an?\s+|the\s+){0,2}|"
    r"[:=]\s*)[*\"'`(\[]{0,3}$",
    re.IGNORECASE,
)
_SENTENCE_START = re.compile(r"(?:^|[.!?:\n])[\s*\"'`(#>-]{0,6}$")
_DENIED = re.compile(
    r"(?:not|never|neither|isn't|is not|hardly|barely|definitely not|clearly not|no longer|non-)[\s*\"'`(]{0,4}", re.I
)
_DETERMINER_OK = re.compile(
    r"[\s*\"'`)\]}]{0,4}(?:$|[.,;:!?\n(/|-])|\s+(?:because|since|as|it|but|due|given|for)\b", re.I
)
_ORDINARY = frozenset({"a", "i", "no", "not", "none"})
"""Labels that are also common words; in prose they count only in the scale's spelling and not before a noun."""

LOOK_BEHIND = 60


class LabelGrammar(Grammar):
    """Reads labels by name; the longest match wins, and exact spelling beats case-insensitive."""

    lead = _LEAD

    def __init__(self, scale: Scale) -> None:
        """Compile the labels once."""
        self._plain = {plain(label): label for label in scale.labels}
        self._joined = re.compile(_JOINED.format(more=r"|\bto\b|-" if scale.ordered else ""), re.IGNORECASE)
        # The longest first, as alternatives are tried in order: VERY GOOD before GOOD.
        by_length = sorted(self._plain, key=lambda label: (-len(label), label))
        pattern = "|".join(_spelling(label) for label in by_length)
        # In prose no part of a word or of a compound: neither `pass` in `bypass` nor `A` in `A-level`.
        self._label = re.compile(rf"(?<![\w])(?<!\w[-'/.])(?:{pattern})(?![\w])(?![-']\w)", re.IGNORECASE)
        # After a marker a sign may touch the label: `=YES`, `/YES`.
        self._slot_label = re.compile(rf"(?<!\w)(?:{pattern})(?!\w)(?![-']\w)", re.IGNORECASE)

    def read_at(self, text: str, at: int, *, slot: bool) -> Finding | None:  # noqa: ARG002 - names read alike everywhere
        """Read the label at a place, or that one is denied there."""
        match = self._slot_label.match(text, at)
        if match is None:
            # `not YES` in a slot: reading on would find YES and turn the verdict around.
            denial = _DENIED.match(text, at)
            other = self._slot_label.match(text, denial.end()) if denial is not None else None
            return unparsable("a label is denied, none is stated", at, other.end()) if other is not None else None
        label = self._resolve(match[0])
        if label is None:
            return unparsable("labels differ only in case, and the reply's case fits none", at, match.end())
        # `A good answer` does not choose A.
        if match[0].casefold() in _ORDINARY and not _DETERMINER_OK.match(text, match.end()):
            return None
        return self._alone(text, match, label)

    def _alone(self, text: str, match: re.Match[str], label: str) -> Finding:
        # `YES or NO` offers two labels and decides for none.
        joined = self._joined.match(text, match.end())
        other = self._slot_label.match(text, joined.end()) if joined else None
        if other is not None and self._resolve(other[0]) != label:
            return unparsable("two labels are offered", match.start(), other.end())
        return label_finding(label, match.start(), match.end())

    def scan(self, text: str, start: int, end: int) -> Iterator[Finding]:
        """Yield the labels of a stretch; a denied one is a finding without a label."""
        for match in self._label.finditer(text, start, end):
            label = self._resolve(match[0])
            if label is None or (match[0].casefold() in _ORDINARY and not self._plainly(text, match)):
                continue
            if is_denied(text, match.start()):
                yield unparsable("a label is denied", match.start(), match.end())
            else:
                yield self._alone(text, match, label)

    def mentions(self, text: str) -> Iterator[Finding]:
        """Yield labels that stand out by their spelling, or else predicates (`it is correct`)."""
        candidates = [finding for finding in self.scan(text, 0, len(text)) if not _is_hypothetical(text, finding)]
        # Spelling first: a judge that writes PASS means the label, one that writes "pass" may just use the word.
        telling = [finding for finding in candidates if self._stands_out(text, finding)]
        yield from telling or (finding for finding in candidates if _predicate(text, finding))

    def _plainly(self, text: str, match: re.Match[str]) -> bool:
        return match[0] in self._plain and bool(_DETERMINER_OK.match(text, match.end()))

    def _stands_out(self, text: str, finding: Finding) -> bool:
        written = text[finding.start : finding.end]
        label = next((label for label in self._plain if written.startswith(label)), None)
        if label is None or label == label.lower():
            return False
        # Any word is capitalised at the start of a sentence.
        title_case = label[:1].isupper() and label[1:] == label[1:].lower() and len(label) > 1
        return not (title_case and _SENTENCE_START.search(text[max(0, finding.start - LOOK_BEHIND) : finding.start]))

    def _resolve(self, written: str) -> str | None:
        if written in self._plain:
            return self._plain[written]
        folded = _fold(written)
        # Scales may have labels that differ in case only; then the reply has to say which.
        fits = [label for key, label in self._plain.items() if _fold(key) == folded]
        return fits[0] if len(fits) == 1 else None


def is_denied(text: str, at: int) -> bool:
    """Return whether what begins at `at` is denied by the words before it."""
    return bool(NEGATED.search(text[max(0, at - LOOK_BEHIND) : at]))


def unless_denied(text: str, finding: Finding, detail: str) -> Finding:
    """Return a finding, or that there is none because the words before it deny it."""
    return unparsable(detail, finding.start, finding.end) if is_denied(text, finding.start) else finding


def has_negation(text: str, start: int, end: int) -> bool:
    """Return whether there is a negation between two offsets."""
    return bool(NEGATION.search(text[start:end]))


def _is_hypothetical(text: str, finding: Finding) -> bool:
    return bool(HYPOTHETICAL.search(text[max(0, finding.start - LOOK_BEHIND) : finding.start]))


def _predicate(text: str, finding: Finding) -> bool:
    return not finding.ok or bool(_PREDICATE.search(text[max(0, finding.start - LOOK_BEHIND) : finding.start]))


def _spelling(label: str) -> str:
    # Words of one label may be joined as the judge likes: VERY GOOD, very_good, Very-Good.
    return r"[\s_-]{1,3}".join(re.escape(word) for word in re.split(r"[\s_]+", label.strip()) if word) or re.escape(
        label
    )


def _fold(text: str) -> str:
    return " ".join(re.split(r"[\s_-]+", text.strip().casefold()))
