import json

import jrh
import pytest
from jrh import JrhError, Mode, Scale
from jrh.plugins.loading import load_plugins
from jrh.suite.resolve import load_suite
from jrh_criteria.mode import read_rubric

RUBRIC = """\
- id: confirms
  instructions: The agent confirms the price before it pays.
- id: thorough
  instructions: |
    How thorough is the agent?
  score_levels:
    - {level: 0, label: no step is taken}
    - {level: 1, label: some steps are taken}
    - {level: 2, label: all steps are taken}
"""

SUITE = """\
name: agents
data: {source: jsonl, path: items.jsonl}
task:
  mode: transcript
  instruction: Judge the agent.
  criteria: {file: rubric.yaml}
judges: [simulated]
"""


@pytest.fixture
def loaded():
    return load_plugins(["jrh-sources", "jrh-simulated", "jrh-criteria"])


@pytest.fixture
def suite(tmp_path, loaded):
    def load(rubric=RUBRIC, text=SUITE, name="rubric.yaml"):
        (tmp_path / name).write_text(rubric, encoding="utf-8")
        (tmp_path / "suite.yaml").write_text(text, encoding="utf-8")
        return load_suite(tmp_path / "suite.yaml", loaded.plugins).suite

    return load


@pytest.fixture
def complaint(suite, tmp_path):
    def of(rubric=RUBRIC, text=SUITE, name="rubric.yaml"):
        with pytest.raises(JrhError) as caught:
            suite(rubric, text, name)
        return str(caught.value).replace(f"{tmp_path}/", "")

    return of


def test_every_entry_becomes_a_task_of_its_own(suite):
    confirms, thorough = (use.task for use in suite().tasks)
    assert confirms.name == "agents.confirms"
    assert confirms.instruction == "Judge the agent."
    assert confirms.rubric == "The agent confirms the price before it pays."
    assert confirms.scale == Scale.of_labels("satisfies", "violates")
    assert confirms.mode is Mode.TRANSCRIPT
    assert thorough.name == "agents.thorough"
    assert thorough.scale == Scale.of_levels(0, 2)
    assert thorough.rubric == (
        "How thorough is the agent?\n\nLevels:\n0: no step is taken\n1: some steps are taken\n2: all steps are taken"
    )


def test_a_run_may_target_some_of_the_entries(suite):
    text = SUITE.replace("{file: rubric.yaml}", "{file: rubric.yaml, targets: [thorough]}")
    assert [use.task.name for use in suite(text=text).tasks] == ["agents.thorough"]


def test_a_scale_of_ones_own_is_for_the_entries_without_levels(suite):
    text = SUITE.replace("  mode:", "  scale: {labels: [PASS, FAIL]}\n  mode:")
    assert [use.task.scale.labels for use in suite(text=text).tasks] == [("PASS", "FAIL"), ("0", "1", "2")]


def test_a_rubric_may_be_json(suite):
    rubric = json.dumps([{"id": "a", "instructions": "Is it\ttrue? \U0001f600"}], indent="\t")
    (use,) = suite(rubric, SUITE.replace("rubric.yaml", "rubric.json"), "rubric.json").tasks
    assert use.task.rubric == "Is it\ttrue? \U0001f600"


@pytest.mark.parametrize(
    ("rubric", "said"),
    [
        ("", "rubric.yaml: expected a list, got nothing"),
        ("[]", "rubric.yaml:1:1: a rubric file has 1 to 1,000 entries, got 0"),
        ("id: a\n", "rubric.yaml:1:1: expected a list, got a mapping"),
        ("- instructions: Be kind.\n", "rubric.yaml:1:3: [0]: missing key 'id'"),
        ("- id: a\n  instructions: x\n- id: ''\n  instructions: x\n", "rubric.yaml:3:3: id: the id is empty"),
        ("- id: a\n", "rubric.yaml:1:3: [0]: missing key 'instructions'"),
        ("- id: a\n  instructions: ' '\n", "rubric.yaml:2:3: instructions: the instructions are empty"),
        (
            "- {id: a, instructions: x}\n- {id: a, instructions: y}\n",
            "rubric.yaml:2:4: id: entry 1 has the same id",
        ),
        (
            RUBRIC.replace("level: 2", "level: 3"),
            "rubric.yaml:9:8: level: level 3 follows level 1; levels go up one by one, without gaps",
        ),
        (
            RUBRIC.replace("level: 1", "level: 0"),
            "rubric.yaml:8:8: level: level 0 follows level 0; levels go up one by one",
        ),
        (
            RUBRIC.replace("level: 1", "level: 1.5"),
            "rubric.yaml:8:8: level: expected a whole number, got the number 1.5",
        ),
        (RUBRIC.replace("all steps are taken", "''"), "rubric.yaml:9:18: label: the label is empty"),
        (
            "- id: a\n  instructions: x\n  score_levels: [{level: 1, label: y}]\n",
            "rubric.yaml:3:3: score_levels: a scale needs at least two levels",
        ),
        ("- id: a\n  instructions: x\n  levels: []\n", "rubric.yaml:3:3: levels: unknown key"),
        ("- {", "rubric.yaml:2:1: not valid YAML"),
    ],
)
def test_a_mistake_of_the_rubric_is_shown_with_its_file_and_line(complaint, rubric, said):
    assert complaint(rubric).startswith(said)
    assert complaint(rubric).count("rubric.yaml") == 1


def test_an_unknown_target_is_shown_with_what_there_is(complaint):
    text = SUITE.replace("{file: rubric.yaml}", "{file: rubric.yaml, targets: [confirms, through]}")
    assert complaint(text=text) == (
        "suite.yaml:6:53: targets[1]: rubric.yaml has no entry 'through'\n"
        "Did you mean 'thorough'? Entries: confirms, thorough."
    )


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("rubric.yaml", "other.yaml", "suite.yaml:6:14: file: there is no file 'other.yaml'"),
        ("transcript", "pairwise", "suite.yaml:3:1: task: criteria are judged one answer at a time"),
        ("instruction:", "rubric:", "suite.yaml:5:3: rubric: unknown key"),
        ("mode: transcript", "mode: transcripts", "suite.yaml:4:3: mode: expected one of pointwise,"),
    ],
)
def test_a_mistake_of_the_section_is_shown_with_the_suite(complaint, old, new, said):
    assert complaint(text=SUITE.replace(old, new)).startswith(said)


def test_every_mistake_of_a_rubric_is_shown_at_once(tmp_path):
    path = tmp_path / "rubric.yaml"
    path.write_text("- {id: a, instructions: ''}\n- {id: a, instructions: ''}\n", encoding="utf-8")
    with pytest.raises(JrhError) as caught:
        read_rubric(path)
    assert len(str(caught.value).splitlines()) == 2


def test_an_id_that_cannot_name_a_task_is_shown_with_the_section(complaint):
    assert complaint(RUBRIC.replace("id: confirms", "id: a/b")).startswith(
        "suite.yaml:3:1: task: the name 'agents.a/b' has a slash"
    )


def test_one_file_of_items_serves_every_entry(suite, tmp_path):
    suite()
    transcript = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    lines = [json.dumps({"id": str(number), "transcript": transcript}) for number in range(3)]
    (tmp_path / "items.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = jrh.read_items(tmp_path / "suite.yaml", plugins=["jrh-sources", "jrh-simulated", "jrh-criteria"])
    assert [(task.name, [item.id for item in items]) for task, items in found] == [
        ("agents.confirms", ["0", "1", "2"]),
        ("agents.thorough", ["0", "1", "2"]),
    ]


def test_what_is_no_transcript_is_said_with_item_and_message(suite, tmp_path):
    suite()
    line = json.dumps({"id": "1", "transcript": [{"role": "user", "content": "hi"}, {"role": "agent", "content": "x"}]})
    (tmp_path / "items.jsonl").write_text(line + "\n", encoding="utf-8")
    with pytest.raises(JrhError, match=r"items.jsonl:1: transcript\[1\].role: expected one of system, user, assistant"):
        jrh.read_items(tmp_path / "suite.yaml", plugins=["jrh-sources", "jrh-simulated", "jrh-criteria"])


def test_a_rubric_with_score_for_level_is_the_same_rubric(suite, complaint):
    theirs = json.dumps(
        [
            {"id": "confirms", "instructions": "The agent confirms the price before it pays."},
            {
                "id": "thorough",
                "instructions": "How thorough is the agent?\n",
                "score_levels": [
                    {"score": number, "label": f"{what} taken"}
                    for number, what in enumerate(("no step is", "some steps are", "all steps are"))
                ],
            },
        ]
    )
    assert suite(theirs).tasks == suite().tasks
    gap = RUBRIC.replace("level: 2", "score: 3")
    assert "rubric.yaml:9:8: score: level 3 follows level 1" in complaint(gap)
    both = RUBRIC.replace("{level: 2,", "{level: 2, score: 2,")
    assert "give the number of the level once" in complaint(both)
