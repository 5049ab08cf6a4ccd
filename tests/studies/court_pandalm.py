"""What a court says of PandaLM's test set, with one of its three annotators held out as the referee.

`python -m tests.studies.court_pandalm DIRECTORY` reads `testset-v1.json` and the verdicts of two judges from a
directory (the data are not part of this repository) and prints, for each judge and each annotator as the label of
people, what a court of 120 cases says if another annotator is the referee, if both others are, and if the majority of
all three is.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from jrh_court.cases import CourtCase, Ruling
from jrh_court.court_text import share_text
from jrh_court.docket import draw_docket
from jrh_court.estimates import CourtAnswer, weigh_rulings

LABELS: Final = ("0", "1", "2")
"""Tie, first, second."""
JUDGES: Final = {"gpt": "gpt-3.5-turbo-testset-v1.json", "pandalm": "pandalm-7b-testset-v1.json"}
ANNOTATORS: Final = ("annotator1", "annotator2", "annotator3")
CASES, SEED, LEVEL = 120, 1, 0.95


def rule_by(case: CourtCase, label: str | None) -> Ruling:
    """Return the ruling of a referee whose own label is known; without one the rubric leaves it open."""
    if label is None:
        return Ruling.SILENT
    return {case.shown[0]: Ruling.FIRST, case.shown[1]: Ruling.SECOND}.get(label, Ruling.NEITHER)


def majority(labels: list[str]) -> str | None:
    """Return the label of two annotators or more."""
    label, count = Counter(labels).most_common(1)[0]
    return label if count > 1 else None


def hold_court(
    rows: Mapping[int, Mapping[str, str]],
    verdicts: Mapping[int, str],
    gold: str,
    referees: Mapping[str, Mapping[int, str | None]],
    cases: int = CASES,
) -> CourtAnswer:
    """Return the answer of a court whose referees' own labels are known."""
    decided = [
        CourtCase(
            id="", item=str(name), cluster=row["instruction"] + "\n" + row["input"], judge=verdicts[name],
            label=str(row[gold]), shown=("", ""), content="",
        )
        for name, row in rows.items()
    ]  # fmt: skip
    docket = draw_docket(
        decided, LABELS, cases=cases, seed=SEED, level=LEVEL, run="", run_id="", judge="j", task="t", simulated=False
    )
    rulings = {
        who: {case: rule_by(case, labels[int(case.item)]) for case in docket.cases} for who, labels in referees.items()
    }
    return weigh_rulings(docket, rulings)


def lines(directory: Path) -> Iterator[str]:
    """Yield the lines of the table."""
    rows = {row["idx"]: row for row in json.loads((directory / "testset-v1.json").read_text("utf-8"))}
    own = {name: {place: str(row[name]) for place, row in rows.items()} for name in ANNOTATORS}
    most = {place: majority([str(row[name]) for name in ANNOTATORS]) for place, row in rows.items()}
    yield f"{len(rows)} comparisons, {sum(label is None for label in most.values())} without a majority"
    yield "judge | labels of | referee | the label is wrong | the judge is wrong | the judge is right | gives the label"
    for judge, name in JUDGES.items():
        found = json.loads((directory / name).read_text("utf-8"))
        verdicts = {row["idx"]: str(row[f"{judge}_result"]) for row in found}
        for gold in ANNOTATORS:
            others = [other for other in ANNOTATORS if other != gold]
            courts: dict[str, tuple[Mapping[str, Mapping[int, str | None]], int]] = {
                others[0]: ({others[0]: own[others[0]]}, CASES),
                " and ".join(others): ({other: own[other] for other in others}, CASES),
                "majority": ({"majority": most}, CASES),
                "majority, all items": ({"majority": most}, len(rows)),
            }
            for who, (referees, cases) in courts.items():
                answer = hold_court(rows, verdicts, gold, referees, cases)
                wrong, judged, _, _, right = (share_text(share) for share in answer.shares)
                yield f"{judge} | {gold} | {who} | {wrong} | {judged} | {right} | {share_text(answer.naive)}"


if __name__ == "__main__":
    print("\n".join(lines(Path(sys.argv[1]))))
