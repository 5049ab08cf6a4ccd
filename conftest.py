"""What holds for all tests: how hypothesis searches, and that byte code is kept."""

import gc
import os
import sys

from hypothesis import settings

# No deadline, which a busy machine would break. In CI the same examples every time.
settings.register_profile("search", deadline=None)
settings.register_profile("repeat", deadline=None, derandomize=True, database=None)
settings.load_profile("repeat" if os.environ.get("CI") else "search")

# Several hundred tests start the program. Container images switch byte code off, which makes every one of these
# processes compile jrh and its libraries again: a third of the time that a run of all tests takes.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


def pytest_collection_finish() -> None:
    """Spare the garbage collector the 8,000 collected tests, which live to the end anyway."""
    gc.collect()
    gc.freeze()
