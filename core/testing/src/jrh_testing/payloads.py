"""List hostile texts that try to execute or escape in HTML, SVG, Markdown, CSV, a terminal or a template.

Whatever runs sets `window.pwned` or opens a dialog; whatever gets out asks `evil.test`. A page that shows all of them
has no `window.pwned`, no dialog and no request. The texts are in `payloads.json`, by what they try.
"""

from __future__ import annotations

import json
from itertools import chain
from pathlib import Path
from typing import Final

# One flat list: a test asserts that none of them acts, whatever it tries.
PAYLOADS: Final[tuple[str, ...]] = tuple(
    chain.from_iterable(json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8")).values())
)
"""More than 200 texts, all distinct, none empty."""
