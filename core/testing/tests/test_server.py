"""The chat server answers, counts, and runs in a thread or as a process."""

from __future__ import annotations

import asyncio
import collections
import io
import json
import os
import signal
import subprocess
import sys
import time
import urllib.request

import aiohttp
import pytest
from jrh_testing import ChatServer, Fault, LabelAnswers, SimulatedAnswers


def body(prompt, **more):
    return {"model": "m", "messages": [{"role": "user", "content": prompt}], **more}


async def ask(url, *prompts, key=None, concurrently=False, **more):
    """Ask the prompts; return (status, parsed body) for each."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with aiohttp.ClientSession(headers=headers) as session:

        async def one(prompt):
            async with session.post(f"{url}/chat/completions", json=body(prompt, **more)) as response:
                return response.status, await response.json()

        if concurrently:
            return await asyncio.gather(*map(one, prompts))
        return [await one(prompt) for prompt in prompts]


def text(answer):
    return answer[1]["choices"][0]["message"]["content"]


async def test_a_fixed_text_is_answered_with_plausible_usage():
    with ChatServer(answer="It is true.") as server:
        [(status, parsed)] = await ask(server.url, "x" * 400)
    assert status == 200
    assert parsed["choices"] == [
        {"index": 0, "message": {"role": "assistant", "content": "It is true."}, "finish_reason": "stop"}
    ]
    assert parsed["usage"] == {"prompt_tokens": 101, "completion_tokens": 3, "total_tokens": 104}
    assert parsed["object"] == "chat.completion"


async def test_text_with_quotes_and_unicode_comes_through():
    awkward = 'a "quoted" \\ line\n"usage":null} 😀 \u2028'
    with ChatServer(answer=awkward) as server:
        assert text((await ask(server.url, "q"))[0]) == awkward


async def test_a_function_gets_the_request_and_may_answer_a_whole_message():
    def answer(request):
        if request["temperature"] > 1:
            return {"role": "assistant", "content": None, "refusal": "too hot"}
        return f"{request['messages'][-1]['content']} at {request['temperature']}"

    with ChatServer(answer=answer) as server:
        assert text((await ask(server.url, "hello", temperature=0.5))[0]) == "hello at 0.5"
        refused = (await ask(server.url, "hello", temperature=2))[0][1]
    assert refused["choices"][0]["message"]["refusal"] == "too hot"


async def test_a_function_that_fails_is_seen_on_the_wire():
    with ChatServer(answer=lambda request: request["no such key"]) as server:
        [(status, parsed)] = await ask(server.url, "q")
    assert status == 500
    assert "no such key" in parsed["error"]["message"]


async def test_everything_asked_is_counted_by_prompt():
    with ChatServer() as server:
        await ask(server.url, "a", "b", "a")
        assert server.count == 3
        assert server.prompts == {"a": 2, "b": 1}
        assert [request["messages"][0]["content"] for request in server.requests] == ["a", "b", "a"]
        assert server.stats() == {
            "count": 3,
            "distinct": 2,
            "repeated": 1,
            "answered": 3,
            "answered_repeated": 1,
            "max_in_flight": 1,
        }


async def test_a_request_that_met_a_fault_is_asked_but_not_answered():
    with ChatServer(faults=[Fault("500", times=1)]) as server:
        await ask(server.url, "a", "a")
        assert server.prompts == {"a": 2}
        assert server.proper_answers == {"a": 1}


async def test_requests_in_flight_are_counted_and_latency_is_waited_for():
    with ChatServer(latency=0.5) as server:
        started = time.monotonic()
        await ask(server.url, *"abcdef", concurrently=True)
        assert 0.5 <= time.monotonic() - started < 3.0  # one after the other they take three seconds
        assert server.max_in_flight == 6


async def test_a_wrong_key_is_refused():
    with ChatServer(require_key="right") as server:
        assert [status for status, _ in await ask(server.url, "q", key="right")] == [200]
        assert [status for status, _ in await ask(server.url, "q", key="wrong")] == [401]
        assert [status for status, _ in await ask(server.url, "q")] == [401]
        assert sum(server.proper_answers.values()) == 1


async def test_what_is_not_a_chat_completion_is_said_to_be_none():
    with ChatServer() as server:
        assert (await ask(server.url, "q", stream=True))[0][0] == 400
        async with aiohttp.ClientSession() as session:
            async with session.post(f"{server.url}/chat/completions", data=b"not json") as response:
                assert response.status == 400
            async with session.post(f"{server.url}/chat/completions", data=b"[1]") as response:
                assert response.status == 400
            async with session.post(f"{server.url}/embeddings", json={}) as response:
                assert response.status == 404
        assert server.count == 1


async def test_a_prompt_of_several_megabytes_is_taken():
    with ChatServer() as server:
        raw = io.BytesIO(json.dumps(body("x" * 5_000_000)).encode())
        async with (
            aiohttp.ClientSession() as session,
            session.post(f"{server.url}/chat/completions", data=raw) as response,
        ):
            assert response.status == 200
        assert [len(prompt) for prompt in server.prompts] == [5_000_000]


def test_labels_follow_from_the_prompt_and_are_balanced():
    policy = LabelAnswers(labels=("A", "B", "C"), form='{"verdict": "{label}"}')
    answers = [policy(body(f"question {number}")) for number in range(3000)]
    assert answers == [policy(body(f"question {number}")) for number in range(3000)]
    counts = collections.Counter(json.loads(answer)["verdict"] for answer in answers)
    # Binomial(3000, 1/3) has a standard deviation of 25.8: four of them either side.
    assert all(abs(counts[label] - 1000) < 104 for label in "ABC")


def test_a_simulated_judge_is_as_accurate_as_planned():
    truth = {f"question {number}": "YES" if number % 2 else "NO" for number in range(4000)}
    policy = SimulatedAnswers(accuracy=0.8, truth=truth.get)
    right = sum(policy(body(prompt)) == label for prompt, label in truth.items())
    # Binomial(4000, 0.8): standard deviation 25.3.
    assert abs(right - 3200) < 102


def test_a_simulated_judge_without_slips_does_not_mind_layout_and_one_with_slips_does():
    prompts = [f"question number {number}" for number in range(500)]

    def flips(policy):
        return sum(policy(body(prompt)) != policy(body(prompt.replace(" ", "\n\n"))) for prompt in prompts)

    assert flips(SimulatedAnswers(accuracy=1.0)) == 0
    # Two independent draws with 10 % slips differ in 18 % of the pairs: 90 of 500, standard deviation 8.6.
    assert abs(flips(SimulatedAnswers(accuracy=0.9)) - 90) < 35


def test_the_process_serves_with_what_the_command_line_says():
    arguments = ("--answer", "label", "--labels", "A,B", "--form", "[[{label}]]", "--fault", "500:1")
    command = [sys.executable, "-m", "jrh_testing.server", *arguments]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        url = process.stdout.readline().strip()
        first, second, third = asyncio.run(ask(url, "q", "q", "q"))
        assert first[0] == 500
        assert text(second) == text(third)
        assert text(second) in ("[[A]]", "[[B]]")
        assert text(second) == LabelAnswers(labels=("A", "B"), form="[[{label}]]")(body("q"))
        with urllib.request.urlopen(f"{url}/stats") as response:
            assert json.load(response) == {
                "count": 3,
                "distinct": 1,
                "repeated": 2,
                "answered": 2,
                "answered_repeated": 1,
                "max_in_flight": 1,
            }
    finally:
        process.stdin.close()
        ends(process)


def start(*arguments, **settings):
    command = [sys.executable, "-m", "jrh_testing.server", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **settings)
    assert process.stdout.readline().startswith("http://127.0.0.1:")
    return process


def ends(process):
    try:
        return process.wait(60)
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream:
                stream.close()


def test_the_process_ends_when_its_lifetime_is_over():
    assert ends(start("--lifetime", "0.2", stdin=subprocess.DEVNULL)) == 0


def test_the_process_ends_when_its_standard_input_closes():
    process = start(stdin=subprocess.PIPE)
    assert process.poll() is None
    process.stdin.close()
    assert ends(process) == 0


def test_the_process_goes_on_as_a_background_job_without_standard_input():
    process = start(stdin=subprocess.DEVNULL)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.3)
    process.send_signal(signal.SIGTERM)
    assert ends(process) == 0


def test_the_process_ends_when_its_parent_is_killed():
    script = (
        "import subprocess, sys, time\n"
        "command = [sys.executable, '-m', 'jrh_testing.server', '--lifetime', '60']\n"
        "p = subprocess.Popen(command, stdin=subprocess.DEVNULL)\n"
        "print(p.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    lines = [parent.stdout.readline() for _ in range(2)]
    child = int(next(line for line in lines if line.strip().isdigit()))
    parent.kill()
    parent.wait()
    parent.stdout.close()
    deadline = time.monotonic() + 40  # its lifetime is longer
    while alive(child) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not alive(child)


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:  # noqa: PTH123 - a kernel file
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_the_server_needs_no_pytest_and_no_hypothesis():
    script = "import jrh_testing.server.__main__, sys; print({'pytest', 'hypothesis', 'numpy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=os.environ)
    assert done.stdout.strip() == "set()"
