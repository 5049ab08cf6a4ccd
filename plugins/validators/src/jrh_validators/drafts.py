"""Pair each changed text of a draft with its original, and build the result where nothing was decided."""

from __future__ import annotations

from collections.abc import Mapping

from jrh import Draft, Item, Json, Validation


def text_changes(item: Item, draft: Draft) -> dict[str, tuple[str, str]] | None:
    """Return field -> (item's text, draft's text) for every change, or None if a field is not text.

    A reworded prompt template is a change too, and so is a template that replaces another one. Where its answers
    mean other labels it says so, because a prompt of the opposite polarity asks the same only with that.
    """
    pairs = {}
    for name, changed in draft.fields.items():
        original = item.fields.get(name)
        # Transcripts and other structures cannot be compared as text.
        if not isinstance(original, str) or not isinstance(changed, str):
            return None
        if changed != original:
            pairs[name] = (original, changed)
    if draft.prompt is not None and draft.prompt.original not in ("", draft.prompt.user):
        pairs["the prompt template"] = (draft.prompt.original, f"{draft.prompt.user}{_meaning(draft)}")
    return pairs


def _meaning(draft: Draft) -> str:
    turned = {shown: meant for shown, meant in (draft.label_map or {}).items() if shown != meant}
    meanings = "; ".join(f"{shown} here means {meant}" for shown, meant in turned.items())
    return f"\n\n(The answers are translated: {meanings}.)" if meanings else ""


def reject_undecided(reason: str, details: Mapping[str, Json]) -> Validation:
    """Reject for lack of a decision by a model; consensus does not count it as a vote."""
    return Validation(accepted=False, reason=reason, details={**details, "undecided": True})
