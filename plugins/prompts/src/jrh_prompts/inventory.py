"""Load the templates shipped with this plugin."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files

import yaml
from attrs import frozen
from jrh import JrhError, Mode, Polarity, Task

from jrh_prompts.options import Inventory
from jrh_prompts.template import Template, names_of_labels


@frozen(kw_only=True)
class Shipped:
    """One set of templates, with the mode and labels it asks for."""

    name: str
    mode: Mode
    labels: tuple[str, ...]
    templates: tuple[Template, ...]


@lru_cache
def shipped(inventory: Inventory) -> Shipped:
    """Load one set of templates."""
    source = files("jrh_prompts").joinpath("sets", f"{inventory.value}.yaml").read_text(encoding="utf-8")
    content = yaml.safe_load(source)
    return Shipped(
        name=inventory.value,
        mode=Mode(content["mode"]),
        labels=tuple(content["labels"]),
        templates=tuple(
            Template(
                name=each["name"],
                user=each["text"],
                system=content["system"],
                labels=each.get("labels"),
                polarity=Polarity.INVERTED if "labels" in each else Polarity.POSITIVE,
                language="en",
            )
            for each in content["templates"]
        ),
    )


def inventory_for(inventory: Inventory, task: Task) -> tuple[Template, ...]:
    """Return the templates of a set for a task.

    Raises:
        JrhError: the set asks for different labels or a different mode than the task's.
    """
    found = shipped(inventory)
    if found.mode is not task.mode or found.labels != task.scale.labels:
        raise JrhError(
            f"templates: the inventory '{found.name}' asks {found.mode.value} judges for {', '.join(found.labels)}; "
            f"task '{task.name}' is {task.mode.value} with {names_of_labels(task.scale)}. Choose another inventory, "
            "name one per task (`inventory: {<task>: <inventory>}`), or write your own `templates`"
        )
    return found.templates
