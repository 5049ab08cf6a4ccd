"""The trials that are about edited transcripts."""

from __future__ import annotations

from typing import Final

import numpy as np
from jrh_measuring import Mask, Trials

PERTURBATION: Final = "agent-perturbation"
POSITIVES: Final = "agent-positives"
STYLE: Final = "agent-style"
FAMILIES: Final = (PERTURBATION, POSITIVES, STYLE)
DRAWS: Final = "agentic"
"""The name random numbers are drawn under."""


def of_families(trials: Trials, *families: str) -> Mask:
    """Return the trials of some families, shape (n,)."""
    column = trials.column("family")
    wanted = [code for code, name in enumerate(column.names) if name in families]
    return np.isin(column.codes, wanted)
