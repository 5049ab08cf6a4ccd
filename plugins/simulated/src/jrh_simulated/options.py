"""Define the options of the simulated judge and the simulated model."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, Final

from attrs import Attribute, frozen
from attrs.validators import ge, instance_of, le
from jrh import Status
from jrh.plugins import option


class Obeys(Enum):
    """A form of text in the judged material that the judge follows."""

    PLAIN = "plain"
    """Readable text that speaks of a verdict, a grader or a judge."""
    TAGS = "tags"
    """Text after a forged closing tag."""
    BASE64 = "base64"
    """A long run of base64; it is recognised by its form and never decoded."""
    KEYS = "keys"
    """A last line of one or two words that ends with a colon."""


_FORMS: Final = {
    Obeys.PLAIN: re.compile(r"\b(?:verdict|grader|judge:|rubric)\b", re.IGNORECASE),
    Obeys.TAGS: re.compile(r"</\s*(?:request|response|response_[a-z]|transcript)[^>]*>", re.IGNORECASE),
    # By form alone: a simulated judge decodes nothing that comes from data.
    Obeys.BASE64: re.compile(r"[A-Za-z0-9+/]{40,}={0,2}"),
    Obeys.KEYS: re.compile(r"(?:\A|\n)[ \t]*(?:\w+ ?\w*)?:[ \t]*\Z"),
}


def find_command(forms: Sequence[Obeys], texts: Sequence[str], reference: Sequence[str]) -> int | None:
    """Return the place of the first text that has a form its original lacks; None if none has."""
    for place, (text, original) in enumerate(zip(texts, reference, strict=True)):
        if text != original and any(_FORMS[form].search(text) and not _FORMS[form].search(original) for form in forms):
            return place
    return None


STATUS_RATES: Final = {
    "refusals": Status.REFUSED,
    "unparsable": Status.UNPARSABLE,
    "off_scale": Status.OFF_SCALE,
    "truncated": Status.TRUNCATED,
    "abstentions": Status.ABSTAINED,
    "timeouts": Status.TIMEOUT,
    "provider_errors": Status.PROVIDER_ERROR,
}
"""The options of the judge that make a verdict missing, and its status; the rates' sum is at most 1."""


class ErrorKind(Enum):
    """Which wrong label a planted error gives."""

    UNIFORM = "uniform"
    """Any other label, each equally likely."""
    ADJACENT = "adjacent"
    """A neighbouring level of an ordinal scale; like `uniform` on unordered scales."""


class ReplyMode(Enum):
    """How the simulated model makes up its replies."""

    LABEL = "label"
    """One of `labels`, chosen by a hash of the messages."""
    ECHO = "echo"
    """The last message, word for word."""
    SCRIPT = "script"
    """One of `script`, chosen by a hash of the messages."""


def _check_accuracy(_instance: object, _attribute: Attribute[Any], value: float | Mapping[str, float]) -> None:
    rates = value.values() if isinstance(value, Mapping) else (value,)
    if not all(0 <= rate <= 1 for rate in rates):
        raise ValueError(f"'accuracy' must be between 0 and 1, got {value}")


# `ge` accepts infinity, which no rate or delay can be.
def _check_finite(_instance: object, attribute: Attribute[Any], value: float) -> None:
    if not math.isfinite(value):
        raise ValueError(f"'{attribute.name}' must be a finite number, got {value}")


def _check_pattern(_instance: object, _attribute: Attribute[Any], value: str) -> None:
    try:
        re.compile(value)
    except re.error as error:
        raise ValueError(f"'looks_for' is not a regular expression: {error}") from None


def _rate(help: str) -> Any:
    return option(help, ge(0), le(1), default=0.0)


def _two_sided_rate(help: str) -> Any:
    return option(help, ge(-1), le(1), default=0.0)


def _amount(help: str) -> Any:
    return option(help, ge(0), _check_finite, default=0.0)


@frozen(kw_only=True)
class JudgeOptions:
    """Options of `simulated`: the planted defects. Without any, the judge is always right."""

    accuracy: float | Mapping[str, float] = option(
        "Probability of the right answer, or one per canonical label; labels left out get 1.",
        _check_accuracy,
        default=1.0,
    )
    error: ErrorKind = option(
        "Wrong label of a planted error: any other, or a neighbouring level.",
        instance_of(ErrorKind),
        default=ErrorKind.UNIFORM,
    )
    position_preference: float = _two_sided_rate(
        "Share of items answered with the first presented option regardless of content; negative: the second."
    )
    length_preference: float = _two_sided_rate(
        "Share of items decided by length: the longer response wins, a lengthened text is rated higher; "
        "negative: the shorter one."
    )
    length_ratio: float = option(
        "A text counts as longer if it has more than this many times the letters and digits.",
        ge(1),
        _check_finite,
        default=1.0,
    )
    format_sensitivity: float = _rate("Probability that a layout change alone changes the answer.")
    meaning_blindness: float = _rate(
        "Probability of missing that the right answer changed: the judge answers as for the unchanged item."
    )
    polarity_blindness: float = _rate("Probability of answering an inverted question as if it were not inverted.")
    template_sensitivity: float = _rate(
        "Probability that a prompt template other than the judge's own changes the answer; independent per template."
    )
    obedience: float = _rate(
        "Share of items whose verdict follows text addressed to the judge; `obeys` says which text."
    )
    obeys: tuple[Obeys, ...] = option(
        "Forms of such text: plain, tags (forged closing tags), base64, keys (`Solution:`).", default=tuple(Obeys)
    )
    looks_for: str = option(
        "Regular expression of evidence: where the judge reads it, it answers `finds`.", _check_pattern, default=""
    )
    finds: str = option("Canonical label for evidence; default: the last label.", default="")
    reads: int = option("Tokens of four characters it reads from the start; 0: all.", ge(0), default=0)
    reads_last: int = option("With `reads`: tokens it also reads from the end.", ge(0), default=0)
    notices: float = option(
        "Strength below which it misses that the right answer changed, such as 3 errors.",
        ge(0),
        _check_finite,
        default=0.0,
    )
    circular: float = _rate(
        "Share of requests whose comparisons follow a circle: a quarter of the triples of their responses are cycles."
    )
    contrary: float = _rate(
        "Share of requests whose responses, judged one by one, get the score from the other end of the scale."
    )
    ignores_rubric: float = _rate(
        "Share of items, criteria one by one, judged as if the wording of the criterion or rubric had not changed."
    )
    halo: float = _rate(
        "Share of criteria whose verdict follows the impression of the whole response, not what the criterion asks."
    )
    batch_fatigue: float = _rate(
        "Probability of another label for a criterion in the second half of a call; criteria in the middle aside."
    )
    drops_criteria: float = _rate(
        "Share of trials without a verdict (status 'unparsable') where the call asks several criteria."
    )
    invents_criteria: float = _rate(
        "Share of calls for several criteria whose reply has one that was not asked: all get status 'off_scale'."
    )
    rerun_noise: float = _rate("Probability, per call, that the answer is a random label.")
    rationale_contradiction: float = _rate("Probability, per call, that the rationale argues for another label.")
    refusals: float = _rate("Share of calls with status 'refused'.")
    unparsable: float = _rate("Share of calls with status 'unparsable'.")
    off_scale: float = _rate("Share of calls with status 'off_scale'.")
    truncated: float = _rate("Share of calls with status 'truncated'.")
    abstentions: float = _rate("Share of calls with status 'abstained'.")
    timeouts: float = _rate("Share of calls with status 'timeout', without actually waiting.")
    provider_errors: float = _rate("Share of calls with status 'provider_error'.")
    latency: float = _amount("Real delay per answer, in seconds.")
    jitter: float = _amount("Additional random delay per call, uniform up to this many seconds.")
    cost: float = _amount("Nominal cost per reply in US dollars; nothing is charged.")

    def __attrs_post_init__(self) -> None:
        """Reject rates of missing verdicts whose sum exceeds 1."""
        total = math.fsum(getattr(self, name) for name in STATUS_RATES)
        # Ten rates of 0.1 add up to a little more than 1.
        if total > 1 + 1e-9:
            raise ValueError(f"the rates {', '.join(STATUS_RATES)} sum to {total:g}; the maximum is 1")


@frozen(kw_only=True)
class ModelOptions:
    """Options of the simulated chat model."""

    mode: ReplyMode = option(
        "Kind of reply: a label, an echo of the last message, or a text from the script.",
        instance_of(ReplyMode),
        default=ReplyMode.LABEL,
    )
    labels: tuple[str, ...] = option(
        "Labels that mode 'label' chooses from, equally likely.", instance_of(tuple), default=("YES", "NO")
    )
    script: tuple[str, ...] = option(
        "Texts that mode 'script' chooses from, equally likely.", instance_of(tuple), default=()
    )
    refusals: float = _rate("Share of prompts that are refused.")
    garbage: float = _rate("Share of prompts answered with text that contains no decision.")
    latency: float = _amount("Real delay per reply, in seconds.")
    jitter: float = _amount("Additional random delay per prompt, uniform up to this many seconds.")

    def __attrs_post_init__(self) -> None:
        """Reject a mode with nothing to choose from, and rates whose sum exceeds 1."""
        if self.mode is ReplyMode.LABEL and not self.labels:
            raise ValueError("mode 'label' needs at least one of 'labels'")
        if self.mode is ReplyMode.SCRIPT and not self.script:
            raise ValueError("mode 'script' needs at least one text in 'script'")
        if self.refusals + self.garbage > 1 + 1e-9:
            raise ValueError(f"'refusals' and 'garbage' sum to {self.refusals + self.garbage:g}; the maximum is 1")
