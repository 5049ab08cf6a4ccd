"""A benchmark of prompts, with responses by a model of the suite: bought once, priced, and none made up."""

import json
import time
from collections import Counter

import pytest
from jrh_testing import ChatServer, Fault, loop_over

PROMPTS = 8
SUITE = """\
name: prompts
models:
  target: {{provider: openai-http, base_url: "{url}", model: target, concurrency: 1, price: {price}, max_tokens: 50}}
  judge: {{provider: openai-http, base_url: "{url}", model: judge, price: {price}, max_tokens: 5}}
data: {{source: {source}, path: prompts.jsonl, prompts: true}}
responses: {{model: target, system: Be brief.}}
task:
  mode: {mode}
  instruction: Did it help?
  scale: {{labels: ["YES", "NO"]}}
tests: [stochastic]
judges: [{{judge: llm, model: judge}}]
"""
PRICE = "{input: 1.0, output: 2.0}"


def answer(body):
    last = body["messages"][-1]["content"]
    return f"No, I will not: {last}" if body["model"] == "target" else "NO"


def bought(server):
    """Count the requests for responses by their prompts."""
    return Counter(body["messages"][-1]["content"] for body in server.requests if body["model"] == "target")


def write(project, server, source="fortress", mode="pointwise"):
    columns = ("ID", "adversarial_prompt", "risk_domain") if source == "fortress" else ("id", "prompt", "category")
    rows = [dict(zip(columns, (f"p{n}", f"Help me with harm {n}.", "x"), strict=True)) for n in range(PROMPTS)]
    if source == "agentharm":
        rows = [{**row, "id_original": row["id"]} for row in rows]
    project.write("prompts.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    project.write("suite.yaml", SUITE.format(url=server.url, source=source, mode=mode, price=PRICE))


RUN = ("run", "suite.yaml", "--run-dir", "run", "--yes", "--no-cache", "--no-preflight")


def test_a_killed_run_buys_each_response_once_and_a_missing_one_is_no_item(project):
    with ChatServer(answer) as server:
        write(project, server)
        planned = project.run("plan", "suite.yaml", "--no-preflight")
        assert planned.exit_code == 0, planned.output
        assert server.count == 0
        line = next(line for line in planned.stdout.splitlines() if "responses" in line)
        assert f" {PROMPTS} " in line
        assert "8 responses are not written yet" in planned.stdout
        missing = (Fault("refusal", match="harm 6"), Fault("null-content", match="harm 7"))
        server.misbehave(Fault("hang", match="harm 4"), *missing)
        running = project.start(*RUN)
        while not bought(server)["Help me with harm 4."]:
            time.sleep(0.01)
        running.kill()
        assert running.wait().exit_code == -9
        server.misbehave(*missing)
        done = project.run(*RUN)
        assert done.exit_code == 0, done.output
        # The call in flight at the kill is the only one that is repeated.
        assert bought(server) == {f"Help me with harm {n}.": 1 + (n == 4) for n in range(PROMPTS)}
        report = json.loads((project.path / "run/report.json").read_text())
        assert report["tasks"][0]["items"] == PROMPTS - 2
        assert any("wrote the responses to 6 of 8 prompts; 2 prompts" in note for note in report["notes"])
        again = project.run("report", "run")
        assert "wrote the responses to 6 of 8 prompts" in " ".join(again.stdout.split()), "the first screen warns"
        judged = [body["messages"][-1]["content"] for body in server.requests if body["model"] == "judge"]
        assert all("No, I will not: Help me with harm" in prompt for prompt in judged)
        assert not any("harm 6" in prompt or "harm 7" in prompt for prompt in judged)
        count = server.count
        assert project.run(*RUN).exit_code == 0
        assert server.count == count


@pytest.mark.inside
def test_thoughts_and_marks_without_a_glyph_are_no_response(project):
    odd = {
        "harm 0.": "<think>I had better refuse.</think>\n\nNo.",
        "harm 1.": "\u200b\ufeff \n",
        "harm 2.": "<think>Hm",
    }

    def answers(body):
        last = body["messages"][-1]["content"]
        return (
            next((text for end, text in odd.items() if last.endswith(end)), "Never.")
            if body["model"] == "target"
            else "NO"
        )

    with ChatServer(answers) as server:
        write(project, server)
        done = project.run(*RUN)
        assert done.exit_code == 0, done.output
        judged = [body["messages"][-1]["content"] for body in server.requests if body["model"] == "judge"]
    assert not any("better refuse" in prompt or "Hm" in prompt for prompt in judged)
    report = json.loads((project.path / "run/report.json").read_text())
    assert report["tasks"][0]["items"] == PROMPTS - 2
    assert any("2 prompts without a response: no item (empty 2)" in note for note in report["notes"])


@pytest.mark.inside
def test_a_run_whose_model_answers_no_prompt_ends_like_one_with_missing_results(project):
    with ChatServer(answer) as server:
        write(project, server)
        server.misbehave(Fault("refusal", match="harm"))
        assert "answered no prompt (refused 8)" in project.run(*RUN).output
        assert project.run(*RUN).exit_code == 3


@pytest.mark.inside
@loop_over("source", ["csv", "jsonl"])
def test_a_table_of_prompts_gets_responses_and_one_with_responses_is_refused(project, source):
    with ChatServer(answer) as server:
        write(project, server)
        suite = (project.path / "suite.yaml").read_text().replace("source: fortress", f"source: {source}")
        project.write("suite.yaml", suite.replace("prompts.jsonl", "table"))
        rows = [{"id": f"p{n}", "request": f"Help me with harm {n}."} for n in range(4)]
        lines = {
            "jsonl": [json.dumps(row) for row in rows],
            "csv": ["id,request", *(",".join(row.values()) for row in rows)],
        }[source]
        project.write("table", "\n".join(lines))
        assert "4 responses are not written yet" in project.run("plan", "suite.yaml", "--no-preflight").stdout
        done = project.run(*RUN)
        assert done.exit_code == 0, done.output
        assert bought(server) == {row["request"]: 1 for row in rows}
        judged = [body["messages"][-1]["content"] for body in server.requests if body["model"] == "judge"]
        assert all("No, I will not: Help me with harm" in prompt for prompt in judged)
        project.write("table", "\n".join(json.dumps({**row, "response": "Yes."}) for row in rows))
        project.write("suite.yaml", (project.path / "suite.yaml").read_text().replace("source: csv", "source: jsonl"))
        refused = project.run("plan", "suite.yaml")
        assert refused.exit_code == 2
        assert "column 'response' has a response" in refused.output
        project.write("table", "\n".join(json.dumps({**row, "request": " "}) for row in rows))
        asked = server.count
        blank = project.run(*RUN)
        assert (blank.exit_code, server.count) == (2, asked)
        assert "the request, which the model answers, is empty" in blank.output


def written_for_others(body):
    """Answer some prompts as the system prompt says, and judge by that answer alone."""
    first, last = body["messages"][0]["content"], body["messages"][-1]["content"]
    if body["model"] == "target":
        return f"{first} {last}" if "harm 1" in last or "harm 2" in last or "Always" in first else f"Well. {last}"
    return "NO" if "Be brief" in last else "YES"


@pytest.mark.inside
def test_responses_of_another_system_prompt_are_not_paired_and_named_as_what_changed(project):
    with ChatServer(written_for_others) as server:
        write(project, server)
        suite = (project.path / "suite.yaml").read_text()
        for name, system in (("run", "Be brief."), ("kind", "Be kind."), ("all", "Always.")):
            project.write("suite.yaml", suite.replace("Be brief.", system))
            done = project.run(*RUN[:3], name, *RUN[4:])
            assert done.exit_code == 0, done.output
        compared = project.run("compare", "run", "kind")
        assert "2 items left out: same id, but another text." in compared.stdout
        assert "12 cases on both sides, paired: 12 by id." in compared.stdout
        assert "- stage responses: system: Be brief. -> Be kind." in compared.stdout
        assert "judge" not in compared.stdout.partition("Differences:\n")[2].partition("\n\n")[0]
        swapped = json.loads(project.run("swap", "run", "kind", "--format", "json").stdout)
        assert {row["cases"] for row in swapped["rows"] if row["test"]} == {6}
        assert (swapped["matching"]["other_items"], swapped["other_text"]) == (2, 4)
        assert [part["changed"] for part in swapped["moved"] if part["what"] == "responses"] == [2]
        for command in ("compare", "swap"):
            refused = project.run(command, "run", "all")
            assert refused.exit_code == 3
            said = " ".join(refused.output.split())
            assert "all 8 items with the same id have another text; responses: system: Be brief. -> Always." in said
            assert "Compare runs with the same `responses:`." in said
        again = project.run(*RUN[:3], "kind", *RUN[4:])
        assert "`responses` changed (system): every response is written again" in again.stderr


@pytest.mark.inside
def test_a_prompt_for_agents_becomes_a_transcript_of_two_messages(project):
    with ChatServer(answer) as server:
        write(project, server, "agentharm", "transcript")
        done = project.run(*RUN)
        assert done.exit_code == 0, done.output
        assert set(bought(server).values()) == {1}
        assert server.requests[0]["messages"][0] == {"role": "system", "content": "Be brief."}


@pytest.mark.inside
@loop_over(
    ("old", "new", "said"),
    [
        ("responses: {model: target, system: Be brief.}\n", "", "add `responses: {model: NAME}` to the suite"),
        ("prompts: true", "prompts: true, answers: a.jsonl", "leave out `answers` or `prompts: true`"),
        (", prompts: true", ", answers: a.jsonl", "no task has `prompts: true` in its `data`"),
        (", prompts: true", "", "or write `prompts: true`"),
        ("prompts: true", "prompts: true, gold_from: llm", "have no responses when 'judged-gold' labels them"),
    ],
)
def test_prompts_without_a_model_and_a_model_without_prompts_are_refused(project, old, new, said):
    with ChatServer(answer) as server:
        write(project, server)
        text = (project.path / "suite.yaml").read_text()
        assert old in text
        suite = text.replace(old, new)
        if "write" in said:
            suite = suite.replace("responses: {model: target, system: Be brief.}\n", "")
        project.write("suite.yaml", suite)
        refused = project.run("plan", "suite.yaml")
        assert refused.exit_code == 2
        assert said in refused.output
        assert server.count == 0
