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
        # Nothing leaves the machine unless a user says so.
        default="offline",
    )
    timeout: float = option("seconds to wait for the service", gt(0), default=60.0)
    directory: str = option("directory of the files; default: WANDB_DIR, else the working directory", default="")
    reports: bool = option(
        "attach report.html, report.json and records.csv, which hold texts of the data", default=True
    )


@frozen(kw_only=True)
class LangfuseOptions:
    """Options of the exporter `langfuse`."""

    host: str = option("address; default: LANGFUSE_HOST, else https://cloud.langfuse.com", default="")
    # Names of variables, not keys: options are stored, logged and shown.
    public_key_env: str = option("environment variable with the public key", _NAMED, default="LANGFUSE_PUBLIC_KEY")
    secret_key_env: str = option("environment variable with the secret key", _NAMED, default="LANGFUSE_SECRET_KEY")
    verdicts: bool = option("send every verdict, not only the measures", default=True)
    traces: str = option(
        "attach verdicts to traces of their `own`, or to the traces whose id is the item's (`items`)",
        in_(("own", "items")),
        default="own",
    )
    timeout: float = option("seconds for one request", gt(0), default=30.0)
