"""The data source of a benchmark."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from tempfile import NamedTemporaryFile
from types import SimpleNamespace
from typing import Final

from attrs import evolve, frozen
from jrh import BuildContext, Item, JrhError, Json, Task
from jrh_interchange import PairedPrompts, Problems, Row, as_text, is_nested, table_rows

from jrh_sources.hub import hub_rows
from jrh_sources.items import AUTHORS, STANDARD, ColumnMap, ItemBuilder
from jrh_sources.options import PresetOptions
from jrh_sources.presets import shapes
from jrh_sources.presets.catalogue import PRESETS, Preset
from jrh_sources.presets.shapes import BenchmarkRow
from jrh_sources.responses import fields_without_response, remarks_on
from jrh_sources.source import as_written, list_files

LARGEST_FILE: Final = 512 * 1024 * 1024
"""Bytes of one file; no benchmark here has a tenth of it."""
MOST_FILES: Final = 1000
"""Files of one benchmark; a folder with more is another folder."""
_KINDS: Final = ("csv", "jsonl", "json", "parquet")
_SECONDS: Final = 60
_CHUNK: Final = 1 << 16


def cache_folder(name: str) -> Path:
    """Return the folder in which the files of a benchmark are kept."""
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(cache) / "jrh" / "benchmarks" / name


def fetch(files: Mapping[str, str], folder: Path) -> None:
    """Download the files that are not in the folder yet.

    Raises:
        JrhError: one cannot be fetched or kept; the text says how to do without.
    """
    for name, address in files.items():
        target = folder / name
        if not target.is_file():
            try:
                _fetch(address, target)
            except (OSError, ValueError) as error:
                reason = str(getattr(error, "reason", "") or error).splitlines()[0]
                raise JrhError(f"{address} cannot be downloaded: {reason}; get a copy and name it in `path`") from error


def _fetch(address: str, target: Path) -> None:
    from urllib.request import urlopen

    target.parent.mkdir(parents=True, exist_ok=True)
    # Addresses are those of the catalogue, never a user's.
    with urlopen(address, timeout=_SECONDS) as reply, NamedTemporaryFile(dir=target.parent, delete=False) as file:  # noqa: S310
        try:
            size = 0
            while chunk := reply.read(_CHUNK):
                size += len(chunk)
                if size > LARGEST_FILE:
                    raise ValueError(f"it has more than {LARGEST_FILE:,} bytes")
                file.write(chunk)
            file.close()
            # A file is there whole or not at all, also after an interrupted download.
            Path(file.name).replace(target)
        finally:
            Path(file.name).unlink(missing_ok=True)


@frozen(kw_only=True)
class PresetSource:
    """Reads the items of one benchmark."""

    preset: Preset
    options: PresetOptions
    task: Task
    base: Path

    def read(self) -> Iterator[Item]:
        """Yield the items in the order of the files.

        Raises:
            SuiteError: the files have mistakes; raised when the last item was read.
            JrhError: there is no such file, or it cannot be fetched.
        """
        problems = Problems(self._display_path(self.options.path))
        answers = self._answers()
        builder: ItemBuilder | None = None
        for row in self._rows(problems):
            values = {**row.values}
            if self.options.prompts:
                values.update(fields_without_response(str(values.get("id")), values.get("request"), self.task.mode))
            elif self.preset.answers:
                answer = answers.get(str(values.get("id")))
                # Prompts that the model did not answer are no items.
                if answer is None:
                    continue
                values.update(answer)
            if self.options.subset and values.get("stratum") not in self.options.subset:
                continue
            # The first row shows which columns the benchmark has: all rows of a converter have the same.
            if builder is None:
                # What a benchmark calls its own columns must not be taken for a target.
                targets = {name: name for name in (*STANDARD, *AUTHORS) if name in values}
                builder = ItemBuilder(self.task, ColumnMap(named=targets), problems)
            item = builder.build(evolve(row, values=values))
            if item is not None:
                yield item
        if builder is not None:
            builder.finish()
        elif not problems:
            problems.add(self._nothing(answers))
        problems.raise_any()

    def remarks(self, items: Sequence[Item]) -> Iterator[str]:
        """Say that a model has yet to write the responses, and what a plan takes them for."""
        return remarks_on(items) if self.options.prompts else iter(())

    def _nothing(self, answers: Mapping[str, object]) -> str:
        if self.preset.answers and answers:
            return "`answers` and the benchmark have no id in common"
        subsets = ", ".join(self.options.subset)
        return f"no row of the subset {subsets}" if subsets else "there are no rows"

    def _rows(self, problems: Problems) -> Iterator[Row]:
        convert: Callable[[Iterable[BenchmarkRow]], Iterator[Row]] = getattr(shapes, self.preset.convert)
        hub = self.preset.hub
        if self.options.download and hub is not None:
            rows = hub_rows(hub.dataset, hub.config, hub.split, "", problems)
            yield from convert(_benchmark_rows(rows, Path(hub.split), problems))
            return
        path = self.options.path
        if path is None:
            path = cache_folder(self.preset.name)
            fetch(self.preset.files, path)
        files = _files_of(path, self._display_path(path), self.preset.names, self.preset.apart)
        yield from convert(row for file in files for row in _benchmark_rows(_rows_of(file, problems), file, problems))

    def _answers(self) -> dict[str, dict[str, Json]]:
        """Return the columns of each answer by its id."""
        file = self.options.answers
        if file is None:
            return {}
        shown = self._display_path(file)
        _files_of(file, shown, (), ())
        problems = Problems(shown)
        known: dict[str, dict[str, Json]] = {}
        for row in _rows_of(file, problems):
            value = row.values.get("id")
            identity = None if is_nested(value) else as_text(value)
            if not identity:
                problems.add("an answer needs the `id` of its prompt", line=row.line)
            elif identity in known:
                problems.add(f"id '{identity[:60]}' is used twice; each prompt has one answer", line=row.line)
            else:
                columns = ("response", "transcript", "label", "gold_source", "author")
                known[identity] = {name: row.values[name] for name in columns if name in row.values}
        problems.raise_any()
        return known

    def _display_path(self, path: Path | None) -> str:
        return self.preset.name if path is None else as_written(path, self.base)


def _files_of(path: Path, shown: str, names: Iterable[str], apart: Iterable[str]) -> list[Path]:
    """Return the file itself, or those of a folder that have one of the names and lie in no folder of `apart`.

    Raises:
        JrhError: there is no such file or folder, or nothing in it has one of the names.
    """
    patterns, left_out = tuple(names), frozenset(apart)

    def is_wanted(file: Path) -> bool:
        # Repositories of benchmarks hold results and drafts that have the names of the data.
        inside = left_out.isdisjoint(file.relative_to(path).parts)
        return inside and any(fnmatchcase(file.name, name) for name in patterns)

    files = list_files(path, shown, is_wanted, MOST_FILES, " of this kind; name one file")
    if not files:
        raise JrhError(f"{shown} has no file called {' or '.join(patterns)}; name the file itself")
    return files


def _rows_of(file: Path, problems: Problems) -> Iterator[Row]:
    """Yield the rows of a csv, JSON, JSON Lines or Parquet file; its ending says which it is."""
    kind = file.suffix.lower().removeprefix(".")
    if kind not in _KINDS:
        problems.add(f"the file ending '{file.suffix}' is not one of {', '.join(f'.{ending}' for ending in _KINDS)}")
        return
    yield from table_rows(file, kind, problems)


def _benchmark_rows(rows: Iterator[Row], file: Path, problems: Problems) -> Iterator[BenchmarkRow]:
    for row in rows:
        yield BenchmarkRow(file=file, line=row.line, problems=problems, values=row.values, source=row.source)


def preset_source(options: PresetOptions, context: BuildContext, *, known: Preset) -> PresetSource | PairedPrompts:
    """Build the source of a benchmark.

    Raises:
        JrhError: it cannot be downloaded, or lacks the file of answers.
    """
    name = known.name
    if options.download and not known.files and known.hub is None:
        raise JrhError(f"{name} cannot be downloaded by jrh; name your copy in `path`")
    if known.answers and options.prompts and options.answers is not None:
        raise JrhError(f"{name}: leave out `answers` or `prompts: true`; responses come from a file or from a model")
    if known.answers and options.answers is None and not options.prompts:
        raise JrhError(
            f"{name} has prompts but no responses; name a file with your model's responses in `answers`, or write "
            "`prompts: true`, and `responses: {model: NAME}` in the suite: a model writes them"
        )
    if not known.answers and (options.prompts or options.answers is not None):
        raise JrhError(f"{name} already has responses; leave out `answers` and `prompts`")
    source = PresetSource(preset=known, options=options, task=context.task, base=context.base)
    if known.convert:
        return source
    assert options.path is not None
    if len(options.subset) > 1:
        raise JrhError(f"{name}: `subset` must name exactly one task type, because each has its own scale")
    shown = source._display_path(options.path)
    files = _files_of(options.path, shown, known.names, known.apart)
    if len(files) > 1:
        raise JrhError(f"{shown} has several files, {', '.join(file.name for file in files[:5])}; name one in `path`")
    return PairedPrompts(
        path=files[0],
        shown=shown if files[0] == options.path else f"{shown}/{files[0].name}",
        task=context.task,
        task_type=options.subset[0] if options.subset else None,
        labels={label: to for label, to in known.labels.items() if to in context.task.scale},
    )


FACTORIES: Final = SimpleNamespace(
    **{entry.name.replace("-", "_"): partial(preset_source, known=entry) for entry in PRESETS}
)
"""A factory for each benchmark."""
