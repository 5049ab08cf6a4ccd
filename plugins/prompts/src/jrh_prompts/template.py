"""Define a prompt template, the labels it asks for, and their meaning on the task's scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from attrs import evolve, frozen
from jrh import Item, JrhError, Mode, Polarity, Scale, Task
from jrh_authoring import template_variables

RESPONSES: Final = "responses"
"""The variable with all responses of a comparison."""
GIVEN: Final = frozenset({"task", "labels", "answer_format", "mark", RESPONSES})
"""The variables of a template in addition to the item's fields."""


@frozen(kw_only=True)
class Template:
    """A prompt template for a judge."""

    name: str
    user: str
    """Jinja2 source."""
    system: str = ""
    labels: Mapping[str, str] | None = None
    """Presented label -> label of the task's scale; None: unchanged."""
    polarity: Polarity = Polarity.POSITIVE
    language: str = ""
    original: str = ""
    """Name of the template this one is a variant of; empty: none."""

    @property
    def variables(self) -> frozenset[str]:
        """Return the item fields that the template names."""
        return template_variables(self.user) - GIVEN

    def shows(self, task: Task) -> frozenset[str]:
        """Return the fields that the template shows: those it names, and the responses it goes through."""
        # A loop over `responses` shows all of them without naming one.
        through = task.mode is Mode.PAIRWISE and RESPONSES in template_variables(self.user)
        return self.variables | (frozenset(task.judged_fields) if through else frozenset())


def task_with_labels(task: Task, labels: Mapping[str, str] | None) -> Task | None:
    """Return the task with the presented labels, or None if they are the task's own."""
    # The same labels with another meaning: what is shown is the task's own scale.
    if labels is None or set(labels) == set(task.scale.labels):
        return None
    tie = next((label for label, meant in labels.items() if meant == task.scale.tie), None)
    # The tie goes last, as on every pairwise scale.
    names = sorted(labels, key=lambda label: label == tie)
    return evolve(task, scale=Scale(kind=task.scale.kind, labels=tuple(names), tie=tie))


def check_labels(name: str, labels: Mapping[str, str], scale: Scale) -> None:
    """Require a bijection onto the scale.

    Raises:
        JrhError: a label maps to none of the scale, two map to the same, or one of the scale is missing.
    """
    meant = list(labels.values())
    off = [label for label in meant if label not in scale]
    twice = [label for label in scale.labels if meant.count(label) > 1]
    absent = [label for label in scale.labels if label not in meant]
    known = ", ".join(scale.labels)
    if off:
        raise JrhError(f"template '{name}': labels: '{off[0]}' is not on the task's scale {known}")
    if twice:
        both = " and ".join(label for label, target in labels.items() if target == twice[0])
        raise JrhError(
            f"template '{name}': labels: {both} both mean '{twice[0]}'; map exactly one label to each label of the "
            f"scale ({known})"
        )
    if absent:
        raise JrhError(
            f"template '{name}': labels: no label means {', '.join(absent)}; map exactly one label to each label of "
            f"the scale ({known})"
        )


def check_templates(templates: Sequence[Template], task: Task) -> None:
    """Require templates that are distinct and show the judged fields.

    Raises:
        JrhError: two have the same name or text, or one does not show a judged field.
    """
    for template in templates:
        _check_shows(template, task)
    names = [template.name for template in templates]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise JrhError(f"templates: two templates are named '{twice}'; names must differ")
    first: dict[tuple[str, str], str] = {}
    for template in templates:
        # The system message counts: the same text under another one is another prompt.
        other = first.setdefault((" ".join(template.user.split()), template.system), template.name)
        if other != template.name:
            raise JrhError(
                f"templates: '{other}' and '{template.name}' have the same text (ignoring white space), so the pair "
                "would measure nothing; remove one"
            )


def _check_shows(template: Template, task: Task) -> None:
    unseen = [field for field in task.judged_fields if field not in template.shows(task)]
    if unseen:
        raise JrhError(
            f"template '{template.name}' does not show {' and '.join(unseen)}, which a {task.mode.value} judge must "
            f"see; insert {{{{ {unseen[0]} }}}}"
        )


def absent_fields(template: Template, item: Item) -> list[str]:
    """Return the fields a template shows and the item does not have."""
    return sorted(template.variables - set(item.fields))
