"""Read the levels of a numeric ordinal scale: 4, 4/5, 4 out of 5, **4**."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jrh import Scale

from jrh_parsers.finding import Finding, Grammar, label_finding, off_scale, unparsable
from jrh_parsers.labels import unless_denied
from jrh_parsers.visible import plain

_NUMBER = re.compile(r"(?P<number>[+-]?\d{1,12}(?:[.,]\d{1,12})*)")
_STARTS = re.compile(r"(?<![\w.,/$€£#-])(?<!\w[-'/.])[+-]?\d")
_TAIL_BAD = re.compile(r"[\w½¼¾⅓⅔⅛⅜⅝⅞²³¹⁰⁴⁵]|['°]\w?|:\d")
_FRACTION = re.compile(
    r"[*`\"']{0,3}\s{0,2}(?:/\s{0,2}|(?:stars?\s|points?\s)?\s{0,2}(?:out\sof|of|from)\s(?:a\s)?(?:(?:possible|maximum|total)\s"
    r"(?:of\s)?)?)[*`\"']{0,3}(?P<whole>\d{1,6}(?:\.\d{1,3})?)(?![\w/])",
    re.IGNORECASE,
)
_RANGE = re.compile(
    r"[*`\"']{0,3}\s{0,2}(?:(?:-|~|/|\bto\b|\bor\b|\bthrough\b)\s{0,2})[*`\"']{0,3}(?:maybe\s|perhaps\s|an?\s)?\d{1,4}(?:\.\d{1,3})?",
    re.IGNORECASE,
)
_BETWEEN = re.compile(
    r"(?:between|from|somewhere between)\s+(?:an?\s)?\d{1,4}(?:\.\d{1,3})?\s+(?:and|to)\s+(?:an?\s)?\d{1,4}", re.I
)
_HEDGE = re.compile(r"[+]|-(?=[\s.,;)]|$)|\s?(?:plus|minus)\b|\s?%|\s?percent\b|\sand\sa\s(?:half|quarter)\b", re.I)
_UNIT = re.compile(r"\s{0,2}(?:points?|stars?|pts)\b", re.IGNORECASE)
_SCORE_MAY_FOLLOW = re.compile(
    r"[*`\"')\]}]{0,4}(?:\s{0,3}(?:$|[.,;:!?\n(|=]|-\s)|\s+(?:because|since|as|for|out|on|overall|and|but|in|due|given|at|"
    r"here|to\sthis|to\sit|to\sthe|with|which|is|would|seems|points?|stars?|while|although|though|rather|based|instead|"
    r"by|from|of|it|the|this|so|not|points|total)\b)",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"(?:is|are|as|be|the|an?|my|it|this|that|to|of|at|about|approximately|roughly|around|likely|probably|definitely|"
    r"clearly|overall|score|scores?\sof|rating|rating\sof|level|grade|mark|number|value|answer|would be|should be|"
    r"i'd say|i say|it's|exactly|solid|strong|just|points?)(?=[\s:*\"'`(\[#]|$)",
    re.IGNORECASE,
)
# Words count in slots only: "one" in prose is rarely a score.
_NAMES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_WORDS = {name: str(number) for number, name in enumerate(_NAMES)}
_WORD = re.compile(rf"(?:{'|'.join(_WORDS)})(?![\w-])", re.IGNORECASE)
_SPELT_FRACTION = re.compile(
    rf"\b(?P<part>{'|'.join(_WORDS)})\s(?:points\s|stars\s)?out\sof\s(?P<whole>{'|'.join(_WORDS)}|\d{{1,3}})(?!\w)",
    re.IGNORECASE,
)
_EMPHASISED = re.compile(r"(?<![\w*])\*\*\s{0,2}(?=\d)")
_OWN_LINE = re.compile(
    r"(?:^|\n)[ \t>*#•-]{0,8}(?:\w[\w-]{0,20}\s){0,3}\w[\w-]{0,20}[ _](?:score|rating|grade|mark)"
    r"[*\"'`]{0,3}\s{0,3}[:=]",
    re.I,
)
_ONLY_LINE = re.compile(r"\s{0,10}[*#\"'`{]{0,4}(?:\w[\w-]{0,20}\s){0,2}\w[\w-]{0,20}[*\"'`]{0,3}\s{0,2}[:=-]\s")
_FRACTION_AT = re.compile(
    r"(?<![\w.,/])\d{1,4}(?:\.\d{1,3})?\s{0,2}(?:/\s{0,2}\d|(?:points?\s|stars?\s)?out\sof\s\d)", re.I
)


_HESITATION = 2
_LISTED = 12


def _in_digits(match: re.Match[str]) -> str:
    part, total = (_WORDS.get(match[name].casefold(), match[name]) for name in ("part", "whole"))
    return f"{part}/{total}"


def numeric(scale: Scale) -> bool:
    """Return whether every label of an ordinal scale is a number, no two of the same value."""
    values = [_value(plain(label)) for label in scale.labels]
    return scale.ordered and None not in values and len(set(values)) == len(values)


def _value(text: str) -> float | None:
    try:
        return float(text) if re.fullmatch(r"[+-]?\d{1,12}(?:\.\d{1,12})?", text.strip()) else None
    except ValueError:
        return None


def _restatement(scale: Scale) -> re.Pattern[str]:
    low, high = re.escape(plain(scale.labels[0])), re.escape(plain(scale.labels[-1]))
    ends = (
        rf"(?<![\w.,/]){low}(?:\s\([^()\n]{{1,40}}\))?\s{{0,2}}"
        rf"(?:-|to|through|\.\.\.?)\s{{0,2}}{high}(?![\w/])(?![.,]\d)"
    )
    listed = r"\s{0,2}[,/]\s{0,2}".join(re.escape(plain(label)) for label in scale.labels[:_LISTED])
    return re.compile(
        rf"(?:\b(?:scale|range)\s(?:of|from|is)\s)?(?:{ends}|(?<![\w.,/]){listed}(?![\w/])(?![.,]\d))"
        rf"(?:[\s-]{{1,2}}(?:point\s)?(?:scale|range))?|\b\d{{1,3}}-point(?:\sscale)?"
        rf"|(?<![\w.,/])\d{{1,3}}\s{{0,2}}=\s{{0,2}}[\"'(]?[A-Za-z]",
        re.IGNORECASE,
    )


class LevelGrammar(Grammar):
    """Reads numbers against an ordinal scale of numbers; a number between two levels is not on the scale."""

    lead = _LEAD

    def __init__(self, scale: Scale) -> None:
        """Keep the value of every level."""
        self._levels = {_value(plain(label)): label for label in scale.labels}
        self._top = _value(plain(scale.labels[-1]))
        # On a scale of two levels, `1-2` may be a hesitant answer rather than a restated scale: blank out nothing.
        self._restated = _restatement(scale) if len(scale.labels) > _HESITATION else None

    def prepare(self, text: str) -> str:
        """Blank out what only restates the scale: `1 to 5`, `5-point scale`, `1 = poor`; write fractions in digits."""
        text = _SPELT_FRACTION.sub(_in_digits, text)
        return self._restated.sub(lambda match: " " * len(match[0]), text) if self._restated else text

    def read_at(self, text: str, at: int, *, slot: bool) -> Finding | None:
        """Read the number at a place; in a slot also one in words."""
        # Before numbers: the first number of `between 3 and 4` would look like a score.
        between = _BETWEEN.match(text, at)
        if between is not None:
            return unparsable("a range of levels instead of one", at, between.end())
        number = _NUMBER.match(text, at)
        if number is None:
            return self._word(text, at) if slot else None
        # The end of a word or of an amount: `GPT4`, `$4`.
        if at and (text[at - 1].isalnum() or text[at - 1] in "/$€£"):
            return None
        return self._number(text, number)

    def _word(self, text: str, at: int) -> Finding | None:
        word = _WORD.match(text, at)
        if word is None or not _SCORE_MAY_FOLLOW.match(text, word.end()):
            return None
        return self._level(_WORDS[word[0].casefold()], text, at, word.end())

    def _number(self, text: str, number: re.Match[str]) -> Finding | None:
        start, end = number.span()
        written = number[0]
        if _TAIL_BAD.match(text, end):
            # `4th` and `4x` are no scores; `4½` is one between two levels.
            glued = text[end].isalpha() or text[end] in "_':°" or text[end].isdecimal()
            return None if glued else off_scale(text[start : end + 1], start, end + 1)
        # Before ranges, whose pattern also accepts a slash: `4/5` is a score on a scale to 5.
        fraction = _FRACTION.match(text, end)
        if fraction is not None:
            # `8/10` on a scale to 5 is no level: rescaling it would be a guess.
            if _value(fraction["whole"]) != self._top:
                return off_scale(text[start : fraction.end()], start, fraction.end())
            return self._level(written, text, start, fraction.end())
        span = _RANGE.match(text, end)
        if span is not None:
            return unparsable("a range of levels instead of one", start, span.end())
        hedge = _HEDGE.match(text, end)
        if hedge is not None:
            return off_scale(text[start : hedge.end()], start, hedge.end())
        # The unit belongs to the number, so that what follows it is looked at next.
        unit = _UNIT.match(text, end)
        return self._level(written, text, start, unit.end() if unit else end)

    def _level(self, written: str, text: str, start: int, end: int) -> Finding:
        value = _value(written)
        if value is None or value not in self._levels:
            return off_scale(text[start:end], start, end)
        return label_finding(self._levels[value], start, end)

    def scan(self, text: str, start: int, end: int) -> Iterator[Finding]:
        """Yield numbers that may be scores; `3 paragraphs` is not one."""
        for match in _STARTS.finditer(text, start, end):
            finding = self.read_at(text, match.start(), slot=False)
            if finding is not None and finding.end <= end + 1 and _SCORE_MAY_FOLLOW.match(text, finding.end):
                yield unless_denied(text, finding, "a level is denied")

    def mentions(self, text: str) -> Iterator[Finding]:
        """Yield fractions, emphasised numbers, `Coherence score: 4`, and `Coherence: 4` as the whole reply."""
        places = [match.start() for match in _FRACTION_AT.finditer(text)]
        places += [match.end() for pattern in (_EMPHASISED, _OWN_LINE) for match in pattern.finditer(text)]
        only = _ONLY_LINE.match(text)
        # On several lines it would be one aspect of many.
        if only is not None and "\n" not in text.strip():
            places.append(only.end())
        for place in sorted(set(places)):
            finding = self.read(text, place, slot=False)
            if finding is not None:
                yield finding
