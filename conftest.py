"""How hypothesis searches: without a deadline, which a busy machine would break; the same examples every time in CI."""

import os

from hypothesis import settings

settings.register_profile("search", deadline=None)
settings.register_profile("repeat", deadline=None, derandomize=True, database=None)
settings.load_profile("repeat" if os.environ.get("CI") else "search")
