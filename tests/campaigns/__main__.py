"""The long campaigns: `make campaigns SECONDS=600`, or `python -m campaigns SECONDS [SEED] [NAME ...]` in `tests`."""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from campaigns import batches, corruption, edits, files, kills
from campaigns.rounds import Campaign, rounds

TESTS = Path(__file__).parents[1]
CAMPAIGNS: dict[str, tuple[float, Campaign, str, int]] = {
    "kills": (0.5, kills.campaign, "kills", 200),
    "corruption": (0.2, corruption.campaign, "refused", 20),
    "batches": (0.1, batches.campaign, "faults", 500),
    "edits": (0.1, edits.campaign, "edits", len(edits.EDITS)),
    "files": (0.1, files.campaign, "files", 200),
}
"""Name -> share of the time, one round of it, and what ten minutes show at least, however busy the machine is."""


class Table(NamedTuple):
    """A campaign that is a table and not random: it runs once, whatever the time."""

    files: tuple[str, ...]
    harm: str
    """What a row that fails is counted as, of `HARMS`."""


HARMS = ("lost", "bought twice", "published", "executed")
TABLES = {
    "faults": Table(("campaigns/test_faults.py",), "lost"),
    "budgets": Table(("campaigns/test_budget_scenarios.py",), "bought twice"),
    "batch faults": Table(("test_batch_machine.py",), "bought twice"),
    "limits": Table(("test_found_limits.py", "../core/kernel/tests/test_concurrency.py"), "lost"),
    "secrets": Table(("test_written_keys.py", "test_secrets.py"), "published"),
    "run directories": Table(("test_remembered_plugins.py",), "executed"),
    "backups": Table(("test_backup.py", "test_damage.py"), "lost"),
    "imports": Table(("test_hostile_files.py", "campaigns/test_hostile_input.py"), "executed"),
}
INJECTED = {"kills", "SIGTERM", "SIGINT", "SIGHUP", "faults", "edits", "files", *corruption.DAMAGES}
"""What a random campaign counts that is a fault it made."""
SAME = {"asked twice": "bought twice", "another report": "lost"}
"""What a random campaign counts -> which harm that is."""


class Rows:
    """Counts the rows of a table while pytest runs them."""

    def __init__(self) -> None:
        """Start at none."""
        self.ran = self.failed = 0
        self._rows: dict[str, int] = {}

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        """Remember how many rows a test has: `loop_over` runs them in one item."""
        self._rows[item.nodeid] = len(getattr(getattr(item, "function", None), "looped", ("", [""]))[1])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a test, or a row of one; a row that fails has a report of its own besides."""
        if report.when == "call" and report.outcome != "skipped":
            self.ran += 0 if isinstance(report, pytest.SubtestReport) else self._rows[report.nodeid]
            self.failed += report.failed


def main(arguments: list[str]) -> int:
    """Play every campaign, print what each did and one table of all, and return 1 if anything failed."""
    seconds, first, *names = [*arguments, "0"][:2] + arguments[2:]
    found: dict[str, Counter[str]] = {}
    failed = _play(float(seconds), int(first), names, found)
    for name, table in TABLES.items():
        if not names or name in names:
            rows = Rows()
            files = [str(TESTS / file) for file in table.files]
            # The rounds have imported what pytest would rewrite.
            late = "ignore::pytest.PytestAssertRewriteWarning"
            done = pytest.main(["--quiet", "--no-header", "--no-summary", "-W", late, *files], plugins=[rows])
            failed += done != pytest.ExitCode.OK
            found[name] = Counter({"injected": rows.ran, table.harm: rows.failed})
    print(f"\n{'campaign':<16} {'faults injected':>15}" + "".join(f" {harm:>13}" for harm in HARMS))
    for name, counts in [*found.items(), ("all", sum(found.values(), Counter()))]:
        print(f"{name:<16} {counts['injected']:>15,}" + "".join(f" {counts[harm]:>13,}" for harm in HARMS), flush=True)
    return 1 if failed else 0


def _play(seconds: float, first: int, names: list[str], found: dict[str, Counter[str]]) -> int:
    """Play the random campaigns, each for its share of the time; return how many rounds failed."""
    place = Path(tempfile.mkdtemp(prefix="jrh-campaigns-"))
    chosen = {name: each for name, each in CAMPAIGNS.items() if not names or name in names}
    whole = sum(share for share, *_ in chosen.values())
    failed = 0
    for name, (share, campaign, what, least) in chosen.items():
        started = time.monotonic()
        until = started + seconds * share / whole
        wanted = least * seconds / 600
        counted: Counter[str] = Counter()
        played = 0
        for each in rounds(name, campaign, place, kills.seeds(first)):
            played += 1
            counted.update(each.counted)  # which keeps what never happened
            if each.problems:
                failed += 1
                print(f"FAILED {name} seed {each.seed}, kept in {each.place}")
                print("\n".join(f"  {problem}" for problem in each.problems), flush=True)
            if time.monotonic() >= until and counted[what] >= wanted:
                break
        facts = ", ".join(f"{count:,} {what}" for what, count in sorted(counted.items()))
        print(f"{name:<12} {played:>5,} rounds in {time.monotonic() - started:,.0f} s  {facts}", flush=True)
        harms = Counter({SAME.get(what, what): count for what, count in counted.items()})
        found[name] = Counter({harm: harms[harm] for harm in HARMS})
        found[name]["injected"] = sum(count for what, count in counted.items() if what in INJECTED)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
