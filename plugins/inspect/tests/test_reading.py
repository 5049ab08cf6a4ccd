from pathlib import Path

import pytest
from jrh import DataSourceSpec, JrhError, Mode, Scale, read_transcript
from jrh_inspect import plugin
from jrh_inspect.options import InspectOptions
from jrh_inspect.source import inspect_source
from jrh_testing import FakeContext, build, sample_task

TABLES = "Table 4 is free. " * 120
AGENT = sample_task(Mode.TRANSCRIPT, Scale.of_labels("satisfies", "violates"))


@pytest.fixture(params=["made.eval", "made.json"])
def path(made, request):
    return made / request.param


@pytest.fixture
def complaint(read):
    def of(path, **options):
        with pytest.raises(JrhError) as caught:
            read(path, **options)
        return str(caught.value)

    return of


def test_every_sample_and_epoch_is_an_item_in_the_order_of_the_data_set(read, path):
    items = read(path, errors="keep")
    assert [item.id for item in items] == ["book#1", "book#2", "7#1", "7#2", "bad#1", "bad#2"]
    assert [item.group for item in items] == ["book", "book", "7", "7", "bad", "bad"]


def test_an_item_has_the_input_the_messages_and_what_is_known_of_the_sample(read, path):
    item = read(path)[0]
    assert item.fields["request"] == "Book a table for two."
    assert "response" not in item.fields
    shown = [
        {key: value for key, value in message.items() if key not in ("id", "source")}
        for message in item.fields["transcript"]
    ]
    first, second = (call["id"] for message in shown for call in message.get("tool_calls", ()))
    assert shown == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Book a table for two."},
        {
            "role": "assistant",
            "content": "I look for a table.",
            "tool_calls": [{"id": first, "name": "find_table", "arguments": {"people": 2}}],
        },
        {"role": "tool", "content": TABLES, "tool_call_id": first, "name": "find_table"},
        {
            "role": "assistant",
            "content": shown[4]["content"],
            "tool_calls": [{"id": second, "name": "find_table", "arguments": {"people": 9}}],
        },
        {
            "role": "tool",
            "content": "",
            "tool_call_id": second,
            "name": "find_table",
            "error": shown[5]["error"],
        },
        {"role": "assistant", "content": "You have table 4.", "reasoning": "Table 4 it is."},
    ]
    assert shown[5]["error"].startswith("timeout: ")
    assert len({message["id"] for message in item.fields["transcript"]}) == 7
    assert item.metadata["language"] == "en"
    assert item.metadata["inspect"] == {
        "log": path.name,
        "task": "restaurant",
        "model": "mockllm/model",
        "sample": "book",
        "epoch": 1,
        "target": "table 4",
        "output": "You have table 4.",
        "scores": {"includes": "C"},
    }


def test_an_image_is_a_placeholder_with_its_type(read, path):
    item = read(path, samples=["7#2"])[0]
    assert item.fields["transcript"][1]["content"] == (
        "What is in the picture?\n[image: image/png, 4,400 characters of data not shown]"
    )
    assert "iVBOR" not in str(item)


def test_samples_that_ended_with_an_error_are_left_out_and_counted(path):
    context = FakeContext(name="inspect", task=AGENT)
    source = inspect_source(InspectOptions(path=path), context)
    assert [item.id for item in source.read()] == ["book#1", "book#2", "7#1", "7#2"]
    (entry,) = [entry for entry in context.log.entries if entry.level == "warning"]
    assert entry.values == {"reason": "the sample ended with an error", "samples": 2}


def test_a_sample_with_an_error_that_is_kept_says_which(read, path):
    item = read(path, errors="keep", samples=["bad#1"])[0]
    assert "the sandbox is gone" in item.metadata["inspect"]["error"]
    assert [message["role"] for message in item.fields["transcript"]] == ["user"]


def test_samples_and_epochs_can_be_chosen(read, path):
    assert [item.id for item in read(path, samples=["7", "book#2"])] == ["book#2", "7#1", "7#2"]
    assert [item.id for item in read(path, epochs=[2])] == ["book#2", "7#2"]


def test_a_sample_that_is_not_there_is_an_error(complaint, path):
    assert complaint(path, samples=["7", "boook"]).endswith("no sample boook")


def test_roles_can_be_left_out(read, path):
    item = read(path, roles=["user", "assistant"])[0]
    assert [message["role"] for message in item.fields["transcript"]] == ["user", "assistant", "assistant", "assistant"]


def test_a_sample_without_a_message_of_the_roles_is_left_out(read, path):
    assert [item.id for item in read(path, roles=["tool"])] == ["book#1", "book#2"]


def test_reasoning_can_be_left_out(read, path):
    item = read(path, reasoning=False)[0]
    assert not any("reasoning" in message for message in item.fields["transcript"])
    assert item.fields["transcript"][-1]["content"] == "You have table 4."


def test_tool_output_can_be_shortened_and_dropped(read, path):
    short = read(path, tool_output=100)[0].fields["transcript"][3]["content"]
    assert short == f"{TABLES[:50]}\n[1,940 characters of the tool's output left out]\n{TABLES[-50:]}"
    dropped = read(path, tool_output=0)[0].fields["transcript"][3]["content"]
    assert dropped == "\n[2,040 characters of the tool's output left out]\n"


def test_of_code_in_tool_calls_the_comments_can_be_kept():
    from jrh.text import TranscriptMessage
    from jrh_inspect.options import InspectOptions
    from jrh_inspect.source import Shape

    code = "# load the table\nrows = read()\n    # then count\nprint(len(rows))"
    calls = [
        {"id": "1", "name": "python", "arguments": {"code": code, "timeout": 5}},
        {"id": "2", "name": "bash", "arguments": {"cmd": "ls  # list"}},
    ]
    (message,) = read_transcript([{"role": "assistant", "content": "# a heading\nplain", "tool_calls": calls}])
    assert isinstance(message, TranscriptMessage)
    shape = Shape(options=InspectOptions(path=Path("x"), code="comments"))
    (shown,) = shape.of([message], {}, "here")
    assert shown["content"] == "# a heading\nplain"
    assert [call["arguments"] for call in shown["tool_calls"]] == [
        {"code": "# load the table\n    # then count", "timeout": 5},
        {"cmd": "ls  # list"},
    ]
    (whole,) = Shape(options=InspectOptions(path=Path("x"))).of([message], {}, "here")
    assert whole["tool_calls"][0]["arguments"]["code"] == code


def test_a_function_of_ones_own_has_the_last_word(read, path, tmp_path):
    program = tmp_path / "mine.py"
    program.write_text(
        "def upper(messages, metadata):\n"
        "    if metadata['language'] == 'fr':\n"
        "        return None\n"
        "    assert metadata['inspect']['epoch'] in (1, 2)\n"
        "    return [{**message, 'content': message['content'].upper()} for message in messages]\n",
        encoding="utf-8",
    )
    items = read(path, preprocess=f"{program}:upper", roles=["user"])
    assert [item.id for item in items] == ["book#1", "book#2"]
    assert items[0].fields["transcript"][0]["content"] == "BOOK A TABLE FOR TWO."


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return [{'role': 'agent'}]", "after preprocess: transcript[0].role: expected one of system, user"),
        ("raise KeyError('x')", "preprocess raised KeyError: 'x'"),
        ("return 3", "after preprocess: transcript: expected a list of messages"),
    ],
)
def test_a_function_that_fails_is_named_with_the_sample(complaint, path, tmp_path, body, said):
    program = tmp_path / "mine.py"
    program.write_text(f"def f(messages, metadata):\n    {body}\n", encoding="utf-8")
    assert f"sample 'book', epoch 1: {said}" in complaint(path, preprocess=f"{program}:f")


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("nowhere.py:f", "not found"),
        ("no_such_module:f", "ModuleNotFoundError"),
        ("math:nothing", "AttributeError"),
        ("math:pi", "is not callable (type float)"),
    ],
)
def test_a_function_that_is_not_there_is_an_error(complaint, path, written, said):
    assert said in complaint(path, preprocess=written)


def test_a_key_of_the_metadata_or_a_score_is_the_stratum(read, path):
    assert [item.stratum for item in read(path, stratum="language")] == ["en", "en", "fr", "fr"]
    assert [item.stratum for item in read(path, stratum="includes")] == ["C", "C", "I", "I"]
    assert [item.stratum for item in read(path, stratum="level")] == ["2", "2", "", ""]


def test_a_stratum_that_no_sample_has_is_an_error(complaint, path):
    assert complaint(path, stratum="langauge").endswith(
        "no sample has the metadata key or score 'langauge'; available: language, level, includes"
    )


def test_a_score_is_the_gold_label(read, path):
    labels = {"C": "satisfies", "I": "violates"}
    assert [item.gold for item in read(path, gold="includes", gold_labels=labels)] == [
        "satisfies",
        "satisfies",
        "violates",
        "violates",
    ]
    assert [item.gold for item in read(path, gold="includes")] == ["C", "C", "I", "I"]


def test_every_task_may_have_a_score_of_its_own(read, path):
    assert read(path, task=AGENT, gold={AGENT.name: "includes"})[0].gold == "C"
    assert read(path, gold={"another": "includes"})[0].gold is None


def test_a_score_that_does_not_fit_is_an_error(complaint, path):
    assert complaint(path, gold="match").endswith("no sample has the score 'match'; available: includes")
    assert complaint(path, gold="includes", gold_labels={"C": "x"}).endswith(
        "sample '7', epoch 1: the score 'includes' is 'I', which `gold_labels` does not map; it maps C"
    )


def test_a_pointwise_task_judges_the_final_output(read, path):
    item = read(path, task=sample_task(Mode.POINTWISE))[0]
    assert item.fields == {"request": "Book a table for two.", "response": "You have table 4."}


def test_a_pairwise_task_is_refused(read, path):
    with pytest.raises(JrhError, match="one transcript per sample"):
        read(path, task=sample_task(Mode.PAIRWISE))


def test_several_logs_are_told_apart(read, logs):
    (logs / "again.eval").write_bytes((logs / "made.eval").read_bytes())
    items = read(logs / "*.eval")
    assert [item.id for item in items][:5] == [
        *("again.eval:book#1", "again.eval:book#2", "again.eval:7#1", "again.eval:7#2", "made.eval:book#1")
    ]
    assert items[0].group == items[4].group == "book"


def test_a_directory_holds_the_logs_that_inspect_names(read, logs):
    (logs / "made.json").rename(logs / "2026-01-02T03-04-05-00-00_restaurant_x.json")
    (logs / "notes.json").write_text("{}", encoding="utf-8")
    assert {item.id.partition(":")[0] for item in read(logs)} == {
        "made.eval",
        "2026-01-02T03-04-05-00-00_restaurant_x.json",
    }


def test_tasks_that_share_their_data_read_them_once(read, logs, monkeypatch):
    from jrh_inspect import source

    opened = []
    monkeypatch.setattr(source, "open_log", lambda *given, real=source.open_log: opened.append(given) or real(*given))
    first = read(logs / "made.eval", gold="includes")
    second = read(logs / "made.eval", task=AGENT)
    assert len(opened) == 1
    assert first[0].fields["transcript"] is second[0].fields["transcript"]
    read(logs / "made.eval", roles=["user"])
    assert len(opened) == 2


def test_the_source_can_be_read_within_an_event_loop(made):
    import asyncio

    async def inside():
        before = asyncio.run
        source = build(plugin, "inspect", role=DataSourceSpec, options={"path": str(made / "made.eval")}, task=AGENT)
        return len(list(source.read())), asyncio.run is before

    assert asyncio.run(inside()) == (4, True)
