"""What the tests of the parsers share."""

import sys
from pathlib import Path

# With --import-mode=importlib pytest leaves the path alone, and the test files need their table.
sys.path.insert(0, str(Path(__file__).parent))
