"""The expected level under the model's own token probabilities (G-Eval; Liu et al. 2023, section 3).

With p(s) the probability of level s at the place where the score stands, renormalised over the levels, the score is
sum(p(s) * s). The verdict is the level nearest to it; of two equally near the likelier, and of those the lower.
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import evolve
from jrh import Reply, Scale, Status, Verdict

from jrh_parsers.levels import numeric
from jrh_parsers.options import WeightedOptions
from jrh_parsers.parsers import LikertParser

_EDGES = " \t\r\n▁Ġ*\"'`"
_NEAR = 1e-9


class WeightedParser:
    """Reads the expected level of an ordinal scale from the probabilities of the tokens."""

    def __init__(self, options: WeightedOptions) -> None:
        """Keep the options and a reader of text."""
        self._options = options
        self._text = LikertParser()

    def parse(self, reply: Reply, scale: Scale) -> Verdict:
        """Return the level nearest to the expectation, with the probability of every level."""
        said = self._text.parse(reply, scale)
        if said.status in (Status.REFUSED, Status.ABSTAINED):
            return said
        probabilities = self._probabilities(reply, scale)
        if isinstance(probabilities, str):
            return said if self._options.fallback else Verdict(status=Status.UNPARSABLE, detail=probabilities)
        return evolve(
            said, status=Status.OK, presented=_nearest(probabilities, scale), probabilities=probabilities, detail=""
        )

    def _probabilities(self, reply: Reply, scale: Scale) -> dict[str, float] | str:
        """Return level -> probability, or a sentence that says why that is not possible."""
        if not scale.ordered:
            return "an expectation needs an ordinal scale"
        if not reply.token_probabilities:
            return "the reply has no token probabilities; set `top_logprobs` where the provider gives them"
        if len(reply.token_probabilities) > self._options.max_positions:
            return "the reply is too long to tell which token is the score; ask for the level alone"
        places = [_levels_at(tokens, scale) for tokens in reply.token_probabilities]
        found = [place for place in places if sum(place.values()) >= self._options.min_mass]
        if len(found) != 1:
            where = "no token is" if not found else f"{len(found)} tokens could be"
            return f"{where} the score; ask for the level alone"
        if _cut_short(found[0], scale):
            return "the tokens do not tell levels apart that begin alike, such as 1 and 10"
        total = sum(found[0].values())
        return {label: found[0].get(label, 0.0) / total for label in scale.labels}


def _levels_at(tokens: Mapping[str, float], scale: Scale) -> dict[str, float]:
    levels: dict[str, float] = {}
    for token, probability in tokens.items():
        label = scale.match(token.strip(_EDGES))
        if label is not None and probability > 0:
            levels[label] = levels.get(label, 0.0) + probability
    return levels


def _cut_short(levels: Mapping[str, float], scale: Scale) -> bool:
    longer = [label for label in scale.labels if any(label != short and label.startswith(short) for short in levels)]
    return bool(longer) and not any(label in levels for label in longer)


def _nearest(probabilities: Mapping[str, float], scale: Scale) -> str:
    values = {label: float(label) if numeric(scale) else float(scale.rank(label)) for label in scale.labels}
    expectation = sum(probabilities[label] * value for label, value in values.items())
    nearest = min(abs(value - expectation) for value in values.values())
    near = [label for label, value in values.items() if abs(value - expectation) <= nearest + _NEAR]
    return max(near, key=lambda label: probabilities[label])
