"""What a draft changed, as pairs of texts."""

from __future__ import annotations

from jrh import Draft, Item


def changed_texts(item: Item, draft: Draft) -> dict[str, tuple[str, str]] | None:
    """Return field -> (the item's text, the draft's) of all that changed, or None where a field is not text.

    A prompt template that rewords another one is a change too.
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
