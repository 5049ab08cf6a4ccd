"""A run on a Ray cluster of this machine is the run without it, whatever dies in the middle.

Two nodes with a processor each; the driver is on the first. `make test-ray` installs Ray. Runs are calls in the process
of the tests, which is connected to the cluster, but for the one whose driver is killed.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from jrh_testing import ChatServer, Fault, Inside, Outcome, Project
from support.keys import KEY, KEY_VARIABLE
from support.looking import cases_of, one, until
from support.suites import openai_http, write_suite

PATIENCE = 300.0
"""Seconds; bounds failure alone."""
STARTS = 3
"""Ray gives a node 30 seconds to start, which is not always enough on a busy machine; how often that is tried."""
pytestmark = [
    pytest.mark.ray,
    pytest.mark.slow,
    pytest.mark.inside,
    pytest.mark.timeout(2 * PATIENCE),
    pytest.mark.filterwarnings("default"),  # Ray's own
]
ITEMS = 120
"""Two slices, the last one shorter."""
AT_ONCE = 8
HEAD = {
    "num_cpus": 1,
    "include_dashboard": False,
    "include_log_monitor": False,
    "_system_config": {
        "health_check_period_ms": 500,  # notice soon who is gone
        "health_check_failure_threshold": 4,
        "worker_register_timeout_seconds": int(PATIENCE),
    },
}
NODE = {"num_cpus": 1, "include_log_monitor": False}
ENVIRONMENT = {
    "RAY_worker_niceness": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_gcs_server_port_wait_time_s": f"{PATIENCE:.0f}",
    KEY_VARIABLE: KEY,
}
"""Of the nodes, and so of their workers; also a key, which has to be taken from them."""
RAISED = 3
"""Exit code where a plugin raised, as one test of the suites does."""
FLAGS = ("--yes", "--no-cache", "--plugins", "mine.py")
LOCAL = '''
import os, time
from pathlib import Path
from jrh import Draft, JudgeKind, Judgement, JudgeSpec, PerturberSpec, Same, Status, Verdict, hookimpl

HERE = Path({here!r})
NOTE = ""


def asked(what):
    """Tell whether a test asks for something that happens once."""
    try:
        (HERE / what).unlink()
    except FileNotFoundError:
        return False
    return True


def node():
    import ray
    return ray.get_runtime_context().get_node_id()


def wait(condition):
    until = time.monotonic() + {patience}
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


def trouble(item):
    """Do what a test asks for."""
    if (HERE / "meet").exists():
        (HERE / "nodes").mkdir(exist_ok=True)
        (HERE / "nodes" / node()).touch()
        wait(lambda: len(list((HERE / "nodes").iterdir())) == 2)
    if item.id == "117" and asked("kill"):
        os.kill(os.getpid(), 9)
    if asked("edit"):
        (HERE / "mine.py").write_text((HERE / "mine.py").read_text().replace('NOTE = ""', 'NOTE = "!"'))
    if (HERE / "remove").exists() and (HERE / "remove").read_text() == node() and asked("remove"):
        (HERE / "waiting").touch()
        wait(lambda: False)


class Upper:
    async def perturb(self, item):
        trouble(item)
        with open(HERE / "pids", "a") as file:
            file.write(f"{{os.getpid()}} {{'{variable}' in os.environ}}\\n")
        text = item.fields["response"].upper() + NOTE
        if (HERE / "huge").exists():
            text *= 400_000
        return [Draft(variant="upper", fields={{"response": text}}, expectation=Same())]


class Wrong:
    async def perturb(self, item):
        raise ValueError("no")


class Length:
    def judge_batch(self, questions):
        def verdict(text):
            return Judgement(verdict=Verdict(status=Status.OK, presented="YES" if len(text) % 3 else "NO"))
        return [verdict(question.fields["response"]) for question in questions]


@hookimpl
def jrh_perturbers():
    yield PerturberSpec(name="upper", summary="capital letters", factory=lambda: Upper())
    yield PerturberSpec(name="wrong", summary="raises", factory=lambda: Wrong())


@hookimpl
def jrh_judges():
    yield JudgeSpec(name="length", summary="by length", kind=JudgeKind.BATCH, factory=lambda: Length())
    yield JudgeSpec(name="greedy", summary="needs much", kind=JudgeKind.BATCH, gpus=3, factory=lambda: Length())
'''


class Place:
    """A project, a server that judges, and a cluster."""

    def __init__(self, folder: Path, server: ChatServer, cluster: Any) -> None:
        self.folder, self.server, self.cluster, self.asked = folder, server, cluster, 0
        environment = {KEY_VARIABLE: KEY, "RAY_ADDRESS": cluster.address}
        self.project = Inside(folder, env=environment)
        self.outside = Project(folder, env=environment)
        self.plugin = LOCAL.format(here=str(folder), variable=KEY_VARIABLE, patience=PATIENCE)
        self.project.write("mine.py", self.plugin)
        words = ["good", "bad", "fair"]
        rows = [
            {
                "id": str(number),
                "request": "Which?",
                "response": " ".join([f"number {number}", *(words[(number * k) % 3] for k in range(number % 7))]),
                "label": "YES" if number % 3 else "NO",
            }
            for number in range(ITEMS)
        ]
        self.project.write("items.jsonl", "\n".join(map(json.dumps, rows)))
        self.write("free", judges=["length"], reports=["json", "html", "markdown", "csv"])
        mini = openai_http(server.url, concurrency=AT_ONCE, price={"input": 1, "output": 1}, max_tokens=10)
        self.asking = {"models": {"mini": mini}, "judges": [{"judge": "llm", "model": "mini"}, "length"]}
        self.write("asking", **self.asking)
        self.write("plain", judges=["length"])

    def write(self, suite: str, **more: Any) -> None:
        described = {
            "name": "spread",
            "data": {"source": "jsonl", "path": "items.jsonl"},
            "task": {"instruction": "Is it right?", "scale": {"labels": ["YES", "NO"]}},
            "tests": ["upper", "wrong"],
            "reference": {"repeats": 1},
            "resamples": 100,
            "reports": ["json", "markdown"],
            **more,
        }
        write_suite(self.project, described, f"{suite}.yaml")

    def command(self, suite: str, run_dir: str, executor: str = "ray") -> tuple[str, ...]:
        return ("run", f"{suite}.yaml", *FLAGS, "--executor", executor, "--run-dir", run_dir)

    def run(self, suite: str, run_dir: str, executor: str = "ray") -> Outcome:
        return self.project.run(*self.command(suite, run_dir, executor))

    def done(self, suite: str, run_dir: str, executor: str = "ray") -> None:
        done = self.run(suite, run_dir, executor)
        assert done.exit_code == RAISED, done.output

    def log(self, run_dir: str, event: str) -> list[dict[str, Any]]:
        lines = map(json.loads, (self.folder / run_dir / "log.jsonl").read_text().splitlines())
        return [line for line in lines if line["event"] == event]

    def reports(self, run_dir: str) -> dict[str, bytes]:
        files = sorted((self.folder / run_dir).glob("*"))
        # How long processes took is their own, and in run.json.
        kinds = (".json", ".html", ".md", ".csv")
        return {path.name: path.read_bytes() for path in files if path.suffix in kinds and path.name != "run.json"}

    def same(self, run_dir: str, suite: str) -> None:
        ours, theirs = self.reports(run_dir), self.reports(f"{suite}-here")
        assert ours.keys() == theirs.keys() >= {"report.json", "report.md"}
        assert [name for name in ours if ours[name] != theirs[name]] == []


def start(node: Callable[[], Any]) -> Any:
    for _ in range(STARTS - 1):
        try:
            return node()
        except Exception as error:
            print(f"a node did not start: {error}")
    return node()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    ray = pytest.importorskip("ray", reason="Ray is not installed; run `make test-ray`")
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        for name, value in ENVIRONMENT.items():
            patch.setenv(name, value)
        cluster = start(lambda: Cluster(initialize_head=True, head_node_args=HEAD))
        stack.callback(cluster.shutdown)
        start(lambda: cluster.add_node(**NODE))
        ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
        stack.callback(ray.shutdown)
        server = stack.enter_context(ChatServer(lambda prompt: "YES" if len(str(prompt)) % 2 else "NO"))
        made = Place(tmp_path_factory.mktemp("ray"), server, cluster)
        for suite in ("free", "asking", "plain"):
            made.done(suite, f"{suite}-here", executor="local")
        made.asked = server.count
        yield made


@contextmanager
def meeting(place: Place) -> Iterator[None]:
    """Let no worker go on before both nodes work."""
    shutil.rmtree(place.folder / "nodes", ignore_errors=True)
    (place.folder / "meet").touch()
    try:
        yield
    finally:
        (place.folder / "meet").unlink()


def test_two_nodes_share_a_run_and_its_reports_are_those_of_one_process(place: Place) -> None:
    with meeting(place):
        place.done("free", "free-ray")
    assert len(list((place.folder / "nodes").iterdir())) == 2  # none went on before both worked
    place.same("free-ray", "free")
    assert {"report.html", "records.csv"} <= place.reports("free-ray").keys()
    assert len(place.log("free-ray", "perturber raised")) == ITEMS


def test_a_run_that_asks_a_model_has_the_same_report_too_and_workers_have_no_key(place: Place) -> None:
    (place.folder / "pids").unlink()
    before = place.server.count
    place.done("asking", "asking-ray")
    place.same("asking-ray", "asking")
    assert place.server.count - before == place.asked
    lines = [line.split() for line in (place.folder / "pids").read_text().splitlines()]
    assert len(lines) == ITEMS
    assert {has_key for _, has_key in lines} == {"False"}


def test_a_worker_that_is_killed_costs_its_unit_which_is_done_again(place: Place) -> None:
    (place.folder / "kill").touch()
    place.done("plain", "killed")
    assert [line["lease"] for line in place.log("killed", "worker lost")] == [1]
    place.same("killed", "plain")


def test_a_driver_that_is_killed_resumes_and_nothing_committed_is_asked_twice(place: Place) -> None:
    before, hung = place.server.count, place.server.prompts
    place.server.misbehave(Fault("hang", match="NUMBER"))  # the texts of the test `upper`
    with place.outside.start(*place.command("asking", "resumed")) as running:
        until(
            lambda: (
                not running.is_running
                or sum(count for text, count in (place.server.prompts - hung).items() if "NUMBER" in text) >= AT_ONCE
            ),
            "questions that no answer comes to",
            PATIENCE,
        )
        running.kill()
        assert running.wait().exit_code == -9
    place.server.misbehave()
    committed = one(place.project, "resumed", "SELECT count(*) FROM calls WHERE outcome = 'ok'")
    asked = place.server.count - before
    assert 0 < committed < asked < place.asked
    place.done("asking", "resumed")
    assert place.server.count - before - asked == place.asked - committed
    place.same("resumed", "asking")


@pytest.mark.parametrize("kind", ["calls", "usd"])
def test_the_budget_is_never_exceeded(place: Place, kind: str) -> None:
    whole = one(place.project, "asking-here", "SELECT sum(cost) FROM calls")
    most = {"calls": 50, "usd": whole / 5}[kind]
    place.write("budget", **place.asking, budget={kind: most})
    before = place.server.count
    for _ in range(2):  # also not when it is started again
        done = place.run("budget", f"budget-{kind}")
        assert done.exit_code == 4, done.output
        spent = {
            "calls": place.server.count - before,
            "usd": one(place.project, f"budget-{kind}", "SELECT sum(cost) FROM calls"),
        }
        assert 0 < spent[kind] <= most


def test_a_node_that_is_killed_while_judges_are_asked_costs_its_unit_and_no_call(place: Place) -> None:
    """Judges do not wait for the cases of the unit that is lost, and the budget has room for no second call."""
    (node,) = place.cluster.worker_nodes
    place.project.write("remove", node.node_id)
    reports = ["json", "html", "markdown"]
    place.write("capped", **place.asking, budget={"calls": place.asked}, reports=reports)
    place.done("capped", "capped-here", executor="local")
    before = place.server.count
    meanwhile: list[int] = []

    def remove() -> None:
        until((place.folder / "waiting").exists, "a worker of the node", PATIENCE)
        until(lambda: place.server.count == before + ITEMS, "answers about the cases that are made", PATIENCE)
        meanwhile.append(one(place.project, "removed", "SELECT count(*) FROM cases WHERE test = 'upper'"))
        place.cluster.remove_node(node, allow_graceful=False)

    with ThreadPoolExecutor(1) as pool, meeting(place):
        removed = pool.submit(remove)
        place.done("capped", "removed")
        removed.result()
    start(lambda: place.cluster.add_node(**NODE))
    (place.folder / "waiting").unlink()
    assert meanwhile[0] < ITEMS
    assert place.log("removed", "worker lost")
    assert place.server.count - before == place.asked
    place.same("removed", "capped")


def test_a_head_that_is_killed_ends_the_run_which_goes_on_with_another_cluster(place: Place) -> None:
    from ray.cluster_utils import Cluster

    before, seen = place.server.count, place.server.prompts
    place.server.misbehave(Fault("hang", match="NUMBER"))  # the texts of the test `upper`
    other = start(lambda: Cluster(initialize_head=True, head_node_args=HEAD))
    try:
        outside = Project(place.folder, env={**place.outside.env, "RAY_ADDRESS": other.address})
        with outside.start(*place.command("asking", "headless")) as running:
            until(
                lambda: (
                    not running.is_running
                    or sum(count for text, count in (place.server.prompts - seen).items() if "NUMBER" in text)
                    >= AT_ONCE
                ),
                "questions that no answer comes to",
                PATIENCE,
            )
            other.remove_node(other.head_node, allow_graceful=False)
            ended = running.wait(PATIENCE)
    finally:
        place.server.misbehave()
        other.shutdown()
    # Ray's own end of a driver without a head.
    assert ended.exit_code == 1, ended.output
    committed = one(place.project, "headless", "SELECT count(*) FROM calls WHERE outcome = 'ok'")
    asked = place.server.count - before
    assert 0 < committed < asked < place.asked
    place.done("asking", "headless")
    assert place.server.count - before - asked == place.asked - committed
    place.same("headless", "asking")


def test_a_plugin_that_changes_during_a_run_is_used_as_it_was(place: Place) -> None:
    (place.folder / "edit").touch()
    place.done("plain", "edited")
    assert '\nNOTE = "!"\n' in place.project.read("mine.py")
    place.project.write("mine.py", place.plugin)
    place.same("edited", "plain")
    assert cases_of(place.project, "edited", "upper") == cases_of(place.project, "plain-here", "upper")


def test_a_unit_that_returns_too_much_or_needs_what_no_node_has_is_one_message(place: Place) -> None:
    (place.folder / "huge").touch()
    try:
        done = place.run("plain", "too-much")
    finally:
        (place.folder / "huge").unlink()
    assert done.exit_code == 2
    assert "executor 'ray': test 'upper', 100 items from '0' on: its result has " in done.stderr
    assert "MiB, more than 64 MiB" in done.stderr
    assert "Traceback" not in done.output
    place.write("greedy", judges=["greedy"])
    done = place.run("greedy", "greedy")
    assert done.exit_code == 2
    assert "judge 'greedy', 240 questions: needs 3 GPU, and no node of the cluster has more than 0" in done.stderr
    assert "Traceback" not in done.output
