"""Bring runs into MLflow, Weights & Biases and Langfuse.

`plugin.py` declares the exporters, `commands.py` is `jrh export`. `rows.py` makes plain rows of measures and keys that
every tool accepts; `to_mlflow.py`, `to_wandb.py` and `to_langfuse.py` send them, each with its tool's own library or
API. Sending the same numbers twice changes nothing: ids follow from content.

Not here: reading the logs of other tools, and opening a run with the reports to attach, which `jrh_interchange` does.
"""
