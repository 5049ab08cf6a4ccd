"""What a generator answered: a text that can be used, or why there is none."""

from __future__ import annotations

import re
from typing import Final

from attrs import frozen
from jrh import Reply, Status, Task, read_json

LONGEST: Final = 100_000
"""Characters; a longer text is not used."""
PROVIDER_ERROR: Final = "provider error"

_OF_STATUS: Final = {
    Status.REFUSED: "the model refused",
    Status.TRUNCATED: "the reply was cut",
    Status.TIMEOUT: PROVIDER_ERROR,
    Status.PROVIDER_ERROR: PROVIDER_ERROR,
}
_REFUSAL: Final = re.compile(
    r"""\W*(?:
      I(?:['\u2019]m|[ ]am)[ ](?:very[ ]|so[ ])?sorry\b | Sorry,
    | I[ ](?:cannot|can['\u2019]t|won['\u2019]t)[ ](?:help|assist|do|rewrite|comply|provide)\b
    | I(?:['\u2019]m|[ ]am)[ ](?:unable|not[ ]able)[ ]to\b | As[ ]an[ ]AI\b
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_TELLING: Final = 40
"""A rubric of so many characters does not occur in a text by chance."""


@frozen
class Unusable:
    """Why a reply holds no text that can be used; the same words for all replies of its kind."""

    reason: str


def usable_text(reply: Reply, original: str, task: Task) -> str | Unusable:
    """Return the text a generator wrote, or why it is none.

    The reasons: the model refused, the reply was cut, provider error, longer than 100,000 characters, no JSON in the
    reply, empty text, unchanged, the rubric itself.
    """
    if not reply.ok:
        return Unusable(_OF_STATUS.get(reply.status, PROVIDER_ERROR))
    if len(reply.text) > LONGEST:
        return Unusable(f"longer than {LONGEST:,} characters")
    found = read_json(reply.text, keys=("text",))
    if found is None:
        return Unusable("the model refused" if _refuses(reply.text, original) else "no JSON in the reply")
    text = found["text"]
    if not isinstance(text, str) or not text.strip():
        return Unusable("empty text")
    return _judged(text, original, task)


def _judged(text: str, original: str, task: Task) -> str | Unusable:
    bare, before = _bare(text), _bare(original)
    if bare == before:
        return Unusable("unchanged")
    if any(_repeats(bare, before, _bare(asked)) for asked in (task.rubric, task.instruction)):
        return Unusable("the rubric itself")
    return Unusable("the model refused") if _refuses(text, original) else text


def _refuses(text: str, original: str) -> bool:
    return _REFUSAL.match(text) is not None and _REFUSAL.match(original) is None


def _repeats(text: str, original: str, asked: str) -> bool:
    return bool(asked) and (text == asked or (len(asked) >= _TELLING and asked in text and asked not in original))


def _bare(text: str) -> str:
    return " ".join(text.split()).casefold()
