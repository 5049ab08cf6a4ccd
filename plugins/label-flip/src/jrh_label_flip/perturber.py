"""Plant errors by rules: one draft per kind and number of errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from attrs import frozen
from jrh import Draft, Item, Skip
from jrh_authoring import apply_edits

from jrh_label_flip.aims import Aim, Aims
from jrh_label_flip.edits import choose, described
from jrh_label_flip.options import Error
from jrh_label_flip.passages import Passage
from jrh_label_flip.rules import RULES


@frozen(kw_only=True)
class RulePerturber:
    """Plants errors by rules; skips an item in which no edit is clearly an error."""

    aims: Aims
    errors: tuple[Error, ...]
    counts: tuple[int, ...]
    seed: Callable[..., int]
    """Derives a seed from what it is for."""

    async def perturb(self, item: Item) -> Sequence[Draft | Skip]:
        """Return a draft per kind and number of errors, in the order of the options; deterministic given the seed."""
        outcomes = [outcome for error in self.errors for outcome in self._outcomes(item, error)]
        reasons = {outcome.reason if isinstance(outcome, Skip) else "" for outcome in outcomes}
        # A reason that rules out every error is reported once.
        return outcomes if len(reasons) > 1 or "" in reasons else [Skip(reason=outcome) for outcome in reasons]

    def _outcomes(self, item: Item, error: Error) -> Iterator[Draft | Skip]:
        aim = self.aims.aim(item, error)
        if isinstance(aim, Skip):
            yield Skip(reason=aim.reason, variant=error.value)
            return
        text = item.fields.get(aim.field)
        if not isinstance(text, str):
            yield Skip(reason=f"field '{aim.field}' is not text", variant=error.value)
            return
        # The seed ignores the number of errors, so the errors of a short draft are a subset of those of a long one.
        seed = self.seed(item.id, error.value)
        request = item.fields.get("request")
        yield from self._planted(
            Passage(text=text, request=request if isinstance(request, str) else "", seed=seed), aim, error
        )

    def _planted(self, passage: Passage, aim: Aim, error: Error) -> Iterator[Draft | Skip]:
        if not passage.english:
            yield Skip(reason="the response is not English; the rules need English", variant=error.value)
            return
        possible = choose(RULES[error](passage), len(passage.sentences), passage.seed)
        if not possible:
            yield Skip(reason=f"no place for the error '{error.value}'", variant=error.value)
            return
        for count in self.counts:
            if count > len(possible):
                yield Skip(reason=f"too few places for {count} errors '{error.value}'", variant=error.value)
                continue
            edits = possible[:count]
            yield Draft(
                variant=error.value,
                strength=float(count),
                fields={aim.field: apply_edits(passage.text, edits)},
                expectation=aim.expectation,
                details={
                    "by": "rules",
                    "field": aim.field,
                    "edits": described(passage.text, edits),
                    "places": len(possible),
                    "seed": passage.seed,
                },
            )
