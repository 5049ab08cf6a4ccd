"""Read the verifier's reply about an edited transcript."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from attrs import frozen
from jrh import Json, Scale
from jrh.text import object_schema, read_json
from jrh_authoring import Unusable

from jrh_agentic.asking import NO_JSON
from jrh_agentic.diffs import cut

_LONGEST: Final = 1_000
_REASON: Final[Mapping[str, Json]] = {"type": "string"}


@frozen(kw_only=True)
class Verification:
    """Whether the edits are enough."""

    accepted: bool
    label: str | None
    """What the verifier answered; None where it only compared."""
    reason: str

    def described(self) -> dict[str, Json]:
        """Return it for the provenance."""
        return {"accepted": self.accepted, "label": self.label, "reason": self.reason}


def _schema(name: str, kind: Mapping[str, Json]) -> Mapping[str, Json]:
    return object_schema({"reason": _REASON, name: kind})


def label_schema(scale: Scale) -> Mapping[str, Json]:
    """Return the JSON that is asked for where the verifier judges."""
    return _schema("label", {"type": "string", "enum": list(scale.labels)})


SAME_SCHEMA: Final = _schema("same", {"type": "boolean"})
"""The JSON that is asked for where the verifier compares."""


def read_label(text: str, scale: Scale, wanted: str) -> Verification | Unusable:
    """Read which label the verifier gives; it accepts where that is the wanted one."""
    found = read_json(text, keys=("label",))
    if found is None:
        return NO_JSON
    written = found["label"]
    # A whole number is what a model writes for the level of that name.
    text = str(written) if isinstance(written, (int, str)) and not isinstance(written, bool) else ""
    label = scale.match(text)
    if label is None:
        return Unusable("no label in the reply")
    return Verification(accepted=label == wanted, label=label, reason=_reason(found))


def read_same(text: str) -> Verification | Unusable:
    """Read whether the edited messages say the same."""
    found = read_json(text, keys=("same",))
    if found is None:
        return NO_JSON
    if not isinstance(found["same"], bool):
        return Unusable("no answer in the reply")
    return Verification(accepted=found["same"], label=None, reason=_reason(found))


def _reason(found: Mapping[str, Json]) -> str:
    reason = found.get("reason")
    return cut(reason.strip(), _LONGEST) if isinstance(reason, str) else ""
