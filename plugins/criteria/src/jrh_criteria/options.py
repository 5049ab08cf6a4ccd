"""Options of the tests, the metrics and the source."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal

from attrs import Attribute, Factory, frozen
from attrs.validators import ge, min_len
from jrh import Text
from jrh.plugins import MeasureInfo, option
from jrh.suite import WrittenScale
from jrh_authoring import repeats_option
from jrh_measuring import MetricOptions

STRICT: Final = "Be strict: where the response leaves a doubt, the criterion is not met."
LENIENT: Final = "Be lenient: where the response leaves a doubt, the criterion is met."
FILLER: Final = "The response contains at least one word of more than three letters."


# Without the id, one column would serve all criteria.
def _holds_id(_: object, attribute: Attribute[Any], value: str) -> None:
    if "{id}" not in value:
        raise ValueError(f"'{attribute.name}' must contain '{{id}}', which is replaced by the criterion's id")


def _check_sizes(_: object, __: Attribute[Any], sizes: tuple[int | str, ...]) -> None:
    if any(size != "all" and int(size) < 1 for size in sizes):
        raise ValueError("'sizes' must be numbers of at least 1, or `all`")


@frozen(kw_only=True)
class OrderOptions:
    """Options of `criteria-order`."""

    shuffles: int = option("random orders besides the reversed one", ge(0), default=0)
    repeats: int = repeats_option()


@frozen(kw_only=True)
class PerCallOptions:
    """Options of `criteria-per-call`."""

    sizes: tuple[int | Literal["all"], ...] = option(
        "numbers of criteria per call; the task's own number is skipped", min_len(1), _check_sizes, default=(1, "all")
    )
    repeats: int = repeats_option()


@frozen(kw_only=True)
class WordingOptions:
    """Options of `criterion-wording`."""

    strict: Text = option("added for the stricter wording; empty: none", default=Text(content=STRICT))
    lenient: Text = option("added for the more lenient wording; empty: none", default=Text(content=LENIENT))
    repeats: int = repeats_option()


@frozen(kw_only=True)
class NegatedOptions:
    """Options of `criterion-negated`."""

    repeats: int = repeats_option()


@frozen(kw_only=True)
class FillerOptions:
    """Options of `irrelevant-criterion`."""

    text: Text = option("a criterion that is irrelevant to the others", default=Text(content=FILLER))
    repeats: int = repeats_option()


@frozen(kw_only=True)
class HaloOptions:
    """Options of `halo`."""

    evidence: str = option(
        "column with the exact words of the response that decide a criterion", _holds_id, default="evidence.{id}"
    )
    repeats: int = repeats_option()


@frozen(kw_only=True)
class RubricOptions:
    """Options of `rubric-matters`."""

    variants: tuple[Literal["inverted", "empty", "other"], ...] = option(
        "rubrics to show instead of the task's", min_len(1), default=("inverted", "empty", "other")
    )
    other: Text | None = option(
        "the rubric of another task; default: the next criterion in a task with criteria, otherwise none", default=None
    )
    repeats: int = repeats_option()


@frozen(kw_only=True)
class ScoreOptions(MetricOptions):
    """Options of `criteria-score`."""

    holistic: str = option(
        "ordinal task with one verdict per response, to correlate the weighted score with", default=""
    )

    def asks_for(self, measure: MeasureInfo) -> bool:
        """Return whether a measure is made: the task to correlate with asks for its correlation."""
        return super().asks_for(measure) or (bool(self.holistic) and measure.name == "holistic-correlation")


@frozen(kw_only=True)
class BenchmarkOptions:
    """Options of the source `rubric-benchmark`."""

    path: Path = option("JSON Lines, a JSON list (`.json`), or csv; relative to the suite's directory")
    criteria: str = option("column with the list of criteria of each row; empty: each row is one criterion", default="")
    columns: Mapping[str, str] = option(
        "target -> column of a row: id, request, response, group; of a criterion: criterion, criterion_id, "
        "weight, label, stratum",
        default=Factory(dict),
    )
    labels: Mapping[str, str] = option(
        "label as the file writes it, in lower case -> label of the task; others stay as they are",
        default=Factory(
            lambda: {"true": "met", "false": "unmet", "1": "met", "0": "unmet", "yes": "met", "no": "unmet"}
        ),
    )


JOINED: Final = "criteria"
"""The mode in which the entries of a rubric make one weighted score."""


@frozen(kw_only=True)
class WrittenCriteria:
    """The entries of a rubric file: a task each or, with `mode: criteria`, together one weighted score."""

    file: Path | None = option(
        "JSON or YAML: a list of entries with `id`, `instructions` and optional `score_levels`, `labels`, "
        "`weight`. Needed, unless the mode is `criteria` and the data source brings criteria.",
        default=None,
    )
    targets: tuple[str, ...] = option("Ids of the entries that are used; none: all.", default=())
    per_call: int | Literal["all"] = option(
        "Mode `criteria`: the most criteria to ask in one call, or `all`.", default=1
    )
    not_applicable: str | None = option(
        "Mode `criteria`: the label of criteria that do not apply. It never counts as met.", default=None
    )
    judged: Literal["response", "transcript"] = option(
        "Mode `criteria`: what the criteria are about.", default="response"
    )

    def __attrs_post_init__(self) -> None:
        """Reject a number of criteria per call below 1."""
        if self.per_call != "all" and self.per_call < 1:
            raise ValueError(f"'per_call' must be at least 1, or `all`; got {self.per_call}")


@frozen(kw_only=True)
class WrittenCriteriaTask:
    """What the judge is asked about every entry of a rubric file."""

    instruction: Text = option("What the judge is asked to decide.", default=Text(content=""))
    criteria: WrittenCriteria = option("The entries, and how to ask about them.", default=WrittenCriteria())
    scale: WrittenScale | None = option(
        "The labels of entries without their own; `[satisfies, violates]` where not given, and "
        "`[met, unmet]` in mode `criteria`.",
        default=None,
    )
    mode: Literal["pointwise", "pairwise", "transcript", "criteria"] = option(
        "`pointwise` or `transcript`: every entry is a task, `NAME.ID`. `criteria`: all entries together "
        "make a weighted score.",
        default="pointwise",
    )
