"""Read datasets of Hugging Face: local folders of Arrow and Parquet files, and the hub itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from attrs import evolve
from jrh import BuildContext, JrhError
from jrh_interchange import Problems, Row, table_rows

from jrh_sources.items import ColumnMap
from jrh_sources.object_rows import row_of
from jrh_sources.options import HuggingfaceOptions
from jrh_sources.source import TableSource, as_written, list_files

MOST_FILES: Final = 10_000


def huggingface_source(options: HuggingfaceOptions, context: BuildContext) -> TableSource:
    """Build the source of a local folder or of a dataset on the Hub."""
    path = options.path
    shown = options.dataset if path is None else as_written(path, context.base)

    def rows(problems: Problems) -> Iterator[Row]:
        if path is None:
            return hub_rows(options.dataset, options.config, options.split, options.revision, problems)
        files = _files(path, shown, options.split)
        read = (row for file in files for row in table_rows(file, file.suffix[1:], problems, columns=options.columns))
        # Rows are numbered over all files: each file counts from 1.
        return (evolve(row, line=number) for number, row in enumerate(read, start=1))

    return TableSource(shown=shown, columns=ColumnMap.of(options), task=context.task, rows=rows)


def hub_rows(dataset: str, config: str, split: str, revision: str, problems: Problems) -> Iterator[Row]:
    """Yield the rows of a dataset of the hub as they arrive. Code of the dataset is never run.

    Raises:
        JrhError: `datasets` is not installed, or the hub does not give the dataset.
    """
    try:
        # Optional and slow to import; only the Hub needs it.
        import datasets
    except ImportError as error:
        raise JrhError(
            f"a Hugging Face Hub dataset needs the library `datasets` ({error}); "
            "run `pip install 'jrh-sources[huggingface]'`"
        ) from error
    try:
        # Streaming: rows are read as they arrive, and nothing is downloaded as a whole.
        stream = datasets.load_dataset(
            dataset, config or None, split=split or None, revision=revision or None, streaming=True
        )
        # Without a split, `datasets` returns all of them by name.
        if hasattr(stream, "keys"):
            splits = list(stream)
            if len(splits) != 1:
                problems.add(f"has the splits {', '.join(splits)}; choose one with `split`")
                return
            stream = stream[splits[0]]
        for number, values in enumerate(stream, start=1):
            row = row_of(values, number, problems)
            if row is not None:
                yield row
    except (OSError, ValueError, RuntimeError, datasets.exceptions.DatasetsError) as error:
        reason = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
        raise JrhError(f"the Hub dataset '{dataset}' cannot be read: {reason[:300]}") from error


def _files(path: Path, shown: str, split: str) -> list[Path]:
    """Return the files of a split, in the order of their names."""
    if path.is_file():
        return [path]
    splits: dict[str, list[Path]] = {}
    for file in list_files(path, shown, _is_data, MOST_FILES, "; name a smaller folder"):
        splits.setdefault(_split_of(file, path), []).append(file)
    if not splits:
        raise JrhError(f"{shown} has no .arrow or .parquet file")
    if not split and len(splits) > 1:
        raise JrhError(f"{shown} has the splits {', '.join(splits)}; choose one with `split`")
    chosen = splits.get(split or next(iter(splits)))
    if chosen is None:
        raise JrhError(f"{shown} has no split '{split}'; it has {', '.join(splits)}")
    return chosen


def _is_data(file: Path) -> bool:
    # `datasets` keeps what it derives in `cache-*.arrow` next to the data.
    return file.suffix in (".arrow", ".parquet") and not file.name.startswith("cache-")


def _split_of(file: Path, root: Path) -> str:
    """Return the split of a file: its folder (`train/data-00000-of-00001.arrow`), or what its name begins with."""
    # The Hub keeps files in `data/` and names them after the split; `save_to_disk` makes a folder per split.
    parts = [part for part in file.relative_to(root).parts[:-1] if part != "data"]
    return "/".join(parts) or file.stem.partition("-")[0]
