"""Read a configuration of the Judge Reliability Harness (RAND), and note which of its settings are asked for."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml
from attrs import field, frozen
from jrh import JrhError
from jrh_interchange import check_table_file

_LARGEST: Final = 1_000_000
"""Bytes of a configuration."""
_MOST_VALUES: Final = 100_000


@frozen
class _Section(Mapping[str, Any]):
    """A section that notes which of its settings are asked for."""

    _written: Mapping[str, Any]
    _names: tuple[str, ...]
    _asked: set[tuple[str, ...]]

    def __getitem__(self, key: str) -> Any:
        self._asked.add((*self._names, key))
        return self._written[key]

    def __contains__(self, key: object) -> bool:
        return key in self._written

    def __iter__(self) -> Iterator[str]:
        return iter(self._written)

    def __len__(self) -> int:
        return len(self._written)

    def items(self) -> ItemsView[str, Any]:
        """Return all settings without asking for them."""
        return self._written.items()


@frozen
class Config:
    """A configuration, and where it stands."""

    path: Path
    written: Mapping[str, Any]
    todo: list[str] = field(factory=list)
    """What has to be completed by hand, or was not found."""
    _sections: set[tuple[str, ...]] = field(factory=set)
    _read: set[tuple[str, ...]] = field(factory=set)

    def part(self, *names: str) -> Mapping[str, Any]:
        """Return a section, empty where it is not written.

        Raises:
            JrhError: it is not a mapping.
        """
        found = self.written
        for name in names:
            inner = found.get(name) or {}
            if not isinstance(inner, Mapping):
                raise JrhError(f"{self.path}: '{'.'.join(names)}' is not a mapping")
            found = inner
        self._sections.update(names[:end] for end in range(1, len(names) + 1))
        return _Section(found, names, self._read)

    def unread(self, names: tuple[str, ...] = ()) -> Iterator[str]:
        """Yield the settings that nothing has asked for."""
        for key, value in (self.part(*names) if names else self.written).items():
            path = (*names, str(key))
            if path in self._sections and isinstance(value, Mapping):
                yield from self.unread(path)
            elif path not in self._read | self._sections:
                yield ".".join(path)

    def file(self, name: str) -> Path:
        """Find a file that the configuration names: next to it, or where that program looks for inputs."""
        module = str(self.part("admin").get("module_name", ""))
        near = self.path.parent
        places = [
            near / name,
            near.parent / "data" / module / name,
            Path("inputs") / "data" / module / name,
            Path(name),
        ]
        found = next((place for place in places if place.is_file()), None)
        if found is None:
            self.todo.append(f"'{name}' was not found; put it at the path below")
        return found or places[1]


def read_config(path: Path) -> Config:
    """Read a configuration.

    Raises:
        JrhError: it is no YAML, or none of that program.
    """
    try:
        check_table_file(path, _LARGEST)
        written = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise JrhError(f"cannot read '{path}': {error.strerror or error}") from error
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise JrhError(f"'{path}' is not a YAML file: {error}") from error
    if _more_than(_MOST_VALUES, written):
        raise JrhError(f"'{path}' has more than {_MOST_VALUES:,} values, counting expanded aliases")
    config = Config(path, written if isinstance(written, Mapping) else {})
    if not config.part("admin", "dataset_config").get("dataset_name"):
        raise JrhError(f"'{path}' is not a configuration of the harness: it has no admin.dataset_config.dataset_name")
    return config


def _more_than(most: int, written: object) -> bool:
    """Tell whether there are more values than this: aliases of aliases make any number of a few lines."""
    left, count = [written], 0
    while left and count <= most:
        each = left.pop()
        count += 1
        if isinstance(each, Mapping):
            left += each.values()
        elif isinstance(each, list):
            left += each
    return count > most
