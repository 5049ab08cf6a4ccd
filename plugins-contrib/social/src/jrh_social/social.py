"""Add a social cue, or neutral sentences of the same length, to one judged text and change nothing else."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, Final

from attrs import frozen
from jrh import BuildContext, Draft, Item, Mode, Skip, Task
from jrh_authoring import Attack, AttackEdit, AttackVariant, attack_expectation, attack_target, item_texts

from jrh_social.options import SocialOptions

_KINDS: Final[Mapping[str, Any]] = tomllib.loads(Path(__file__).with_name("texts.toml").read_text(encoding="utf-8"))


@frozen(kw_only=True)
class Social:
    """Adds cues to the response, or to one response of a comparison; all other text stays."""

    options: SocialOptions
    task: Task
    seed: Callable[..., int]
    """Derives a seed from what it is for."""

    @classmethod
    def build(cls, options: SocialOptions, context: BuildContext) -> Social:
        """Build the perturber for a task.

        Raises:
            JrhError: the scale does not tell the label of a favourable cue, and `target` is missing.
        """
        # Comparisons draw an option per item, so that only a label that was named can be wrong.
        if context.task.mode is not Mode.PAIRWISE or options.target:
            attack_target(context.task.scale, options.target)
        return cls(options=options, task=context.task, seed=context.seed)

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:
        """Return a draft for each cue, position and dose, and one with neutral sentences in the same place."""
        grid = product(self.options.kinds, self.options.positions, self.options.doses)
        return [outcome for case in grid for outcome in self._outcomes(item, *case)]

    def _outcomes(self, item: Item, kind: str, position: str, dose: int) -> Iterator[Draft | Skip]:
        attack = str(Attack(edits=(AttackEdit(kind=kind, position=position, dose=dose),)))
        field, target, named = self._aim(item, favourable=_KINDS[kind]["favours"] == "highest")
        texts = item_texts(item, (field,))
        if isinstance(texts, Skip):
            yield texts
        elif not target:
            yield Skip(reason="the scale has no label that the cue favours", variant=attack)
        else:
            # The seed of the item chooses the first sentence: a kind is not judged by one of its two alone.
            pairs = _KINDS[kind]["pairs"][:: -1 if self.seed(item.id, kind) % 2 else 1][:dose]
            for control in (False, True) if self.options.control else (False,):
                added = " ".join(pair[control] for pair in pairs)
                parts = (added, texts[field]) if position == "start" else (texts[field], added)
                yield Draft(
                    variant=str(AttackVariant(attack=attack, target=named, control=control)),
                    strength=float(dose),
                    fields={field: "\n\n".join(parts)},
                    expectation=attack_expectation(self.task.scale, target),
                    repeats=self.options.repeats,
                    details={"kind": kind, "text": added, "target": target, "field": field, "control": control},
                )

    def _aim(self, item: Item, *, favourable: bool) -> tuple[str, str, str]:
        """Return the field that changes, the label that the cue favours, and that label where variants name it."""
        scale, fields, stated = self.task.scale, self.task.judged_fields, self.options.target
        if self.task.mode is Mode.PAIRWISE:
            # By item and not by kind: all cues on an item favour one option. An unfavourable one goes into another
            # response.
            place = scale.options.index(stated) if stated else self.seed(item.id, "option") % len(fields)
            return fields[place - (not favourable)], scale.options[place], scale.options[place]
        best = attack_target(scale, stated)
        if favourable:
            return fields[0], best, stated
        # Of labels without order only those of a pair have a worst one; a scale has the end opposite to the best.
        others = [label for label in scale.labels if label != best]
        low = others[0 if best == scale.labels[-1] else -1] if scale.ordered or len(others) == 1 else ""
        return fields[0], low, low
