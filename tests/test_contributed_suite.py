"""One suite of the contributed perturbers over shipped items: every planted defect is found, and none is invented."""

from __future__ import annotations

import json
import random
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import jrh
import pytest
from jrh.running import RunResult
from support.released import as_released

TEXTS = tomllib.loads((files("jrh_social") / "texts.toml").read_text("utf-8"))
"""Kind -> its sentences, and the end of the scale that they favour."""
LINES = (files("jrh_sources") / "data" / "coherence.jsonl").read_text("utf-8").splitlines()
ITEMS = {item["request"]: item for item in map(json.loads, LINES)}
"""The shipped items by request: paragraphs rated from 1 to 5."""
SHARE, NOISE = 0.8, 0.05
"""Share of items on which a planted defect decides, and of answers that are drawn at random."""
ABOUT = {"obeys-attacks", "moves-more-than-reruns", "misses-changes"}
"""The findings that say that a test moves a judge."""
Weakness = Callable[[str, str], str]
"""Maps a response and the original to the label that the judge moves to; empty: it does not move."""


def minds(kind: str) -> Weakness:
    """Follow the sentences of one kind to the label that they favour."""
    cues = [cue for cue, _ in TEXTS[kind]["pairs"]]
    label = "5" if TEXTS[kind]["favours"] == "highest" else "1"
    return lambda text, _: label if any(cue in text for cue in cues) else ""


def minds_misspelling(text: str, original: str) -> str:
    """Give the lowest level to a text that does not have the original in it."""
    return "" if original in text else "1"


def minds_length(text: str, original: str) -> str:
    """Give the highest level to whatever is longer by a sentence."""
    return "5" if len(text) > len(original) + 30 else ""


def sound(_text: str, _original: str) -> str:
    """Mind nothing."""
    return ""


def planted(name: str, weakness: Weakness, noise: float, seed: int) -> Callable[[Mapping[str, Any]], str]:
    """Return a judge that is right but for its noise and its weakness."""

    def judge(question: Mapping[str, Any]) -> str:
        fields = question["fields"]
        item, text = ITEMS[fields["request"]], fields["response"]
        draws = random.Random(f"{seed}/{name}/{item['id']}/{text}/{question['repeat']}")
        if draws.random() < noise:
            return draws.choice("12345")
        moved = weakness(text, item["response"])
        return moved if moved and draws.random() < SHARE else str(item["label"])

    judge.__name__ = name
    return judge


def run(judges: list[Callable[[Mapping[str, Any]], str]], place: Path, seed: int = 1, **options: Any) -> RunResult:
    suite = {
        "name": "contributed",
        "data": {"source": "examples", "dataset": "coherence"},
        "task": {"instruction": "How coherent is the paragraph?", "scale": {"ordinal": [1, 5]}},
        "tests": [{"social": options}, {"misspelling": {"strengths": [0.3]}}],
        "judges": judges,
        "reference": {"repeats": 3},
        "metrics": ["attack-success", "as-expected", "flip-rate", "noise-excess", "rerun-disagreement"],
        "resamples": 200,
        "seed": seed,
        "reports": ["json"],
    }
    with as_released():
        result = jrh.run(suite, run_dir=place / f"run-{seed}", use_cache=False, quiet=True)
    assert (result.exit_code, result.message, result.problems) == (0, "", ())
    return result


def weak(kind: str, seed: int) -> Callable[[Mapping[str, Any]], str]:
    return planted(f"minds-{kind}", minds(kind), NOISE, seed)


def claims(result: RunResult) -> set[tuple[str, str, str]]:
    """Return judge, kind and attack (or test) of every finding that says that a test moves a judge."""
    assert result.report is not None
    return {
        (
            each.judge,
            each.kind,
            next((kind for kind in TEXTS if f" {kind}@end" in each.sentence), ",".join(each.tests)),
        )
        for each in result.report.findings
        if each.kind in ABOUT and each.severity.value in ("bad", "warning")
    }


def test_planted_weaknesses_are_found_and_none_is_invented(tmp_path: Path) -> None:
    judges = [
        weak("bandwagon", 1),
        weak("self-certification", 1),
        weak("hedging", 1),
        planted("minds-misspelling", minds_misspelling, NOISE, 1),
        # Longer text raises its verdicts, whatever it says: the control has to take that out.
        planted("minds-length", minds_length, NOISE, 1),
        planted("noisy", sound, 0.3, 1),
    ]
    kinds = ["bandwagon", "self-certification", "hedging", "flattery"]
    assert claims(run(judges, tmp_path, kinds=kinds)) == {
        ("minds_bandwagon", "obeys-attacks", "bandwagon"),
        ("minds_self_certification", "obeys-attacks", "self-certification"),
        ("minds_hedging", "obeys-attacks", "hedging"),
        ("minds_misspelling", "moves-more-than-reruns", "misspelling"),
        ("minds_length", "misses-changes", "social"),
    }


@pytest.mark.study
def test_the_power_for_a_weakness_of_80_percent_is_above_90_percent(tmp_path: Path) -> None:
    """Ten runs with a judge for each kind and one that minds misspelling, all in one family of hypotheses."""
    shown: Counter[str] = Counter()
    for seed in range(10):
        judges = [*(weak(kind, seed) for kind in TEXTS), planted("minds-misspelling", minds_misspelling, NOISE, seed)]
        expected = {(f"minds_{kind.replace('-', '_')}", "obeys-attacks", kind) for kind in TEXTS}
        expected.add(("minds_misspelling", "moves-more-than-reruns", "misspelling"))
        shown.update(place for _, _, place in claims(run(judges, tmp_path, seed)) & expected)
    assert all(shown[place] >= 9 for place in (*TEXTS, "misspelling")), shown


@pytest.mark.study
def test_at_most_5_percent_of_pages_invent_a_weakness(tmp_path: Path) -> None:
    """200 seeds of a noisy judge and of one that minds length alone; a page is false if it says more than that."""
    true = {("minds_length", "misses-changes", "social")}
    pages = []
    for seed in range(200):
        judges = [planted("noisy", sound, 0.3, seed), planted("minds-length", minds_length, NOISE, seed)]
        pages.append(claims(run(judges, tmp_path, seed)))
    false = [page - true for page in pages if page - true]
    assert len(false) <= 0.05 * len(pages), false
