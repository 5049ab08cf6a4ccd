"""The key `corrected_by` of a suite's data."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from attrs import frozen
from jrh.plugins import option

NAME: Final = "corrected-labels"


@frozen(kw_only=True)
class CorrectedBy:
    """A file of corrected labels."""

    corrected_by: Path = option(
        "A file of corrected labels, as `jrh court RUN --write-labels` writes it, relative to the suite: they replace "
        "labels of the data, and every report says so."
    )
