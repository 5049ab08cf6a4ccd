"""How benchmark results are printed."""

from __future__ import annotations

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
    """Print the results as a table."""
    print(f"{'benchmark':<58} {'measured':<22} {'against':<22} {'result':>9} {'aim':>7}")
    for line in lines:
        sign = ">=" if line.more_is_better else "<="
        mark = "" if line.reached else "  (aim missed)"
        print(f"{line.what:<58} {line.ours:<22} {line.theirs:<22} {line.result:>9.2f} {sign}{line.aim:<5g}{mark}")
