"""How benchmark results are printed."""

from __future__ import annotations

import os
import platform
from datetime import date

from attrs import frozen


@frozen(kw_only=True)
class Line:
    """One result."""

    what: str
    ours: str
    theirs: str
    result: float
    aim: float
    unit: str = "ratio"
    more_is_better: bool = True

    @property
    def reached(self) -> bool:
        """Tell whether the aim is reached."""
        return self.result >= self.aim if self.more_is_better else self.result <= self.aim


def show(lines: list[Line]) -> None:
    """Print the results as a Markdown table, with what they depend on: the machine and what else it did."""
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    print(
        f"{date.today():%Y-%m-%d}, {os.cpu_count()} cores, Python {platform.python_version()}, load {load} at the end\n"
    )
    print("| benchmark | measured | against | result | aim |\n|---|---|---|---|---|")
    for line in lines:
        sign = "≥" if line.more_is_better else "≤"
        mark = "" if line.reached else ", missed"
        print(f"| {line.what} | {line.ours} | {line.theirs} | {line.result:.2f} | {sign} {line.aim:g}{mark} |")
