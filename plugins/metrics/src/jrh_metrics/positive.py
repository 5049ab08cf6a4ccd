"""The label that counts as positive."""

from __future__ import annotations

from typing import Final

from jrh import JrhError, ScaleKind, Task

_TWO: Final = 2


def positive_label(task: Task | None, stated: str, metric: str) -> str | None:
    """Return the positive label of a task: the stated one, otherwise the first of a scale of two labels; else None.

    Raises:
        JrhError: the stated label is not one of the two of the scale.
    """
    if task is None:
        return None
    scale = task.scale
    if not stated:
        return scale.labels[0] if scale.kind is ScaleKind.LABELS and len(scale.labels) == _TWO else None
    if stated not in scale and len(scale.labels) == _TWO:
        raise JrhError(
            f"{metric}: the positive label '{stated}' is not on the scale of task '{task.name}': "
            f"{', '.join(scale.labels)}"
        )
    return stated if stated in scale else None
