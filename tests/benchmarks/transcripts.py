"""Long transcripts in Inspect logs: time and memory to read them, to show them, and to write them back.

Every log is written by Inspect in a process of its own, and taken up by another one.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any, Final

from tests.benchmarks.long_transcript import SHAPES, megabytes, transcript
from tests.benchmarks.processes import seconds
from tests.benchmarks.table import Line

LIMIT: Final = 400_000
"""Characters that a judge is shown."""
STEPS: Final = ("read", "shown", "written back")
FORMATS: Final = ("eval", "json")


def lines(folder: Path) -> list[Line]:
    """Take every shape and format through all steps; aims: under 10 s each, and 300 MB beside the imports in all."""
    return [line for shape in SHAPES for form in FORMATS for line in _lines(shape, form, folder)]


def _lines(shape: str, form: str, folder: Path) -> list[Line]:
    path = folder / f"{len(list(folder.iterdir()))}.{form}"
    module = [sys.executable, "-m", "tests.benchmarks.transcripts"]
    seconds([*module, "make", shape, str(path)], Path.cwd())
    _, printed = seconds([*module, "take", shape, str(path)], Path.cwd())
    found = json.loads(printed.strip().splitlines()[-1])
    what = f"{shape} in .{form}"
    timed = [
        Line(
            what=f"{what}: {step}, seconds",
            ours=f"{found[step]:.2f} s",
            theirs=f"{found['characters'] / 1e6:.1f} MB, {found['messages']} messages",
            result=found[step],
            aim=10.0,
            unit="s",
            more_is_better=False,
        )
        for step in STEPS
    ]
    memory = Line(
        what=f"{what}: more memory in MB",
        ours=f"{found['megabytes']:.0f} MB",
        theirs=f"shown {found['shown_characters']:,}",
        result=found["megabytes"],
        aim=300.0,
        unit="MB",
        more_is_better=False,
    )
    return [*timed, memory]


def make(shape: str, path: Path) -> None:
    """Write a log with one sample whose conversation is long, with Inspect itself."""
    import inspect_ai
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ChatMessageAssistant, ChatMessageTool, ChatMessageUser, ModelOutput
    from inspect_ai.solver import solver
    from inspect_ai.tool import ToolCall

    def message(written: dict[str, Any]) -> Any:
        if written["role"] == "user":
            return ChatMessageUser(content=written["content"])
        if written["role"] == "tool":
            return ChatMessageTool(
                content=written["content"], tool_call_id=written["tool_call_id"], function=written["name"]
            )
        calls = [
            ToolCall(id=call["id"], function=call["name"], arguments=call["arguments"])
            for call in written.get("tool_calls", ())
        ]
        return ChatMessageAssistant(content=written["content"], tool_calls=calls or None)

    @solver
    def talk() -> Any:
        async def solve(state: Any, generate: Any) -> Any:
            state.messages = [message(written) for written in transcript(*SHAPES[shape])]
            state.output = ModelOutput.from_message(state.messages[-1])
            return state

        return solve

    (log,) = inspect_ai.eval(
        inspect_ai.Task(dataset=[Sample(id="long", input="Where are my orders?")], solver=talk(), name="long"),
        model="mockllm/model",
        log_dir=str(path.parent / f"made-{path.stem}"),
        log_format=path.suffix[1:],
        display="none",
    )
    Path(log.location).rename(path)


def take(path: Path) -> None:
    """Read a log, show its transcript, write it back with one message edited; print what it took."""
    import inspect_ai.log  # noqa: F401 - its import is not what is measured
    import jrh_inspect.plugin
    from jrh import Case, DataSourceSpec, Mode, read_transcript
    from jrh_authoring import render_transcript
    from jrh_inspect.guard import Bounds
    from jrh_inspect.writing import Edited, write_log
    from jrh_testing import build, sample_task

    took: dict[str, float] = {}
    alone = megabytes()
    started = time.perf_counter()
    task = sample_task(Mode.TRANSCRIPT)
    (item,) = build(jrh_inspect.plugin, "inspect", role=DataSourceSpec, options={"path": str(path)}, task=task).read()
    took["read"] = time.perf_counter() - started
    started = time.perf_counter()
    messages = read_transcript(item.fields["transcript"])
    shown = render_transcript(messages, limit=LIMIT)
    took["shown"] = time.perf_counter() - started
    started = time.perf_counter()
    original: Any = item.fields["transcript"]
    edited = [*original[:-1], {**original[-1], "content": "I do not know."}]
    case = Case(id="case", task=task.name, test="edit", item_id=item.id, fields={"transcript": edited}, label_map={})
    change = {item.id: Edited(case=case, original=original, transcript=edited)}
    write_log(path, path.with_name(f"out-{path.name}"), change, prefix="", bounds=Bounds(max_mb=1000, max_ratio=200))
    took["written back"] = time.perf_counter() - started
    sizes = {"messages": len(messages), "characters": sum(len(message.content) for message in messages)}
    print(json.dumps({**took, **sizes, "shown_characters": len(shown.text), "megabytes": megabytes() - alone}))


if __name__ == "__main__":
    # Importing Inspect takes longer than all steps: one process may make, or take, several logs.
    for shape, path in zip(sys.argv[2::2], sys.argv[3::2], strict=True):
        if sys.argv[1] == "make":
            make(shape, Path(path))
        else:
            take(Path(path))
