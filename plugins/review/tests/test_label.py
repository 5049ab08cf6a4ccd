"""Label: what people are shown, labels that are on the disk, tables, gold with its uncertainty, every POST guarded."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jrh import Item, JrhError, Mode, Scale, Task
from jrh_review.decisions import StaleError
from jrh_review.desk_commands import say_agreement
from jrh_review.labelling import LabelDesk, ScreenDecision, label_desk
from jrh_review.pages.label import Labelling, keys_of
from jrh_review.person_labels import LabelAction, LabelSettings, majority
from jrh_review.review_statistics import people_agreement
from jrh_review.runs import Runs
from jrh_review.security import Names, Session, Sessions
from jrh_review.serving import make_app
from jrh_review.tables import read_sheet, write_gold, write_sheet
from jrh_testing import loop_over

from .conftest import HOST, ORIGIN, PORT, Answer, Door, cookie_of

N = 20
SECRET = "gold-and-metadata-are-not-shown"
TASK = Task(name="answers", instruction="Is it right?", rubric="YES: right", scale=Scale.of_labels("YES", "NO"))
PAIRS = Task(name="pairs", scale=Scale.of_pairs(tie="TIE"), mode=Mode.PAIRWISE)


def items(n: int = N) -> list[Item]:
    return [
        Item(
            id=f"{SECRET}-{place}",
            fields={"request": "q", "response": f"text {place}"},
            gold="YES",
            stratum=SECRET,
            metadata={"why": SECRET},
            labels={SECRET: "YES"},
        )
        for place in range(n)
    ]


def pairs(n: int = N) -> list[Item]:
    fields = [{"request": "q", "response_a": f"first {n}", "response_b": f"second {n}"} for n in range(n)]
    return [Item(id=f"pair {place}", fields=each) for place, each in enumerate(fields)]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[LabelDesk]:
    with label_desk(tmp_path / "labels.jsonl") as found:
        found.read([(TASK, items())])
        yield found


def give(desk: LabelDesk, who: str, place: int, label: str, action: LabelAction = LabelAction.LABEL) -> None:
    screen = desk.screens(who)[place]
    desk.decide([ScreenDecision(who, screen, action, label, desk.version(who, screen))])


class Browser:
    """A browser of one person: raw requests through the guard."""

    def __init__(self, door: Door, session: Session) -> None:
        self.door, self.session = door, session
        self.own = [("host", HOST), ("cookie", cookie_of(session))]

    def get(self, path: str, query: str = "") -> Answer:
        return self.door.ask(path, headers=self.own, query=query)

    def post(self, path: str, sent: object, without: str = "", **changed: str) -> Answer:
        good = {"origin": ORIGIN, "sec-fetch-site": "same-origin", "content-type": "application/json"}
        headers = {**good, "x-csrf-token": self.session.csrf, **{k.replace("_", "-"): v for k, v in changed.items()}}
        kept = [(name, value) for name, value in headers.items() if name != without]
        text = sent if isinstance(sent, bytes) else json.dumps(sent).encode()
        return self.door.ask(path, method="POST", headers=[*self.own, *kept], parts=(text,))


def opened(desk: LabelDesk, *names: str) -> list[Browser]:
    announced: list[str] = []
    sessions = Sessions(announced.append)
    here = Labelling(suite="suite", desk=desk, names=names)
    guard = make_app(Runs(()), sessions, Names.at("127.0.0.1", PORT), work=here)
    door = Door(guard=guard, sessions=sessions, announced=announced, written=[])
    return [Browser(door, door.enter()) for _ in names]


GOOD = {"place": 0, "action": "label", "label": "YES", "version": 0, "seconds": 3.5}


# -- what people are shown --------------------------------------------------------------------------------------------


def test_everybody_sees_every_item_once_and_the_stated_share_twice_and_late(desk: LabelDesk) -> None:
    orders = {}
    for who in ("Ann", "Ben", "Cem"):
        screens = desk.screens(who)
        first = [place for place, screen in enumerate(screens) if not screen.again]
        again = [place for place, screen in enumerate(screens) if screen.again]
        assert sorted(screens[place].item.id for place in first) == sorted(item.id for item in items())
        assert len(again) == 2  # a tenth of 20
        seen = {screens[place].item.id: place for place in first}
        assert all(place - seen[screens[place].item.id] >= N // 2 for place in again)
        orders[who] = [screen.item.id for screen in screens]
        assert orders[who] == [screen.item.id for screen in desk.screens(who)]
    assert len({tuple(order) for order in orders.values()}) == 3


def test_a_screen_names_no_item_and_shows_no_gold_metadata_repeat_or_others_label(desk: LabelDesk) -> None:
    for place in range(len(desk.screens("Ben"))):
        give(desk, "Ben", place, "NO")
    (ann,) = opened(desk, "Ann")
    seen = [ann.get("/label"), ann.get("/label/queue.json")]
    seen += [ann.get("/label/item.json", f"place={place}") for place in range(len(desk.screens("Ann")))]
    assert {each.status for each in seen} == {200}
    assert all(SECRET.encode() not in each.body and b"Ben" not in each.body for each in seen)
    kinds = {tuple(json.loads(each.body)) for each in seen[2:]}
    assert len(kinds) == 1  # a repeat looks like any other
    assert {json.loads(each.body)["state"] for each in seen[2:]} == {""}


def test_no_page_but_the_label_pages_is_served(desk: LabelDesk) -> None:
    (ann,) = opened(desk, "Ann")
    assert ann.get("/").headers["location"] == "/label"
    assert [ann.get(path).status for path in ("/compare", "/run/x", "/review", "/review/queue.json")] == [404] * 4


def test_options_of_a_pair_change_places_and_the_label_is_mapped_back(tmp_path: Path) -> None:
    with label_desk(tmp_path / "labels.jsonl", LabelSettings(repeats=0.5)) as desk:
        desk.read([(PAIRS, pairs(60))])
        screens = desk.screens("Ann")
        for place, screen in enumerate(screens):
            shown = next(letter for letter in "AB" if screen.fields[f"response_{letter.lower()}"].startswith("first"))
            give(desk, "Ann", place, shown)
        assert {each.label for each in desk.labels()} == {"A"}  # the option that is A in the data, wherever it was
        orders = Counter(each.order for each in desk.labels())
        assert set(orders) == {"AB", "BA"}
        assert 25 <= orders["BA"] <= 65  # of 90; a fair coin leaves these limits with probability 3e-5
        assert {screen.label_map["TIE"] for screen in screens} == {"TIE"}


@loop_over(
    ("labels", "keys"),
    [
        (["YES", "NO"], "12"),
        (["1", "2", "3"], "123"),
        (["A", "B", "TIE"], "ab1"),
        (["0", "1", "2", "10"], "0123"),
        (["K", "J", "x"], "12x"),
        (["a", "A"], "12"),
    ],
)
def test_every_label_has_a_key_of_its_own_and_none_is_a_key_of_the_page(labels: list[str], keys: str) -> None:
    found = keys_of(labels)
    assert [found[label] for label in labels] == list(keys)


# -- labels are on the disk -------------------------------------------------------------------------------------------


def test_a_label_is_in_the_file_before_the_answer_says_saved(desk: LabelDesk, tmp_path: Path) -> None:
    (ann,) = opened(desk, "Ann")
    answer = ann.post("/label/decide", GOOD)
    assert answer.status == 200
    assert json.loads(answer.body) == {"saved": True, "version": 1, "state": "label"}
    rows = [json.loads(line) for line in (tmp_path / "labels.jsonl").read_text().splitlines()]
    assert rows[0] == {"jrh-labels": 1, "seed": 0, "repeats": 0.1}
    assert {**rows[1], "made": "", "content": ""} == {
        "task": "answers",
        "item_id": desk.screens("Ann")[0].item.id,
        "content": "",
        "labeller": "Ann",
        "again": False,
        "action": "label",
        "label": "YES",
        "seconds": 3.5,
        "made": "",
    }


def test_a_row_that_a_kill_left_half_written_is_cut_off_and_the_others_stay(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    with label_desk(path) as desk:
        desk.read([(TASK, items())])
        give(desk, "Ann", 0, "YES")
        give(desk, "Ann", 1, "NO")
    whole = path.read_bytes()
    for cut in range(1, len(whole.splitlines(keepends=True)[-1])):
        path.write_bytes(whole[:-cut])
        with label_desk(path) as desk:
            desk.read([(TASK, items())])
            assert [each.label for each in desk.labels()] == ["YES"]
            give(desk, "Ann", 1, "NO")
            assert [each.label for each in desk.labels()] == ["YES", "NO"]


def test_one_process_at_a_time_writes(desk: LabelDesk, tmp_path: Path) -> None:
    with pytest.raises(JrhError, match="in use by another"), label_desk(tmp_path / "labels.jsonl"):
        pass


def test_a_line_that_jrh_did_not_write_is_named(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text('{"jrh-labels":1}\n{"task":\n{"x": 1}\n')
    with pytest.raises(JrhError, match=r"labels\.jsonl:2: this line is not what jrh writes"), label_desk(path):
        pass
    row = {"task": "t", "item_id": "i", "content": "c", "labeller": "Ann", "action": "label", "label": "YES"}
    bad: list[dict[str, object]] = [
        {"labeller": "Ann\x1b[2J"},
        {"labeller": ""},
        {"labeller": "x" * 81},
        {"label": ["YES"]},
        {"more": 1},
    ]
    for each in bad:
        path.write_text('{"jrh-labels":1}\n' + json.dumps({**row, "made": "", **each}) + "\n")
        wrong = r"^[^:]*labels\.jsonl:2: (the labeller's name|label: expected|more: unknown)"
        with pytest.raises(JrhError, match=wrong), label_desk(path):
            pass
    path.write_text("id,label\n")
    with pytest.raises(JrhError, match=r"labels\.jsonl:1"), label_desk(path):
        pass


def test_undo_skip_and_a_second_thought_count_and_nothing_is_overwritten_unseen(desk: LabelDesk) -> None:
    screen = desk.screens("Ann")[0]
    give(desk, "Ann", 0, "YES")
    with pytest.raises(StaleError, match="another window"):
        desk.decide([ScreenDecision("Ann", screen, LabelAction.LABEL, "NO", 0)])
    give(desk, "Ann", 0, "NO")
    assert [each.label for each in desk.labels()] == ["NO"]
    give(desk, "Ann", 0, "", LabelAction.UNDO)
    assert desk.labels() == ()
    give(desk, "Ann", 0, "", LabelAction.SKIP)
    assert [each.action for each in desk.labels()] == [LabelAction.SKIP]


def test_labels_of_another_text_do_not_count(desk: LabelDesk) -> None:
    give(desk, "Ann", 0, "YES")
    changed = [Item(id=item.id, fields={"request": "q", "response": "another"}) for item in items()]
    desk.read([(TASK, changed)])
    assert desk.labels() == ()


def test_other_settings_are_refused_once_there_are_labels(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    with label_desk(path):
        pass
    with label_desk(path, LabelSettings(seed=5, repeats=0.2)) as desk:
        desk.read([(TASK, items())])
        assert sum(screen.again for screen in desk.screens("Ann")) == 4
        give(desk, "Ann", 0, "YES")
    stays = pytest.raises(JrhError, match=r"its seed \(5\) and share of repeats \(0\.2\) cannot change")
    with stays, label_desk(path, LabelSettings()):
        pass
    with label_desk(path) as desk:
        assert desk.settings == LabelSettings(seed=5, repeats=0.2)


# -- every POST behind the guard --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"without": "origin"}, 403),
        ({"origin": "http://evil.example"}, 403),
        ({"sec_fetch_site": "cross-site"}, 403),
        ({"without": "x-csrf-token"}, 403),
        ({"x_csrf_token": "wrong"}, 403),
        ({"content_type": "text/plain"}, 415),
    ],
)
@pytest.mark.parametrize("path", ["/label/decide", "/label/who"])
def test_a_change_from_elsewhere_is_refused(
    desk: LabelDesk, tmp_path: Path, path: str, change: dict[str, str], status: int
) -> None:
    (ann,) = opened(desk, "Ann")
    assert ann.post(path, GOOD, **change).status == status
    assert len((tmp_path / "labels.jsonl").read_text().splitlines()) == 1


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ({"place": 99}, 404),
        ({"place": -1}, 404),
        ({"place": True}, 404),
        ({"place": "0"}, 404),
        ({"label": "MAYBE"}, 400),
        ({"label": None}, 400),
        ({"label": ["YES"]}, 400),
        ({"action": "accept"}, 400),
        ({"action": "skip"}, 400),  # a skip has no label
        ({"version": "0"}, 400),
        ({"version": True}, 400),
        ({"version": 1}, 409),
    ],
)
def test_a_label_that_is_none_is_refused(desk: LabelDesk, sent: dict[str, object], status: int) -> None:
    (ann,) = opened(desk, "Ann")
    assert ann.post("/label/decide", {**GOOD, **sent}).status == status
    assert desk.labels() == ()
    assert ann.get("/label/decide").status == 405


def test_two_people_choose_once_who_they_are(desk: LabelDesk) -> None:
    ann, ben = opened(desk, "Ann", "Ben")
    assert ann.post("/label/decide", GOOD).status == 403
    form = {"content_type": "application/x-www-form-urlencoded"}
    for browser, name in ((ann, "Ann"), (ben, "Ben")):
        sent = f"csrf={browser.session.csrf}&labeller={name}".encode()
        assert browser.post("/label/who", sent, **form).status == 303
        assert browser.post("/label/decide", GOOD).status == 200
    other = f"csrf={ann.session.csrf}&labeller=Ben".encode()
    assert ann.post("/label/who", other, **form).status == 409
    assert sorted(each.labeller for each in desk.labels()) == ["Ann", "Ben"]


# -- tables, gold, agreement ------------------------------------------------------------------------------------------


def labelled(desk: LabelDesk) -> dict[str, dict[str, str]]:
    """Let three people label everything; return item -> person -> first label."""
    draws = np.random.default_rng(7)
    said: dict[str, dict[str, str]] = {}
    for who in ("Ann", "Ben", "Cem"):
        for place, screen in enumerate(desk.screens(who)):
            label = ("YES", "NO")[int(draws.random() < (0.2 if int(screen.item.id.rpartition("-")[2]) < 10 else 0.8))]
            give(desk, who, place, label)
            if not screen.again:
                said.setdefault(screen.item.id, {})[who] = label
    return said


def test_the_gold_table_has_majority_share_and_number_of_labellers(desk: LabelDesk) -> None:
    said = labelled(desk)
    rows = list(csv.DictReader(io.StringIO(write_gold(desk))))
    assert len(rows) == N
    for row in rows:
        own = said[row["item_id"]]
        assert row["label"] == majority(own.values())
        assert float(row["share"]) == pytest.approx(Counter(own.values())[row["label"]] / 3, abs=5e-4)
        assert (row["labellers"], row["gold_source"], row["by Ben"]) == ("3", "people", own["Ben"])
    assert sum(bool(row["again by Ann"]) for row in rows) == 2


def test_agreement_is_that_of_another_library(desk: LabelDesk, capsys: pytest.CaptureFixture[str]) -> None:
    from sklearn.metrics import cohen_kappa_score

    said = labelled(desk)
    found, again = people_agreement(TASK, items(), desk.labels())
    for pair, kappa in found.pairs.items():
        sides = [[each[name] for each in said.values()] for name in pair]
        assert kappa.value == pytest.approx(cohen_kappa_score(*sides))
        assert kappa.clusters == N
    say_agreement(desk)
    said_of_all = capsys.readouterr().out
    assert f"n = {N} items, {N} clusters" in said_of_all
    assert f"n = {3 * N} labels, {N} clusters" in said_of_all
    assert found.alpha is not None
    assert found.alpha.value is not None
    assert {name: each.n for name, each in again.items()} == {"Ann": 2, "Ben": 2, "Cem": 2}


def test_an_even_split_has_no_gold_and_one_person_is_said_to_be_one(desk: LabelDesk) -> None:
    for who, label in (("Ann", "YES"), ("Ben", "NO")):
        places = {screen.item.id: n for n, screen in enumerate(desk.screens(who)) if not screen.again}
        give(desk, who, places[items()[0].id], label)
    give(desk, "Ann", {s.item.id: n for n, s in enumerate(desk.screens("Ann")) if not s.again}[items()[1].id], "NO")
    rows = list(csv.DictReader(io.StringIO(write_gold(desk))))
    assert [rows[0][name] for name in ("label", "share", "labellers", "gold_source")] == ["", "", "2", ""]
    assert [rows[1][name] for name in ("label", "share", "labellers", "gold_source")] == [
        "NO",
        "1.000",
        "1",
        "one-person",
    ]


def test_a_sheet_is_filled_in_and_read_back_blind(desk: LabelDesk, tmp_path: Path) -> None:
    sheet = write_sheet(desk, "Ann")
    assert SECRET not in sheet
    rows = list(csv.DictReader(io.StringIO(sheet)))
    assert rows[0]["instruction"] == "Is it right?"
    for row in rows:
        row["label"] = " yes " if row["text: response"].endswith(("0", "1")) else "NO"
    path = tmp_path / "ann.csv"

    def write(changed: list[dict[str, str]]) -> None:
        with path.open("w", newline="") as file:
            table = csv.DictWriter(file, list(rows[0]))
            table.writeheader()
            table.writerows(changed)

    write(rows)
    assert read_sheet(desk, path, "Ann") == len(rows)
    assert read_sheet(desk, path, "Ann") == 0
    by_item = {each.item_id.rpartition("-")[2]: each.label for each in desk.labels()}
    assert by_item == {str(n): "YES" if n % 10 < 2 else "NO" for n in range(N)}
    with pytest.raises(JrhError, match=r"this row is not in the sheet of 'Ben'(.|\n)*mistakes in 22 rows"):
        read_sheet(desk, path, "Ben")
    write([{**rows[0], "label": f"sk-proj-{'q8Zr2LxT0vKd91mN' * 3}"}])
    with pytest.raises(JrhError, match="is not one of the choices: ") as refused:
        read_sheet(desk, path, "Ann")
    assert "q8Zr2LxT" not in str(refused.value), "a key that a person pasted reaches no terminal"
    write([{**rows[0], "label": "MAYBE"}, {**rows[1], "label": "YES" if rows[1]["label"] == "NO" else "NO"}])
    with pytest.raises(JrhError, match="'MAYBE' is not one of the choices: "):
        read_sheet(desk, path, "Ann")
    assert {each.number for each in desk.labels()} == set(range(1, len(rows) + 1))


# -- transcripts and ordinal scales -----------------------------------------------------------------------------------

TRANSCRIPTS = Task(name="runs", rubric="5: helpful", scale=Scale.of_levels(1, 5), mode=Mode.TRANSCRIPT)


def transcripts(n: int = N) -> list[Item]:
    def messages(place: int) -> list[dict[str, Any]]:
        call = {"id": "c1", "name": "get_order", "arguments": {"order": f"LK-{place}"}}
        return [
            {"role": "user", "content": "Where is my <b>order</b>?"},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "content": f"arrives on day {place}", "tool_call_id": "c1", "name": "get_order"},
            {"role": "assistant", "content": f"It arrives on day {place}."},
        ]

    return [Item(id=f"{SECRET}-{n}", fields={"transcript": messages(n)}, gold="5") for n in range(n)]


def test_a_transcript_is_labelled_on_an_ordinal_scale_and_levels_are_weighted(tmp_path: Path) -> None:
    from sklearn.metrics import cohen_kappa_score

    draws = np.random.default_rng(11)
    said: dict[str, dict[str, int]] = {}
    with label_desk(tmp_path / "labels.jsonl") as desk:
        desk.read([(TRANSCRIPTS, transcripts())])
        for person, browser in zip(("Ann", "Ben"), opened(desk, "Ann", "Ben"), strict=True):
            form = f"csrf={browser.session.csrf}&labeller={person}".encode()
            assert browser.post("/label/who", form, content_type="application/x-www-form-urlencoded").status == 303
            for place, screen in enumerate(desk.screens(person)):
                shown = json.loads(browser.get("/label/item.json", f"place={place}").body)
                number = int(screen.item.id.rpartition("-")[2])
                ((name, text),) = shown["parts"]
                assert name == "transcript"
                told = [
                    "Where is my <b>order</b>?",
                    "get_order",
                    f"LK-{number}",
                    f"arrives on day {number}",
                    "It arrives",
                ]
                places = [text.find(each) for each in told]
                assert places == sorted(places)
                assert places[0] >= 0
                assert SECRET not in json.dumps(shown)
                assert [key for *_, key in shown["labels"]] == [label for label, *_ in shown["labels"]] == list("12345")
                level = int(np.clip(number % 5 + 1 + draws.integers(-1, 2), 1, 5))
                sent = {**GOOD, "place": place, "label": str(level)}
                assert browser.post("/label/decide", {**sent, "label": "6"}).status == 400
                assert browser.post("/label/decide", sent).status == 200
                if not screen.again:
                    said.setdefault(screen.item.id, {})[person] = level
        assert json.loads(browser.get("/label/item.json", f"place={place}").body)["own"] == str(level)
        found, _ = people_agreement(TRANSCRIPTS, transcripts(), desk.labels())
        gold = {row["item_id"]: row["label"] for row in csv.DictReader(io.StringIO(write_gold(desk)))}
    sides = [[each[person] for each in said.values()] for person in ("Ann", "Ben")]
    (kappa,) = found.pairs.values()
    assert kappa.value == pytest.approx(cohen_kappa_score(*sides, weights="quadratic"))
    assert kappa.value != pytest.approx(cohen_kappa_score(*sides))
    assert {item: label for item, label in gold.items() if label} == {
        item: str(each["Ann"]) for item, each in said.items() if each["Ann"] == each["Ben"]
    }
