"""Options of the exporters."""

from __future__ import annotations

from attrs import field, frozen
from attrs.validators import gt, in_, matches_re

_NAMED = matches_re(r"\S(.*\S)?")


@frozen(kw_only=True)
class MlflowOptions:
    """Options of the exporter `mlflow`."""

    tracking_uri: str = field(
        default="",
        metadata={"help": "tracking store or server; default: MLFLOW_TRACKING_URI, else MLflow's own default"},
    )
    experiment: str = field(default="jrh", validator=_NAMED, metadata={"help": "name of the experiment"})
    reports: bool = field(
        default=True, metadata={"help": "attach report.html, report.json and records.csv, which hold texts of the data"}
    )


@frozen(kw_only=True)
class WandbOptions:
    """Options of the exporter `wandb`."""

    project: str = field(default="jrh", validator=_NAMED, metadata={"help": "name of the project"})
    entity: str = field(default="", metadata={"help": "user or team; default: the account's"})
    mode: str = field(
        default="offline",
        validator=in_(("offline", "online")),
        metadata={"help": "`offline` writes files that `wandb sync` uploads; `online` sends at once"},
    )
    timeout: float = field(default=60.0, validator=gt(0), metadata={"help": "seconds to wait for the service"})
    directory: str = field(
        default="", metadata={"help": "directory of the files; default: WANDB_DIR, else the working directory"}
    )
    reports: bool = field(
        default=True, metadata={"help": "attach report.html, report.json and records.csv, which hold texts of the data"}
    )


@frozen(kw_only=True)
class LangfuseOptions:
    """Options of the exporter `langfuse`."""

    host: str = field(default="", metadata={"help": "address; default: LANGFUSE_HOST, else https://cloud.langfuse.com"})
    public_key_env: str = field(
        default="LANGFUSE_PUBLIC_KEY", validator=_NAMED, metadata={"help": "environment variable with the public key"}
    )
    secret_key_env: str = field(
        default="LANGFUSE_SECRET_KEY", validator=_NAMED, metadata={"help": "environment variable with the secret key"}
    )
    verdicts: bool = field(default=True, metadata={"help": "send every verdict, not only the measures"})
    traces: str = field(
        default="own",
        validator=in_(("own", "items")),
        metadata={
            "help": "attach verdicts to traces of their `own`, or to the traces whose id is the item's (`items`)"
        },
    )
    timeout: float = field(default=30.0, validator=gt(0), metadata={"help": "seconds for one request"})
