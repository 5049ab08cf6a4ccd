"""Write the answer of `jrh watch` for a terminal, and as one line of JSON for a webhook."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, Final

from attrs import asdict
from jrh.text import clean_text, count_noun
from jrh_measuring import format_p, plain_table, terminal_text

from jrh_decide.monitor import HORIZON
from jrh_decide.watch import FEWEST_LOOKS, Stream, Watch, Watched

_COUNTED: Final = {
    Stream.VERDICTS: "differ from one of an earlier look, on average",
    Stream.LEVEL: "pass, or as many levels of the whole scale",
    Stream.AGREEMENT: "agree with people",
    Stream.MISSING: "are missing",
}


def watch_json(found: Watch) -> str:
    """Return one line: the sentence under `text`, which chat webhooks show, whether it is an alarm, and the numbers."""
    changed = {watched.stream for watched in found.alarms}
    document = {
        "text": first_sentence(found),
        "alarm": bool(changed),
        "changed": {
            "snapshot": bool(found.served_changed_at),
            "verdicts": bool(changed - {Stream.MISSING}),
            "failures": Stream.MISSING in changed,
        },
        **asdict(found, value_serializer=_plain),
    }
    return json.dumps(document, allow_nan=False) + "\n"


def _plain(_of: object, _field: object, value: object) -> object:
    return value.value if isinstance(value, Enum) else value


def watch_text(found: Watch) -> str:
    """Return the sentence, the streams, what the provider served, what it rests on, and how soon a change shows."""
    return terminal_text(_parts(found))


def first_sentence(found: Watch) -> str:
    """Return the answer: quiet, or what changed, with the counts of the last look."""
    streams = {watched.stream: watched for watched in found.streams}
    missing = streams[Stream.MISSING]
    gone = f"{_number(missing.now)} of {count_noun(missing.of, 'verdict')} {_COUNTED[Stream.MISSING]}"
    if found.look == 1:
        return f"First look: {count_noun(found.items, 'item')} stored; {gone}. The next looks are compared with it."
    served = f" The provider serves another snapshot{_since(found)}." if found.served_changed_at else ""
    if not found.alarms:
        return f"Quiet after {found.look} looks: {_counts(streams[Stream.VERDICTS])}; {gone}.{served}"
    first, *others = found.alarms
    more = f" So did {', '.join(watched.stream.value for watched in others)}." if others else ""
    return (
        f"Alarm at look {first.alarm_at}: {first.stream.value} changed, most likely from look {first.since} on; in the "
        f"last of {found.look} looks {_counts(first)}.{more}{served}"
    )


def _since(found: Watch) -> str:
    served = ", ".join(map(clean_text, found.served)) or "none named"
    first = ", ".join(map(clean_text, found.served_first)) or "none named"
    return f" since look {found.served_changed_at[-1]} ({served}; at the first look {first})"


def _counts(watched: Watched) -> str:
    if watched.now is None:
        return "no verdict can be compared"
    before = "" if watched.before is None else f" ({_number(watched.before)} before)"
    return f"{_number(watched.now)} of {count_noun(watched.of, 'verdict')}{before} {_COUNTED[watched.stream]}"


def _number(value: float | None) -> str:
    part = round(value or 0.0, 1)
    return f"{part:,.0f}" if part.is_integer() else f"{part:,.1f}"


def _parts(found: Watch) -> Iterator[Any]:
    yield first_sentence(found)
    yield ""
    columns = ("stream", "last look", "before", "p of the last look", "evidence", "alarm at look")
    yield plain_table(columns, map(_cells, found.streams))
    yield ""
    if found.served_changed_at:
        yield f"Another snapshot answered from looks {_list(found.served_changed_at)} on than in the look before."
    elif found.served:
        yield f"Snapshot, the same in every look: {', '.join(map(clean_text, found.served))}."
    else:
        yield "Snapshot: the provider does not say what it serves."
    if found.updated_at:
        yield f"jrh or a plugin was updated before looks {_list(found.updated_at)}."
    shared = f" in {found.clusters:,} clusters" if found.clusters < found.items else ""
    again = "" if found.added else "; none was added now"
    yield (
        f"Rests on {count_noun(found.look, 'look')} at {count_noun(found.items, 'item')}{shared}, "
        f"{count_noun(found.verdicts, 'verdict')} each, of '{clean_text(found.judge)}'{again}."
    )
    yield (
        f"An alarm is evidence of {_number(found.needed)}. At most {100 * found.alpha:g} in 100 judges that "
        f"never change ever raise one, for all {len(found.streams)} streams together and however long they are watched."
    )
    if not found.alarms:
        yield from _delay(found)
    else:
        yield "The alarm stays. When you know the cause, begin another store."


def _cells(watched: Watched) -> Iterator[str]:
    yield watched.stream.value
    yield "-" if watched.now is None else f"{_number(watched.now)} of {watched.of:,}"
    yield "-" if watched.before is None else _number(watched.before)
    yield format_p(watched.p)
    yield f"{watched.evidence:,.3g}" if watched.evidence < 1000 else f"{watched.evidence:.1e}"  # noqa: PLR2004
    yield str(watched.alarm_at or "-")


def _list(looks: Sequence[int]) -> str:
    return ", ".join(map(str, looks))


def _delay(found: Watch) -> Iterator[str]:
    if found.delay is None:
        yield f"How soon a change shows is known from look {FEWEST_LOOKS} on, when the judge's own noise is."
        return
    delay = found.delay
    half = f", half of all within {delay.median}" if delay.median else ""
    more = "" if delay.median else " More items, or more looks before the change, would show it."
    yield (
        f"If {delay.verdicts:,} of {count_noun(found.verdicts, 'verdict')} changed for good now, "
        f"{round(100 * delay.share)} of 100 simulated futures would raise an alarm within {HORIZON} looks{half}.{more}"
    )


def next_words(found: Watch) -> tuple[str, ...]:
    """Return the command to type next: what changed between two looks, or the last run."""
    before, now = (Path(run) for run in (found.run_before, found.run))
    if found.alarms and before.is_dir() and now.is_dir() and before != now:
        return "compare", str(before), str(now)
    return ("view", str(now)) if now.is_dir() else ("watch", found.store)
