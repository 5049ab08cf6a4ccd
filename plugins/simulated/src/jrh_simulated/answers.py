"""Turn a planted answer into a judgement with a status and a made-up reply."""

from __future__ import annotations

from itertools import accumulate
from typing import Final

from attrs import frozen
from jrh import Judgement, Reply, Status, Usage, Verdict

from jrh_simulated.options import STATUS_RATES, JudgeOptions

MARK: Final = "[simulated]"
"""Every made-up text starts with it."""

FINGERPRINT: Final = "simulated/judge"

_STATUS_OF: Final = {
    "refusals": Status.REFUSED,
    "unparsable": Status.UNPARSABLE,
    "off_scale": Status.OFF_SCALE,
    "truncated": Status.TRUNCATED,
    "abstentions": Status.ABSTAINED,
    "timeouts": Status.TIMEOUT,
    "provider_errors": Status.PROVIDER_ERROR,
}
_REPLY_STATUSES: Final = frozenset({Status.REFUSED, Status.TRUNCATED, Status.TIMEOUT, Status.PROVIDER_ERROR})
_FAILED: Final = frozenset({Status.TIMEOUT, Status.PROVIDER_ERROR})
_NO_TOKENS: Final = Usage(prompt_tokens=0, completion_tokens=0)


@frozen(kw_only=True)
class Missing:
    """How often a verdict is missing, and with which status."""

    bounds: tuple[tuple[float, Status], ...]
    """Cumulative rates, ascending."""

    @classmethod
    def of(cls, options: JudgeOptions) -> Missing:
        """Lay the rates of the options end to end."""
        ends = accumulate(getattr(options, name) for name in STATUS_RATES)
        return cls(bounds=tuple(zip(ends, (_STATUS_OF[name] for name in STATUS_RATES), strict=True)))

    def status(self, uniform: float) -> Status:
        """Return the status for a uniform number in [0, 1); `ok` beyond the rates."""
        if uniform >= self.bounds[-1][0]:
            return Status.OK
        return next(status for bound, status in self.bounds if uniform < bound)


def answered(label: str, cause: str, conclusion: str, *, latency: float, cost: float) -> Judgement:
    """Return the judgement that gives a presented label; the rationale says what decided it, and concludes."""
    return Judgement(
        verdict=Verdict(status=Status.OK, presented=label, rationale=f"{MARK} {cause}; {conclusion}"),
        reply=Reply(
            status=Status.OK,
            text=f"{MARK} {label}",
            finish_reason="stop",
            usage=_NO_TOKENS,
            cost=cost,
            latency=latency,
            fingerprint=FINGERPRINT,
        ),
    )


def unanswered(status: Status, *, latency: float, cost: float) -> Judgement:
    """Return the judgement without a label; calls that failed cost nothing and have no latency."""
    detail = f"{MARK} planted status {status.value}"
    reply = status if status in _REPLY_STATUSES else Status.OK
    return Judgement(
        verdict=Verdict(status=status, detail=detail),
        reply=Reply(
            status=reply,
            text=f"{MARK} no verdict" if reply is Status.OK else "",
            finish_reason="length" if status is Status.TRUNCATED else "",
            usage=_NO_TOKENS,
            cost=0.0 if status in _FAILED else cost,
            latency=None if status in _FAILED else latency,
            fingerprint=FINGERPRINT,
            detail=detail if reply is not Status.OK else "",
        ),
    )
