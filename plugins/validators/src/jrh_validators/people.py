"""Labels that people gave to drafts: equivalent or not, or unsure."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from typing import Final

from attrs import frozen
from jrh import Draft, Item, JrhError, Text, Validation

from jrh_validators.fields import changed_texts
from jrh_validators.undecided import undecided

PEOPLE: Final = "people"
"""The name under which they vote."""
_SAID: Final = {"YES": True, "NO": False, "UNSURE": None}
_EVERY: Final = ""


@frozen(kw_only=True)
class HumanLabels:
    """Accepts a draft that people labelled YES; without a label, or UNSURE, there is no decision."""

    labels: Mapping[tuple[str, str], bool | None]
    """Item, or empty for all, and variant."""

    @classmethod
    def read(cls, text: Text) -> HumanLabels:
        """Read a csv table with the columns `variant` (of a template: its name) and `label`, and perhaps `item`.

        Raises:
            JrhError: a column is missing, a label is none of YES, NO and UNSURE, or a draft is labelled twice.
        """
        rows = csv.DictReader(text.content.splitlines(), strict=True)
        lacking = [name for name in ("variant", "label") if name not in (rows.fieldnames or ())]
        if lacking:
            raise JrhError(f"{text.source}:1: the column `{lacking[0]}` is missing; labels need variant and label")
        found: dict[tuple[str, str], bool | None] = {}
        for row in rows:
            label = (row["label"] or "").strip().upper()
            key = ((row.get("item") or "").strip(), (row["variant"] or "").strip())
            if label not in _SAID:
                raise JrhError(f"{text.source}:{rows.line_num}: '{label[:40]}' is not a label; use YES, NO or UNSURE")
            if key in found:
                raise JrhError(f"{text.source}:{rows.line_num}: '{key[1]}' is labelled twice; keep one row")
            found[key] = _SAID[label]
        return cls(labels=found)

    async def validate(self, item: Item, draft: Draft) -> Validation:
        """Look the draft up: the label for its item, otherwise that for all items. An original needs none."""
        if changed_texts(item, draft) == {}:
            return Validation(accepted=True)
        said = self.labels.get((item.id, draft.variant), self.labels.get((_EVERY, draft.variant)))
        if said is None:
            return undecided("no label by people", {})
        return Validation(accepted=said, score=float(said), reason="" if said else "people say: not equivalent")
