import json

import jrh
import pytest
from attrs import evolve
from inspect_ai.log import read_eval_log
from jrh import ToolCall, TranscriptMessage, read_transcript
from jrh.testing import run_jrh
from jrh_inspect.logs import apart
from jrh_inspect.messages import to_messages
from jrh_inspect.rewriting import rewritten

EDITOR = """
from attrs import evolve, field, frozen
from jrh import Draft, Equals, PerturberSpec, Skip, ToolCall, hookimpl, read_transcript


@frozen(kw_only=True)
class Options:
    variants: tuple[str, ...] = field(default=("swap",), metadata={"help": "which edits are made"})


class Editor:
    def __init__(self, options):
        self.options = options

    async def perturb(self, item):
        messages = read_transcript(item.fields["transcript"])
        if "cat" in messages[-1].content:
            return [Skip(reason="no table")]
        return [self.draft(variant, messages) for variant in self.options.variants]

    def draft(self, variant, messages):
        edited = []
        for message in messages:
            if message.role == "assistant" and message.tool_calls:
                call = message.tool_calls[0]
                message = evolve(message, tool_calls=(evolve(call, arguments={**call.arguments, "people": 4}),))
            if message.role == "tool" and not message.error:
                message = evolve(message, content="No table is free.")
            if message.reasoning:
                message = evolve(message, content="You have table 9.", reasoning="Any table.")
            edited.append(message)
        fields = {"transcript": [message.to_json() for message in edited]}
        return Draft(variant=variant, fields=fields, expectation=Equals(label="violates"))


@hookimpl
def jrh_perturbers():
    yield PerturberSpec(
        name="editor", summary="edits", options=Options, factory=lambda options, context: Editor(options)
    )
"""

SUITE = {
    "name": "agents",
    "data": {
        "source": "inspect",
        "path": "made.eval",
        "roles": ["user", "assistant", "tool"],
        "tool_output": 100,
        "gold": "includes",
        "gold_labels": {"C": "satisfies", "I": "violates"},
    },
    "task": {"mode": "transcript", "scale": {"labels": ["satisfies", "violates"]}},
    "tests": ["editor"],
    "judges": ["simulated"],
}


@pytest.fixture(params=["made.eval", "made.json"])
def ran(request, logs, monkeypatch):
    """A run of the suite over a log; the directory, the log's name, and a function that exports."""
    monkeypatch.chdir(logs)
    (logs / "editor.py").write_text(EDITOR, encoding="utf-8")

    def run(**changes):
        suite = {**SUITE, "data": {**SUITE["data"], "path": request.param}, **changes}
        result = jrh.run(suite, run_dir="run", plugins=["editor.py"])
        assert result.exit_code == 0
        return result

    return logs, request.param, run


def export(*arguments, cwd):
    return run_jrh("export-transcripts", "run", *arguments, cwd=cwd)


def dumped(path):
    """Everything Inspect reads from a log, attachments in place."""
    log = apart(read_eval_log, path, resolve_attachments="full")
    return log.model_dump(mode="json", exclude={"location", "etag"})


def test_the_written_log_opens_and_differs_only_in_the_edits(ran):
    logs, name, run = ran
    run()
    target = f"out.{name.rpartition('.')[2]}"
    done = export("--log", target, "--jsonl", "out.jsonl", cwd=logs)
    assert done.exit_code == 0, done.stderr
    before, after = dumped(logs / name), dumped(logs / target)
    for old, new in zip(before["samples"], after["samples"], strict=True):
        if old["id"] == "book":
            system, user, first, found, second, failed, last = old["messages"]
            first["tool_calls"][0]["arguments"] = {"people": 4}
            found["content"] = "No table is free."
            second["tool_calls"][0]["arguments"] = {"people": 4}
            last["content"][0] = {**last["content"][0], "reasoning": "Any table."}
            last["content"][1] = {**last["content"][1], "text": "You have table 9."}
            old["output"]["choices"][0]["message"] = last
            old["output"]["completion"] = "You have table 9."
        assert new["messages"] == old["messages"]
        assert new == old
    assert after == before
    assert "Wrote 2 edited transcripts to" in done.stdout
    lines = [json.loads(line) for line in (logs / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(line["item"], line["test"], line["expected"]) for line in lines] == [
        ("book#1", "editor", "violates"),
        ("book#2", "editor", "violates"),
    ]
    assert read_transcript(lines[0]["transcript"])[-1].content == "You have table 9."


def test_a_log_of_one_format_can_be_written_as_the_other(ran):
    logs, name, run = ran
    run()
    target = {"made.eval": "out.json", "made.json": "out.eval"}[name]
    assert export("--log", target, cwd=logs).exit_code == 0
    messages = [sample["messages"] for sample in dumped(logs / target)["samples"]]
    assert sum(message[-1]["content"] != "" for message in messages) == 6
    assert str(messages).count("You have table 9.") == 2
    assert str(messages).count("iVBORw0KGgo") == 800


def test_several_edits_of_one_sample_are_to_be_chosen_from(ran):
    logs, _, run = ran
    run(tests=[{"editor": {"variants": ["swap", "again"]}}])
    done = export("--log", "out.eval", cwd=logs)
    assert done.exit_code == 2
    assert "item 'book#1' has several edited transcripts" in done.stderr
    assert "choose with --task, --test and --variant" in done.stderr
    assert export("--log", "out.eval", "--variant", "again", cwd=logs).exit_code == 0
    done = export("--jsonl", "out.jsonl", cwd=logs)
    assert "Wrote 4 edited transcripts" in done.stdout


def test_nothing_is_written_over_and_nothing_is_invented(ran):
    logs, name, run = ran
    run()
    assert "is there already" in export("--log", name, cwd=logs).stderr
    (logs / "out.jsonl").touch()
    assert "out.jsonl: is there already" in export("--jsonl", "out.jsonl", cwd=logs).stderr
    assert "say where to" in export(cwd=logs).stderr
    done = export("--jsonl", "new.jsonl", "--test", "edit", cwd=logs)
    assert done.exit_code == 2
    assert "no judged case of test 'edit'; there are: reference, editor" in done.stderr
    assert not (logs / "new.jsonl").exists()


def test_the_log_that_was_judged_has_to_be_there(ran):
    logs, name, run = ran
    run()
    (logs / name).rename(logs / f"moved.{name.rpartition('.')[2]}")
    assert "there is no such file" in export("--log", "out.eval", cwd=logs).stderr
    moved = f"moved.{name.rpartition('.')[2]}"
    assert export("--log", "out.eval", "--source", moved, cwd=logs).exit_code == 0
    other = {"made.eval": "made.json", "made.json": "made.eval"}[name]
    done = export("--log", "other.eval", "--source", other, cwd=logs)
    assert done.exit_code == 2
    assert "is this the log that was judged?" in done.stderr


def test_several_logs_are_written_into_a_directory(logs, monkeypatch):
    monkeypatch.chdir(logs)
    (logs / "editor.py").write_text(EDITOR, encoding="utf-8")
    jrh.run({**SUITE, "data": {**SUITE["data"], "path": "made.*"}}, run_dir="run", plugins=["editor.py"])
    assert "name a directory" in export("--log", "out.eval", cwd=logs).stderr
    done = export("--log", "out", cwd=logs)
    assert done.exit_code == 0, done.stderr
    for name in ("made.eval", "made.json"):
        assert str(dumped(logs / "out" / name)["samples"]).count("You have table 9.") == 4


@pytest.fixture(scope="module")
def samples(made):
    return {
        sample.id: sample for sample in apart(read_eval_log, made / "made.eval", resolve_attachments="full").samples
    }


def applied(sample, change, roles=("system", "user", "assistant", "tool")):
    original = [message for message in to_messages(sample.messages) if message.role in roles]
    edited = [part for message in original for part in change(message)]
    return rewritten(sample.messages, sample.messages, original, edited)


def test_a_message_that_is_gone_is_gone_and_what_was_left_out_stays(samples):
    book = samples["book"]
    messages = applied(book, lambda message: [] if message.reasoning else [message], roles=("user", "assistant"))
    assert messages == book.messages[:-1]


def test_a_new_message_stands_where_it_was_put(samples):
    book = samples["book"]
    call = ToolCall(id="n", name="find_table", arguments={"people": 1})
    new = TranscriptMessage(role="assistant", content="Once more.", reasoning="Hm.", tool_calls=(call,))
    answer = TranscriptMessage(role="tool", name="find_table", tool_call_id="n", error="timeout: late")
    messages = applied(book, lambda message: [message, new, answer] if message.role == "user" else [message])
    assert [message.role for message in messages] == [
        "system", "user", "assistant", "tool", "assistant", "tool", "assistant", "tool", "assistant",
    ]  # fmt: skip
    made = to_messages(messages)[2:4]
    assert [evolve(message, id="") for message in made] == [new, answer]
    assert messages[4:] == book.messages[2:]


def test_an_image_stays_in_its_place_when_the_text_around_it_changes(samples):
    picture = samples[7]
    image = picture.messages[1].content[1]
    change = {"What": "Who"}

    def renamed(message):
        return [evolve(message, content=message.content.replace("What", change["What"]) + "\nTell me.")]

    content = applied(picture, lambda message: renamed(message) if message.role == "user" else [message])[1].content
    assert [part.type for part in content] == ["text", "image", "text"]
    assert content[0].text == "Who is in the picture?"
    assert content[1] == image
    assert content[2].text == "Tell me."


def test_an_image_whose_placeholder_is_gone_is_gone(samples):
    def bare(message):
        return [evolve(message, content="What?") if message.role == "user" else message]

    content = applied(samples[7], bare)[1].content
    assert [part.type for part in content] == ["text"]
