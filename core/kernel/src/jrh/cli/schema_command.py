"""`jrh schema`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from jrh.cli.shared_options import allowed, plugins_option
from jrh.errors import JrhError
from jrh.plugins.loading import load_plugins
from jrh.text import telling


@click.command("schema")
@click.argument("what", type=click.Choice(["suite", "record", "results"]), default="suite")
@click.option("--output", type=click.Path(path_type=Path, file_okay=False), help="Write all schemas to a directory.")
@plugins_option
def command(what: str, output: Path | None, plugins: str) -> int:
    """Print the JSON Schema of suites (with the options of all installed components), records, or the JSON report."""
    from jrh.suite.schema import record_schema, results_schema, suite_schema, write_schemas

    found = load_plugins(allowed(plugins)).plugins
    if output is not None:
        try:
            paths = list(write_schemas(output, found))
        except OSError as error:
            raise JrhError(f"cannot write into '{output}': {error.strerror or error}") from error
        for path in paths:
            telling.say(f"Wrote {path}")
        return 0
    makers = {"suite": lambda: suite_schema(found), "record": record_schema, "results": results_schema}
    telling.say(json.dumps(makers[what](), indent=2, ensure_ascii=False), data=True)
    return 0
