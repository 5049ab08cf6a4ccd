"""Pair each changed text of a draft with its original."""

from __future__ import annotations

from jrh import Draft, Item


def changed_texts(item: Item, draft: Draft) -> dict[str, tuple[str, str]] | None:
    """Return field -> (item's text, draft's text) for every change, or None if a field is not text.

    A reworded prompt template is a change too.
    """
    pairs = {}
    for name, changed in draft.fields.items():
        original = item.fields.get(name)
        if not isinstance(original, str) or not isinstance(changed, str):
            return None
        if changed != original:
            pairs[name] = (original, changed)
    if draft.prompt is not None and draft.prompt.original not in ("", draft.prompt.user):
        pairs["the prompt template"] = (draft.prompt.original, draft.prompt.user)
    return pairs
