"""The key that the tests send; `canary.py` sets it and looks for it everywhere afterwards."""

from __future__ import annotations

import os
from typing import Final

KEY_VARIABLE: Final = "JRH_TEST_KEY"
KEY: Final = os.environ.get(KEY_VARIABLE, "test-key-9f2c7d-must-not-get-out")
