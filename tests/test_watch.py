"""`jrh watch` through the command: looks that are added, alarms, refusals, kills, and the test behind it."""

from __future__ import annotations

import itertools
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from attrs import define, evolve, field
from jrh import JrhError
from jrh_decide.monitor import capital_of, differing_scores, look_p_values, sum_by_cluster
from jrh_decide.watch import check_same
from jrh_decide.watch_store import Anchors
from jrh_testing import ChatServer, Inside, Project, loop_over
from support.keys import KEY, KEY_VARIABLE
from support.suites import llm_suite, openai_http, write_items, write_suite
from support.verdicts import import_judges, right_with

pytestmark = pytest.mark.inside

ITEMS = 40
NO_CACHE = ("--no-cache",)


@define
class Provider:
    """Answers by item; at some time it serves another model, gives other answers, or none."""

    model: str = "old-1"
    turned: int = 0
    silent: int = 0
    word: str = "NO"

    def __call__(self, body: dict[str, Any]) -> dict[str, Any]:
        number = int(re.findall(r"answer number (\d+)", json.dumps(body))[-1])
        said = (number % 2 == 0) != (number < self.turned)
        answer = "no idea" if number >= ITEMS - self.silent else "YES" if said else self.word
        return {"role": "assistant", "content": answer, "model": self.model}


@define
class Watching:
    """A project with the runs of a provider."""

    project: Project
    provider: Provider
    url: str
    runs: list[str] = field(factory=list)

    def ask(self, name: str, *words: str, **changes: Any) -> str:
        suite = llm_suite(openai_http(self.url), tests=[], reports=["json"], metrics=["missing"]) | changes
        write_suite(self.project, suite)
        done = self.project.run("run", "suite.yaml", "--run-dir", name, "--yes", *words)
        assert done.exit_code in (0, 3), done.output
        return name


@pytest.fixture(scope="module")
def watching(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watching]:
    """Provide three runs in which nothing changes, and two after the provider has changed what it serves."""
    project, provider = Inside(tmp_path_factory.mktemp("watch"), env={KEY_VARIABLE: KEY}), Provider()
    write_items(project, ITEMS)
    with ChatServer(provider) as server:
        watching = Watching(project=project, provider=provider, url=server.url)
        for number in range(1, 6):
            if number == 4:
                provider.model, provider.turned = "new-2", 16
            watching.runs.append(watching.ask(f"r{number}", *(NO_CACHE if number > 1 else ())))
        yield watching


def watch(project: Project, *words: str, code: int = 0) -> Any:
    done = project.run("watch", *words, "--json")
    assert done.exit_code == code, done.output
    (line,) = done.stdout.splitlines()
    return json.loads(line)


def test_looks_are_added_and_an_alarm_names_what_changed(watching: Watching) -> None:
    project = watching.project
    first = watch(project, "a.jsonl", "r1")
    assert (
        first["text"]
        == "First look: 40 items stored; 0 of 40 verdicts are missing. The next looks are compared with it."
    )
    for number, run in enumerate(watching.runs[1:3], start=2):
        found = watch(project, "a.jsonl", run)
        assert (found["look"], found["alarm"], found["added"]) == (number, False, True)
    assert found["text"] == (
        "Quiet after 3 looks: 0 of 40 verdicts (0 before) differ from one of an earlier look, on average; "
        "0 of 40 verdicts are missing."
    )
    project.run("watch", "a.jsonl", "r4")
    found = watch(project, "a.jsonl", "r5", code=1)
    assert found["changed"] == {"snapshot": True, "verdicts": True, "failures": False}
    verdicts, *_ = found["streams"]
    assert verdicts["since"] == 4
    assert verdicts["alarm_at"] in (4, 5)
    assert found["text"].startswith(
        f"Alarm at look {verdicts['alarm_at']}: verdicts changed, most likely from look 4 on; "
    )
    assert found["text"].endswith(
        " The provider serves another snapshot since look 4 (new-2; at the first look old-1)."
    )
    assert found["needed"] == 4 / 0.05
    text = project.run("watch", "a.jsonl")
    assert text.exit_code == 1
    assert text.stdout.splitlines()[0] == found["text"]
    assert text.stdout.splitlines()[-1] == "Next: jrh compare r3 r5"
    assert "At most 5 in 100 judges that never change ever raise one, for all 4 streams" in text.stdout
    shutil.copytree(project.path / "r5", project.path / "r5-elsewhere")
    for run in ("r5", "r5-elsewhere"):  # a copy shows nothing new
        again = watch(project, "a.jsonl", run, code=1)
        assert (again["look"], again["added"]) == (5, False)


def test_a_swap_of_two_looks_names_the_answering_model(watching: Watching) -> None:
    done = watching.project.run("swap", "r3", "r4")
    assert done.exit_code == 0, done.output
    assert "Moved: answering model; the same: judge, items, responses," in done.stdout
    assert "old-1 -> new-2" in done.stdout


def test_missing_verdicts_are_a_stream_of_their_own_and_never_scores(watching: Watching) -> None:
    project, provider = watching.project, watching.provider
    provider.model, provider.turned, provider.silent = "old-1", 0, 16
    for run in watching.runs[:3]:
        watch(project, "m.jsonl", run)
    project.run("watch", "m.jsonl", watching.ask("m4", *NO_CACHE))
    found = watch(project, "m.jsonl", watching.ask("m5", *NO_CACHE), code=1)
    provider.silent = 0
    assert found["changed"] == {"snapshot": False, "verdicts": False, "failures": True}
    assert "16 of 40 verdicts (4 before) are missing" in found["text"]
    streams = {each["stream"]: each for each in found["streams"]}
    assert (streams["verdicts"]["now"], streams["verdicts"]["of"]) == (0, 24)
    agreement = streams["agreement with people"]
    assert agreement["before"] == agreement["of"] == 24  # a count, as `now` is


def test_a_store_that_was_killed_in_the_middle_of_an_append_loses_nothing(watching: Watching) -> None:
    project = watching.project
    for run in watching.runs[:3]:
        watch(project, "whole.jsonl", run)
    whole = project.path / "whole.jsonl"
    text = whole.read_bytes()
    ends = [at + 1 for at, byte in enumerate(text) if byte == ord("\n")]
    killed = project.path / "killed.jsonl"
    for cut in (ends[-2] + 1, ends[-2] + 40, len(text) - 1):
        killed.write_bytes(text[:cut])
        assert watch(project, "killed.jsonl")["look"] == 2, "what was whole is there, and reading changes nothing"
        assert killed.read_bytes() == text[:cut]
        watch(project, "killed.jsonl", "r3")
        assert killed.read_bytes() == text, "the same row, with the same p-values"
    for cut in (0, 5, ends[0] - 1, ends[0], ends[1] - 3):
        killed.write_bytes(text[:cut])
        assert watch(project, "killed.jsonl", "r1")["look"] == 1
        assert killed.read_bytes() == text[: ends[1]]


def test_a_label_that_first_occurs_in_a_later_look_is_another_verdict(watching: Watching) -> None:
    project, provider = watching.project, watching.provider
    provider.model, provider.turned, provider.word = "old-1", 0, "NO"
    task = {"instruction": "Is the answer right?", "scale": {"labels": ["YES", "NO", "MAYBE"]}}
    watch(project, "labels.jsonl", watching.ask("l1", *NO_CACHE, task=task))
    provider.word = "MAYBE"
    # Half of the right verdicts are gone: that is an alarm of agreement at once.
    found = watch(project, "labels.jsonl", watching.ask("l2", *NO_CACHE, task=task), code=1)
    provider.word = "NO"
    assert [(each["stream"], each["now"]) for each in found["streams"]] == [
        ("verdicts", 20), ("agreement with people", 20), ("failures", 0)
    ]  # fmt: skip


@loop_over(
    "prepare, words, said",
    [
        ("", ("b.jsonl", "r1", "--alpha", "0.01"), "was begun with --alpha 0.05, not 0.01"),
        ("", ("new.jsonl",), "has no look yet; add a run: jrh watch new.jsonl RUN"),
        ("damaged", ("damaged.jsonl",), "is damaged: a row is not as `jrh watch` wrote it"),
        ("", ("items.jsonl", "r1"), "is no store of `jrh watch`"),
        ("cached", ("b.jsonl", "cached"), "40 of 40 replies in 'cached' come from an earlier run"),
        ("twice", ("b.jsonl", "twice"), "asks every item 2 times, the first look 1"),
        ("imported", ("b.jsonl", "imported"), "was imported: nothing says what gave its verdicts"),
    ],
)
def test_what_is_no_look_is_refused_and_changes_nothing(
    watching: Watching, prepare: str, words: tuple[str, ...], said: str
) -> None:
    project = watching.project
    watch(project, "b.jsonl", "r1")
    before = project.read("b.jsonl")
    if prepare == "damaged":
        project.write("damaged.jsonl", before.replace("[0]", "[0,1]", 1))
    elif prepare == "cached":
        watching.ask(prepare)
    elif prepare == "twice":
        watching.ask(prepare, *NO_CACHE, reference={"repeats": 2})
    elif prepare == "imported":
        import_judges(project.path / prepare, {"mini": right_with(0.9)}, items=6)
    done = project.run("watch", *words)
    assert done.exit_code == 2, done.output
    assert said in " ".join(done.output.split())
    assert project.read("b.jsonl") == before
    assert not (project.path / words[0]).exists() or words[0] in ("b.jsonl", "items.jsonl", "damaged.jsonl")


@loop_over(
    "change, said",
    [
        ({"prompt": "x"}, "the instruction, rubric or scale changed since the first look"),
        ({"identity": "x"}, "the judge, its model or its options changed since the first look"),
        ({"items": [["t", "i0", "digest"]]}, "1 are missing or have another text, 1 are new"),
    ],
)
def test_what_the_user_changed_is_no_drift(change: dict[str, Any], said: str) -> None:
    anchors = Anchors(
        judge="j", alpha=0.05, identity="i", prompt="p", labels=["NO", "YES"], items=[["t", "i0", "text"]],
        clusters=[0], gold=[1], positions={"t": [0.0, 1.0]}, repeats=1,
    )  # fmt: skip
    with pytest.raises(JrhError, match=said):
        check_same(anchors, evolve(anchors, **change), Path("run"))


def test_a_p_value_counts_the_looks_that_could_as_well_be_the_last(tmp_path: Path) -> None:
    """Against all 27 choices of one look for each of three clusters."""
    values = np.array([[0.0, 0.1, -0.2], [0.3, 0.0, 0.1], [0.1, 0.4, 0.2]])
    sums = [sum(values[look, at] for at, look in enumerate(looks)) for looks in itertools.product(range(3), repeat=3)]
    above = np.mean([each > values[-1].sum() + 1e-9 for each in sums])
    equal = np.mean([abs(each - values[-1].sum()) < 1e-9 for each in sums])
    p_values = np.array([look_p_values([values], np.random.default_rng(seed), 500)[0] for seed in range(200)])
    assert above - 0.05 < p_values.min() < p_values.max() < above + equal + 0.05
    assert p_values.mean() == pytest.approx(above + equal / 2, abs=0.01)
    assert not list(tmp_path.iterdir())


def test_clusters_move_together_and_a_missing_score_adds_nothing() -> None:
    codes = np.array([[[0], [0], [1]], [[0], [-1], [1]], [[1], [0], [1]]])
    scores = differing_scores(codes, 2)
    assert np.isnan(scores[1, 1, 0])
    assert scores[:, 0, 0].tolist() == pytest.approx([1 / 3, 1 / 3, 2 / 3])
    sums = sum_by_cluster(scores, np.array([0, 0, 1]))
    assert sums == pytest.approx(np.array([[-1 / 9, 0], [-1 / 9, 0], [2 / 9, 0]]))


def test_bets_keep_their_promise_against_uniform_p_values() -> None:
    """Ville's inequality: at most 5% ever reach 20; and capital is 1 on average before the tail has its say."""
    capital, _ = capital_of(np.random.default_rng(1).random((1500, 100)))
    assert 0.01 < np.mean(capital.max(axis=1) >= 20) < 0.05
    small, _ = capital_of(np.full((1, 3), 0.001))
    assert (np.diff(small[0]) > 0).all()
    p, shifts = np.array([[0.3, 0.02]]), np.array([0.5, 1.0, 2.0, 4.0])
    normal = NormalDist()
    ratio = np.array(
        [[normal.pdf(z - shift) / normal.pdf(z) for shift in shifts] for z in map(normal.inv_cdf, 1 - p[0])]
    )
    expected = (ratio[0] * ratio[1] / 2 + ratio[1] / 6).mean() + 1 / 3
    assert capital_of(p)[0][0, 1] == pytest.approx(expected)


def test_a_baseline_that_is_used_again_every_week_breaks_a_sign_test_and_not_this_one() -> None:
    from tests.studies.watch import QUIET, watched

    found, naive = watched(QUIET[1], 60, np.random.default_rng(2))
    assert naive > 15
    assert np.isfinite(found).any(axis=0).sum() <= 6
