"""Export a run to Weights & Biases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from jrh import JrhError, RunReport
from jrh.text import clean_text, count_noun
from jrh_measuring import MEASURE_COLUMNS

from jrh_export.options import WandbOptions
from jrh_export.rows import about, digest, numbers, rows, rows_by_key, without_keys

_ID: Final = 16
_SETTINGS: Final = {
    # What the library collects unasked: the machine, the repository, the code, the terminal.
    "console": "off",
    "disable_code": True,
    "disable_git": True,
    "save_code": False,
    "silent": True,
    "x_disable_machine_info": True,
    "x_disable_meta": True,
    "x_disable_stats": True,
    "x_save_requirements": False,
}


class WandbExporter:
    """Write every measure to the summary with interval, sizes and missing verdicts, and all of them as a table."""

    def __init__(self, options: WandbOptions) -> None:
        """Check that the library is installed.

        Raises:
            JrhError: it is not.
        """
        try:
            import wandb  # noqa: F401
        except ImportError as error:
            raise JrhError(f"wandb is not installed ({error}): pip install 'jrh-export[wandb]'") from None
        self._options = options

    def export(self, report: RunReport, attached: Sequence[Path]) -> Iterator[str]:
        """Make a run whose id follows from the numbers: the same numbers are the same run.

        Raises:
            JrhError: the library refuses, or the service cannot be reached.
        """
        import wandb

        # In a notebook the user may have a run of their own open: it is left as it is.
        options, alone = self._options, wandb.run is None
        # Names differ between versions.
        known = wandb.Settings.model_fields
        quiet: dict[str, Any] = {name: value for name, value in _SETTINGS.items() if name in known}
        try:
            run = wandb.init(
                project=options.project,
                entity=options.entity or None,
                mode="online" if options.mode == "online" else "offline",
                dir=options.directory or None,
                # By the numbers, so that exporting twice makes one run.
                id=digest(report)[:_ID],
                name=clean_text(report.suite),
                config=about(report),
                # Only a server knows earlier runs.
                resume="allow" if options.mode == "online" else None,
                settings=wandb.Settings(init_timeout=options.timeout, **quiet),
            )
        except (wandb.errors.Error, OSError) as error:
            raise JrhError(f"Weights & Biases: {clean_text(without_keys(str(error)), 500)}") from None
        place = Path(str(run.dir)).parent
        estimates = self._log(run, report, attached if options.reports else ())
        run.finish()
        if alone:  # `finish` may return before the file is on disk; the library's process has written it when it ends
            wandb.teardown()
        measures = count_noun(len(report.measures), "measure")
        many = f"{count_noun(estimates, 'estimate')} in the summary, {measures} as a table"
        if options.mode == "online":
            yield f"Weights & Biases run {run.id} of project '{options.project}': {many}."
        else:
            yield f"Wrote Weights & Biases run {run.id} to {place}: {many}."
            yield f"Nothing was sent. To upload it: wandb sync {place}"

    def _log(self, run: Any, report: RunReport, attached: Sequence[Path]) -> int:
        import wandb

        keyed_numbers = [(key, numbers(row)) for key, row in rows_by_key(report)]
        run.summary.update({f"{key}{end}": value for key, values in keyed_numbers for end, value in values.items()})
        run.log(
            {"measures": wandb.Table(columns=list(MEASURE_COLUMNS), data=[list(row.values()) for row in rows(report)])}
        )
        if attached:
            artifact = wandb.Artifact(f"jrh-{run.id}", type="jrh-reports")
            for path in attached:
                artifact.add_file(str(path))
            run.log_artifact(artifact)
        return sum(bool(values) for _, values in keyed_numbers)
