"""The perturber `errors`: a rising number of errors of one kind, planted by rules."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from attrs import frozen
from jrh import BuildContext, Changes, Draft, Equals, Item, JrhError, Skip, Task
from jrh.hashing import shuffled
from jrh_authoring import Edit, apply_edits

from jrh_evidence.options import ErrorsOptions

NOT_TEXT: Final = "the judged field has no text"
FEW: Final = "fewer places for such errors than requested"
_PLACES: Final[Mapping[str, re.Pattern[str]]] = {
    "wrong-number": re.compile(r"(?<![\w.,])[0-9]{1,15}(?![\w]|[.,][0-9])"),
    # Another `not` would affirm what is negated already.
    "negation": re.compile(r"\b(?:is|are|was|were|can|will|should|must|could|would)\b(?! not\b|n't)"),
    "dropped-sentence": re.compile(r"(?<=[.!?])[ \t]+[^.!?\n]{3,}[.!?]"),
}


@frozen(kw_only=True)
class Errors:
    """Plant errors; those of a smaller dose are among those of a larger one."""

    options: ErrorsOptions
    task: Task
    seed: Callable[..., int]

    @classmethod
    def build(cls, options: ErrorsOptions, context: BuildContext) -> Errors:
        """Check the label.

        Raises:
            JrhError: it is not on the scale.
        """
        labels = context.task.scale.labels
        if options.implies and options.implies not in labels:
            raise JrhError(f"errors: `implies` '{options.implies}' is not on the scale: {', '.join(labels)}")
        return cls(options=options, task=context.task, seed=context.seed)

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:
        """Return a draft per kind and dose, or say where a text has too few places."""
        (name,) = self.task.judged_fields[:1]
        text = item.fields.get(name)
        if not isinstance(text, str) or not text.strip():
            return [Skip(reason=NOT_TEXT)]
        return [outcome for kind in self.options.kinds for outcome in self._outcomes(item, name, text, kind)]

    def _outcomes(self, item: Item, name: str, text: str, kind: str) -> Iterator[Draft | Skip]:
        # One order for all doses, so that a larger dose contains every smaller one.
        places = shuffled([match.span() for match in _PLACES[kind].finditer(text)], self.seed(item.id, kind))
        for dose in self.options.doses:
            variant = f"{kind}*{dose}"
            # Fewer errors than stated would be counted under the wrong dose.
            if dose > len(places):
                yield Skip(reason=FEW, variant=variant)
                continue
            yield Draft(
                variant=variant,
                strength=float(dose),
                fields={name: _plant(text, places[:dose], kind)},
                expectation=Equals(label=self.options.implies) if self.options.implies else Changes(),
                repeats=self.options.repeats,
                details={"kind": kind, "errors": dose},
            )


def _plant(text: str, places: Sequence[tuple[int, int]], kind: str) -> str:
    return apply_edits(
        text,
        [Edit(start=start, old=text[start:end], new=_wrong(text[start:end], kind), kind=kind) for start, end in places],
    )


def _wrong(text: str, kind: str) -> str:
    if kind == "dropped-sentence":
        return ""
    if kind == "negation":
        return f"{text} not"
    # Another first digit: larger than a slip, and never the same number.
    return f"{int(text[0]) % 9 + 1}{text[1:]}"
