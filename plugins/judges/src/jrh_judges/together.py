"""Several criteria in one call: how to answer, and which part of the reply is about which criterion."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from attrs import evolve
from jrh import Json, Question, Reply, Scale, Status, Verdict
from jrh.values import asked_together
from jrh_authoring import object_schema, read_json


def criteria_together(question: Question) -> tuple[str, ...]:
    """Return the ids of the criteria that the question asks in one call, in the order shown; empty for a single one."""
    return tuple(asked_together(question.fields)) if question.task.criteria is not None else ()


def own_criterion(question: Question) -> str:
    """Return the id of the criterion that the verdict is about."""
    one = question.fields.get("criterion")
    return str(one["id"]) if isinstance(one, Mapping) else ""


def format_together(ids: Sequence[str], scale: Scale, *, rationale: bool) -> str:
    """Return the line of the prompt that asks for one object with a verdict under the id of every criterion."""
    choices = ", ".join(json.dumps(label, ensure_ascii=False) for label in scale.labels)
    value = f"<one of {choices}>"
    if rationale:
        value = f'{{"rationale": "<your reasons, at most three sentences>", "verdict": {value}}}'
    keys = ", ".join(json.dumps(name, ensure_ascii=False) for name in ids)
    return (
        "Answer with one JSON object and nothing else. Its keys are the ids of the criteria, each exactly once: "
        f"{keys}. Each value is the verdict on that criterion: {value}"
    )


def schema_together(ids: Sequence[str], scale: Scale, verdict: Mapping[str, Json] | None) -> Mapping[str, Json]:
    """Return the JSON schema of that object; `verdict` is the schema of a verdict with its rationale, None without."""
    one: Json = dict(verdict) if verdict is not None else {"type": "string", "enum": list(scale.labels)}
    return object_schema(dict.fromkeys(ids, one))


def part_about(reply: Reply, own: str, ids: Sequence[str]) -> Reply | Verdict:
    """Return the part of a reply that is about one criterion, or why there is none.

    A reply that drops the criterion has no verdict on it: `unparsable`. One that names a criterion which was not asked
    answers another list, and which verdict is whose is unknown: `off_scale` for every criterion of the call.
    """
    found = read_json(reply.text)
    if found is None:
        return Verdict(status=Status.UNPARSABLE, detail="the reply has no JSON object with the criteria as keys")
    invented = [name for name in found if name not in ids]
    if invented:
        detail = f"the reply has a verdict on '{invented[0][:80]}', which is not a criterion of the call"
        return Verdict(status=Status.OFF_SCALE, detail=detail)
    value = found.get(own)
    if value is None:
        return Verdict(status=Status.UNPARSABLE, detail=f"the reply has no verdict on criterion '{own[:80]}'")
    text = value if isinstance(value, str) else json.dumps(_plain(value), ensure_ascii=False)
    return evolve(reply, text=text, token_probabilities=())


def _plain(value: Json) -> object:
    return dict(value) if isinstance(value, Mapping) else value
