"""What a suite can set."""

from __future__ import annotations

from pathlib import Path

from attrs import frozen
from attrs.validators import ge, matches_re
from jrh import ModelName
from jrh.plugins import option
from jrh_measuring import BreakdownOptions

RUBRIC = r"[a-z-]+@\d{1,6}"


@frozen(kw_only=True)
class ServiceOptions:
    """Options of the model provider `acme-service`."""

    url: str = option("the service, such as https://grader.acme.example", matches_re(r"https?://[^\s@?#]+"))
    client: str = option("the name by which the service knows the caller", default="jrh")
    secret_env: str = option("environment variable with the caller's secret", default="ACME_SECRET")
    dollars_per_1000: float = option("price of 1,000 grades, charged between departments", ge(0), default=4.0)


@frozen(kw_only=True)
class JudgeOptions:
    """Options of the judge `acme`."""

    model: ModelName = option("the suite's model of the provider `acme-service`", default=ModelName("acme"))
    rubric: str = option("the rubric to grade by, such as `clarity@3`", matches_re(RUBRIC))


@frozen(kw_only=True)
class RubricTask:
    """The keys of a section `task` in the mode `acme`."""

    rubric: str = option("the rubric that the task asks about, such as `clarity@3`", matches_re(RUBRIC))
    store: Path = option("the file of the rubric store")
    mode: str = option("`acme`", default="acme")


@frozen(kw_only=True)
class StoreOptions:
    """Options of the data source `acme-store`."""

    path: Path = option("the file of the rubric store")
    rubric: str = option(
        "the rubric; grades by its older versions come with the stratum `older rubric`", matches_re(RUBRIC)
    )


@frozen(kw_only=True)
class FalsePassOptions(BreakdownOptions):
    """Options of the metric `acme-false-pass`."""

    old_share: float = option("share of grades by an older rubric from which the number is flagged", ge(0), default=0.2)
