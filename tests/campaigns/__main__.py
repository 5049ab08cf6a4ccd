"""The long campaigns: `make campaigns SECONDS=600`, or `python -m campaigns SECONDS [SEED] [NAME ...]` in `tests`."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from campaigns import batches, corruption, edits, kills
from campaigns.rounds import Campaign, rounds

CAMPAIGNS: dict[str, tuple[float, Campaign, str, int]] = {
    "kills": (0.5, kills.campaign, "kills", 200),
    "corruption": (0.2, corruption.campaign, "refused", 20),
    "batches": (0.1, batches.campaign, "faults", 500),
    "edits": (0.2, edits.campaign, "edits", len(edits.EDITS)),
}
"""Name -> share of the time, one round of it, and what ten minutes show at least, however busy the machine is."""
TABLES = ("faults", "hostile_input", "budget_scenarios")
"""Campaigns that are tables and not random: they run once, whatever the time, unless campaigns are named."""


def main(arguments: list[str]) -> int:
    """Play every campaign for its share of the time, print a table, and return 1 if anything failed."""
    seconds, first, *names = [*arguments, "0"][:2] + arguments[2:]
    place = Path(tempfile.mkdtemp(prefix="jrh-campaigns-"))
    chosen = {name: each for name, each in CAMPAIGNS.items() if not names or name in names}
    whole = sum(share for share, *_ in chosen.values())
    failed = 0
    for name, (share, campaign, what, least) in chosen.items():
        started = time.monotonic()
        until = started + float(seconds) * share / whole
        wanted = least * float(seconds) / 600
        counted: Counter[str] = Counter()
        played = 0
        for each in rounds(name, campaign, place, kills.seeds(int(first))):
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
    return 1 if failed + sum(_failed_table(name) for name in TABLES if not names) else 0


def _failed_table(name: str) -> bool:
    """Run the tests of a table and print their last line."""
    here = Path(__file__).parent
    command = [sys.executable, "-m", "pytest", "--quiet", str(here / f"test_{name}.py")]
    done = subprocess.run(command, cwd=here.parents[1], capture_output=True, text=True, check=False)
    said = done.stdout.strip() if done.returncode else done.stdout.strip().splitlines()[-1]
    print(f"{name:<12} {said}", flush=True)
    return done.returncode != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
