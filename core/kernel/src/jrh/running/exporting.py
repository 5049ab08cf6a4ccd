"""Bring a run into another tool by the exporter that a plugin provides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from jrh.document.convert import structure
from jrh.errors import RAISED, JrhError, PluginError
from jrh.plugins.factories import make
from jrh.plugins.protocols import Exporter
from jrh.plugins.registry import Entry
from jrh.plugins.specs import ExporterSpec
from jrh.text.redact import Redactor, error_line, named_secrets
from jrh.values.json_values import Json
from jrh.values.report import RunReport


@frozen
class Export:
    """An exporter that is built, and what hides the keys it works with."""

    name: str
    exporter: Exporter
    hide: Redactor

    @classmethod
    def of(cls, entry: Entry[ExporterSpec], options: Mapping[str, Json]) -> Export:
        """Build an exporter before the run is read, so that a wrong option costs no time.

        Raises:
            JrhError: an option is unknown or wrong, or the exporter refuses it.
        """
        try:
            given: Any = structure(dict(options), entry.spec.options)
        except JrhError as error:
            raise JrhError(f"--to {entry.spec.name}: {error}") from error
        made = make(entry, given, None)
        return cls(entry.spec.name, made, Redactor.from_environment(also=named_secrets([given])))

    def sentences(self, report: RunReport, attached: Iterable[Path]) -> Iterator[str]:
        """Let the exporter work, and yield what it says, without keys.

        Raises:
            JrhError: the exporter refuses.
            PluginError: it raised something else.
        """
        # The causes are cut off: libraries put addresses with keys into their errors.
        try:
            yield from map(self.hide, self.exporter.export(report, tuple(attached)))
        except JrhError as error:
            raise JrhError(self.hide(str(error))) from None
        except RAISED as error:
            raise PluginError(self.hide(f"exporter '{self.name}' failed: {error_line(error)}")) from None
