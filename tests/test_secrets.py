"""A key of the environment never gets into a store, a log, a report, a traceback or the terminal (point 7)."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

import pytest
from jrh_testing import ChatServer, Outcome, Project
from support.echoing import Answer, completion, echoing_server, json_error, raw_error
from support.keys import KEY, KEY_VARIABLE
from support.looking import everything, one, query
from support.suites import PROVIDERS, llm_suite, openai_http, simulated_suite, write_items, write_suite

inside = pytest.mark.inside
"""Not for litellm, which prints by itself: what a process prints is all searched."""
HALVES = (KEY[: len(KEY) // 2].encode(), KEY[len(KEY) // 2 :].encode())


def assert_secret(project: Project, *outcomes: Outcome, halves: Sequence[bytes] = HALVES) -> None:
    """Fail where either half of the key, as it is or encoded, is in a file of the project or in what was printed."""
    content = everything(project, *outcomes)
    coded = [encode(half.decode()).encode() for half in halves for encode in PLAIN_ENCODINGS]
    for half in (*halves, *coded):
        place = content.find(half)
        assert place < 0, f"the key got out after {content[max(0, place - 200) : place]!r}"


def run(project: Project, *more: str) -> Outcome:
    return project.run("run", "suite.yaml", "--run-dir", "run", *more)


PLAIN_ENCODINGS: tuple[Callable[[str], str], ...] = (
    lambda text: text.encode().hex(),
    lambda text: text.encode().hex(" ").upper(),
    lambda text: text[::-1],
    lambda text: "".join(f"u{ord(letter):04x}\\" for letter in text)[:-1],
    lambda text: "".join(f"%{ord(letter):02X}" for letter in text),
)
"""Those in which each half of a text is a part of the whole."""
ERRORS: dict[str, Callable[[str], Answer]] = {
    "401 as JSON": json_error(401),
    "400 as JSON": json_error(400),
    "500 as JSON": json_error(500),
    "401 as a page": raw_error(401),
    "400 as a page": raw_error(400),
    "500 as a page": raw_error(500),
    "429 as JSON": json_error(429),
}
ENCODINGS: dict[str, Callable[[str], str]] = {
    "hex": lambda text: text.encode().hex(),
    "HEX apart": lambda text: text.encode().hex(" ").upper(),
    "reversed": lambda text: text[::-1],
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "JSON escapes": lambda text: "".join(f"\\u{ord(letter):04x}" for letter in text),
    "URL escapes": lambda text: "".join(f"%{ord(letter):02X}" for letter in text),
}


def encoded(encode: Callable[[str], str], inner: Callable[[str], Answer]) -> Callable[[str], Answer]:
    return lambda sent: inner(encode(sent))


REPLIES: dict[str, Callable[[str], Answer]] = {
    "in the text": completion(content="YES, you sent {sent}"),
    "in a refusal": completion(content=None, refusal="I refuse {sent}"),
    "across the end of a long refusal": completion(content=None, refusal="x" * 465 + " {sent}"),
    "in JSON": completion(content='{"verdict": "YES", "rationale": "{sent}"}'),
    "as the label": completion(content='{"verdict": "{sent}"}'),
}


def echoed(
    project: Project,
    provider: str,
    kinds: Iterable[str],
    answers: Mapping[str, Callable[[str], Answer]] = {**ERRORS, **REPLIES},
) -> Outcome:
    """Run with one judge for every kind of echo, and check that each got the key and none spread it."""
    write_items(project, 1)
    with echoing_server(answers) as url:
        models = {kind: PROVIDERS[provider](f"{url}/{quote(kind)}/v1", max_attempts=1) for kind in kinds}
        judges = [{"name": kind, "judge": "llm", "model": kind} for kind in models]
        write_suite(project, llm_suite({}, models=models, judges=judges))
        outcome = run(project)
    assert "Traceback" not in outcome.output
    calls = query(project, "run", "SELECT model, coalesce(detail, '') || coalesce(payload, '') FROM calls")
    assert {model for model, text in calls if "[redacted" in text} == set(models), "some echo did not arrive"
    assert_secret(project, outcome)
    return outcome


@inside
@pytest.mark.parametrize("kind", ["401 as JSON", "401 as a page"])
def test_a_provider_that_refuses_the_key_and_shows_it_does_not_spread_it(project: Project, kind: str) -> None:
    outcome = echoed(project, "openai-http", [kind])
    assert "rejected the key (HTTP 401" in outcome.stderr


@inside
def test_a_provider_that_echoes_the_key_does_not_spread_it(project: Project) -> None:
    echoed(project, "openai-http", [kind for kind in (*ERRORS, *REPLIES) if not kind.startswith("401")])


@inside
def test_a_provider_that_echoes_the_key_encoded_does_not_spread_it(project: Project) -> None:
    answers = {name: encoded(encode, REPLIES["in the text"]) for name, encode in ENCODINGS.items()}
    echoed(project, "openai-http", answers, answers)


CODED = {name: encoded(encode, ERRORS["400 as JSON"]) for name, encode in ENCODINGS.items()}


@pytest.mark.parametrize(
    "kinds", [["401 as JSON"], ["400 as JSON", "500 as JSON", "in the text", "in a refusal", *CODED]]
)
def test_a_provider_that_echoes_the_key_does_not_spread_it_through_litellm(project: Project, kinds: list[str]) -> None:
    echoed(project, "litellm", kinds, {**ERRORS, **REPLIES, **CODED})


@inside
def test_the_key_is_hidden_whatever_its_variable_is_called(project: Project) -> None:
    write_items(project, 1)
    project.env["ACME_AUTH"] = project.env.pop(KEY_VARIABLE)
    with echoing_server({"all": completion(content="YES, you sent {sent}")}) as url:
        write_suite(project, llm_suite(openai_http(f"{url}/all/v1", api_key_env="ACME_AUTH")))
        outcome = run(project)
    assert outcome.exit_code == 0, outcome.output
    assert_secret(project, outcome)


@inside
def test_a_key_of_an_environment_file_is_used_and_hidden(
    project: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    secret = tmp_path_factory.mktemp("home") / "keys.env"
    project.env.pop(KEY_VARIABLE)
    items = write_items(project, 2)
    with ChatServer(f"YES, your key is {KEY}", require_key=KEY) as server:
        write_suite(project, llm_suite(openai_http(server.url)))
        try:
            secret.write_text(f"# keys\n{KEY_VARIABLE}={KEY}\n")
            outcome = run(project, "--env-file", str(secret))
        finally:
            secret.unlink()  # the only file that may hold the key; the search at the end must not find it
    assert outcome.exit_code == 0, outcome.output
    assert sum(server.proper_answers.values()) == items
    assert one(project, "run", "SELECT count(*) FROM calls WHERE instr(payload, '[redacted]')") == items
    assert_secret(project, outcome)


# -- plugins ---------------------------------------------------------------------------------------------------------

RAISING = f"""\
import os
from jrh import *
from jrh import hookimpl

def fail(*_, **__):
    raise ValueError("cannot log in with " + os.environ["{KEY_VARIABLE}"])

async def afail(*_, **__):
    fail()
"""


def component(role: str, spec: str, does: str, more: str = "") -> str:
    """Write a plugin with one component whose work it is to fail."""
    return (
        f"class Leaky_{role}:\n    {does}\n\n@hookimpl\ndef jrh_{role}s():\n"
        f"    yield {spec}(name='leaky', summary='', factory=lambda options, context: Leaky_{role}(){more})\n"
    )


METRIC = component("metric", "MetricSpec", "measure = fail")
REPORTER = component("reporter", "ReporterSpec", "render = fail", ", filename='leaky.txt'")
FACTORY = "@hookimpl\ndef jrh_judges():\n    yield JudgeSpec(name='leaky', summary='', factory=fail)\n"
PLUGINS: dict[str, tuple[str, dict[str, Any]]] = {
    "judge": (component("judge", "JudgeSpec", "judge = afail"), {"judges": ["leaky"]}),
    "judge's factory": (FACTORY, {"judges": ["leaky"]}),
    "perturber": (component("perturber", "PerturberSpec", "perturb = afail"), {"tests": ["leaky"]}),
    "validator": (
        component("validator", "ValidatorSpec", "validate = afail"),
        {"tests": [{"format": {"validate": ["leaky"]}}]},
    ),
    "metric": (METRIC, {}),
    "reporter": (REPORTER, {"reports": ["terminal", "leaky"]}),
    "event hook": ("@hookimpl\ndef jrh_run_started(event):\n    fail()\n", {}),
    "data source": (component("data_source", "DataSourceSpec", "read = fail"), {"data": {"source": "leaky"}}),
    "declaration": ("@hookimpl\ndef jrh_judges():\n    fail()\n", {}),
    "import": ("fail()\n", {}),
}
"""What raises -> the plugin, and what of the suite uses it."""
NOT_RUN = ("judge's factory", "data source", "declaration", "import")
"""Those that end the program before there is a run."""


@inside
@pytest.mark.parametrize("part", PLUGINS)
def test_a_plugin_that_raises_an_error_with_the_key_does_not_spread_it(project: Project, part: str) -> None:
    source, changes = PLUGINS[part]
    project.write("leaky.py", RAISING + source)
    write_items(project, 2)
    write_suite(project, simulated_suite(**changes))
    outcome = run(project, "--plugins", "leaky.py")
    assert (project.path / "run" / "run.sqlite").exists() == (part not in NOT_RUN)
    told = everything(project, outcome)
    assert b"cannot log in with [redacted]" in told or part in ("perturber", "validator"), outcome.output
    assert_secret(project, outcome)


ANSWERING = f"""\
    async def judge(self, question):
        key = os.environ["{KEY_VARIABLE}"]
        reply = Reply(status=Status.OK, text=key, detail=key, fingerprint=key, model_version=key)
        chances = {{"YES": 0.5, key: 0.5}}
        verdict = Verdict(status=Status.OK, presented="YES", rationale=key, detail=key, probabilities=chances)
        return Judgement(verdict=verdict, reply=reply)
"""


@inside
def test_a_judge_that_answers_with_the_key_does_not_spread_it(project: Project) -> None:
    project.write("leaky.py", RAISING + component("judge", "JudgeSpec", ANSWERING.strip()))
    write_items(project, 2)
    write_suite(project, simulated_suite(judges=["leaky"]))
    outcome = run(project, "--plugins", "leaky.py")
    assert outcome.exit_code == 0, outcome.output
    kept = one(project, "run", "SELECT reply || probabilities || rationale FROM records")
    assert kept.count("[redacted]") == 6
    assert_secret(project, outcome)


def test_the_list_of_plugins_does_not_show_the_key_of_one_that_broke(project: Project) -> None:
    project.write("site/leaky.py", RAISING + "fail()\n")
    project.write("site/leaky-0.3.dist-info/METADATA", "Metadata-Version: 2.1\nName: leaky\nVersion: 0.3\n")
    project.write("site/leaky-0.3.dist-info/entry_points.txt", "[jrh]\nleaky = leaky\n")
    listed = project.run("plugins", "list", env={"PYTHONPATH": str(project.path / "site")})
    assert listed.exit_code == 0
    assert "ValueError: cannot log in with [redacted]" in listed.stdout
    assert_secret(project, listed)


@inside
def test_a_report_written_again_does_not_show_the_key(project: Project) -> None:
    project.write("leaky.py", RAISING + METRIC + REPORTER)
    write_items(project, 2)
    write_suite(project, simulated_suite())
    first = run(project, "--plugins", "leaky.py")
    again = project.run("report", "run", "--plugins", "leaky.py")
    assert again.exit_code == 0, again.output
    assert_secret(project, first, again)


# -- mistakes of the user --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "setting",
    [f"api_key_env={KEY}", f"base_url=http://me:{KEY}@localhost/v1", f"headers_env={{X-Key: {KEY}}}"],
    ids=["the key in place of its variable", "a password in the address", "the key in place of a header's variable"],
)
@inside
def test_a_key_written_in_the_wrong_place_is_refused_and_not_shown(project: Project, setting: str) -> None:
    write_items(project, 1)
    write_suite(project, llm_suite(openai_http("http://127.0.0.1:9/v1")))
    project.env.pop(KEY_VARIABLE)
    outcome = run(project, "--set", f"models.mini.{setting}")
    assert outcome.exit_code == 2, outcome.output
    assert_secret(project, outcome)


def test_the_search_of_these_tests_finds_a_key(project: Project) -> None:
    project.write("run/log.jsonl", json.dumps({"detail": "Bearer another-key"}))
    with pytest.raises(AssertionError, match="the key got out after"):
        assert_secret(project, halves=[b"nowhere", b"another-key"])
