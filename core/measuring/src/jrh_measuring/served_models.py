"""Which models providers say they served to each judge, and how a table that names judges says it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from jrh import RunReport
from jrh.text import clean_text

_MODELS: Final = 3
"""Models of a judge that a note names."""
_JUDGES: Final = 12
_NAME: Final = 100
"""Characters of a name: providers write what they like."""


def served_models(report: RunReport) -> Mapping[str, tuple[str, ...]]:
    """Return what providers say they served to each judge that asked a model, in the suite's order.

    Model and system fingerprint, as the provider states them; empty: it states none. Simulated judges are left out.
    """
    sources = [source for source in report.evidence.sources() if source.role == "judge"]
    served = {source.name: {each.model_version for each in sources if each.name == source.name} for source in sources}
    judges = (judge for judge in report.judges if judge in served and judge not in report.simulated)
    return {judge: tuple(sorted(served[judge] - {""})) for judge in judges}


def served_note(served: Mapping[str, Sequence[str]], texts: Iterable[str]) -> str:
    """Say which models were served to the judges that the texts of a table name.

    Empty if no provider says it, or the texts do. Judges that the same models were served to are named together, and
    not at all where it is all of them.

    Args:
        served: `RunReport.served`.
        texts: captions, headings and cells of the table.
    """
    # In any text: a table may name a judge in a heading, or two of them in a cell.
    text = "\n".join(texts)
    named = [judge for judge in served if re.search(rf"(?<![\w-]){re.escape(judge)}(?![\w-])", text)]
    models = {judge: list_models(served[judge]) for judge in named}
    if not any(served[judge] for judge in named) or all(model in text for model in models.values()):
        return ""
    if len(set(models.values())) == 1:
        return f"Served: {models[named[0]]}."
    together: dict[str, list[str]] = {}
    for judge in named[:_JUDGES]:
        together.setdefault(models[judge], []).append(clean_text(judge, _NAME))
    parts = [f"{', '.join(judges)} {model}" for model, judges in together.items()]
    more = f"; {len(named) - _JUDGES:,} more judges in 'This run'" if len(named) > _JUDGES else ""
    return f"Served: {'; '.join(parts)}{more}."


def model_name(version: str) -> str:
    """Return a served version without its system fingerprint, which changes often and the model seldom with it."""
    # Not the first word: names of models have spaces, too.
    return re.sub(r" fp_\S*$", "", version)


def list_models(versions: Sequence[str]) -> str:
    """Return the names of the first models, each of bounded length, and how many more there are."""
    names = list(dict.fromkeys(clean_text(model_name(version), _NAME) for version in versions))
    more = [f"{len(names) - _MODELS:,} more"] if len(names) > _MODELS else []
    return " and ".join([*names[:_MODELS], *more]) or "not stated"
