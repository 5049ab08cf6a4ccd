"""Write a plugin from the template, as a package or as one file."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from jrh import JrhError

from jrh_scaffold.names import Named

TEMPLATE: Final = Path(__file__).parent / "template"
MISSING: Final = 'a package needs copier: run `pip install "jrh[scaffold]"`, or write one file with --single-file'


def write_package(named: Named, directory: Path) -> Path:
    """Write a package into a new directory below `directory`, and return it.

    Raises:
        JrhError: copier is not installed, or there is something in the way.
    """
    try:
        import copier
    except ModuleNotFoundError as error:
        if error.name != "copier":
            raise
        raise JrhError(MISSING) from None
    target = directory / named.distribution
    if target.exists():
        raise JrhError(f"'{target}' exists; choose another name or --directory")
    try:
        copier.run_copy(
            str(TEMPLATE), target, data=named.answers(), defaults=True, quiet=True, skip_tasks=True, unsafe=False
        )
    except OSError as error:
        raise JrhError(f"cannot write '{target}': {error.strerror or error}") from error
    return target


def write_file(named: Named, directory: Path) -> Path:
    """Write a plugin of one file, and return its path. It needs nothing but jrh.

    Raises:
        JrhError: the file exists or cannot be written.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    # Source code, not markup: nothing to escape, and the answers are checked.
    loader = FileSystemLoader(TEMPLATE)
    environment = Environment(loader=loader, undefined=StrictUndefined, keep_trailing_newline=True)  # noqa: S701
    text = environment.get_template("single.py.jinja").render(named.answers() | {"file": named.file})
    target = directory / named.file
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with target.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise JrhError(f"'{target}' exists; choose another name or --directory") from None
    except OSError as error:
        raise JrhError(f"cannot write '{target}': {error.strerror or error}") from error
    return target
