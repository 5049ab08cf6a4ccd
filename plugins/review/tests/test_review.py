"""Review: every POST behind the guard, decisions that are committed, two reviewers, tables, statistics."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from attrs import evolve
from jrh import Case, JrhError
from jrh.store.run_store import Store
from jrh.values.cases import Same
from jrh_review.decisions import Decision, QueuedCase, ReviewAction, case_reviews
from jrh_review.desk import ReviewDesk, review_desk
from jrh_review.options import QueueRequest
from jrh_review.pages.review import Reviewing
from jrh_review.review_statistics import review_shares, reviewer_agreement
from jrh_review.runs import Runs
from jrh_review.security import MOST_BODY, Names, Session, Sessions
from jrh_review.serving import make_app
from jrh_review.tables import write_decisions
from jrh_testing import loop_over

from .conftest import HOST, ORIGIN, PORT, Answer, Door, cookie_of

LABELS = {"YES": "YES", "NO": "NO"}
FORMULA = "=HYPERLINK(1)\x1b text"
ITEMS = 6


def a_case(test: str, item: int, text: str) -> Case:
    return Case(
        id=f"{test}-{item}",
        task="task",
        test=test,
        item_id=f"item {item}",
        fields={"request": "q", "response": text},
        expectation=Same(),
        label_map=LABELS,
    )


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    store = Store.open(tmp_path / "run", "suite")
    try:
        for test, change in (("reference", ""), ("words", " changed"), ("lines", "\r\nline")):
            cases = [a_case(test, n, f"text {n}{change}") for n in range(ITEMS)]
            if test == "words":
                cases[5] = evolve(cases[5], fields={"request": "q", "response": FORMULA})
            writing = store.cases.writing("task", test)
            writing.put(cases, ())
            writing.finish("made")
    finally:
        store.close()
    return tmp_path / "run"


@pytest.fixture
def desk(run_dir: Path) -> Iterator[ReviewDesk]:
    with review_desk(run_dir) as found:
        found.make_queue(None)
        yield found


class Browser:
    """A browser of one person: raw requests through the guard."""

    def __init__(self, door: Door, session: Session) -> None:
        self.door, self.session = door, session
        self.own = [("host", HOST), ("cookie", cookie_of(session))]

    def get(self, path: str, query: str = "") -> Answer:
        return self.door.ask(path, headers=self.own, query=query)

    def read(self, path: str, query: str = "") -> dict:
        return json.loads(self.get(path, query).body)

    def post(self, path: str, sent: object, without: str = "", body: bytes | None = None, **changed: str) -> Answer:
        good = {"origin": ORIGIN, "sec-fetch-site": "same-origin", "content-type": "application/json"}
        headers = {**good, "x-csrf-token": self.session.csrf, **{k.replace("_", "-"): v for k, v in changed.items()}}
        kept = [(name, value) for name, value in headers.items() if name != without]
        text = json.dumps(sent).encode() if body is None else body
        return self.door.ask(path, method="POST", headers=[*self.own, *kept], parts=(text,))

    def decide(self, case: str, action: str, **more: object) -> tuple[int, dict]:
        known = self.read("/review/case.json", f"case={case}")
        sent = {"case": case, "action": action, "version": known.get("version", 0), "settles": known.get("open", False)}
        answer = self.post("/review/decide", {**sent, **more})
        return answer.status, json.loads(answer.body)


def opened(desk: ReviewDesk, run_dir: Path, *names: str) -> Door:
    announced: list[str] = []
    sessions = Sessions(announced.append)
    reviewing = Reviewing(run="run", desk=desk, names=names)
    guard = make_app(Runs((run_dir,)), sessions, Names.at("127.0.0.1", PORT), work=reviewing)
    return Door(guard=guard, sessions=sessions, announced=announced, written=[])


@pytest.fixture
def ann(desk: ReviewDesk, run_dir: Path) -> Browser:
    door = opened(desk, run_dir, "Ann")
    return Browser(door, door.enter())


@pytest.fixture
def two(desk: ReviewDesk, run_dir: Path) -> tuple[Browser, Browser]:
    door = opened(desk, run_dir, "Ann", "Ben")
    found = Browser(door, door.enter()), Browser(door, door.enter())
    for browser, name in zip(found, ("Ann", "Ben"), strict=True):
        form = f"csrf={browser.session.csrf}&reviewer={name}".encode()
        sent = browser.post("/review/who", None, body=form, content_type="application/x-www-form-urlencoded")
        assert sent.status == 303
    return found


GOOD = {"case": "words-0", "action": "accept", "version": 0, "settles": False}


# -- the requests ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/review/decide", "/review/who"])
@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({"without": "origin"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": f"https://{HOST}"}, 403),
        ({"sec_fetch_site": "cross-site"}, 403),
        ({"sec_fetch_site": "same-site"}, 403),
        ({"without": "x-csrf-token"}, 403),
        ({"x_csrf_token": "wrong"}, 403),
        ({"content_type": "text/plain"}, 415),
        ({"body": b"x" * (MOST_BODY + 1)}, 413),
    ],
)
def test_no_other_site_can_decide(ann: Browser, desk: ReviewDesk, path: str, changed: dict, status: int) -> None:
    assert ann.post(path, GOOD, **changed).status == status
    assert desk.reviews() == {}


def test_a_decision_without_a_session_is_refused(ann: Browser, desk: ReviewDesk) -> None:
    stranger = Browser(ann.door, Session())
    assert stranger.post("/review/decide", GOOD).status == 401
    assert desk.reviews() == {}


@pytest.mark.parametrize("path", ["/review/decide", "/review/who"])
def test_no_get_changes_anything(ann: Browser, desk: ReviewDesk, path: str) -> None:
    assert ann.get(path, "case=words-0&action=accept").status == 405
    assert desk.reviews() == {}


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({"case": "nothing"}, 404),
        ({"case": "reference-0"}, 404),
        ({"case": ["words-0"]}, 404),
        ({"case": None}, 404),
        ({"action": "delete"}, 400),
        ({"action": None}, 400),
        ({"version": "0"}, 400),
        ({"version": True}, 400),
        ({"version": 0.0}, 400),
        ({"version": 7}, 409),
        ({"settles": 1}, 400),
        ({"settles": True}, 409),
        ({"action": "reject"}, 400),
        ({"action": "reject", "reason": "  "}, 400),
        ({"action": "reject", "reason": "x" * 2001}, 400),
        ({"action": "reject", "reason": 5}, 400),
        ({"action": "undo"}, 400),
        ({"action": "edit"}, 400),
        ({"action": "edit", "after": []}, 400),
        ({"action": "edit", "after": {"response": "text 0 changed"}}, 400),
        ({"action": "edit", "after": {"request": "other"}}, 400),
        ({"action": "edit", "after": {"response": None}}, 400),
        ({"action": "edit", "after": {"response": "x" * 300_001}}, 400),
        ({"action": "edit", "expected": "=MAYBE"}, 400),
        ({"action": "edit", "expected": "same"}, 400),
    ],
)
def test_a_wrong_decision_is_refused_with_a_sentence(
    ann: Browser, desk: ReviewDesk, changed: dict, status: int
) -> None:
    answer = ann.post("/review/decide", {**GOOD, **changed})
    assert answer.status == status
    assert json.loads(answer.body)["message"].endswith(".")
    assert desk.reviews() == {}


def test_a_decision_is_in_the_store_before_the_page_says_saved(ann: Browser, run_dir: Path) -> None:
    status, said = ann.decide("words-0", "edit", after={"response": "mine \ud800"}, expected="=NO")
    assert (status, said["saved"], said["state"]) == (200, True, "edit")
    with sqlite3.connect(f"file:{run_dir / 'run.sqlite'}?mode=ro", uri=True) as other:
        row = other.execute(
            "SELECT case_id, reviewer, action, before, after, expected_before, "
            "expected_after FROM stage_review_decisions"
        ).fetchall()
    other.close()
    before, after = '{"response": "text 0 changed"}', '{"response": "mine ?"}'
    assert row == [("words-0", "Ann", "edit", before, after, "same", "=NO")]


def test_a_second_tab_does_not_overwrite_the_first(ann: Browser, desk: ReviewDesk) -> None:
    assert ann.post("/review/decide", GOOD).status == 200
    second = ann.post("/review/decide", {**GOOD, "action": "reject", "reason": "typo"})
    assert second.status == 409
    assert "later decision" in json.loads(second.body)["message"]
    assert [each.action for each in desk.review("words-0").log] == [ReviewAction.ACCEPT]


def test_undo_takes_the_last_decision_back_and_the_log_keeps_both(ann: Browser, desk: ReviewDesk) -> None:
    ann.decide("words-0", "accept")
    assert ann.decide("words-0", "undo")[1]["state"] == ""
    assert desk.review("words-0").outcome is None
    assert [each.action.value for each in desk.review("words-0").log] == ["accept", "undo"]
    assert ann.decide("words-0", "undo")[0] == 400


# -- two reviewers ---------------------------------------------------------------------------------------------------


def test_reviewers_see_nothing_of_each_other_before_both_decided(two: tuple[Browser, Browser]) -> None:
    ann, ben = two
    pages = ("/review/queue.json", "/review/case.json", "/review/summary")
    unseen = [ben.get(path, "case=words-0").body.replace(b"Ben", b"") for path in pages]
    assert ann.decide("words-0", "reject", reason="a telling reason")[0] == 200
    assert [ben.get(path, "case=words-0").body.replace(b"Ben", b"") for path in pages] == unseen
    assert ben.decide("words-0", "accept")[0] == 200
    assert b"a telling reason" in ben.get("/review/case.json", "case=words-0").body
    assert b"item 0, words" in ann.get("/review/summary").body


def test_a_conflict_is_settled_by_a_third_decision(two: tuple[Browser, Browser], desk: ReviewDesk) -> None:
    ann, ben = two
    ann.decide("words-0", "reject", reason="typo")
    ben.decide("words-0", "accept")
    assert desk.review("words-0").in_conflict
    stale = ben.post("/review/decide", {**GOOD, "action": "reject", "reason": "typo", "version": 2})
    assert stale.status == 409, "who did not see the other's decision does not settle the case unawares"
    assert ben.decide("words-0", "reject", reason="agreed")[1]["state"] == "settled"
    review = desk.review("words-0")
    assert not review.in_conflict
    assert review.outcome is not None
    assert (review.outcome.action, review.outcome.settles) == (ReviewAction.REJECT, True)
    assert {name: each.action.value for name, each in review.blind.items()} == {"Ann": "reject", "Ben": "accept"}


def test_a_browser_keeps_its_name(two: tuple[Browser, Browser]) -> None:
    ann, _ = two
    form = f"csrf={ann.session.csrf}&reviewer=Ben".encode()
    assert ann.post("/review/who", None, body=form, content_type="application/x-www-form-urlencoded").status == 409


def test_without_a_name_there_is_no_case_and_no_decision(desk: ReviewDesk, run_dir: Path) -> None:
    door = opened(desk, run_dir, "Ann", "Ben")
    someone = Browser(door, door.enter())
    for path in ("/review/queue.json", "/review/case.json"):
        assert someone.get(path, "case=words-0").status == 403
    assert someone.post("/review/decide", GOOD).status == 403
    assert b"Who reviews" in someone.get("/review").body


# -- the queue -------------------------------------------------------------------------------------------------------


def test_a_sample_has_its_inclusion_probability_and_stays(run_dir: Path) -> None:
    request = QueueRequest(tests=("words",), sample=4, seed=3)
    with review_desk(run_dir) as desk:
        drawn = desk.make_queue(request)
        assert {case.test for case in drawn} == {"words"}
        assert [case.probability for case in drawn] == [4 / ITEMS] * 4
        assert desk.make_queue(None) == drawn
        desk.decide(Decision(case_id=drawn[0].case_id, reviewer="Ann", made="", action=ReviewAction.ACCEPT), 0)
        assert desk.make_queue(request) == drawn
        with pytest.raises(JrhError, match="it cannot change"):
            desk.make_queue(evolve(request, seed=4))
        with pytest.raises(JrhError, match="it cannot change"):
            desk.make_queue(QueueRequest())
    with review_desk(run_dir) as desk:
        assert desk.make_queue(None) == drawn


def test_an_unknown_test_is_refused(run_dir: Path) -> None:
    with review_desk(run_dir) as desk, pytest.raises(JrhError, match="it has: lines, words"):
        desk.make_queue(QueueRequest(tests=("word",)))


KEY = "sk-proj-q8Zr2LxT0vKd91mNsWbY7uHcq8Zr2LxT0vKd91mN"

# -- tables ----------------------------------------------------------------------------------------------------------


def test_a_table_holds_every_decision_and_nothing_that_acts(ann: Browser, desk: ReviewDesk) -> None:
    ann.decide("words-0", "accept")
    ann.decide("words-1", "reject", reason=f"=1+1\x07 {KEY}")
    ann.decide("words-5", "edit", after={"response": "+cmd\x1b\r\nnext"}, expected="=NO")
    assert "looks like a key" in str(ann.decide("words-2", "edit", after={"response": f"It is {KEY}."}))
    text = write_decisions(desk)
    table = list(csv.DictReader(io.StringIO(text, newline="")))
    assert not [cell for row in table for cell in row.values() if cell[:1] in ("=", "+", "@")]
    assert "\x1b" not in text
    assert "\x07" not in text
    assert KEY not in text, "a key that a person pasted is masked before it is stored"
    decided = {row["case_id"]: row for row in table if row["action"]}
    assert {case: (row["reviewer"], row["action"], row["valid"]) for case, row in decided.items()} == {
        "words-0": ("Ann", "accept", "yes"),
        "words-1": ("Ann", "reject", "no"),
        "words-5": ("Ann", "edit", "no"),
    }
    assert decided["words-5"]["expected"] == "'=NO"
    assert len({row["case_id"] for row in table}) == len(desk.queue())


# -- statistics ------------------------------------------------------------------------------------------------------


def _log(*rows: tuple[int, str, str]) -> list[Decision]:
    return [
        Decision(number=n, case_id=f"c{case}", reviewer=name, made="", action=ReviewAction(action), reason="r")
        for n, (case, name, action) in enumerate(rows, 1)
    ]


def _queue(number: int, *, probability: float = 0.5) -> list[QueuedCase]:
    return [QueuedCase(f"c{n}", "task", "test", f"i{n}", f"i{n}", probability) for n in range(number)]


def test_the_table_of_the_paper_comes_out_of_decisions() -> None:
    """14 of 16 modified: Wilson's interval from scipy."""
    from scipy.stats import binomtest

    log = _log(*((n, "Ann", "edit" if n < 14 else "accept") for n in range(16)), (16, "Ann", "skip"))
    (found,) = review_shares(_queue(20), case_reviews(log))
    assert (found["queued"], found["decided"], found["conflicts"]) == (20, 16, 0)
    edited = found["shares"]["edit"]
    ends = binomtest(14, 16).proportion_ci(method="exact")
    assert edited["estimate"] == 14 / 16
    assert (edited["interval"]["low"], edited["interval"]["high"]) == pytest.approx((ends.low, ends.high))


def test_a_targeted_sample_is_weighed_by_its_probabilities() -> None:
    """10 cases of probability 1, all rejected; 10 of 100 of probability 0.1, all accepted: 10 of 110 are rejected."""
    queue = [case._replace(probability=1.0 if n < 10 else 0.1) for n, case in enumerate(_queue(20))]
    log = _log(*((n, "Ann", "reject" if n < 10 else "accept") for n in range(20)))
    (found,) = review_shares(queue, case_reviews(log))
    assert found["weighted"]
    assert found["shares"]["reject"]["estimate"] == pytest.approx(10 / 110)


def test_agreement_is_of_decisions_made_blind() -> None:
    """Cohen's kappa by hand: observed 6/8, by chance (5*5 + 3*3) / 64."""
    pairs = [("accept", "accept")] * 4 + [("reject", "reject")] * 2 + [("accept", "reject"), ("reject", "accept")]
    log = _log(*((n, name, pair[i]) for n, pair in enumerate(pairs) for i, name in enumerate(("Ann", "Ben"))))
    settled = [evolve(each, number=100, reviewer="Ann", settles=True) for each in log if each.case_id == "c6"][1:]
    kappa, alpha = reviewer_agreement(_queue(8), case_reviews([*log, *settled]))
    chance = (5 * 5 + 3 * 3) / 64
    assert (kappa["who"], alpha["who"], alpha["agreement"]["n"]) == ("Ann and Ben", "all", 8)
    assert kappa["agreement"]["estimate"] == pytest.approx((6 / 8 - chance) / (1 - chance))
    # Krippendorff: 1 - (n - 1) * o / sum of products of the margins, with n = 16 ratings and 4 unequal ordered pairs.
    assert alpha["agreement"]["estimate"] == pytest.approx(1 - 15 * 4 / (2 * 10 * 6))


# -- the program -----------------------------------------------------------------------------------------------------


def test_the_program_exports_and_salvage_keeps_decisions(run_dir: Path, tmp_path: Path) -> None:
    from click.testing import CliRunner
    from jrh.store import StoredRows, write_store
    from jrh_review.commands import review

    path = tmp_path / "mine.csv"

    def jrh(*options: str) -> None:
        done = CliRunner().invoke(review, [str(run_dir), "--reviewer", "Ann", *options], catch_exceptions=False)
        assert done.exit_code == 0, done.output

    jrh("--tests", "words", "--export", str(path))
    assert len(list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"), newline="")))) == ITEMS
    accepted = Decision(case_id="words-1", reviewer="Ann", made="", action=ReviewAction.ACCEPT)
    with review_desk(run_dir) as desk:
        desk.decide(accepted, 0)
        desk.decide(evolve(accepted, case_id="words-2", action=ReviewAction.REJECT, reason="typo"), 0)
    with closing(StoredRows(run_dir)) as source:
        tables = ((name, source.rows(name)) for name in source.tables)
        write_store(tmp_path / "saved", source.meta["suite"], tables, source.stage_tables.values())
    with review_desk(run_dir) as desk, review_desk(tmp_path / "saved") as saved:
        assert set(saved.reviews()) == {"words-1", "words-2"}
        assert (saved.reviews(), saved.queue()) == (desk.reviews(), desk.queue())
    jrh("--export", str(path))
    told = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"), newline="")))
    assert {row["case_id"]: row["valid"] for row in told if row["valid"]} == {"words-1": "yes", "words-2": "no"}
    told[3]["action"] = "accept"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, told[0])
        writer.writeheader()
        writer.writerows(told)
    jrh("--import", str(path))
    with review_desk(run_dir) as desk:
        assert desk.reviews().keys() == {"words-1", "words-2", told[3]["case_id"]}


@loop_over("names", [("Ann", "Ann"), ("",), ("a\x1bb",), (" Ann",), ("x" * 81,)])
def test_a_reviewer_needs_a_name_of_their_own(names: tuple[str, ...]) -> None:
    from jrh_review.desk_commands import check_names

    with pytest.raises(JrhError, match="--reviewer"):
        check_names(names)


def test_a_settling_skip_settles_nothing(two: tuple[Browser, Browser], desk: ReviewDesk) -> None:
    ann, ben = two
    ann.decide("words-0", "reject", reason="typo")
    ben.decide("words-0", "accept")
    assert ann.decide("words-0", "skip")[0] == 200
    assert desk.review("words-0").in_conflict
