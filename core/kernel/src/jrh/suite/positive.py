"""The positive label of a task is declared once: on its scale."""

from __future__ import annotations

from jrh.values.items import Task


def positive_conflict(metric: str, stated: str, task: Task) -> str:
    """Say that a metric's option `positive` contradicts the task's scale; empty where it does not."""
    declared = task.scale.positive
    if not stated or not declared or stated == declared:
        return ""
    return (
        f"{metric}: `positive: {stated}` contradicts the positive label '{declared}' of task '{task.name}'; "
        "leave the option out and declare the label once, as `positive` of the task's scale"
    )
