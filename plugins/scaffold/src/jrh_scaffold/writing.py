"""What a plugin's name becomes, and the plugin written from the template, as a package or as one file."""

from __future__ import annotations

import re
import sys
from functools import cache
from importlib import metadata
from keyword import iskeyword
from pathlib import Path
from typing import Final

from attrs import frozen
from jrh import API_VERSION, JrhError, __version__

SUMMARIES: Final = {
    "perturber": "a polite closing line after the response",
    "judge": "a judge that counts the words a response takes up",
    "metric": "share of verdicts with one label",
    "parser": "the verdict between two tags",
    "source": "questions and answers in a text file",
    "validator": "rejects texts whose numbers changed",
    "model": "a program on this machine that writes the reply",
    "reporter": "a plain text file with one line per measure",
    "section": "share of changed verdicts by judge",
    "flag": "few answers are as long as the test needs",
    "rule": "finds judges that are wrong more often than right",
    "stage": "counts the verdicts that a report rests on",
    "allocator": "stops asking judges that cost too much",
    "mode": "asks one question, to be answered with yes or no",
    "importer": "lines of item, verdict and label",
    "exporter": "measures as a table separated by tabs",
}
"""Kind of plugin -> what its first version does."""
_NAME: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_LONGEST: Final = 24
_SUMMARY: Final = 70
_PREFIX: Final = "jrh-"


@cache
def _modules_of_distributions() -> frozenset[str]:
    return frozenset(metadata.packages_distributions())  # reads the files of every distribution: a second


@frozen(kw_only=True)
class Named:
    """A plugin to be written."""

    kind: str
    name: str
    """The component's name, as a suite writes it."""
    summary: str

    @classmethod
    def of(cls, kind: str, name: str, summary: str = "") -> Named:
        """Check a name; a leading `jrh-` is that of the distribution.

        Raises:
            JrhError: the name cannot be one, or its distribution is already installed.
        """
        # People write either; the suite uses the short name.
        bare = name.removeprefix(_PREFIX)
        if _NAME.fullmatch(bare) is None or len(bare) > _LONGEST:
            raise JrhError(
                f"'{name}' cannot be the name of a plugin: a-z, 0-9 and single hyphens, beginning with a letter, "
                f"at most {_LONGEST} characters"
            )
        # The summary becomes a Python text and a line of TOML, where these would need escapes.
        if summary and ('"' in summary or "\\" in summary or not summary.isprintable()):
            raise JrhError("--summary: must be one line without double quotes or backslashes")
        named = cls(kind=kind, name=bare, summary=summary.strip(" .") or SUMMARIES[kind])
        if len(named.summary) > _SUMMARY:
            raise JrhError(f"--summary: at most {_SUMMARY} characters")
        return named

    @property
    def distribution(self) -> str:
        """Return the name of the distribution."""
        return f"{_PREFIX}{self.name}"

    @property
    def file(self) -> str:
        """Return the name of the single file; `json.py` would hide a module from every Python started next to it."""
        stem = self.name.replace("-", "_")
        taken = iskeyword(stem) or stem in sys.stdlib_module_names or stem in _modules_of_distributions()
        return f"{stem}_{self.kind}.py" if taken else f"{stem}.py"

    def check_free(self) -> None:
        """Reject the name of a distribution that is installed."""
        try:
            installed = metadata.distribution(self.distribution)
        except metadata.PackageNotFoundError:
            return
        raise JrhError(f"'{self.distribution}' {installed.version} is installed; choose another name")

    def answers(self) -> dict[str, str | int]:
        """Return the answers to the template's questions."""
        words = self.name.split("-")
        return {
            "kind": self.kind,
            "name": self.name,
            "summary": self.summary,
            "distribution": self.distribution,
            "package": self.distribution.replace("-", "_"),
            "class_name": "".join(word.capitalize() for word in [*words, self.kind]),
            "api_version": API_VERSION,
            "jrh_version": __version__,
        }


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
        # A broken installation of copier must not be reported as a missing one.
        if error.name != "copier":
            raise
        raise JrhError(MISSING) from None
    target = directory / named.distribution
    if target.exists():
        raise JrhError(f"'{target}' exists; choose another name or --directory")
    try:
        # `unsafe` off, no tasks: the template runs nothing on the machine.
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
        # "x" refuses an existing file also if it appeared a moment ago.
        with target.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise JrhError(f"'{target}' exists; choose another name or --directory") from None
    except OSError as error:
        raise JrhError(f"cannot write '{target}': {error.strerror or error}") from error
    return target
