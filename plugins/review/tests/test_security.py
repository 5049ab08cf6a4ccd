"""The guard: whatever another web site can make a browser send, nothing happens (raw scopes, no client between)."""

from __future__ import annotations

import asyncio
import json

import pytest
from jrh import JrhError
from jrh_review.security import HEADERS, MOST_BODY, Names
from jrh_review.serving import check_address
from jrh_testing import loop_over

from .conftest import HOST, ORIGIN, PORT, cookie_of

NAVIGATING = (("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document"))


# -- the Host header -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", [HOST, f"localhost:{PORT}", f"LOCALHOST:{PORT}", f"[::1]:{PORT}"])
def test_the_names_of_loopback_are_answered(reading, host):
    assert reading(host=host).status == 200


@pytest.mark.parametrize(
    "host",
    [
        None,
        "",
        " ",
        "127.0.0.1",
        "localhost",
        "127.0.0.1:80",
        f"127.0.0.1:0{PORT}",
        f"127.0.0.1:{PORT}.",
        f"127.0.0.1:{PORT}:{PORT}",
        f" 127.0.0.1:{PORT}",
        f"127.0.0.2:{PORT}",
        f"0.0.0.0:{PORT}",
        f"0:{PORT}",
        f"2130706433:{PORT}",
        f"127.1:{PORT}",
        f"rebound.example:{PORT}",
        f"127.0.0.1.rebound.example:{PORT}",
        f"localhost.:{PORT}",
        f"localhost.localdomain:{PORT}",
        f"user@127.0.0.1:{PORT}",
        f"127.0.0.1:{PORT}, evil.example",
        f"127.0.0.1:{PORT}\x00",
        f"[::ffff:127.0.0.1]:{PORT}",
        f"::1:{PORT}",
        f"\xb9\xb27.0.0.1:{PORT}",
    ],
)
def test_another_host_is_refused_whatever_else_is_right(reading, host):
    """DNS rebinding: the browser sends the attacker's name, with a cookie if it has one."""
    assert reading(host=host).status == 421


def test_two_host_headers_are_refused_even_if_both_are_good(reading):
    assert reading(("host", HOST)).status == 421
    assert reading(("Host", "evil.example")).status == 421


def test_an_origin_that_equals_a_rebound_host_proves_nothing(writing):
    evil = f"rebound.example:{PORT}"
    assert writing(host=evil, origin=f"http://{evil}").status == 421


def test_the_host_is_checked_before_anything_else(door):
    """A malformed request in every other respect says nothing but that its Host is another."""
    asked = door.ask("/../x", method="BREW", headers=[("host", "evil.example"), ("cookie", "a"), ("cookie", "b")])
    assert asked.status == 421


def test_a_server_on_another_address_has_that_name_too():
    assert "192.0.2.7:80" in Names.at("192.0.2.7", 80).hosts
    assert "192.0.2.7" in Names.at("192.0.2.7", 80).hosts, "what browsers send where the port is that of http"
    assert "192.0.2.7" not in Names.at("192.0.2.7", 81).hosts
    assert "[2001:db8::1]:80" in Names.at("2001:db8::1", 80).hosts


# -- the session -----------------------------------------------------------------------------------------------------


def test_the_token_opens_a_session_once(door):
    token = door.sessions.token
    first = door.ask("/enter", headers=[("host", HOST)], query=f"once={token}")
    assert first.status == 200
    name, _, rest = first.headers["set-cookie"].partition("=")
    assert name == f"jrh-{PORT}"
    assert {"httponly", "samesite=strict", "path=/"} <= {part.strip().lower() for part in rest.split(";")}
    assert "domain" not in rest.lower()
    assert token not in first.body.decode()
    assert token not in first.headers["set-cookie"]
    assert first.headers["referrer-policy"] == "no-referrer"
    again = door.ask("/enter", headers=[("host", HOST)], query=f"once={token}")
    assert again.status == 401
    assert "set-cookie" not in again.headers
    value = rest.partition(";")[0]
    assert door.ask(headers=[("host", HOST), ("cookie", f"{name}={value}")]).status == 200


def test_the_next_token_is_only_told_to_the_terminal(door, reading):
    (told,) = door.announced
    assert told == door.sessions.token
    for path in ("/", "/enter", "/static/page.js", "/missing"):
        assert told not in reading(path=path).body.decode()


@pytest.mark.parametrize(
    "query",
    ["", "once=", "once=x", "once=%00", "once=%ff", "once=" + "a" * 9000, "Once={}", "once={}x", "x&once={}x"],
)
def test_a_wrong_token_opens_nothing(door, query):
    asked = door.ask("/enter", headers=[("host", HOST)], query=query.format(door.sessions.token, door.sessions.token))
    assert asked.status == 401
    assert "set-cookie" not in asked.headers


@pytest.mark.parametrize("header", [("purpose", "prefetch"), ("x-moz", "prefetch"), ("sec-purpose", "Prefetch")])
def test_no_browser_uses_the_token_up_ahead_of_time(door, header):
    token = door.sessions.token
    assert door.ask("/enter", headers=[("host", HOST), header], query=f"once={token}").status == 403
    assert door.sessions.token == token


def test_without_a_session_no_body_is_read(door):
    """Another site may send any form; a server that waits for its end holds a connection and a megabyte for it."""
    good = [("host", HOST), ("origin", ORIGIN), ("content-type", "application/json"), ("content-length", "900000")]
    assert door.ask("/save", method="POST", headers=good, parts=()).status == 401


@pytest.mark.parametrize("method", ["HEAD", "POST"])
def test_only_a_followed_link_uses_the_token_up(door, method):
    token = door.sessions.token
    headers = [("host", HOST), ("origin", ORIGIN), ("content-type", "application/x-www-form-urlencoded")]
    assert door.ask("/enter", method=method, headers=headers, query=f"once={token}").status == 401
    ahead = [("host", HOST), ("sec-purpose", "prefetch;prerender")]
    assert door.ask("/enter", headers=ahead, query=f"once={token}").status == 403
    assert door.sessions.token == token


@pytest.mark.parametrize(
    "cookie",
    [
        "",
        ";",
        "=",
        "jrh-5123",
        "jrh-5123=",
        "jrh-5123=x",
        "jrh-5123=" + "A" * 43,
        "jrh-5123=" + "A" * 30_000,
        "jrh-5124={}",
        "JRH-5123={}",
        'jrh-5123="{}"',
        "jrh-5123={}; jrh-5123={}",
        "jrh-5123=x; jrh-5123={}",
        "jrh-5123={}x",
        "jrh-5123={}\xe9",
    ],
)
def test_a_wrong_cookie_is_no_session(door, cookie):
    key = door.enter().key
    assert door.ask(headers=[("host", HOST), ("cookie", cookie.replace("{}", key))]).status == 401


def test_other_cookies_of_the_host_do_no_harm(door):
    key = cookie_of(door.enter())
    assert door.ask(headers=[("host", HOST), ("cookie", f"theme=dark; {key}; jrh-9=x")]).status == 200


@pytest.mark.parametrize("path", ["/", "/static/style.css", "/missing", "/run/x/", "/enter/"])
def test_without_a_session_nothing_is_answered(door, path):
    assert door.ask(path, headers=[("host", HOST)]).status == 401


# -- changes ---------------------------------------------------------------------------------------------------------


def test_a_form_of_the_page_is_accepted(writing, door):
    assert writing().status == 200
    assert len(door.written) == 1


def test_json_with_the_token_in_a_header_is_accepted(writing, door):
    session = door.sessions._open[-1]
    kind = "application/json; charset=utf-8"
    assert writing(("x-csrf-token", session.csrf), content_type=kind, body=b"{}").status == 200
    assert writing(content_type=kind, body=json.dumps({"csrf": session.csrf}).encode()).status == 403
    assert len(door.written) == 1


@pytest.mark.parametrize(
    "origin",
    ["", "null", "http://evil.example", f"https://{HOST}", f"http://localhost:{PORT}", "http://127.0.0.1", f"{ORIGIN}/",
     f"{ORIGIN} http://evil.example", HOST, f"http://127.0.0.1:{PORT}.evil.example", "\x00"],
)  # fmt: skip
def test_another_origin_changes_nothing(writing, door, origin):
    assert writing(origin=origin).status == 403
    assert door.written == []


@pytest.mark.parametrize("site", ["cross-site", "same-site", "none"])
def test_another_site_changes_nothing_even_with_the_right_origin(writing, door, site):
    assert writing(sec_fetch_site=site).status == 403
    assert door.written == []


@pytest.mark.parametrize("site", ["", "Same-Origin", "same-origin, cross-site", "?", "\x00"])
def test_a_malformed_site_changes_nothing(writing, door, site):
    assert writing(sec_fetch_site=site).status == 400
    assert door.written == []


def test_an_old_browser_without_fetch_metadata_may_still_write(writing):
    assert writing(without="sec-fetch-site").status == 200


@pytest.mark.parametrize(("header", "status"), [("origin", 403), ("cookie", 401), ("content-type", 415), ("host", 421)])
def test_a_missing_header_changes_nothing(writing, door, header, status):
    assert writing(without=header).status == status
    assert door.written == []


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("origin", ORIGIN),
        ("Origin", "http://evil.example"),
        ("sec-fetch-site", "same-origin"),
        ("cookie", "a=b"),
        ("content-type", "application/x-www-form-urlencoded"),
        ("sec-fetch-mode", "cors"),
    ],
)
def test_a_doubled_header_changes_nothing(writing, door, header, value):
    pair = ((header, value), (header.upper(), value)) if header.startswith("sec-fetch-mode") else ((header, value),)
    assert writing(*pair).status == 400
    assert door.written == []


def test_a_doubled_length_or_token_changes_nothing(writing, door):
    for name in ("content-length", "x-csrf-token"):
        assert writing((name, "5"), (name, "5")).status == 400
    assert door.written == []


@pytest.mark.parametrize("csrf", ["", "x", "A" * 43, "%00"])
def test_a_form_without_its_token_changes_nothing(writing, door, csrf):
    assert writing(csrf=csrf).status == 403
    assert door.written == []


def test_the_token_of_another_session_or_twice_changes_nothing(writing, door):
    own, other = door.sessions._open[-1], door.enter()
    assert writing(csrf=other.csrf).status == 403
    assert writing(body=f"csrf={own.csrf}&csrf={own.csrf}".encode()).status == 403
    assert door.written == []


@pytest.mark.parametrize(
    ("kind", "body", "status"),
    [
        ("text/plain", b"csrf=x", 415),
        ("multipart/form-data; boundary=x", b"--x", 415),
        ("", b"", 415),
        ("application/json", b"{", 403),
        ("application/json", b"[" * 100_000, 403),
        ("application/json", b"[]", 403),
        ("application/json", b'{"csrf": 1}', 403),
        ("application/json", b"\xff\xfe", 403),
        ("application/x-www-form-urlencoded", b"\xff=\xff", 400),
        ("application/x-www-form-urlencoded", b"&".join([b"a=b"] * 2000), 400),
    ],
)
def test_a_body_of_another_kind_changes_nothing(writing, door, kind, body, status):
    assert writing(content_type=kind, body=body).status == status
    assert door.written == []


@pytest.mark.parametrize("length", ["", "-1", "+5", "5 5", "0x10", "1e3", "five", "9" * 30, "\xb2"])
def test_a_malformed_length_changes_nothing(writing, door, length):
    assert writing(("content-length", length)).status == 400
    assert door.written == []


def test_a_length_and_chunks_together_change_nothing(writing):
    assert writing(("content-length", "5"), ("transfer-encoding", "chunked")).status == 400


def test_a_body_is_bounded_by_what_it_says_and_by_what_it_is(writing, door):
    assert writing(("content-length", str(MOST_BODY + 1))).status == 413
    assert writing(body=b"a" * (MOST_BODY + 1)).status == 413
    assert writing(("content-length", "5"), body=b"a" * (MOST_BODY + 1)).status == 413
    assert door.written == []


def test_a_body_in_many_parts_is_bounded(door):
    headers = [("host", HOST), ("cookie", cookie_of(door.enter())), ("origin", ORIGIN)]
    headers.append(("content-type", "application/json"))
    assert door.ask("/save", method="POST", headers=headers, parts=[b"x" * 60_000] * 20).status == 413


# -- reading ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_another_site_may_link_and_not_load(reading, site):
    assert reading(("sec-fetch-site", site), *NAVIGATING).status == 200
    assert reading(("sec-fetch-site", site)).status == 403
    for dest in ("script", "image", "iframe", "embed", "style"):
        assert reading(("sec-fetch-site", site), ("sec-fetch-mode", "no-cors"), ("sec-fetch-dest", dest)).status == 403
    assert reading(("sec-fetch-site", site), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "iframe")).status == 403


@pytest.mark.parametrize(
    "method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "BREW", "get", "", "POST\x00"]
)
def test_an_unknown_method_is_refused(reading, method):
    asked = reading(method=method)
    assert asked.status == 405
    assert asked.headers["allow"] == "GET, HEAD, POST"


def test_a_page_that_only_reads_takes_no_form(writing, door):
    session = door.sessions._open[-1]
    headers = [("host", HOST), ("cookie", cookie_of(session)), ("origin", ORIGIN)]
    headers += [("content-type", "application/json"), ("x-csrf-token", session.csrf)]
    assert door.ask("/", method="POST", headers=headers, parts=(b"{}",)).status == 405


@pytest.mark.parametrize("header", [("content-length", "3"), ("transfer-encoding", "chunked"), ("content-length", "x")])
def test_a_request_that_reads_has_no_body(reading, header):
    assert reading(header).status == 400


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/..",
        "/static/./style.css",
        "/static/..\\app.py",
        "/static\\..\\..\\app.py",
        "/static/\x00style.css",
        "/static/style.css\n",
        "//evil.example/",
        "static/style.css",
        "http://evil.example/",
        "",
        "*",
        "/..",
        "/run/../../etc/passwd",
    ],
)
def test_a_path_that_climbs_is_refused(reading, path):
    assert reading(path=path).status == 400


@pytest.mark.parametrize(
    "path",
    ["/static/app.py", "/static//etc/passwd", "/static/%2e%2e%2fapp.py", "/static/style.css/", "/static/", "/run/etc/",
     "/static/STYLE.CSS", "/static/~root", "/static/C:"],
)  # fmt: skip
def test_a_file_that_is_not_named_is_not_there(reading, path):
    asked = reading(path=path)
    assert asked.status == 404
    assert b"import" not in asked.body


def test_an_address_is_bounded(reading):
    assert reading(path="/" + "a" * 5000).status == 414
    assert reading(query="a" * 20_000).status == 414


def test_headers_are_bounded(reading):
    assert reading(("x-long", "a" * 40_000)).status == 431
    assert reading(*((f"x-{n}", "a" * 100) for n in range(400))).status == 431


def test_a_refusal_quotes_nothing(reading, door):
    mark = "<script>alert(1)</script>"
    for asked in (
        reading(path=f"/{mark}"),
        reading(host=mark),
        reading(method=mark),
        reading(("sec-fetch-site", mark)),
        reading(query=f"task={mark}"),
        door.ask("/enter", headers=[("host", HOST)], query=f"once={mark}"),
    ):
        assert mark.encode() not in asked.body


# -- every answer ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "host"), [("/", HOST), ("/missing", HOST), ("/static/page.js", HOST), ("/..", HOST), ("/", "evil.example")]
)
def test_every_answer_has_the_headers(reading, path, host):
    asked = reading(path=path, host=host)
    assert {name: asked.headers.get(name) for name in HEADERS} == dict(HEADERS)
    policy = dict(part.strip().partition(" ")[::2] for part in asked.headers["content-security-policy"].split(";"))
    assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["form-action"] == "'self'"
    assert "access-control-allow-origin" not in asked.headers
    assert "set-cookie" not in asked.headers


def test_a_page_that_breaks_shows_no_traceback(door, reading, monkeypatch):
    def broken(*_):
        raise RuntimeError("a secret path")

    monkeypatch.setattr("jrh_review.runs.Runs.scan", broken)
    with pytest.raises(RuntimeError):  # the server's log gets it
        reading()


def test_a_web_socket_is_closed(door):
    sent = []

    async def talk():
        async def receive():
            return {"type": "websocket.connect"}

        async def send(message):
            sent.append(message)

        await door.guard({"type": "websocket", "path": "/", "headers": [(b"host", HOST.encode())]}, receive, send)

    asyncio.run(talk())
    assert [message["type"] for message in sent] == ["websocket.close"]


# -- where it listens ------------------------------------------------------------------------------------------------


@loop_over("address", ["127.0.0.1", "localhost", "::1", "127.0.0.9"])
def test_loopback_needs_no_leave(address):
    assert check_address(address, allow_remote=False) == address.replace("localhost", "127.0.0.1")


@loop_over(
    ("address", "leave", "why"),
    [
        ("192.0.2.7", False, "--allow-remote"),
        ("0.0.0.0", False, "--allow-remote"),
        ("::", False, "--allow-remote"),
        ("0.0.0.0", True, "means every address"),
        ("::", True, "means every address"),
        ("example.org", True, "not an IP address"),
        ("", False, "not an IP address"),
        ("127.0.0.1/8", False, "not an IP address"),
    ],
)
def test_another_address_is_refused_in_one_sentence(address, leave, why):
    with pytest.raises(JrhError, match=why):
        check_address(address, allow_remote=leave)


def test_with_leave_another_address_is_taken():
    assert check_address("192.0.2.7", allow_remote=True) == "192.0.2.7"
