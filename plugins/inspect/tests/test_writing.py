import contextlib
import io
import json
import shutil

import jrh
import pytest
from attrs import evolve
from jrh import JrhError, read_transcript
from jrh.text import ToolCall, TranscriptMessage
from jrh_inspect.commands import command
from jrh_inspect.logs import call_in_thread
from jrh_inspect.messages import to_messages
from jrh_inspect.writing import rewrite_messages
from jrh_testing import run_jrh

pytestmark = pytest.mark.slow


def reader():
    """Import Inspect where it is needed: it takes longer than collecting all other tests of the plugins."""
    from inspect_ai.log import read_eval_log

    return read_eval_log


EDITOR = """
from attrs import evolve, field, frozen
from jrh import Draft, Equals, PerturberSpec, Skip, hookimpl, read_transcript
from jrh.text import ToolCall


@frozen(kw_only=True)
class Options:
    variants: tuple[str, ...] = field(default=("swap", "again"), metadata={"help": "which edits are made"})


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


@pytest.fixture(scope="module", params=["made.eval", "made.json"])
def ran(request, made, tmp_path_factory):
    """A directory with the logs and a run over one of them, and that log's name."""
    directory = tmp_path_factory.mktemp("ran")
    for path in made.iterdir():
        shutil.copy(path, directory / path.name)
    run(directory, request.param)
    return directory, request.param


def run(directory, path):
    (directory / "editor.py").write_text(EDITOR, encoding="utf-8")
    suite = {**SUITE, "data": {**SUITE["data"], "path": path}}
    with contextlib.chdir(directory):
        assert jrh.run(suite, run_dir="run", plugins=["editor.py"]).exit_code == 0


def export(*arguments, cwd):
    """Call the command in this process; return what it prints."""
    printed = io.StringIO()
    with contextlib.chdir(cwd), contextlib.redirect_stdout(printed):
        assert command.main(["run", *arguments], standalone_mode=False) == 0
    return printed.getvalue()


def refusal(*arguments, cwd):
    """Call the command in this process; return why it refuses."""
    with pytest.raises(JrhError) as caught:
        export(*arguments, cwd=cwd)
    return str(caught.value)


def dumped(path):
    """Everything Inspect reads from a log, attachments in place."""
    log = call_in_thread(reader(), path, resolve_attachments="full")
    return log.model_dump(mode="json", exclude={"location", "etag"})


def test_the_written_log_opens_and_differs_only_in_the_edits(ran):
    logs, name = ran
    target = f"same.{name.rpartition('.')[2]}"
    done = run_jrh("export-transcripts", "run", "--log", target, "--variant", "swap", cwd=logs)
    assert done.exit_code == 0, done.stderr
    assert done.stdout == f"Wrote 2 edited transcripts to {target}.\n"
    before, after = dumped(logs / name), dumped(logs / target)
    for old, new in zip(before["samples"], after["samples"], strict=True):
        if old["id"] == "book":
            _, _, first, found, second, _, last = old["messages"]
            first["tool_calls"][0]["arguments"] = {"people": 4}
            found["content"] = "No table is free."
            second["tool_calls"][0]["arguments"] = {"people": 4}
            last["content"][0]["reasoning"] = "Any table."
            last["content"][1]["text"] = "You have table 9."
            old["output"]["choices"][0]["message"] = last
            old["output"]["completion"] = "You have table 9."
        assert new["messages"] == old["messages"]
        assert new == old
    assert after == before


def test_json_lines_hold_every_edit(ran):
    logs, _ = ran
    assert export("--jsonl", "out.jsonl", cwd=logs) == "Wrote 4 edited transcripts to out.jsonl.\n"
    lines = [json.loads(line) for line in (logs / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(line["item"], line["test"], line["variant"], line["expected"]) for line in lines] == [
        ("book#1", "editor", "swap", "violates"),
        ("book#1", "editor", "again", "violates"),
        ("book#2", "editor", "swap", "violates"),
        ("book#2", "editor", "again", "violates"),
    ]
    assert read_transcript(lines[0]["transcript"])[-1].content == "You have table 9."


def test_a_log_of_one_format_can_be_written_as_the_other(ran):
    logs, name = ran
    target = {"made.eval": "out.json", "made.json": "out.eval"}[name]
    export("--log", target, "--variant", "swap", cwd=logs)
    written = str([sample["messages"] for sample in dumped(logs / target)["samples"]])
    assert written.count("You have table 9.") == 2
    assert written.count("iVBORw0KGgo") == 800


def test_several_edits_of_one_sample_are_to_be_chosen_from(ran):
    logs, _ = ran
    said = refusal("--log", "several.eval", cwd=logs)
    assert said.startswith("item 'book#1' has several edited transcripts, and a log holds one per sample")
    assert said.endswith("choose with --task, --test and --variant")
    assert not (logs / "several.eval").exists()


def test_nothing_is_written_over_and_nothing_is_invented(ran):
    logs, name = ran
    assert "already exists" in refusal("--log", name, "--variant", "swap", cwd=logs)
    (logs / "there.jsonl").touch()
    assert "there.jsonl already exists" in refusal("--jsonl", "there.jsonl", cwd=logs)
    assert "no output given" in refusal(cwd=logs)
    said = refusal("--jsonl", "new.jsonl", "--test", "edit", cwd=logs)
    assert said == "the run has no judged case for test 'edit'; available: reference, editor"
    assert not (logs / "new.jsonl").exists()


def test_the_log_that_was_judged_has_to_be_there(ran):
    logs, name = ran
    wanted = ("--variant", "swap", "--log")
    assert "file not found" in refusal(*wanted, "no.eval", "--source", "none.eval", cwd=logs)
    shutil.copy(logs / name, logs / f"moved-{name}")
    assert "Wrote 2" in export(*wanted, "moved.eval", "--source", f"moved-{name}", cwd=logs)
    other = {"made.eval": "made.json", "made.json": "made.eval"}[name]
    assert "is this the log that was judged?" in refusal(*wanted, "other.eval", "--source", other, cwd=logs)
    assert not (logs / "other.eval").exists()


def test_several_logs_are_written_into_a_directory(logs):
    run(logs, "made.*")
    assert "name a directory" in refusal("--log", "out.eval", "--variant", "swap", cwd=logs)
    export("--log", "out", "--variant", "swap", cwd=logs)
    for name in ("made.eval", "made.json"):
        written = str([sample["messages"] for sample in dumped(logs / "out" / name)["samples"]])
        assert written.count("You have table 9.") == 2


@pytest.fixture(scope="module")
def samples(made):
    return {
        sample.id: sample for sample in call_in_thread(reader(), made / "made.eval", resolve_attachments="full").samples
    }


def applied(sample, change, roles=("system", "user", "assistant", "tool")):
    original = [message for message in to_messages(sample.messages) if message.role in roles]
    edited = [part for message in original for part in change(message)]
    return rewrite_messages(sample.messages, sample.messages, original, edited)


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


def test_messages_with_the_same_id_are_told_apart(samples):
    book = samples["book"]
    twice = book.model_copy(update={"messages": [*book.messages, book.messages[-1]]})
    assert applied(twice, lambda message: [message]) == twice.messages
    original = to_messages(twice.messages)
    edited = [*original[:-1], evolve(original[-1], content="And again.")]
    messages = rewrite_messages(twice.messages, twice.messages, original, edited)
    assert messages[:-1] == book.messages
    assert messages[-1].text == "And again."


def test_a_log_without_message_ids_can_be_edited(samples):
    book = samples["book"]
    bare = [message.model_copy(update={"id": None}) for message in book.messages]
    original = to_messages(bare)
    assert [message.id for message in original][:2] == ["message-1", "message-2"]
    edited = [*original[:-1], evolve(original[-1], content="Nothing.")]
    messages = rewrite_messages(bare, bare, original, edited)
    assert messages[:-1] == bare[:-1]
    assert messages[-1].text == "Nothing."
    assert messages[-1].content[0] == bare[-1].content[0]


def test_an_image_stays_in_its_place_when_the_text_around_it_changes(samples):
    picture = samples[7]
    image = picture.messages[1].content[1]

    def renamed(message):
        return [evolve(message, content=message.content.replace("What", "Who") + "\nTell me.")]

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
