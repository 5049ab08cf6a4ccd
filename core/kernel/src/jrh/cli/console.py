"""Create the output console: colour on a terminal, plain lines elsewhere; respects `NO_COLOR`."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def console() -> Console:
    """Return a console on standard output; very wide if that is not a terminal, so that lines do not wrap."""
    from rich.console import Console

    terminal = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    width = shutil.get_terminal_size().columns if terminal else 160
    return Console(file=sys.stdout, width=width, highlight=False, markup=False, no_color=not terminal or None)
