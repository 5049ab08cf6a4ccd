"""Have a model change texts as the suite says, or answer the request again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from attrs import evolve, frozen
from jrh import BuildContext, Changes, Draft, Equals, Expectation, Item, JrhError, NotAbove, NotBelow, Same, Skip, Task
from jrh_authoring import Rewriting, RewritingPerturber, load_template

from jrh_instruct.options import AnswerAgainOptions, Expected, ExpectedLabel, InstructOptions

_EXPECTATIONS: Final[Mapping[Expected, Expectation]] = {
    Expected.SAME: Same(),
    Expected.CHANGES: Changes(),
    Expected.NOT_ABOVE: NotAbove(),
    Expected.NOT_BELOW: NotBelow(),
}


def build(options: InstructOptions, context: BuildContext) -> Instructed:
    """Make the perturber.

    Raises:
        JrhError: the expectation or the fields do not fit the task, or the model or a check cannot be used.
    """
    # The instruction is in the template as text: braces in it are no variables.
    prompt = load_template("jrh_instruct", "instruct").replace("[[ instruction ]]", _literal(options.text.content))
    way = Rewriting(variant=options.variant, prompt=prompt, bounds=options.length_ratio)
    fields = options.fields.of(context.task, "instruct")
    writing = RewritingPerturber.of([way], context, options, model=options.model, fields=fields)
    return Instructed(writing=writing, expectation=_expectation(options.expect, context.task))


@frozen(kw_only=True)
class Instructed:
    """Makes one draft per item, or a skip with the reason of the last attempt."""

    writing: RewritingPerturber
    expectation: Expectation

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:
        """Return the changed text with the verdict that is expected of a reliable judge."""
        made = await self.writing.perturb(item)
        # The writer's drafts expect the same verdict; what this instruction does only the suite knows.
        return [evolve(each, expectation=self.expectation) if isinstance(each, Draft) else each for each in made]


def _expectation(expect: Expected | ExpectedLabel, task: Task) -> Expectation:
    if isinstance(expect, ExpectedLabel):
        if expect.label not in task.scale:
            known = ", ".join(task.scale.labels)
            raise JrhError(f"instruct: expect: '{expect.label}' is not on the task's scale {known}")
        return Equals(label=expect.label)
    # Refused here, before a call is paid for, and not when the first verdict is compared.
    if expect in (Expected.NOT_ABOVE, Expected.NOT_BELOW) and not task.scale.ordered:
        raise JrhError(
            f"instruct: `expect: {expect.value}` needs ordered levels, but the scale of task '{task.name}' is "
            f"{', '.join(task.scale.labels)}; use same, changes or {{label: {task.scale.labels[0]}}}"
        )
    return _EXPECTATIONS[expect]


def _literal(text: str) -> str:
    """Write a text so that Jinja2 renders it as it is."""
    return "{{ " + repr(text) + " }}"


VARIANT: Final = "answered-again"
_NO_REQUEST: Final = Skip(reason="field 'request' is empty or not text", variant=VARIANT)


def build_answer_again(options: AnswerAgainOptions, context: BuildContext) -> AnswerAgain:
    """Make the perturber.

    Raises:
        JrhError: the fields do not fit the task, or the model or a check cannot be used.
    """
    prompt = load_template("jrh_instruct", "answer_again")
    way = Rewriting(variant=VARIANT, prompt=prompt, bounds=options.length_ratio)
    fields = options.fields.of(context.task, "answer-again")
    return AnswerAgain(writing=RewritingPerturber.of([way], context, options, model=options.model, fields=fields))


@frozen(kw_only=True)
class AnswerAgain:
    """Makes one draft per item with a request: a reliable judge gives it the verdict of the response."""

    writing: RewritingPerturber

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:
        """Return the new answer, or a skip with the reason of the last attempt."""
        request = item.fields.get("request")
        if not isinstance(request, str) or not request.strip():
            return [_NO_REQUEST]
        return await self.writing.perturb(item)
