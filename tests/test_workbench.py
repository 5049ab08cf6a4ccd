"""`jrh view`: the list of cases, the pages over a real socket, and the program from its address to Ctrl-C."""

from __future__ import annotations

import html
import http.client
import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from attrs import evolve, frozen
from jrh import open_run
from jrh.running import open_store
from jrh.store.run_store import Store
from jrh.values import Importance, TablePart
from jrh_measuring import cell_text
from jrh_review.listed_cases import CaseFilter, CaseOrder, CaseRow, find_cases
from support.stored import Made
from support.workbench import Bench, workbench

MADE = Made(items=30)
ALL = CaseFilter()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("runs")
    MADE.write(found / "done")
    return found


@frozen
class Window:
    """A client with a session."""

    bench: Bench
    cookie: str

    def get(self, path: str) -> tuple[int, str]:
        with closing(http.client.HTTPConnection(self.bench.base.partition("//")[2], timeout=20)) as connection:
            connection.request("GET", path, headers={"cookie": self.cookie})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()


def _window(bench: Bench) -> Window:
    session = bench.sessions.enter(bench.sessions.token)
    assert session is not None
    return Window(bench, f"jrh-{bench.base.rpartition(':')[2]}={session.key}")


@pytest.fixture(scope="module")
def window(folder: Path) -> Iterator[Window]:
    with workbench(folder) as bench:
        yield _window(bench)


# -- the list of cases -----------------------------------------------------------------------------------------------


def listed(run_dir: Path, wanted: CaseFilter = ALL, order: CaseOrder = CaseOrder.PLAN) -> list[CaseRow]:
    """Return all rows, page by page."""
    rows: list[CaseRow] = []
    after = 0
    with open_store(run_dir) as store:
        while True:
            page = find_cases(store, wanted, order, 17, after)
            rows += page.rows
            if page.after is None:
                assert page.total == len(rows)
                return rows
            after = page.after


def test_every_case_and_judge_is_a_row_scored_by_its_records(folder: Path) -> None:
    """Counted here from the records one by one, without the code that scores."""
    rows = {(row.case_id, row.judge): row for row in listed(folder / "done")}
    records = [record for _, record in MADE._trials()]
    assert len(rows) == 30 * 4 * 2
    for (case, judge), row in rows.items():
        own = [each for each in records if (each.case_id, each.judge) == (case, judge)]
        said = [each.canonical for each in own if each.canonical]
        reference = [
            each.canonical
            for each in records
            if (each.item_id, each.judge, each.test) == (row.item_id, judge, "reference") and each.canonical
        ]
        counts = Counter(said)
        assert row.trials == len(own) == 2
        assert row.missing == 2 - len(said)
        assert row.status == ("refused" if len(said) < 2 else "")
        assert Counter({label: int(n) for n, label in re.findall(r"(\d)x (\w+)", row.verdicts)}) == counts
        right = [label == row.gold for label in said]
        assert row.right == (sum(right) / len(right) if right else None)
        moved = [other != label for label in said for other in reference]
        expected = sum(moved) / len(moved) if moved and row.test != "reference" else None
        assert row.moved == (pytest.approx(expected) if expected is not None else None)


@pytest.mark.parametrize("order", list(CaseOrder))
def test_pages_hold_every_row_once_in_order(folder: Path, order: CaseOrder) -> None:
    rows = listed(folder / "done", order=order)
    assert sorted(row.position for row in rows) == sorted(row.position for row in listed(folder / "done"))
    if order in (CaseOrder.RIGHT, CaseOrder.EXPECTED, CaseOrder.MOVED):
        scores = [getattr(row, order.value) for row in rows]
        known = [score for score in scores if score is not None]
        assert known == sorted(known, reverse=order is CaseOrder.MOVED)
        assert scores[: len(known)] == known, "rows without a score stand last"


def test_every_filter_leaves_the_rows_that_fit(folder: Path) -> None:
    every = listed(folder / "done")
    filters = {
        CaseFilter(judge="judge 1"): lambda row: row.judge == "judge 1",
        CaseFilter(test="test 2", stratum="stratum 3"): lambda row: (row.test, row.stratum) == ("test 2", "stratum 3"),
        CaseFilter(variant="variant 1"): lambda row: row.variant == "variant 1",
        CaseFilter(moved="yes"): lambda row: row.moved is not None and row.moved > 0.5,
        CaseFilter(moved="no"): lambda row: row.moved is not None and row.moved <= 0.5,
        CaseFilter(right="no"): lambda row: row.right is not None and row.right <= 0.5,
        CaseFilter(status="missing"): lambda row: row.missing > 0,
        CaseFilter(status="refused"): lambda row: row.status == "refused",
        CaseFilter(search="RESPONSE 17"): lambda row: row.item_id == "item 17",
        CaseFilter(search="item 2"): lambda row: row.item_id.startswith("item 2"),
        CaseFilter(search="%"): lambda _: False,
        CaseFilter(search="label_map"): lambda _: False,
        CaseFilter(search="condition"): lambda _: False,
        CaseFilter(rationale="rationale 77"): lambda row: row.position == 76,
        CaseFilter(judge="' OR 1=1 --"): lambda _: False,
    }
    for wanted, fits in filters.items():
        assert listed(folder / "done", wanted) == [row for row in every if fits(row)], wanted
    assert 0 < len(listed(folder / "done", CaseFilter(moved="yes"))) < len(every)


# -- pages -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "query",
    [
        "after=", "after=x", "after=[1]", "after=[null,null]", "after=[true,1]", "after=[1e400,1]", "after=[[],1]",
        "after=[1,1e99]", "after=[9999999999999999999999,1]", 'after=["x",5]', "after=%00", "after=" + "[" * 1900,
        "sort=x", "sort=plan'--", "moved=maybe", "right=%ff", "task=%00", "judge=" + "a" * 5000, "from=-1",
        "search=%ff", "judge=%ED%A0%80", "search=%5C%25_", "unknown=1", "sort=item&sort=plan",
    ],
)  # fmt: skip
def test_a_malformed_address_is_a_page_and_no_error(window: Window, query: str) -> None:
    assert window.get(f"/run/done/cases?{query}")[0] == 200
    assert window.get(f"/?{query}")[0] == 200


@pytest.mark.parametrize(
    "path",
    ["/run/none", "/run/done/case/none", "/run/done/item?task=x&item=y", "/run/%2e%2e", "/run/done%2Fx"],
)
def test_what_is_not_there_is_one_sentence(window: Window, path: str) -> None:
    status, text = window.get(path)
    assert status in (400, 404)
    assert "Traceback" not in text


def test_a_run_begins_with_the_answer_table_of_its_report_and_leads_to_the_page(folder: Path, window: Window) -> None:
    opened = open_run(folder / "done")
    assert opened.report is not None
    first = [section for section in opened.report.sections if section.importance is Importance.FIRST]
    tables = [part for section in first for part in section.parts if isinstance(part, TablePart)]
    (folder / "done/report.html").write_text("<title>all of it</title>")
    os.utime(folder / "done/run.sqlite")
    _, text = window.get("/run/done")
    assert tables
    for table in tables:
        assert f"<caption>{table.caption}</caption>" in text
        for row in table.rows:
            for cell in row.cells:
                assert html.escape(cell_text(opened.report, cell, 2)) in text
    assert text.index(tables[0].caption) < text.index(">Findings</h2>")
    assert 'href="/run/done/report/report.html"' in text
    with closing(http.client.HTTPConnection(window.bench.base.partition("//")[2], timeout=20)) as connection:
        connection.request("GET", "/run/done/report/report.html", headers={"cookie": window.cookie})
        answer = connection.getresponse()
        assert (answer.status, answer.read()) == (200, b"<title>all of it</title>")
        assert answer.getheader("content-security-policy") == "sandbox allow-scripts allow-popups"
    assert window.get("/run/done/report/run.sqlite")[0] == 404


def test_a_cell_of_the_heat_map_leads_to_its_cases(window: Window) -> None:
    _, text = window.get("/run/done?lens=agreement")
    cell = "/run/done/cases?task=task+0&amp;test=test+1&amp;judge=judge+0&amp;sort=right"
    assert f'href="{cell}"' in text
    _, cases = window.get(cell.replace("&amp;", "&"))
    assert "30 rows" in cases


def test_a_download_holds_the_filtered_rows_and_no_formula(window: Window, tmp_path: Path) -> None:
    status, text = window.get("/run/done/cases.csv?judge=judge+1&test=test+1")
    assert status == 200
    assert len(text.splitlines()) == 31
    Made(items=2, text=lambda kind, n: f"=1+{n}{kind}").write(tmp_path / "formula")
    with workbench(tmp_path) as bench:
        assert not re.search(r"(^|,)[=+@]", _window(bench).get("/run/formula/cases.csv")[1], re.MULTILINE)


def test_a_run_under_way_shows_its_progress_and_one_that_cannot_be_read_says_why(folder: Path, window: Window) -> None:
    store = Store.open(folder / "going", "going")
    try:
        store.trials.replace("made", [row for row, _ in MADE._trials()][:40])
        store.records.put([(record, None, None) for _, record in MADE._trials()][:15])
        store.flush()
        (folder / "old").mkdir()
        with closing(sqlite3.connect(folder / "old" / "run.sqlite")) as old:
            old.execute("PRAGMA user_version=1")
            old.execute("CREATE TABLE x (y)")
        status, text = window.get("/")
        assert status == 200
        assert '<span data-show="done">15</span> of <span data-show="planned">40</span>' in text
        assert "was written by an older jrh" in text
        now = json.loads(window.get("/run/going/progress.json")[1])["going"]
        assert (now["ended"], now["done"], now["planned"]) == (False, 15, 40)
        assert window.get("/run/going")[0] == 200
        assert "are listed when it ends" in window.get("/run/going/cases")[1]
    finally:
        store.close()


def test_a_path_in_a_name_of_a_run_is_part_of_its_name(tmp_path: Path) -> None:
    from jrh_review.runs import Runs

    for place in ("a/same", "b/same", "c ~&?#%2f"):
        evolve(MADE, items=1, tests=1).write(tmp_path / place)
    runs = Runs((tmp_path,))
    names = list(runs.scan())
    assert len(names) == len(set(names)) == 3
    assert {runs.path(name).relative_to(tmp_path).as_posix() for name in names} == {"a/same", "b/same", "c ~&?#%2f"}


@pytest.mark.parametrize(
    "name", ["new\nline", "a\\..", "del\x7f", "tab\t", "\u202eabc", "%2e%2e", "q\"'<script>", " x "]
)
def test_a_run_of_any_name_opens_from_the_list(tmp_path: Path, name: str) -> None:
    evolve(MADE, items=1, tests=1).write(tmp_path / name)
    with workbench(tmp_path) as bench:
        own = _window(bench)
        (link,) = re.findall(r'<h2><a href="([^"]+)"', own.get("/")[1])
        status, text = own.get(link)
        assert status == 200
        (cases,) = re.findall(r'<a href="([^"]+)">All cases', text)
        assert own.get(cases)[0] == 200


def test_a_run_whose_name_is_not_text_has_one_in_its_address(tmp_path: Path) -> None:
    from jrh_review.runs import Runs

    place = Path(os.fsdecode(os.fsencode(tmp_path) + b"/byte\xff"))
    try:
        evolve(MADE, items=1, tests=1).write(place)
    except OSError:
        pytest.skip("this file system holds names of text only")
    (name,) = Runs((tmp_path,)).scan()
    assert re.fullmatch(r"byte_~[0-9a-f]{8}", name)


def test_repeats_of_a_verdict_share_a_row_whatever_their_rationales(tmp_path: Path) -> None:
    """The made run gives every trial a rationale of its own; its judge 0 says NO to item 1 in all trials but one."""
    evolve(MADE, items=2, tests=1, judges=1, repeats=5).write(tmp_path / "many")
    with workbench(tmp_path) as bench:
        _, text = _window(bench).get("/run/many/case/case-1-1")
    verdicts = text[text.index('id="verdicts"') :].partition("</table>")[0]
    assert verdicts.count("<tr>") == 2, "the head and one judge"
    said = [record for _, record in evolve(MADE, items=2, tests=1, judges=1, repeats=5)._trials()][15:]
    assert Counter(record.canonical for record in said) == {"NO": 4, "YES": 1}
    assert "4x <strong>NO</strong>, 1x <strong>YES</strong>" in verdicts
    assert "3 more rationales for NO" in verdicts
    assert all(record.rationale in verdicts for record in said)


def test_an_essay_is_shown_whole(tmp_path: Path) -> None:
    essay = "word " * 4_000
    evolve(MADE, items=1, tests=1, text=lambda kind, n: f"{kind} {n} {essay if kind == 'request' else ''}end").write(
        tmp_path / "long"
    )
    with workbench(tmp_path) as bench:
        _, text = _window(bench).get("/run/long/case/case-1-0")
    assert f"{essay}end" in text
    assert "more characters" not in text


def test_comparing_with_an_unknown_run_says_so(window: Window) -> None:
    status, text = window.get("/compare?a=done&b=%3Cb%3Enone")
    assert status == 200
    assert "There is no run &lt;b&gt;none in the given directories." in text


# -- the program -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_program_prints_an_address_that_works_once_and_ends_at_ctrl_c(folder: Path) -> None:
    command = [sys.executable, "-m", "jrh", "view", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
        try:
            assert program.stdout is not None
            found = re.fullmatch(r"http://(127\.0\.0\.1):(\d+)(/enter\?once=\S+)\n", program.stdout.readline())
            assert found
            host, port, entrance = found[1], int(found[2]), found[3]
            enter = f"GET {entrance} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n"
            good, again = _raw(host, port, enter), _raw(host, port, enter)
            assert good.startswith("HTTP/1.1 200")
            assert again.startswith("HTTP/1.1 401")
            cookie = re.search(r"set-cookie: (jrh-\d+=[\w-]+)", good)
            assert cookie
            own = f"Host: {host}:{port}\r\nConnection: close\r\nCookie: {cookie[1]}\r\n"
            assert "done" in _raw(host, port, f"GET / HTTP/1.1\r\n{own}\r\n")
            for request, status in {
                f"GET / HTTP/1.1\r\nHost: evil.example\r\nCookie: {cookie[1]}\r\n\r\n": "4",
                f"GET / HTTP/1.1\r\n{own}Host: {host}:{port}\r\n\r\n": "4",
                f"GET / HTTP/1.0\r\nCookie: {cookie[1]}\r\n\r\n": "4",
                f"GET http://evil.example/ HTTP/1.1\r\n{own}\r\n": "4",
                f"GET /static/../../../etc/passwd HTTP/1.1\r\n{own}\r\n": "4",
                f"GET / HTTP/1.1\r\n{own}X: {'a' * 100_000}\r\n\r\n": "4",
                f"POST / HTTP/1.1\r\n{own}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n": "4",
                f"OPTIONS * HTTP/1.1\r\n{own}\r\n": "4",
                "nonsense\r\n\r\n": "4",
            }.items():
                assert _raw(host, port, request).startswith(f"HTTP/1.1 {status}"), request[:80]
            program.send_signal(signal.SIGINT)
            said = program.communicate(timeout=30)[1]
            assert program.returncode == 0
            assert "Traceback" not in said
        finally:
            program.kill()


def _raw(host: str, port: int, request: str) -> str:
    """Send bytes as they are and return what comes back until the server closes."""
    parts = []
    with socket.create_connection((host, port), timeout=20) as connection:
        # A server that refuses a request before all of it has arrived answers, and resets the connection.
        with suppress(ConnectionResetError, BrokenPipeError):
            connection.sendall(request.encode())
        with suppress(ConnectionResetError):
            while part := connection.recv(65_536):
                parts.append(part)
    return b"".join(parts).decode("utf-8", "replace")
