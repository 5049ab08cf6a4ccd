"""Draw reproducible uniform numbers, and turn a planted answer into a judgement with a status and a made-up reply."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from hashlib import blake2b
from itertools import accumulate
from struct import Struct
from typing import Final, TypeVar

from jrh import Judgement, Reply, Status, Usage, Verdict

from jrh_simulated.options import STATUS_RATES, JudgeOptions

T = TypeVar("T")

_FOUR: Final = Struct(">4Q")
_UNIT: Final = 2.0**-53


class Draws:
    """A source of uniform draws; the same seed and parts give the same draws on every machine."""

    def __init__(self, seed: int) -> None:
        """Keep the seed, a number from 0 to 2**64 - 1."""
        self._key = seed.to_bytes(8, "big")

    def uniforms(self, *parts: str) -> tuple[float, float, float, float]:
        """Return four independent uniform numbers in [0, 1), of 53 bits each, for these parts.

        The bits are BLAKE2b of the parts, keyed with the seed. Draws for different parts are independent, and no draw
        depends on earlier ones.
        """
        # Prefix each part with its length, so that ("a", "bc") and ("ab", "c") give different draws.
        message = "".join(f"{len(part)}:{part}" for part in parts).encode("utf-8", "surrogatepass")
        # BLAKE2b in place of `random`: draws do not depend on how many were made before, nor on the machine.
        first, second, third, fourth = _FOUR.unpack(blake2b(message, key=self._key, digest_size=32).digest())
        return (first >> 11) * _UNIT, (second >> 11) * _UNIT, (third >> 11) * _UNIT, (fourth >> 11) * _UNIT


def pick(uniform: float, choices: Sequence[T]) -> T:
    """Return the choice for a uniform number in [0, 1); all choices are equally likely."""
    return choices[int(uniform * len(choices))]


MARK: Final = "[simulated]"
"""Every made-up text starts with it."""

FINGERPRINT: Final = "simulated/judge"

# Only these are failures of the reply. With the others a reply arrives, and its verdict is missing.
_REPLY_STATUSES: Final = frozenset({Status.REFUSED, Status.TRUNCATED, Status.TIMEOUT, Status.PROVIDER_ERROR})
_FAILED: Final = frozenset({Status.TIMEOUT, Status.PROVIDER_ERROR})
_REPLY: Final = partial(Reply, usage=Usage(prompt_tokens=0, completion_tokens=0), fingerprint=FINGERPRINT)


def planted_status(options: JudgeOptions, uniform: float) -> Status:
    """Return the status for a uniform number in [0, 1): the rates of the options lie end to end, `ok` beyond them."""
    ends = accumulate(getattr(options, name) for name in STATUS_RATES)
    return next((status for end, status in zip(ends, STATUS_RATES.values(), strict=True) if uniform < end), Status.OK)


def give_label(label: str, cause: str, conclusion: str, *, latency: float, cost: float) -> Judgement:
    """Return the judgement that gives a presented label; the rationale says what decided it, and concludes."""
    return Judgement(
        verdict=Verdict(status=Status.OK, presented=label, rationale=f"{MARK} {cause}; {conclusion}"),
        reply=_REPLY(status=Status.OK, text=f"{MARK} {label}", finish_reason="stop", cost=cost, latency=latency),
    )


def give_no_label(status: Status, *, latency: float, cost: float) -> Judgement:
    """Return the judgement without a label; calls that failed cost nothing and have no latency."""
    detail = f"{MARK} planted status {status.value}"
    reply = status if status in _REPLY_STATUSES else Status.OK
    return Judgement(
        verdict=Verdict(status=status, detail=detail),
        reply=_REPLY(
            status=reply,
            text=f"{MARK} no verdict" if reply is Status.OK else "",
            finish_reason="length" if status is Status.TRUNCATED else "",
            cost=0.0 if status in _FAILED else cost,
            latency=None if status in _FAILED else latency,
            detail=detail if reply is not Status.OK else "",
        ),
    )
