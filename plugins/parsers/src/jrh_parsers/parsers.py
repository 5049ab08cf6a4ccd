"""Parse text with a reader for the kind of scale and one shared decision procedure."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from attrs import evolve
from jrh import Reply, Scale, ScaleKind, Status, Verdict

from jrh_parsers.finding import Finding, Grammar
from jrh_parsers.labels import LabelGrammar
from jrh_parsers.levels import LevelGrammar, numeric
from jrh_parsers.options import JsonOptions, PairwiseOptions, WeightedOptions
from jrh_parsers.pairs import PairGrammar
from jrh_parsers.procedure import decide, last_announcement
from jrh_parsers.verdict_json import last_verdict
from jrh_parsers.visible import visible

RATIONALE_CHARACTERS = 4_000
"""Longest rationale kept, in characters."""

_DECISION_CHARACTERS = 24
"""A reply with at most this many characters in addition to its label has no rationale."""


@lru_cache(maxsize=128)
def grammar_for(scale: Scale, comparatives: bool = True) -> Grammar:
    """Return the reader for the kind of scale; ordinal scales of words are read by label."""
    if scale.kind is ScaleKind.PAIRWISE:
        return PairGrammar(scale, comparatives=comparatives)
    if numeric(scale):
        return LevelGrammar(scale)
    return LabelGrammar(scale)


_label_grammar = lru_cache(maxsize=128)(LabelGrammar)


class LabelParser:
    """Reads one of the scale's labels in free text, whatever the kind of scale."""

    def parse(self, reply: Reply, scale: Scale) -> Verdict:
        """Return the label, or the status that says why there is none."""
        return read_text(reply, scale, _label_grammar(scale))


class LikertParser:
    """Reads a level of an ordinal scale."""

    def parse(self, reply: Reply, scale: Scale) -> Verdict:
        """Return the level; on scales without numbers, the label by name."""
        return read_text(reply, scale, grammar_for(scale))


class PairwiseParser:
    """Reads the letter of the preferred option, or a tie."""

    def __init__(self, options: PairwiseOptions) -> None:
        """Keep whether `B is better than A` is read as B."""
        self._options = options

    def parse(self, reply: Reply, scale: Scale) -> Verdict:
        """Return the option; on scales that are not pairwise, the label or level."""
        return read_text(reply, scale, grammar_for(scale, self._options.comparatives))


class JsonParser:
    """Reads a JSON verdict and nothing else."""

    def __init__(self, options: JsonOptions) -> None:
        """Keep the keys."""
        self._options = options

    def parse(self, reply: Reply, scale: Scale) -> Verdict:
        """Return the verdict of the last JSON value that has one; without JSON, a refusal or `unparsable`."""
        text = visible(reply.text)
        if text is None:
            return _inside_thinking()
        grammar = grammar_for(scale)
        json_verdict = last_verdict(text, grammar, self._options)
        if json_verdict is not None:
            return _verdict(json_verdict.finding, json_verdict.rationale)
        decision = decide(text, grammar)
        if decision.status in (Status.REFUSED, Status.ABSTAINED):
            return Verdict(status=decision.status, detail=decision.detail)
        # Enough to recognise a wrong key.
        keys = ", ".join(self._options.keys[:3])
        return Verdict(status=Status.UNPARSABLE, detail=f"no JSON value with a verdict (looked for {keys}, ...)")


class AutoParser:
    """Reads a JSON verdict if there is one, otherwise the text by the kind of scale."""

    _options = JsonOptions()

    def parse(self, reply: Reply, scale: Scale) -> Verdict:
        """Return the verdict; one announced after the JSON value overrides it."""
        grammar = grammar_for(scale)
        # No object, so nothing to search for.
        if "{" not in reply.text:
            return read_text(reply, scale, grammar)
        text = visible(reply.text)
        if text is None:
            return _inside_thinking()
        json_verdict = last_verdict(text, grammar, self._options)
        if json_verdict is None:
            return _from_text(text, decide(text, grammar))
        # Judges correct themselves after the JSON; the last announced verdict binds, as everywhere.
        later = last_announcement(text[json_verdict.end :], grammar)
        return _from_text(text, later) if later else _verdict(json_verdict.finding, json_verdict.rationale)


def read_text(reply: Reply, scale: Scale, grammar: Grammar) -> Verdict:
    """Read the text of a reply with a reader; a reply that is exactly a label needs no reading."""
    label = scale.match(reply.text)
    if label is not None:
        return Verdict(status=Status.OK, presented=label)
    text = visible(reply.text)
    return _inside_thinking() if text is None else _from_text(text, decide(text, grammar))


def _inside_thinking() -> Verdict:
    return Verdict(status=Status.UNPARSABLE, detail="the reply ends inside a thinking block")


def _from_text(text: str, finding: Finding) -> Verdict:
    longer = len(text.strip()) > len(finding.label or "") + _DECISION_CHARACTERS
    return _verdict(finding, text.strip() if longer else "")


def _verdict(finding: Finding, rationale: str) -> Verdict:
    return Verdict(
        status=finding.status,
        presented=finding.label,
        rationale=rationale[:RATIONALE_CHARACTERS],
        detail=finding.detail,
    )


# Tokens carry the marks of tokenizers for a leading space, and quotes and emphasis of the reply.
_EDGES = " \t\r\n▁Ġ*\"'`"
_NEAR = 1e-9


class WeightedParser:
    """Reads the expected level of an ordinal scale from the probabilities of the tokens.

    With p(s) the probability of level s at the token of the score, renormalised over the levels, the score is
    sum(p(s) * s). The verdict is the level nearest to it; of two equally near the likelier, and of those the lower.

    Source: G-Eval, Liu et al. (2023), section 3.
    """

    def __init__(self, options: WeightedOptions) -> None:
        """Keep the options."""
        self._options = options

    def parse(self, reply: Reply, scale: Scale) -> Verdict:
        """Return the level nearest to the expectation, with the probability of every level."""
        verdict = read_text(reply, scale, grammar_for(scale))
        if verdict.status in (Status.REFUSED, Status.ABSTAINED):
            return verdict
        probabilities = self._probabilities(reply, scale)
        if isinstance(probabilities, str):
            return verdict if self._options.fallback else Verdict(status=Status.UNPARSABLE, detail=probabilities)
        return evolve(
            verdict, status=Status.OK, presented=_nearest(probabilities, scale), probabilities=probabilities, detail=""
        )

    def _probabilities(self, reply: Reply, scale: Scale) -> dict[str, float] | str:
        """Return level -> probability, or a sentence that says why that is not possible."""
        if not scale.ordered:
            return "an expectation needs an ordinal scale"
        if not reply.token_probabilities:
            return "the reply has no token probabilities; set `top_logprobs` where the provider gives them"
        # In a long reply other tokens are numbers too.
        if len(reply.token_probabilities) > self._options.max_positions:
            return "the reply is too long to tell which token is the score; ask for the level alone"
        places = [_levels_at(tokens, scale) for tokens in reply.token_probabilities]
        score_places = [place for place in places if sum(place.values()) >= self._options.min_mass]
        # With several candidates a choice would be a guess about which number is the score.
        if len(score_places) != 1:
            where = "no token is" if not score_places else f"{len(score_places)} tokens could be"
            return f"{where} the score; ask for the level alone"
        # `1` may be the beginning of `10`: the probability of the first token then counts for both.
        if _is_ambiguous(score_places[0], scale):
            return "the tokens do not tell levels apart that begin alike, such as 1 and 10"
        total = sum(score_places[0].values())
        return {label: score_places[0].get(label, 0.0) / total for label in scale.labels}


def _levels_at(tokens: Mapping[str, float], scale: Scale) -> dict[str, float]:
    levels: dict[str, float] = {}
    for token, probability in tokens.items():
        label = scale.match(token.strip(_EDGES))
        if label is not None and probability > 0:
            levels[label] = levels.get(label, 0.0) + probability
    return levels


def _is_ambiguous(levels: Mapping[str, float], scale: Scale) -> bool:
    # Harmless where the longer label is a token of its own.
    longer = [label for label in scale.labels if any(label != short and label.startswith(short) for short in levels)]
    return bool(longer) and not any(label in levels for label in longer)


def _nearest(probabilities: Mapping[str, float], scale: Scale) -> str:
    # Levels in words count by their rank: they have an order and no distances of their own.
    values = {label: float(label) if numeric(scale) else float(scale.rank(label)) for label in scale.labels}
    expectation = sum(probabilities[label] * value for label, value in values.items())
    nearest = min(abs(value - expectation) for value in values.values())
    # Floating point: an expectation half-way between two levels is rarely exact.
    near = [label for label, value in values.items() if abs(value - expectation) <= nearest + _NEAR]
    return max(near, key=lambda label: probabilities[label])
