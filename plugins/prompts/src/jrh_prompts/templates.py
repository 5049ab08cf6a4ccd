"""The perturber `templates`: one case per item and template, shipped, own or in another layout.

After FormatSpread (Sclar, Choi, Tsvetkov and Suhr 2024): layout choices without meaning should not change verdicts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from importlib.resources import files
from typing import Final

import yaml
from attrs import evolve, frozen
from jrh import BuildContext, Draft, Item, JrhError, Mode, Polarity, Prompt, Same, Sampling, ScaleKind, Skip, Task
from jrh_authoring import template_variables

from jrh_prompts.options import SYSTEM, Format, Inventory, TemplateOptions, TemplatesOptions
from jrh_prompts.template import Template, absent_fields, check_labels, check_templates, task_with_labels

_NAMED: Final = re.compile(r"^(?P<name>[^\n{}:]{1,40}):(?P<gap>[ \t]*\n?)(?=\{\{)", re.MULTILINE)
"""The heading before a judged text: `Answer: {{`."""
_OPTION: Final = re.compile(r"^(?P<name>[A-Z]):[ \t]*(?=\{\{)", re.MULTILINE)


def _upper(heading: re.Match[str]) -> str:
    return f"{heading['name'].upper()}:{heading['gap']}"


def _lower(heading: re.Match[str]) -> str:
    # A single letter is the name of an option, and so a label the judge answers with: it stays upper case.
    return heading[0] if len(heading["name"]) == 1 else f"{heading['name'].lower()}:{heading['gap']}"


def _instruction_last(text: str) -> str:
    first, gap, judged = text.partition("\n\n")
    # A first paragraph that shows an item's text is no instruction; without a text below it, nothing would change.
    return f"{judged.rstrip()}\n\n{first}" if gap and "{{" not in first and "{{" in judged else text


_CHANGES: Final[Mapping[Format, Callable[[str], str]]] = {
    Format.SEPARATOR_DASH: partial(_NAMED.sub, r"\g<name> - "),
    Format.SEPARATOR_LINE: partial(_NAMED.sub, r"\g<name>:\n"),
    Format.CASING_UPPER: partial(_NAMED.sub, _upper),
    Format.CASING_LOWER: partial(_NAMED.sub, _lower),
    Format.ENUMERATION_PARENTHESIS: partial(_OPTION.sub, r"\g<name>) "),
    Format.ENUMERATION_BRACKETS: partial(_OPTION.sub, r"[\g<name>] "),
    Format.INSTRUCTION_LAST: _instruction_last,
}


def variants(templates: Sequence[Template], layouts: Sequence[Format]) -> Iterator[Template]:
    """Yield every template, each followed by its distinct layout variants."""
    for template in templates:
        texts = {template.user}
        yield template
        for layout in layouts:
            text = _CHANGES[layout](template.user)
            # Layouts may coincide, or change nothing: a pair of equal templates would measure nothing.
            if text not in texts:
                texts.add(text)
                yield evolve(template, name=f"{template.name}+{layout.value}", user=text, original=template.name)


@frozen(kw_only=True)
class Shipped:
    """One set of templates, with the mode and labels it asks for."""

    mode: Mode
    labels: tuple[str, ...]
    templates: tuple[Template, ...]


# Every task of a suite builds its perturber.
@lru_cache
def load_templates(inventory: Inventory) -> Shipped:
    """Load one set of templates."""
    source = files("jrh_prompts").joinpath("sets", f"{inventory.value}.yaml").read_text(encoding="utf-8")
    content = yaml.safe_load(source)
    return Shipped(
        mode=Mode(content["mode"]),
        labels=tuple(content["labels"]),
        templates=tuple(
            Template(
                name=template["name"],
                user=template["text"],
                system=content["system"],
                labels=template.get("labels"),
                polarity=Polarity.INVERTED if "labels" in template else Polarity.POSITIVE,
                language="en",
            )
            for template in content["templates"]
        ),
    )


def inventory_for(inventory: Inventory, task: Task) -> tuple[Template, ...]:
    """Return the templates of a set for a task.

    Raises:
        JrhError: the set asks for different labels or a different mode than the task's.
    """
    inventory_set = load_templates(inventory)
    if inventory_set.mode is not task.mode or inventory_set.labels != task.scale.labels:
        labels = task.scale.labels
        scale = f"{labels[0]} to {labels[-1]}" if task.scale.kind is ScaleKind.ORDINAL else ", ".join(labels)
        raise JrhError(
            f"templates: the inventory '{inventory.value}' asks {inventory_set.mode.value} judges for "
            f"{', '.join(inventory_set.labels)}; task '{task.name}' is {task.mode.value} with {scale}. "
            "Choose another inventory, name one per task (`inventory: {<task>: <inventory>}`), or write your own "
            "`templates`"
        )
    return inventory_set.templates


_SHOWN: Final = 10
"""Names of prompts in a remark."""
NO_TEMPLATE = "no template for this task"
NO_FIELD = "the item lacks a field that the template shows"
NO_PROMPT = "the item carries no prompt"
NOT_CHOSEN = "the item carries none of the prompts that `only` names"


@frozen(kw_only=True)
class TemplatesPerturber:
    """Ask about every item with every template; one answer per repeat serves all template pairs."""

    options: TemplatesOptions
    task: Task
    templates: tuple[Template, ...]
    """The templates that are the same for all items."""

    @classmethod
    def build(cls, options: TemplatesOptions, context: BuildContext) -> TemplatesPerturber:
        """Gather and check the templates of a task.

        Raises:
            JrhError: there is none, one is not usable, or two are the same.
        """
        task = context.task
        written = [
            template_of(name, template, task)
            for name, template in options.templates.items()
            if not template.tasks or task.name in template.tasks
        ]
        templates = [*_inventory(options, task), *written]
        check_templates(templates, task)
        if options.inverted and not options.from_items:
            raise JrhError(
                "templates: `inverted` names prompts of the items, so it needs `from_items: true`; a template of the "
                "suite declares what its answers mean in its own `labels`"
            )
        templates = list(variants(_select(templates, options), options.formats))
        if not templates and not options.from_items and not _elsewhere(options):
            raise JrhError(
                f"templates: no template for task '{task.name}'; set `inventory` to one of "
                f"{', '.join(inventory.value for inventory in Inventory)}, or write your own `templates`"
            )
        return cls(options=options, task=task, templates=tuple(templates))

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:
        """Return one draft per template, in order; a template whose fields the item lacks is skipped."""
        if self.options.from_items and not item_prompts(item):
            return [Skip(reason=NO_PROMPT)]
        templates = [*self.templates, *self._of_item(item)]
        if not templates:
            return [Skip(reason=NOT_CHOSEN if self.options.from_items else NO_TEMPLATE)]
        # One that is really asked: a skipped template leaves nothing to compare with.
        first = next((template for template in templates if not absent_fields(template, item)), templates[0])
        return [self._outcome(template, item, first) for template in templates]

    def remarks(self, items: Sequence[Item]) -> Iterator[str]:
        """Yield a sentence for each name in `inverted` or `only` that no item carries: it may be misspelt."""
        if not self.options.from_items or not items:
            return
        carried = sorted({name for item in items for name in item_prompts(item)})
        known = {*carried, *self.options.templates}
        for option, names in (("inverted", self.options.inverted), ("only", self.options.only)):
            for name in names:
                # `only` may name templates of the suite as well.
                if name not in (carried if option == "inverted" else known):
                    yield (
                        f"templates: {option}: no item carries a prompt '{name}'; they carry "
                        f"{', '.join(carried[:_SHOWN]) or 'none'}{' ...' if len(carried) > _SHOWN else ''}"
                    )

    def _of_item(self, item: Item) -> Iterator[Template]:
        if self.options.from_items:
            # An item carries some of the prompts of its set: one that `only` names may be another item's.
            only = self.options.only
            prompts = item_prompts(item).items()
            templates = [self._item_template(name, text) for name, text in prompts if not only or name in only]
            yield from variants(templates, self.options.formats)

    def _item_template(self, name: str, text: str) -> Template:
        if name not in self.options.inverted:
            return Template(name=name, user=text)
        return Template(name=name, user=text, labels=self.task.scale.swap_map(), polarity=Polarity.INVERTED)

    def _outcome(self, template: Template, item: Item, first: Template) -> Draft | Skip:
        missing = absent_fields(template, item)
        if missing:
            return Skip(reason=NO_FIELD, variant=template.name, details={"fields": missing})
        # Validators compare every template with the first one.
        return Draft(
            variant=template.name,
            expectation=Same(),
            label_map=template.labels,
            polarity=template.polarity,
            prompt=Prompt(
                name=template.name,
                user=template.user,
                system=template.system,
                language=template.language,
                original="" if first.user == template.user else first.user,
            ),
            task=task_with_labels(self.task, template.labels),
            repeats=self.options.repeats,
            sampling=Sampling(temperature=self.options.temperature),
            vary_seed=self.options.vary_seed,
            details={"variant_of": template.original} if template.original else {},
        )


def template_of(name: str, options: TemplateOptions, task: Task) -> Template:
    """Return a template of the suite.

    Raises:
        JrhError: it is not valid Jinja2, or its labels do not map one-to-one to the task's scale.
    """
    try:
        template_variables(options.text.content)
    except JrhError as error:
        raise JrhError(f"template '{name}': {error}") from error
    labels = dict(options.labels) or None
    inverted = options.inverted
    if labels is not None:
        check_labels(name, labels, task.scale)
        # Only a reversed scale asks for the opposite; other maps only rename labels.
        inverted = labels == task.scale.swap_map() if inverted is None else inverted
    elif inverted:
        raise JrhError(
            f"template '{name}': `inverted: true` needs `labels` that say what each answer means, such as "
            f"{_example(task)}"
        )
    return Template(
        name=name,
        user=options.text.content,
        system=SYSTEM if options.system is None else options.system.content,
        labels=labels,
        polarity=Polarity.INVERTED if inverted else Polarity.POSITIVE,
        language=options.language,
    )


def item_prompts(item: Item) -> Mapping[str, str]:
    """Return the prompts of an item, by name, as Jinja2 sources."""
    prompts = item.metadata.get("prompts")
    if not isinstance(prompts, Mapping):
        return {}
    return {name: text for name, text in prompts.items() if isinstance(text, str)}


def _example(task: Task) -> str:
    swapped = ", ".join(f"{label}: {meant}" for label, meant in task.scale.swap_map().items())
    return f"{{{swapped}}}"


def _inventory(options: TemplatesOptions, task: Task) -> tuple[Template, ...]:
    chosen = options.inventory
    if isinstance(chosen, Inventory):
        return inventory_for(chosen, task)
    if chosen is not None:
        return inventory_for(chosen[task.name], task) if task.name in chosen else ()
    if options.templates or options.from_items:
        return ()
    named = next((inventory for inventory in Inventory if inventory.value == task.name), None)
    return inventory_for(named, task) if named is not None else ()


def _elsewhere(options: TemplatesOptions) -> bool:
    """Check whether the suite assigns templates to tasks; the other tasks then need none."""
    return isinstance(options.inventory, Mapping) or any(template.tasks for template in options.templates.values())


def _select(templates: Sequence[Template], options: TemplatesOptions) -> list[Template]:
    known = [template.name for template in templates]
    absent = [name for name in options.only if name not in known]
    # With prompts of items the name may be one of theirs, which are read later.
    if absent and known and not options.from_items:
        raise JrhError(f"templates: only: no template '{absent[0]}'; available: {', '.join(known)}")
    if not options.only:
        return list(templates)
    return [template for template in templates if template.name in options.only]
