"""Load the user's own transcript function."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

from jrh import JrhError, Json, content_id

Preprocess: TypeAlias = Callable[[list[dict[str, Json]], Mapping[str, Json]], Any]


def load_preprocess(written: str, base: Path) -> Preprocess:
    """Return the function at `module:name` or `file.py:name`; file paths are relative to `base`.

    Raises:
        JrhError: It cannot be imported or is not callable.
    """
    place, _, name = written.rpartition(":")
    try:
        found: Any = _file(base / place) if place.endswith(".py") else importlib.import_module(place)
        for part in name.split("."):
            found = getattr(found, part)
    except JrhError:
        raise
    except Exception as error:  # the module is the user's, and may raise anything
        raise JrhError(f"preprocess: '{written}' cannot be loaded: {type(error).__name__}: {error}") from error
    if not callable(found):
        raise JrhError(f"preprocess: '{written}' is not callable (type {type(found).__name__})")
    return found  # type: ignore[no-any-return]


def _file(path: Path) -> ModuleType:
    absolute = path.absolute()
    if not absolute.is_file():
        raise JrhError(f"preprocess: file '{path}' not found; paths are relative to the suite's directory")
    name = f"jrh_preprocess_{content_id(str(absolute))[:12]}"
    specification = importlib.util.spec_from_file_location(name, absolute)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module
    try:
        specification.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
