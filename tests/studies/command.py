"""The command line of a study."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable


def print_study(name: str, lines: Callable[[int, int], Iterable[str]], *, studies: int, about: str) -> None:
    """Print the lines of a study, each as soon as it is known; `lines` takes the number of studies and the seed."""
    parser = argparse.ArgumentParser(prog=name, description=f"Study {about} in planted worlds.")
    parser.add_argument("--studies", type=int, default=studies)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    for line in lines(given.studies, given.seed):
        print(line, flush=True)
