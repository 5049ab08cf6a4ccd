"""Define the patterns of words that announce, deny or decline a decision."""

from __future__ import annotations

import re

_NOUN = (
    r"(?:verdict|answer|decision|judge?ment|label|rating|score|grade|conclusion|choice|classification|winner|"
    r"preference|preferred|result|assessment|evaluation|determination|output|final|overall|level|response|option)"
)
_EDGE = r"[\"'*`]{0,4}"

MARKER = re.compile(
    rf"\b{_NOUN}s?(?:_\w{{1,20}})?{_EDGE}\s{{0,3}}(?:[(\[][^()\[\]\n]{{0,60}}[)\]]\s{{0,3}})?{_EDGE}\s{{0,3}}"
    rf"(?P<sign>[:=→]|->|=>|-(?=\s)|\b(?:is|would\sbe|has\sto\sbe|must\sbe)\b)",
    re.IGNORECASE,
)
"""A noun and a sign: `Verdict:`, `**Final answer** -`, `"score": `."""

_QUALIFIERS = (
    r"(?:(?:my|the|your|our|this|final|overall|total|preferred|better|best|chosen|selected|winning|stronger|superior|"
    r"most|more|relevant|likely|assigned|given|holistic|ultimate|predicted|recommended|answer|verdict|single)[\s_]{1,3})"
)
MARKER_PREFIX = re.compile(
    rf"(?:^|\n[ \t>#*|•\d.)(\[{{\"'`-]{{0,20}}|[.!?;,)}}{{][\"'*`)]{{0,3}}\s{{1,3}}[\"'*`(]{{0,3}}|"
    rf"[{{,(\[]\s{{0,3}}[\"'`*]{{0,3}}|"
    rf"\b(?:so|thus|therefore|hence|and|then|is|here)[,:]?\s{{1,3}}[*\"'`]{{0,3}}){_QUALIFIERS}{{0,5}}$",
    re.IGNORECASE,
)
"""What may stand before a marker: the beginning of a line or clause, and words such as `my final`.

`Clarity score:` does not count as announced: it is part of the decision, not the decision itself.
"""
PREFIX_LENGTH = 90
BARE_NOUNS = frozenset({"response", "option"})
"""Nouns that announce a decision only with one of `CHOOSING` before them: `Better response: A`."""
CHOOSING = re.compile(
    r"\b(?:preferred|better|best|chosen|selected|winning|stronger|superior|relevant|recommended)\s{1,3}$", re.IGNORECASE
)
FINAL = re.compile(r"\b(?:final|overall|ultimate)\s", re.IGNORECASE)

WRAPPED = re.compile(
    r"\[\[(?P<brackets>[^\[\]\n]{1,60})\]\]"
    r"|\\boxed\s?\{(?:\\text(?:bf)?\s?\{)?(?P<boxed>[^{}\n]{1,60})\}"
    r"|<(?P<tag>verdict|answer|score|rating|label|decision|final_answer|final_verdict|choice|result|grade|judge?ment|"
    r"winner|preference|output)>(?P<element>[^<]{1,200})</(?P=tag)>",
    re.IGNORECASE,
)
"""A bracketed decision: `[[A]]`, `\\boxed{4}`, `<score>4</score>`."""

STRONG = re.compile(
    r"\b(?:verdict|decision|judge?ment|label|rating|score|grade|conclusion|choice|classification|winner|preference|pick|"
    r"vote|(?P<answer>answer))\s+(?:is|was|would be|should be|must be|will be|has to be|of|to be|goes to)\b"
    r"|\b(?:I|we)(?:'d|'ll| would| will| must| have to| am going to)?\s(?:\w{1,12}ly\s)?"
    r"(?:choose|pick|select|prefer|favou?r|rate|score|give|assign|award|grade|mark|say|conclude|judge|vote|"
    r"go with|lean|opt for|settle on|settle for|consider|deem|classify|label|rank|answer|am going with)\b"
    r"|\b(?:deserves?|earns?|receives?|gets?|merits?|warrants?|choosing|going with|leaning|is rated|rated|scores|"
    r"(?:scored|graded|marked|given|assigned|awarded)(?= (?:as|at|a|an)\b))\b"
    r"|\b(?:the )?(?:better|best|preferred|stronger|superior|more relevant|winning)\s"
    r"(?:one|response|answer|option|assistant|choice|summary|text|passage|document)\s(?:is|would be|was)\b",
    re.IGNORECASE,
)
"""A clause that states a decision: `the answer is B`, `I would rate this essay a 4`."""

WEAK = re.compile(
    r"(?:^|[.!?;,:\n]\s{0,3}|-\s)(?:so|but|therefore|thus|hence|overall|ultimately|still|instead|rather|actually|"
    r"on balance|in conclusion|in summary|in the end|finally|i think|i believe|i'd say|probably|likely|"
    r"then|yet|in short|all in all|all things considered|on the whole)[,:]?\s{1,3}"
    r"(?:it's |it is |i think |i'd say |overall,? )?",
    re.IGNORECASE,
)
"""A word after which a decision may follow at once: `a close call, but B`."""

AFTER_WEAK = re.compile(
    r"[*\"'`)\]]{0,4}\s{0,3}(?:$|[.!,;:)\n]|-\s|\b(?:because|since|as it|it is|it's|overall|by a|wins?|"
    r"(?:is|was|seems|comes out)\s(?:\w{1,12}ly\s|the\s|a\sbit\s|much\s|far\s){0,2}"
    r"(?:better|best|winner|stronger|superior|preferable|preferred|ahead))\b)",
    re.IGNORECASE,
)

CLAUSE_END = re.compile(r"[.!?;\n](?=\s|$|[\"'*)])|\n")
CLAUSE_LENGTH = 90
"""Maximum distance in characters from an announcement to its decision."""

NEGATION = re.compile(
    r"(?:\b(?:not(?!\sonly)|never|neither|nor|cannot|hardly|barely|without|rather than|instead of)\b|n't\b|\bnon-)",
    re.IGNORECASE,
)
NEGATED = re.compile(
    r"(?:\b(?:not(?!\sonly)|never|neither|nor|no|hardly|barely|without|isn't|wasn't|aren't|can't be|cannot be)"
    r"[\s*\"'`(]+(?:\w{1,12}[\s*\"'`(]+){0,2}|\bnon-[\s*\"'`(]*)$",
    re.IGNORECASE,
)
"""Text before a denied label."""
SUPPOSED = re.compile(
    r"\b(?:if|whether|unless|when|says?|said|claims?|claimed|states?|stated|correct|right|reference|expected|true|gold|"
    r"student's|model's|its|their|his|her)\b[^.!?;\n]{0,40}$",
    re.IGNORECASE,
)
"""Text before a decision that is only supposed or someone else's."""
HYPOTHETICAL = re.compile(
    r"\b(?:would|could|might|may|should|if|whether|unless)\s(?:\w{1,14}\s){0,3}[*\"'`(]{0,3}$", re.IGNORECASE
)
"""Text before a hypothetical label: `would PASS if`."""

_DECIDE = (
    r"(?:determine|decide|judge|tell|say|assess|evaluate|rate|score|choose|pick|conclude|know|answer|verify|"
    r"make (?:a|an|this|that)|reach a|reach any|give (?:a|an) (?:\w+ )?(?:verdict|score|rating|answer|judge?ment)|"
    r"provide (?:a|an) (?:\w+ )?(?:verdict|score|rating|answer|judge?ment|decision|assessment|evaluation)|"
    r"draw a|render a|establish|distinguish)"
)
ABSTENTION = re.compile(
    rf"\b(?:cannot|can't|can not|couldn't|could not|unable to|not able to|won't be able to|"
    rf"not possible to|impossible to|"
    rf"isn't possible to|(?:do|does) not know how to)\s(?:\w{{1,14}}ly\s)?{_DECIDE}\b"
    rf"|\b(?:cannot|can't|can not|could not|couldn't) be (?:\w{{1,14}}ly )?"
    rf"(?:determined|decided|judged|assessed|evaluated|"
    rf"rated|scored|established)\b"
    rf"|\b(?:insufficient|not enough|too little|inadequate|(?:no|not) sufficient|"
    rf"lack(?:s|ing)? (?:of )?(?:enough|sufficient)) "
    rf"(?:information|context|evidence|details?|data)(?: (?:is |was |has been )?(?:provided|available|given|here))?"
    rf"(?=\s(?:for me )?to {_DECIDE}\b|\s?[*\"'`)]{{0,3}}\s?(?:[.,;!\n]|$))"
    rf"|\b(?:needs?|requires?) more (?:information|context|evidence|details?|data) to {_DECIDE}\b"
    rf"|\b(?:I|we)(?:'m| am|'re| are) (?:not sure|unsure|undecided|uncertain)\b"
    rf"|\b(?:I|we) (?:do not|don't) know\b|\b(?:I|we) (?:must |have to |will |would )?abstain\b|\bundecidable\b",
    re.IGNORECASE,
)
"""A statement that the judge cannot decide."""

ABSTENTION_SLOT = re.compile(
    r"[\s*\"'`(\[{<_]{0,10}(?:n/?a|none|null|unknown|unsure|uncertain|undecided|undetermined|indeterminate|inconclusive|"
    r"unclear|abstain(?:ed)?|abstention|"
    r"no (?:verdict|decision|answer|score|rating)(?: (?:is )?(?:possible|given|available))?|not applicable|\?+)"
    r"(?![\w-])[\s*\"'`)\]}>.,;!_]{0,10}(?:$|\n|[(-])",
    re.IGNORECASE,
)
"""An answer slot without an answer."""

REFUSAL = re.compile(
    r"^[\s*\"'`>#_-]{0,10}(?:(?:unfortunately|however|sorry|as an ai[^.\n]{0,80}?|i appreciate[^.\n]{0,80}?|"
    r"i understand[^.\n]{0,80}?|i apologi[sz]e[^.\n]{0,60}?|i'm (?:very |really |so )?(?:sorry|afraid)[^.\n]{0,30}?|"
    r"i am (?:very |really |so )?(?:sorry|afraid)[^.\n]{0,30}?|my apologies[^.\n]{0,30}?)[,.:;]?\s+(?:but\s+)?)?"
    r"(?:that\s+)?(?:i|we)(?:\s(?:must|have to)\s(?:respectfully\s)?(?:decline|refuse)\b|\s(?:decline|refuse)\sto\b"
    r"|(?:\s(?:really\s|simply\s)?(?:can't|cannot|can not|won't|will not|am unable to|am not able to|"
    r"could not|couldn't|am not comfortable)|'m (?:unable to|not able to|not comfortable))\s(?:\w{1,14}ly\s)?"
    r"(?:help|assist|comply|fulfil|fulfill|engage|continue|participate|support|discuss|process|respond|do that|do this|"
    r"complete|generate|create|produce|provide|share|review|with|evaluating|judging|fulfilling|accommodate)\b)",
    re.IGNORECASE,
)
"""A reply that begins by declining."""

DECORATION = re.compile(r"(?:[\s*`\"'()\[\]{}<>|#~=:$\\_]|\.(?!\d)|[•-](?!\d)){0,40}")
CLOSE = re.compile(r"[\s*`\"')\]}>.!,;:|~$_]{0,40}(?:\([^()\n]{0,80}\)[\s*.]{0,10})?$")
"""Text that may follow a stand-alone answer."""
