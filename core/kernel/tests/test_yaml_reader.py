"""YAML and JSON files to plain values with positions."""

import json
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from jrh.document import yaml_reader
from jrh.document.yaml_reader import document_of, parse_document, read_document
from jrh.errors import SuiteError
from jrh.suite.overrides import override
from jrh_testing import loop_over


@pytest.fixture(params=["CSafeLoader", "SafeLoader"])
def loader(request, monkeypatch):
    """Every test that uses it runs with the C loader and with the pure one."""
    if not hasattr(yaml, request.param):
        pytest.skip("PyYAML was built without libyaml: only the pure loader is here")
    monkeypatch.setattr(yaml_reader, "_LOADER", getattr(yaml, request.param))


def value_of(text):
    return parse_document(text, "s.yaml").value


def messages(text):
    with pytest.raises(SuiteError) as caught:
        parse_document(text, "s.yaml")
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.usefixtures("loader")
@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("YES", "YES"),
        ("no", "no"),
        ("on", "on"),
        ("off", "off"),
        ("y", "y"),
        ("001", "001"),
        ("+1", "+1"),
        ("1_000", "1_000"),
        ("0x1F", "0x1F"),
        ("0o17", "0o17"),
        ("12:30", "12:30"),
        ("2024-01-01", "2024-01-01"),
        ("00.5", "00.5"),
        ("1e", "1e"),
        (".", "."),
        ("-", "-"),
        ("'3'", "3"),
        ('"true"', "true"),
        ("NA", "NA"),
        ("3", 3),
        ("-3", -3),
        ("0", 0),
        ("1.5", 1.5),
        ("-.5", -0.5),
        ("1e-3", 0.001),
        ("2.E2", 200.0),
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
    ],
)
def test_scalars_are_read_as_yaml_1_2_reads_them_and_labels_stay_text(written, read):
    value = value_of(f"a: {written}\n" if written != "-" else "a: [-x, '-']\n")
    if written == "-":
        assert value == {"a": ["-x", "-"]}
    else:
        assert value == {"a": read}
        assert type(value["a"]) is type(read)


@pytest.mark.usefixtures("loader")
def test_a_number_of_thousands_of_digits_is_text_and_not_a_crash():
    assert value_of("a: " + "9" * 5000) == {"a": "9" * 5000}


@pytest.mark.usefixtures("loader")
def test_all_mistakes_of_a_file_are_shown_at_once_in_the_order_of_the_file():
    text = "a: 1\na: 2\n1: x\nb: !!python/object/apply:os.system [echo]\nc: !mine 3\n"
    assert messages(text) == [
        "s.yaml:2:1: duplicate key 'a': it is already in line 1, column 1",
        "s.yaml:3:1: a key has to be text; write it in quotes",
        "s.yaml:4:4: the tag '!!python/object/apply:os.system' is not allowed; write plain values without tags",
        "s.yaml:5:4: the tag '!mine' is not allowed; write plain values without tags",
    ]


@pytest.mark.usefixtures("loader")
def test_a_second_document_is_reported_where_it_starts():
    assert messages("a: 1\n---\nb: 2\n") == ["s.yaml:2:1: a second document starts here; a file holds one"]


@pytest.mark.usefixtures("loader")
def test_aliases_are_followed_and_broken_ones_reported():
    assert value_of("a: &x [1, 2]\nb: *x\n") == {"a": [1, 2], "b": [1, 2]}
    assert messages("a: &x [*x]\nb: *y\n") == [
        "s.yaml:1:8: '*x' is inside its own anchor '&x': it would contain itself",
        "s.yaml:2:4: '*y' has no '&y' before it",
    ]


@pytest.mark.usefixtures("loader")
def test_a_file_whose_aliases_multiply_is_refused_before_it_fills_the_memory():
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    assert "more than 100,000 values, aliases counted at every use" in messages("\n".join(lines))[0]


@pytest.mark.usefixtures("loader")
def test_deep_nesting_is_refused_also_where_aliases_make_it():
    assert messages("[" * 5000) == ["s.yaml:1:101: values are nested deeper than 100 levels"]
    lines = ["a0: &a0 [1]"] + [f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, 120)]
    assert "nested deeper than 100 levels" in messages("\n".join(lines))[0]


@pytest.mark.usefixtures("loader")
@pytest.mark.parametrize(
    ("text", "place"),
    [("a: b: c", "1:5"), ("a: [1, 2\nb: 3\n", "2:"), ("\ta: 1", "1:1"), ("a: @x", "1:4"), ("a: 'x\n", "2:1")],
)
def test_a_syntax_error_names_its_line(text, place):
    (message,) = messages(text)
    assert message.startswith(f"s.yaml:{place}")
    assert "not valid YAML" in message


@pytest.mark.usefixtures("loader")
def test_a_control_character_is_named_with_its_line_and_column():
    assert messages("a: äöü\nb: x\x07") == ["s.yaml:2:5: the character U+0007 is not allowed in YAML"]


@pytest.mark.usefixtures("loader")
@pytest.mark.parametrize("text", ["", "# only a comment\n", "---\n"])
def test_an_empty_file_is_nothing(text):
    assert value_of(text) is None


@pytest.mark.usefixtures("loader")
def test_positions_are_those_of_keys_and_of_list_entries():
    document = parse_document("name: ü\ntests:\n  - format\n  - stochastic: {repeats: 5}\n", "s.yaml")
    assert document.positions[()] == (1, 1)
    assert document.positions[("tests",)] == (2, 1)
    assert document.positions[("tests", 0)] == (3, 5)
    assert document.positions[("tests", 1, "stochastic", "repeats")] == (4, 18)


def test_a_problem_falls_back_to_the_nearest_known_place():
    document = parse_document("data:\n  source: csv\n", "s.yaml")
    assert str(document.problem(("data", "sample", "n"), "missing")) == "s.yaml:1:1: missing"
    assert str(document.problem(("data", "source"), "wrong")) == "s.yaml:2:3: wrong"


@pytest.mark.usefixtures("loader")
def test_json_with_tabs_and_surrogate_escapes_reads_as_json_does(tmp_path):
    value = {"name": "😀 \\ud83d\\ude00 ü", "n": [1, 2.5, None, True], "t": "a\tb", "s": "/"}
    path = tmp_path / "suite.json"
    path.write_text(json.dumps(value, indent="\t").replace('"/"', '"\\/"'), encoding="utf-8")
    document = read_document(path)
    assert document.value == value
    assert document.positions[("n",)] == (3, 2)


def test_a_byte_order_mark_is_skipped(tmp_path):
    path = tmp_path / "s.yaml"
    path.write_bytes(b"\xef\xbb\xbfname: x\n")
    document = read_document(path)
    assert (document.value, document.positions[("name",)]) == ({"name": "x"}, (1, 1))


def test_files_that_cannot_be_read_are_named(tmp_path):
    def message(path):
        with pytest.raises(SuiteError) as caught:
            read_document(path)
        return str(caught.value)

    latin = tmp_path / "latin.yaml"
    latin.write_bytes("name: x\nrubric: caf\xe9\n".encode("latin-1"))
    huge = tmp_path / "huge.yaml"
    huge.write_bytes(b"#" * (yaml_reader.MAX_BYTES + 1))
    missing = tmp_path / "missing.yaml"
    assert message(missing) == f"{missing}: cannot be read: No such file or directory"
    assert message(tmp_path) == f"{tmp_path}: cannot be read: Is a directory"
    assert message(latin) == f"{latin}:2: this is not UTF-8 text; save the file as UTF-8"
    assert message(huge) == f"{huge}: is larger than 10 MB"


def test_a_file_of_the_largest_size_with_a_cut_character_is_still_called_too_large(tmp_path):
    path = tmp_path / "huge.yaml"
    path.write_bytes(b"#" * yaml_reader.MAX_BYTES + "ü".encode())
    with pytest.raises(SuiteError, match="is larger than 10 MB"):
        read_document(path)


plain_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4, alphabet="abcYN01"), inner),
    max_leaves=12,
)


@given(plain_values)
def test_what_json_writes_is_read_back_equal_by_both_loaders(value):
    text = yaml_reader._json_as_yaml(json.dumps(value))
    for name in ("CSafeLoader", "SafeLoader"):
        original = yaml_reader._LOADER
        try:
            yaml_reader._LOADER = getattr(yaml, name, original)
            read = value_of(text)
        finally:
            yaml_reader._LOADER = original
        assert read == value
        assert json.dumps(read) == json.dumps(value)


def test_values_of_a_program_become_plain():
    document = document_of({"data": {"path": Path("a") / "b.csv"}, "tests": ("format",)})
    assert document.value == {"data": {"path": "a/b.csv"}, "tests": ["format"]}
    assert str(document.problem(("tests", 0, "format", "n"), "wrong")) == "tests[0].format.n: wrong"


def test_a_key_of_a_program_that_is_not_text_and_a_dict_that_holds_itself_are_refused():
    with pytest.raises(SuiteError, match=r"^data: the key 3 is not text$"):
        document_of({"data": {3: "x"}})
    endless: dict = {}
    endless["a"] = endless
    with pytest.raises(SuiteError, match="nested deeper than 100 levels"):
        document_of(endless)


SUITE = """\
data: {source: csv}
tests:
  - format
  - stochastic: {repeats: 5}
  - acme/paraphrase:
judges:
  - baseline
  - {judge: llm, name: gpt-4.1, model: w}
models: {gpt-4.1: {provider: x}}
budget:
"""


@loop_over(
    ("setting", "location", "value"),
    [
        ("data.sample.n=10", ("data", "sample"), {"n": 10}),
        ("tests.format.strength=3", ("tests", 0), {"format": {"strength": 3}}),
        ("tests.1.repeats=[1, 2]", ("tests", 1), {"stochastic": {"repeats": [1, 2]}}),
        ("tests.paraphrase.model=w", ("tests", 2), {"acme/paraphrase": {"model": "w"}}),
        ("tests.0=stochastic", ("tests", 0), "stochastic"),
        ("judges.gpt-4.1.model=z", ("judges", 1, "model"), "z"),
        ("judges.llm.parser=labels", ("judges", 1, "parser"), "labels"),
        ("models.gpt-4.1.temperature=0", ("models", "gpt-4.1", "temperature"), 0),
        ("budget.usd=1.5", ("budget",), {"usd": 1.5}),
        ("seed=", ("seed",), None),
        ("name=a=b", ("name",), "a=b"),
        ("name=YES", ("name",), "YES"),
    ],
)
def test_a_setting_changes_one_value_by_keys_positions_and_names_of_entries(setting, location, value):
    before = parse_document(SUITE, "s.yaml")
    found = override(before, setting).value
    for part in location:
        found = found[part]
    assert found == value
    assert before.value == value_of(SUITE)


def test_a_problem_in_a_set_value_names_the_setting_and_others_keep_their_line():
    document = override(parse_document(SUITE, "s.yaml"), "judges.gpt-4.1.model=z")
    assert str(document.wrong(("judges", 1, "model"), "unknown")) == "--set judges.gpt-4.1.model: unknown"
    assert str(document.wrong(("judges", 1, "name"), "unknown")) == "s.yaml:8:18: name: unknown"


def test_a_setting_that_makes_mappings_is_blamed_from_the_first_one_it_makes():
    document = override(parse_document(SUITE, "s.yaml"), "data.sampel.n=3")
    assert str(document.wrong(("data", "sampel"), "unknown key")) == "--set data.sampel.n: unknown key"


@loop_over(
    ("setting", "message"),
    [
        ("data", "--set data: write `key=value`, such as `data.sample.n=10`"),
        ("=3", "--set =3: write `key=value`, such as `data.sample.n=10`"),
        ("data.source.x=1", "--set data.source.x: 'data.source' is a single value; it has no 'x'"),
        (
            "tests.fromat.x=1",
            (
                "--set tests.fromat.x: tests has no entry 'fromat'\n"
                "Did you mean 'format'? There are: format, stochastic, acme/paraphrase."
            ),
        ),
        ("tests.9.x=1", "--set tests.9.x: tests has no entry '9'\nThere are: format, stochastic, acme/paraphrase."),
    ],
)
def test_a_setting_without_a_place_says_why(setting, message):
    with pytest.raises(SuiteError) as caught:
        override(parse_document(SUITE, "s.yaml"), setting)
    assert str(caught.value) == message


def test_a_setting_whose_value_is_not_yaml_says_so():
    with pytest.raises(SuiteError, match=r"^--set name: not valid YAML: mapping values are not allowed"):
        override(parse_document(SUITE, "s.yaml"), "name=b: c: d")


def test_two_entries_of_one_name_have_to_be_told_apart_by_position():
    document = parse_document("tests: [format, {test: format, name: wide}]", "s.yaml")
    with pytest.raises(SuiteError, match="2 entries of tests are named 'format'; use the position, from 0"):
        override(document, "tests.format.x=1")
    assert override(document, "tests.1.x=1").value["tests"][1]["x"] == 1
