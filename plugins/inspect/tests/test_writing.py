import contextlib
import io
import json
import shutil

import jrh
import pytest
from jrh import JrhError, read_transcript
from jrh_inspect.commands import command

pytestmark = pytest.mark.slow

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


def test_nothing_is_written_over_and_nothing_is_invented(ran):
    logs, _ = ran
    (logs / "there.jsonl").touch()
    assert "there.jsonl already exists" in refusal("--jsonl", "there.jsonl", cwd=logs)
    said = refusal("--jsonl", "new.jsonl", "--test", "edit", cwd=logs)
    assert said == "the run has no judged case for test 'edit'; available: reference, editor"
    assert not (logs / "new.jsonl").exists()
