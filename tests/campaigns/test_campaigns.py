"""The short forms of the random campaigns: `make campaigns SECONDS=600` plays the long ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from campaigns import batches, corruption, edits, files, kills
from campaigns.rounds import Campaign, Round, rounds

pytestmark = pytest.mark.slow


def play(name: str, campaign: Campaign, place: Path, seeds: Iterable[int]) -> Counter[str]:
    """Play these rounds; none may fail."""
    counted: Counter[str] = Counter()
    for played in rounds(name, campaign, place, seeds):
        assert not played.problems, f"seed {played.seed}: {played.problems}"
        counted.update(played.counted)
    return counted


def test_a_run_that_is_killed_at_random_loses_nothing_and_pays_for_nothing_twice(tmp_path: Path) -> None:
    counted = play("kills", kills.campaign, tmp_path, range(1))
    assert counted["kills"] >= 1
    assert counted["lost"] == counted["asked twice"] == 0


def test_no_damage_is_a_traceback_or_changes_a_number_without_a_word(tmp_path: Path) -> None:
    counted = play("corruption", corruption.campaign, tmp_path, range(8))
    assert counted["refused"] >= 1


def test_nothing_that_a_provider_of_batches_does_buys_a_question_twice(tmp_path: Path) -> None:
    counted = play("batches", batches.campaign, tmp_path, range(10))
    assert counted["faults"] >= 20
    assert counted["kills"] >= 1
    assert counted["bought twice"] == 0


def test_an_edit_asks_what_it_must_and_reports_what_a_fresh_run_reports(tmp_path: Path) -> None:
    assert play("edits", edits.campaign, tmp_path, range(0, 30, 6))["questions asked again"] >= 1


MENDED = {
    "a far corner",
    "a row beyond the last",
    "a value 2026-13-45",
    "labels '{}'",
    "gold '[1]'",
    "p '[1]'",
    "run '-1.5'",
}
MENDED |= {"records.test '{}'", "records.repeat '\\x1b]52;c;ZXZ'", "every column a new name"}
"""Files that ended in a traceback, or took all memory."""


def test_no_hostile_file_is_a_traceback_or_does_anything(tmp_path: Path) -> None:
    mended = [number for number, file in enumerate(files.files()) if file.what in MENDED]
    assert len(mended) >= len(MENDED)
    counted = play("files", files.campaign, tmp_path, mended)
    assert counted["refused"] >= len(mended)
    assert counted["executed"] == 0


def test_a_round_that_fails_keeps_its_directory_and_another_is_deleted(tmp_path: Path) -> None:
    def fails(played: Round) -> None:
        played.check(played.seed != 1, "the seed is 1")

    found = list(rounds("made-up", fails, tmp_path, range(3)))
    assert [each.problems for each in found] == [[], ["the seed is 1"], []]
    assert [path.name for path in tmp_path.iterdir()] == ["made-up-1"]
