"""Read which label a rationale argues for, by rules (in doubt nothing; English only) or by asking a model."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from attrs import frozen
from jrh import ChatRequest, Message, Reply, Scale, ScaleKind, Task
from jrh_authoring import load_template, object_schema, read_json, render, tag_mark

from jrh_parsers.finding import Finding, Grammar, unparsable
from jrh_parsers.parsers import grammar_for
from jrh_parsers.procedure import conclusions, decide, last_announcement, marks_verdict
from jrh_parsers.visible import plain

READ: Final = 1_500
"""Characters of a rationale that are read: its end, where conclusions are."""

_WHOLE: Final = 4_000
"""Characters of a whole reply that are read: more is not kept."""
_SENTENCE: Final = re.compile(r"[^.!?\n]*(?:[.!?](?!\s|$)[^.!?\n]*)*[.!?]?")
_HYPOTHETICAL: Final = re.compile(
    r"\b(?:if|whether|unless|provided that|had it|were it|would have|could be|might be|may be|could be argued)\b", re.I
)
_THIRD: Final = (
    r"(?:claims?|claimed|says|said|states|stated|argues|argued|believes|believed|thinks|concludes|asserts|asserted|implies|"
    r"suggests|suggested|mentions|mentioned|asks|asked|answers|answered|writes|wrote|recommends)"
)
_ATTRIBUTED: Final = re.compile(
    rf"\b{_THIRD}\b|\b\w+'s (?:\w+ ){{0,2}}(?:answer|verdict|question|conclusion|score|rating|claim)\b"
    r"|\b(?:some|many|others|readers|people|critics|one)\b[^,;]{0,40}\b(?:would|might|may|could|think|say|prefer|argue)\b"
    r"|\b(?:author|writer|user|student|narrator|customer|reviewer|character|speaker)\s(?:\w+ly\s)?"
    r"(?:rates?|rated|gives?|gave|scores?|scored|awards?|awarded|assigns?|assigned|prefers?|preferred|chooses|chose)\b",
    re.IGNORECASE,
)
"""Before a conclusion of somebody else."""
_SOURCE: Final = re.compile(r"\baccording to\b", re.IGNORECASE)
_ASPECT: Final = re.compile(r"\b(?:for|in terms of|as for|regarding|concerning|with respect to)\s", re.IGNORECASE)
_ANNOUNCED: Final = re.compile(
    r"\b(?:give|gives|rate|score|assign|award|grade|mark|deserves?|earns?|receives?|gets?|settle on|of|is)\b"
    r"(?P<rest>.*)$",
    re.IGNORECASE,
)
_NEUTRAL: Final = re.compile(
    r"(?:\s|[*\"'`:=,(]|\b(?:it|this|that|the|an?|as|at|of|to|be|is|with|just|only|about|overall|final|total|solid|strong|weak|"
    r"clear|my|essay|response|answer|text|summary|piece|submission|work|transcript|score|rating|grade|level|mark)\b)*"
)
"""What may stand between an announcement and a level: nothing that names one aspect, such as `clarity`."""
_BETTER: Final = (
    r"(?:better|best|stronger|strongest|superior|preferable|preferred|the\swinner|"
    r"more\s(?:accurate|helpful|correct|complete|relevant|useful|convincing|precise|reliable|informative))"
)
_MAY_FOLLOW: Final = re.compile(
    r"[*\"'`)]{0,3}(?:\s*(?:$|[.,;:!)])|\s(?:response|one|answer|choice|option|overall|than|because|since|and|here)\b)"
)
_NAMED: Final = r"(?:(?:response|answer|option|assistant|candidate|summary|text)\s)?"
_PRAISE: Final = re.compile(
    r"\b(?:better|best|stronger|strongest|superior|prefer\w*|winner|winning|wins|favou?r)\b", re.IGNORECASE
)
_DOUBT: Final = re.compile(r"\b(?:not|never|neither|nor|cannot|hardly|barely)\b|n't\b", re.IGNORECASE)


def rationale_label(text: str, scale: Scale, *, inverted: bool = False, holds_verdict: bool = False) -> str | None:
    """Return the label, as presented, that a rationale argues for; None where it argues for none or it is in doubt.

    The last sentence with an explicit conclusion decides (`so the answer is NO`, `I prefer B`, `Score: 2`). Without
    one, comparisons (`B is more accurate`) decide if all name the same option. Questions, hypotheses, what somebody
    else claims, denied labels, two labels in one conclusion, and levels of one aspect are no conclusions.

    Args:
        text: the rationale.
        scale: the scale as presented.
        inverted: the question asked for the worse option, so that praise of an option says nothing about the verdict.
        holds_verdict: the text is the whole reply; the statement the verdict was read from is not part of the argument.
    """
    return _rationale_label(text[-(_WHOLE if holds_verdict else READ) :], scale, inverted, holds_verdict)


def announces(text: str, scale: Scale) -> bool:
    """Tell whether a text announces a verdict as a reply does: `Verdict: NO`, `[[A]]`, or the label alone."""
    text, grammar = plain(text[-_WHOLE:]), grammar_for(scale)
    sentences = (sentence[0].strip(" .!*\"'`") for sentence in _SENTENCE.finditer(text[-READ:]))
    return marks_verdict(text, grammar) or any(scale.match(sentence) is not None for sentence in sentences)


@lru_cache(maxsize=4096)
def _rationale_label(text: str, scale: Scale, inverted: bool, holds_verdict: bool) -> str | None:
    grammar = grammar_for(scale)
    text = plain(text)
    if holds_verdict:
        text = _without_verdict(text, grammar)[-READ:]
    sentences = [match[0].strip() for match in _SENTENCE.finditer(grammar.prepare(text)) if match[0].strip()]
    if inverted:  # `B is better` is no conclusion where the worse one was asked for
        sentences = [sentence for sentence in sentences if not _PRAISE.search(sentence)]
    for sentence in reversed(sentences):
        findings = list(_explicit(sentence, grammar, scale))
        if findings:
            # Two labels in one sentence: the last one only where it is stated without doubt.
            labels = {finding.label for finding in findings}
            return findings[-1].label if len(labels) == 1 or findings[-1].ok else None
    # Only options can be compared; and where the worse one was asked for, praise argues for the other.
    if scale.kind is not ScaleKind.PAIRWISE or inverted:
        return None
    compared = [comparison for sentence in sentences for comparison in _comparisons(sentence, scale)]
    options = {option for option, _ in compared}
    # `Better in style` alone is no argument: one comparison without such a limit is needed.
    return options.pop() if len(options) == 1 and any(plain for _, plain in compared) else None


def _without_verdict(text: str, grammar: Grammar) -> str:
    """Cut the sentence or line that states the verdict."""
    verdict = decide(text, grammar)
    if not verdict.ok:
        return text
    for sentence in _SENTENCE.finditer(text):
        if sentence.start() <= verdict.start < sentence.end():
            return f"{text[: sentence.start()]}\n{text[sentence.end() :]}"
    return text


def _explicit(sentence: str, grammar: Grammar, scale: Scale) -> Iterator[Finding]:
    """Yield the conclusions of a sentence; one that is denied or ambiguous has no label."""
    if _no_statement(sentence):
        return
    findings = sorted(conclusions(sentence, grammar), key=lambda finding: finding.start)
    last = last_announcement(sentence, grammar)
    for finding in [*findings, *([last] if last is not None else [])]:
        clause = _clause(sentence[: finding.start])
        if not _ATTRIBUTED.search(clause) and not (scale.ordered and _about_an_aspect(sentence, finding)):
            yield unparsable("denied", finding.start, finding.end) if _DOUBT.search(clause) else finding


def _no_statement(sentence: str) -> bool:
    return sentence.endswith("?") or bool(_HYPOTHETICAL.search(sentence) or _SOURCE.search(sentence))


def _clause(before: str) -> str:
    return re.split(r"[,;:]", before)[-1]


def _about_an_aspect(sentence: str, found: Finding) -> bool:
    """Return whether a level is one of a part or an aspect rather than of the whole."""
    before = sentence[: found.start]
    if _ASPECT.search(before):
        return True
    announcement = _ANNOUNCED.search(re.split(r"[,;]", before)[-1])
    return announcement is not None and _NEUTRAL.fullmatch(announcement["rest"]) is None


def _comparisons(sentence: str, scale: Scale) -> Iterator[tuple[str, bool]]:
    """Yield the options that a sentence calls better, and whether it restricts that (`better in style`): False."""
    if _no_statement(sentence):
        return
    for match in _comparison(scale).finditer(sentence):
        before = _clause(sentence[: match.end()])
        if not _DOUBT.search(before) and not _ATTRIBUTED.search(before):
            yield match["option"], match["wins"] is not None or _MAY_FOLLOW.match(sentence, match.end()) is not None


@lru_cache(maxsize=128)
def _comparison(scale: Scale) -> re.Pattern[str]:
    options = "|".join(re.escape(plain(option)) for option in sorted(scale.options, key=len, reverse=True))
    return re.compile(
        rf"(?<![\w])(?i:{_NAMED})(?P<option>{options})[*\"'`)]{{0,3}}\s(?:"
        rf"(?:is|was|seems|remains)\s(?:\w{{1,14}}ly\s|the\s|much\s|far\s|also\s){{0,3}}{_BETTER}\b"
        rf"|(?P<wins>(?:\w{{1,14}}ly\s)?(?:wins|outperforms|beats|surpasses)\b))"
    )


MOST: Final = 2_000
"""Characters of a rationale that the model is shown: its end, where conclusions are."""
# A scale may have a label of the same name.
_NONE: Final = ("NONE", "NO_LABEL", "ARGUES_FOR_NO_LABEL")
"""What the model answers if a rationale argues for no label: the first of these that is no label."""


@frozen(kw_only=True)
class Argument:
    """A rationale and the question it answers, without the verdict, the gold label and the judge."""

    rationale: str
    """Untrusted text."""
    task: Task
    """As presented."""
    labels: tuple[str, ...]
    """As presented."""
    inverted: bool = False
    """The question asked for the opposite, such as the worse response."""


def rationale_request(argument: Argument) -> ChatRequest:
    """Word the question to the model; the rationale is between tags that it cannot close.

    The model sees the instruction, the labels as presented and the rationale, without the sentence that states the
    verdict. It sees neither the item nor its gold label nor the judge.
    """
    text, scale = argument.rationale, _scale(argument)
    # A rationale may be the whole reply, verdict and all.
    reasons = _without_verdict(plain(text[-_WHOLE:]), grammar_for(scale)) if announces(text, scale) else text
    rationale = reasons[-MOST:].strip()
    instruction = argument.task.instruction
    content = render(
        load_template("jrh_parsers", "rationale"),
        {
            "rationale": rationale,
            "instruction": instruction,
            "labels": argument.labels,
            "no_label": _none(argument),
            "inverted": argument.inverted,
            "mark": tag_mark(rationale, instruction),
        },
    )
    return ChatRequest(
        messages=(Message(role="user", content=content),),
        json_schema=object_schema({"label": {"type": "string", "enum": [*argument.labels, _none(argument)]}}),
    )


def read_label(reply: Reply, argument: Argument) -> str:
    """Return the label that the model's reply names; the empty text for none, for another word and for several."""
    answer = read_json(reply.text, keys=("label",))
    answer_text = str(answer["label"]) if answer is not None else reply.text
    # Models without JSON answer with the label alone, often quoted or in bold.
    wanted = answer_text.strip(" \n\t\"'`*.").casefold()
    return next((label for label in argument.labels if label.casefold() == wanted), "")


def _scale(argument: Argument) -> Scale:
    """Return the scale as presented; labels in other words have no order that the rules know."""
    scale = argument.task.scale
    return scale if set(scale.labels) == set(argument.labels) else Scale.of_labels(*argument.labels)


def _none(argument: Argument) -> str:
    taken = {label.casefold() for label in argument.labels}
    return next(word for word in _NONE if word.casefold() not in taken)
