"""Options of the exporters."""

from __future__ import annotations

from attrs import frozen
from attrs.validators import gt, in_, matches_re
from jrh.plugins import option

_NAMED = matches_re(r"\S(.*\S)?")


@frozen(kw_only=True)
class MlflowOptions:
    """Options of the exporter `mlflow`."""

    tracking_uri: str = option(
        "tracking store or server; default: MLFLOW_TRACKING_URI, else MLflow's own default", default=""
    )
    experiment: str = option("name of the experiment", _NAMED, default="jrh")
    reports: bool = option(
        "attach report.html, report.json and records.csv, which hold texts of the data", default=True
    )


@frozen(kw_only=True)
class WandbOptions:
    """Options of the exporter `wandb`."""

    project: str = option("name of the project", _NAMED, default="jrh")
    entity: str = option("user or team; default: the account's", default="")
    mode: str = option(
        "`offline` writes files that `wandb sync` uploads; `online` sends at once",
        in_(("offline", "online")),
        default="offline",
    )
    timeout: float = option("seconds to wait for the service", gt(0), default=60.0)
    directory: str = option("directory of the files; default: WANDB_DIR, else the working directory", default="")
    reports: bool = option(
        "attach report.html, report.json and records.csv, which hold texts of the data", default=True
    )
