"""Turn the scores of a sample into gold labels and strata."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from attrs import frozen
from jrh import JrhError, Json

from jrh_inspect.options import InspectOptions

NOTHING: Final = object()


def score_value(scores: Mapping[str, Json], name: str) -> object:
    """Return the value of score `name`, or of its part `name.key`; `NOTHING` if there is none."""
    if name in scores:
        return scores[name]
    scorer, _, key = name.partition(".")
    parts = scores.get(scorer)
    if isinstance(parts, Mapping) and key in parts:
        return parts[key]
    return NOTHING


def score_names(scores: Mapping[str, Json]) -> list[str]:
    """Return the names that `score_value` accepts."""
    names = []
    for name, value in scores.items():
        names += [f"{name}.{key}" for key in value] if isinstance(value, Mapping) else [name]
    return names


@frozen(kw_only=True)
class GoldScore:
    """The score used as gold label for one task."""

    name: str
    labels: Mapping[str, str]

    @classmethod
    def of(cls, options: InspectOptions, task: str) -> GoldScore | None:
        """Return the gold score of a task, or None if it has no gold labels."""
        name = options.gold.get(task) if isinstance(options.gold, Mapping) else options.gold
        return None if name is None else cls(name=name, labels=options.gold_labels)

    def label(self, scores: Mapping[str, Json], origin: str) -> str | None:
        """Return the gold label of a sample, or None if the sample has no such score.

        Raises:
            JrhError: The score's value is not a label.
        """
        value = score_value(scores, self.name)
        if value is NOTHING or value is None:
            return None
        text = value_text(value)
        if text is None:
            raise JrhError(
                f"{origin}: the score '{self.name}' is {type(value).__name__}, not a single value; name one part as "
                f"'{self.name}.KEY'"
            )
        if not self.labels:
            return text
        if text not in self.labels:
            known = ", ".join(self.labels)
            raise JrhError(
                f"{origin}: the score '{self.name}' is '{text}', which `gold_labels` does not map; it maps {known}"
            )
        return self.labels[text]


def value_text(value: object) -> str | None:
    """Return a score's value as label text, whole numbers without a decimal point; None for lists and mappings."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value) if isinstance(value, str | int | float) else None


def stratum_of(name: str, metadata: Mapping[str, Json], scores: Mapping[str, Json]) -> str:
    """Return the stratum of a sample from its metadata or else its scores; empty if neither has the name."""
    value = metadata[name] if name in metadata else score_value(scores, name)
    if value is NOTHING or value is None:
        return ""
    text = value_text(value)
    return str(value) if text is None else text


def check_known(names: Sequence[str], known: Sequence[str], what: str, shown: str) -> None:
    """Reject names that no sample has.

    Raises:
        JrhError: A name is unknown; the message lists the known ones.
    """
    for name in names:
        if name not in known:
            listed = ", ".join(dict.fromkeys(known)) or "none"
            raise JrhError(f"{shown}: no sample has the {what} '{name}'; available: {listed}")
