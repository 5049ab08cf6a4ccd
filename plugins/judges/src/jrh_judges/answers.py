"""Turn the answer of a user-supplied judge into a verdict."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Final

from attrs import evolve
from jrh import Judgement, Scale, Status, Verdict

_SHOWN = 60
_WORD_BITS = 64
_LABEL_KEYS: Final = ("label", "verdict")
_STATUSES: Final = frozenset({Status.UNPARSABLE, Status.OFF_SCALE, Status.ABSTAINED, Status.REFUSED})
"""Statuses a judge may return itself; jrh decides about timeouts and failures."""


def verdict_of(answer: object, scale: Scale) -> Verdict:
    """Return the verdict of an answer, which is a label, number, mapping, `Verdict` or `Judgement`; never raises.

    A mapping has `label` (or `verdict`) and may have `rationale`, `probabilities`, `score`, `status` and `detail`.
    None is an abstention.
    """
    if isinstance(answer, Judgement):
        answer = answer.verdict
    if isinstance(answer, Verdict):
        return _checked(answer, scale)
    if isinstance(answer, Mapping):
        return _from_mapping(answer, scale)
    return _from_value(answer, scale)


def _checked(verdict: Verdict, scale: Scale) -> Verdict:
    if verdict.status is not Status.OK:
        if verdict.status not in _STATUSES or verdict.presented is not None:
            return _unparsable(f"a verdict with status '{verdict.status.value}' cannot be returned by a judge")
        return Verdict(status=verdict.status, rationale=verdict.rationale, detail=verdict.detail)
    if verdict.presented not in scale:
        return _off_scale(verdict.presented)
    found = _with_probabilities(verdict.presented or "", verdict.rationale, verdict.probabilities, scale)
    return _with_score(found, verdict.score)


def _from_mapping(answer: Mapping[object, object], scale: Scale) -> Verdict:
    status = answer.get("status")
    if status is not None and status != Status.OK.value:
        return _from_status(status, answer)
    key = next((key for key in _LABEL_KEYS if key in answer), None)
    if key is None:
        return _unparsable("the answer has no `label`")
    verdict = _from_value(answer[key], scale)
    if verdict.presented is None:
        return verdict
    found = _with_probabilities(verdict.presented, answer.get("rationale"), answer.get("probabilities"), scale)
    return _with_score(found, answer.get("score"))


def _with_score(verdict: Verdict, score: object) -> Verdict:
    if score is None or verdict.presented is None:
        return verdict
    if isinstance(score, bool) or not isinstance(score, int | float) or not abs(score) <= sys.float_info.max:
        return _unparsable(f"`score` is not a finite number but {type(score).__name__}")
    return evolve(verdict, score=float(score))


def _from_status(status: object, answer: Mapping[object, object]) -> Verdict:
    named = next((known for known in _STATUSES if known.value == status), None)
    if named is None:
        return _unparsable(f"the answer has the status {_short(status)}, which a judge cannot return")
    return Verdict(status=named, detail=_text(answer.get("detail")) or "returned by the judge")


def _from_value(value: object, scale: Scale) -> Verdict:
    if value is None:
        return Verdict(status=Status.ABSTAINED, detail="the judge returned nothing")
    text = _as_text(value)
    if text is None:
        return _unparsable(f"the answer is {type(value).__name__}, not a label")
    if not text.strip():
        return _unparsable("the answer is empty")
    label = scale.match(text)
    return Verdict(status=Status.OK, presented=label) if label is not None else _off_scale(text)


def _as_text(value: object) -> str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if value.bit_length() <= _WORD_BITS else None
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else str(value)
    return None


def _with_probabilities(label: str, rationale: object, probabilities: object, scale: Scale) -> Verdict:
    if probabilities is None:
        return Verdict(status=Status.OK, presented=label, rationale=_text(rationale))
    if not isinstance(probabilities, Mapping):
        return _unparsable("`probabilities` is not a mapping of labels to numbers")
    read: dict[str, float] = {}
    for name, value in probabilities.items():
        if name not in scale or isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            return _unparsable(f"`probabilities` holds {_short(name)}: {_short(value)}")
        read[str(name)] = float(value)
    return Verdict(status=Status.OK, presented=label, rationale=_text(rationale), probabilities=read)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _short(value: object) -> str:
    return repr(value)[:_SHOWN]


def _off_scale(value: object) -> Verdict:
    return Verdict(status=Status.OFF_SCALE, detail=f"{_short(value)} is not a label of the scale")


def _unparsable(detail: str) -> Verdict:
    return Verdict(status=Status.UNPARSABLE, detail=detail)
