"""Define options that mean more than their text: names of models, parsers and validators, local code, files."""

from __future__ import annotations

from typing import NewType

from attrs import frozen

ModelName = NewType("ModelName", str)
"""An option that names a model of the suite's `models`; checked when the suite is loaded."""

ParserName = NewType("ParserName", str)
"""An option that names a parser; checked when the suite is loaded."""

ValidatorName = NewType("ValidatorName", str)
"""An option that names a validator; checked when the suite is loaded."""

CodeName = NewType("CodeName", str)
"""An option that names local code, `path/to/file.py:name` or `module:name`; its source is part of the component."""

CommandWord = NewType("CommandWord", str)
"""A word of an option that is a command; the files the command names are part of the component."""


@frozen(kw_only=True)
class Text:
    """An option that is text, written in the suite or in a file that `{file: name}` refers to."""

    content: str
    source: str | None = None
    """The file it came from, as written in the suite."""
