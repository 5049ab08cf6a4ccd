"""What equal runs may differ in: whose replies they use, which models providers served, and how long stages took.

The first two are in the block "This run" of reports; times are in `run.json` alone, as equal runs have equal reports.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime
from typing import Any, Final

from attrs import frozen
from jrh import RunReport
from jrh.running import write_document
from jrh.text import count_noun
from jrh.values import (
    Column,
    Finding,
    Importance,
    ReplySource,
    Row,
    RunFinished,
    Section,
    Severity,
    TablePart,
    TextPart,
)
from jrh_measuring import Rule
from jrh_measuring.served_models import model_name

RUN_JSON: Final = "run.json"
_NAMED: Final = 5
"""Models that a sentence names."""
_NOTE: Final = (
    "Served: the model, and the system fingerprint, that the provider states in its answers. Reused: another run paid "
    "for the reply, and the shared cache kept it. How long the stages took is in run.json."
)


def _sources(report: RunReport) -> list[ReplySource]:
    """Return where the replies of judges come from, without those that simulated judges make up."""
    judges = set(report.judges) - report.simulated
    return [source for source in report.evidence.sources() if source.role == "judge" and source.name in judges]


def _group(sources: Iterable[ReplySource], *fields: str) -> Mapping[tuple[str, ...], list[ReplySource]]:
    groups: dict[tuple[str, ...], list[ReplySource]] = {}
    for source in sources:
        groups.setdefault(tuple(getattr(source, field) for field in fields), []).append(source)
    return groups


@frozen
class ThisRun:
    """Shows what equal runs may differ in: whose replies they use, and which model gave them."""

    def sections(self, report: RunReport) -> Iterator[Section]:
        """Yield how many replies are reused, early, and the models served; nothing where no model was asked."""
        sources = _sources(report)
        if sentence := reuse_sentence(sources):
            yield Section(importance=Importance.FIRST, parts=(TextPart(text=sentence),))
        if sources:
            yield Section(parts=(_table_of_models(sources),))


def reuse_sentence(sources: Sequence[ReplySource]) -> str:
    """Say how many replies another run paid for, and how old they are; empty if none."""
    reused = [source for source in sources if source.reused]
    if not reused:
        return ""
    replies, total = (sum(source.distinct for source in some) for some in (reused, sources))
    counted = f"{replies:,} of {count_noun(total, 'reply', 'replies')} reused from earlier runs"
    return f"{counted}, the oldest of {_oldest(reused)}."


def _oldest(sources: Sequence[ReplySource]) -> str:
    """Return the day of the oldest reply, as a reader writes it."""
    # Empty, and so first: one of unknown age may be older than all others.
    first = min(source.answered for source in sources)
    return f"{(day := date.fromisoformat(first)).day} {day:%B %Y}" if first else "an unknown day"


def _table_of_models(sources: Sequence[ReplySource]) -> TablePart:
    rows = []
    for (judge, model, served), some in _group(sources, "name", "model", "model_version").items():
        reused = [source for source in some if source.reused]
        cells = (
            served or "not stated",
            sum(source.replies for source in some),
            sum(source.replies for source in reused),
            _oldest(reused) if reused else "",
        )
        rows.append(Row(heads=(judge, model), cells=cells))
    return TablePart(
        caption="Models that answered",
        heads=("Judge", "Model"),
        columns=tuple(Column(heading=heading) for heading in ("served", "replies", "reused", "oldest reused")),
        rows=tuple(rows),
        note=_NOTE,
    )


class ServedModels(Rule):
    """Tells where several models answered a judge under one name."""

    def claims(self, now: RunReport) -> Iterator[Finding]:
        """Yield a finding per judge and model of the suite."""
        sources = [source for source in _sources(now) if source.model_version]
        for (judge, model), some in _group(sources, "name", "model").items():
            names = {model_name(source.model_version) for source in some}
            # Providers change a system fingerprint often, and the model seldom with it.
            by_name = len(names) > 1
            replies, reused = Counter[str](), Counter[str]()
            for source in some:
                key = model_name(source.model_version) if by_name else source.model_version
                replies[key] += source.replies
                reused[key] += source.replies * source.reused
            if len(replies) < 2:  # noqa: PLR2004 - one is no change
                continue
            what = "Several models answered" if by_name else "The system fingerprint changed"
            statement = f"{what} under the name '{model}': {_list_counts(replies, reused)}"
            yield Finding(
                kind="served-model",
                severity=Severity.WARNING if by_name else Severity.INFO,
                judge=judge,
                statement=statement,
                sentence=f"{statement}. To repeat all calls with one model: `jrh run SUITE --no-cache --run-dir NEW`.",
            )


def _list_counts(replies: Counter[str], reused: Counter[str]) -> str:
    listed = [
        f"{name} gave {count_noun(count, 'reply', 'replies')}{f' ({reused[name]:,} reused)' if reused[name] else ''}"
        for name, count in replies.most_common(_NAMED)
    ]
    return "; ".join([*listed, *([f"{len(replies) - _NAMED} more"] if len(replies) > _NAMED else [])])


def add_process(event: RunFinished) -> None:
    """Add to the file when a process of the run ended, how, and how long each of its stages took in seconds."""
    path = event.run_dir / RUN_JSON
    earlier: list[Any] = []
    # A file that somebody else wrote over is begun again.
    with suppress(FileNotFoundError, ValueError, KeyError, TypeError):
        earlier = list(json.loads(path.read_text("utf-8"))["processes"])
    process = {
        "ended": datetime.now(UTC).isoformat(timespec="seconds"),
        "exit_code": event.exit_code,
        "seconds": {stage: round(seconds, 3) for stage, seconds in event.seconds.items()},
    }
    write_document(path, json.dumps({"processes": [*earlier, process]}, indent=1))
