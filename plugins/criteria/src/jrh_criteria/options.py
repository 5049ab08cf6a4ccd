"""Options of the tests, the metrics and the source."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal

from attrs import Attribute, Factory, field, frozen
from attrs.validators import ge, min_len
from jrh import Text
from jrh.suite import WrittenScale
from jrh_authoring import repeats_option
from jrh_measuring import MetricOptions

STRICT: Final = "Be strict: where the response leaves a doubt, the criterion is not met."
LENIENT: Final = "Be lenient: where the response leaves a doubt, the criterion is met."
FILLER: Final = "The response contains at least one word of more than three letters."


def _holds_id(_: object, attribute: Attribute[Any], value: str) -> None:
    if "{id}" not in value:
        raise ValueError(f"'{attribute.name}' must contain '{{id}}', which stands for the criterion's id")


def _check_sizes(_: object, __: Attribute[Any], sizes: tuple[int | str, ...]) -> None:
    if any(size != "all" and int(size) < 1 for size in sizes):
        raise ValueError("'sizes' must be numbers of at least 1, or `all`")


@frozen(kw_only=True)
class OrderOptions:
    """Options of `criteria-order`."""

    shuffles: int = field(default=0, validator=ge(0), metadata={"help": "random orders besides the reversed one"})
    repeats: int = repeats_option()


@frozen(kw_only=True)
class PerCallOptions:
    """Options of `criteria-per-call`."""

    sizes: tuple[int | Literal["all"], ...] = field(
        default=(1, "all"),
        validator=[min_len(1), _check_sizes],
        metadata={"help": "numbers of criteria per call; the task's own number is skipped"},
    )
    repeats: int = repeats_option()


@frozen(kw_only=True)
class WordingOptions:
    """Options of `criterion-wording`."""

    strict: Text = field(default=Text(content=STRICT), metadata={"help": "added for the stricter wording; empty: none"})
    lenient: Text = field(
        default=Text(content=LENIENT), metadata={"help": "added for the more lenient wording; empty: none"}
    )
    repeats: int = repeats_option()


@frozen(kw_only=True)
class NegatedOptions:
    """Options of `criterion-negated`."""

    repeats: int = repeats_option()


@frozen(kw_only=True)
class FillerOptions:
    """Options of `irrelevant-criterion`."""

    text: Text = field(default=Text(content=FILLER), metadata={"help": "a criterion that is irrelevant to the others"})
    repeats: int = repeats_option()


@frozen(kw_only=True)
class HaloOptions:
    """Options of `halo`."""

    evidence: str = field(
        default="evidence.{id}",
        validator=_holds_id,
        metadata={"help": "column with the exact words of the response that decide a criterion"},
    )
    repeats: int = repeats_option()


@frozen(kw_only=True)
class RubricOptions:
    """Options of `rubric-matters`."""

    variants: tuple[Literal["inverted", "empty", "other"], ...] = field(
        default=("inverted", "empty", "other"),
        validator=min_len(1),
        metadata={"help": "rubrics to show instead of the task's"},
    )
    other: Text | None = field(
        default=None,
        metadata={
            "help": "the rubric of another task; default: the next criterion in a task with criteria, otherwise none"
        },
    )
    repeats: int = repeats_option()


@frozen(kw_only=True)
class ScoreOptions(MetricOptions):
    """Options of `criteria-score`."""

    holistic: str = field(
        default="",
        metadata={"help": "ordinal task with one verdict per response, to correlate the weighted score with"},
    )


@frozen(kw_only=True)
class BenchmarkOptions:
    """Options of the source `rubric-benchmark`."""

    path: Path = field(metadata={"help": "JSON Lines, a JSON list, or csv; relative to the suite's directory"})
    criteria: str = field(
        default="",
        metadata={"help": "column with the list of criteria of each row; empty: each row is one criterion"},
    )
    columns: Mapping[str, str] = field(
        default=Factory(dict),
        metadata={
            "help": "target -> column of a row: id, request, response, group; of a criterion: criterion, criterion_id, "
            "weight, label, stratum"
        },
    )
    labels: Mapping[str, str] = field(
        default=Factory(
            lambda: {"true": "met", "false": "unmet", "1": "met", "0": "unmet", "yes": "met", "no": "unmet"}
        ),
        metadata={"help": "label as the file writes it, in lower case -> label of the task; others stay as they are"},
    )


JOINED: Final = "criteria"
"""The mode in which the entries of a rubric make one weighted score."""


@frozen(kw_only=True)
class WrittenCriteria:
    """The entries of a rubric file: a task each or, with `mode: criteria`, together one weighted score."""

    file: Path | None = field(
        default=None,
        metadata={
            "help": "JSON or YAML: a list of entries with `id`, `instructions` and optional `score_levels`, `labels`, "
            "`weight`. Needed, unless the mode is `criteria` and the data source brings criteria."
        },
    )
    targets: tuple[str, ...] = field(default=(), metadata={"help": "Ids of the entries that are used; none: all."})
    per_call: int | Literal["all"] = field(
        default=1, metadata={"help": "Mode `criteria`: the most criteria to ask in one call, or `all`."}
    )
    not_applicable: str | None = field(
        default=None,
        metadata={"help": "Mode `criteria`: the label of criteria that do not apply. It never counts as met."},
    )
    judged: Literal["response", "transcript"] = field(
        default="response", metadata={"help": "Mode `criteria`: what the criteria are about."}
    )

    def __attrs_post_init__(self) -> None:
        """Reject a number of criteria per call below 1."""
        if self.per_call != "all" and self.per_call < 1:
            raise ValueError(f"'per_call' must be at least 1, or `all`; got {self.per_call}")


@frozen(kw_only=True)
class WrittenCriteriaTask:
    """What the judge is asked about every entry of a rubric file."""

    instruction: Text = field(default=Text(content=""), metadata={"help": "What the judge is asked to decide."})
    criteria: WrittenCriteria = field(
        default=WrittenCriteria(), metadata={"help": "The entries, and how to ask about them."}
    )
    scale: WrittenScale | None = field(
        default=None,
        metadata={
            "help": "The labels of entries without their own; `[satisfies, violates]` where not given, and "
            "`[met, unmet]` in mode `criteria`."
        },
    )
    mode: Literal["pointwise", "pairwise", "transcript", "criteria"] = field(
        default="pointwise",
        metadata={
            "help": "`pointwise` or `transcript`: every entry is a task, `NAME.ID`. `criteria`: all entries together "
            "make a weighted score."
        },
    )
