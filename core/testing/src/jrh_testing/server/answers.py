"""Answer chat requests with a text, a label chosen by hash, a simulated judge, or any function."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from attrs import field, frozen
from attrs.validators import and_, ge, le, min_len

from jrh_testing.server.bodies import Body, prompt_of

AnswerPolicy: TypeAlias = str | Callable[[dict[str, Any]], str | Mapping[str, Any]]
"""A fixed text, or a function from the request's body to a text or to a whole message."""


def share(*parts: str) -> float:
    """Return a number from 0 to 1, determined by the parts and uniform over texts."""
    # Not `hash`: that of a text differs between processes. Lone surrogates are texts, too.
    digest = hashlib.blake2b("\x1f".join(parts).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


@frozen(kw_only=True)
class LabelAnswers:
    """Answer one of the labels, chosen by a hash of the prompt: the same prompt always gets the same label."""

    labels: Sequence[str] = field(default=("YES", "NO"), validator=min_len(1))
    form: str = "{label}"
    """What is written, `{label}` standing for the label; such as `{"verdict": "{label}"}`."""
    seed: int = 0

    def __call__(self, body: Body) -> str:
        """Answer a request."""
        draw = share(str(self.seed), prompt_of(body))
        return self.form.replace("{label}", self.labels[int(draw * len(self.labels))])


@frozen(kw_only=True)
class SimulatedAnswers:
    """Answer like a judge with an opinion about the words and a share of slips.

    The opinion is the label that `truth` says, or else one that follows from the prompt's words: white space does not
    change it. With probability 1 - `accuracy`, drawn from the exact prompt, another label is given. So the same prompt
    always gets the same answer, and a judge with accuracy below 1 is sensitive to layout.
    """

    labels: Sequence[str] = field(default=("YES", "NO"), validator=min_len(2))
    accuracy: float = field(default=1.0, validator=and_(ge(0.0), le(1.0)))
    seed: int = 0
    form: str = "{label}"
    truth: Callable[[str], str | None] | None = None
    """From the prompt to the right label, or None where it is unknown."""

    def __call__(self, body: Body) -> str:
        """Answer a request."""
        prompt = prompt_of(body)
        label = self._opinion(prompt)
        if share("slip", str(self.seed), prompt) >= self.accuracy:
            slips = [slip for slip in self.labels if slip != label]
            label = slips[int(share("other", str(self.seed), prompt) * len(slips))]
        return self.form.replace("{label}", label)

    def _opinion(self, prompt: str) -> str:
        known = self.truth(prompt) if self.truth else None
        if known is not None:
            return known
        # The opinion ignores layout and the slip does not: so a judge is sensitive to layout by a known share.
        return self.labels[int(share("opinion", str(self.seed), " ".join(prompt.split())) * len(self.labels))]
