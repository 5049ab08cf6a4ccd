"""What the csv source reads, and what it says about files that are not in order."""

from __future__ import annotations

import csv
import threading
import tracemalloc
from itertools import islice

import jrh_sources.plugin
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jrh import JrhError, Mode, Scale, Task
from jrh_testing import build


def test_columns_become_parts_of_the_item_and_the_rest_is_metadata(read):
    content = "essay_id,assignment,full_text,score,prompt_name,words\ne1,Write.,Text.,YES,cowboy,12\n"
    columns = {"id": "essay_id", "request": "assignment", "response": "full_text", "label": "score"}
    (item,) = read(content, columns={**columns, "stratum": "prompt_name"})
    assert (item.id, item.gold, item.stratum, item.group) == ("e1", "YES", "cowboy", "")
    assert item.fields == {"request": "Write.", "response": "Text."}
    assert item.metadata == {"prompt_name": "cowboy", "words": "12"}
    assert item.origin == "data.csv:2"


@pytest.mark.parametrize("label", ["NA", "null", "001", "1.0", "true", "None", "nan", "1e3"])
def test_a_label_survives_as_the_text_it_is(read, label):
    task = Task(name="t", scale=Scale.of_labels(label, "other"))
    (item,) = read(f"response,label\nx,{label}\n", task=task)
    assert item.gold == label


def test_an_empty_label_cell_is_no_label(read):
    assert [item.gold for item in read('response,label\nx,\ny,""\nz,NO\n')] == [None, None, "NO"]


def test_a_cell_larger_than_the_readers_limit_loads_and_the_limit_stays(read):
    before = csv.field_size_limit()
    long = "word " * 100_000
    (item,) = read(f'response\n"{long}"\n')
    assert item.fields["response"] == long
    assert csv.field_size_limit() == before == 131_072


def test_the_limit_stays_also_where_a_file_is_broken(complaint):
    complaint('response\n"open\n')
    assert csv.field_size_limit() == 131_072


def test_sources_read_in_several_threads_do_not_disturb_each_other(tmp_path):
    (tmp_path / "a.csv").write_text("response\n" + f"{'x' * 200_000}\n" * 20)
    source = build(jrh_sources.plugin, "csv", options={"path": "a.csv"}, base=tmp_path)
    counts = []
    threads = [threading.Thread(target=lambda: counts.append(len(source.read()))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == [20, 20, 20, 20]
    assert csv.field_size_limit() == 131_072


def test_the_line_of_a_row_is_where_it_starts(read):
    items = read('id,response\na,"one\ntwo\n\nthree"\n\nb,last\n')
    assert [(item.id, item.origin) for item in items] == [("a", "data.csv:2"), ("b", "data.csv:7")]


def test_line_ends_inside_a_quoted_cell_are_kept(read):
    (item,) = read(b'id,response\r\na,"one\r\ntwo\nthree\rfour"\r\n')
    assert item.fields["response"] == "one\r\ntwo\nthree\rfour"


def test_a_byte_order_mark_is_not_part_of_the_first_column(read):
    (item,) = read(b"\xef\xbb\xbfid,response\na,x\n")
    assert item.id == "a"


def test_other_delimiters_and_encodings_are_read(read):
    (item,) = read("id;response\na;Größe\n".encode("cp1252"), delimiter=";", encoding="cp1252")
    assert item.fields["response"] == "Größe"
    (item,) = read("id\tresponse\na\tGröße\n".encode("utf-16"), delimiter="\t", encoding="utf-16")
    assert item.fields["response"] == "Größe"


def test_without_an_id_column_the_rows_are_numbered(read):
    assert [item.id for item in read("response\nx\n\ny\n")] == ["row-1", "row-2"]


def test_a_column_without_a_name_is_not_kept(read):
    (item,) = read(",response\n0,x\n")
    assert item.metadata == {}


def test_duplicate_ids_name_both_lines(complaint):
    said = complaint('id,response\na,x\nb,"y\nz"\na,w\n')
    assert said == "data.csv:5: id 'a' is used twice: data.csv:2 and data.csv:5; ids must be unique"


def test_ragged_rows_are_named_by_line(complaint):
    said = complaint("id,response\na,x\nb,y,z\nc\n").splitlines()
    assert said[0].startswith("data.csv:3: too many cells: 3, but the header has 2")
    assert said[1].startswith("data.csv:4: too few cells: 1, but the header has 2")
    assert len(said) == 2


def test_a_quote_that_is_never_closed_is_named_where_its_row_starts(complaint):
    said = complaint('id,response\na,x\nb,"never\nclosed\n')
    assert said == "data.csv:3: a double quote in the row that starts here is never closed"


def test_text_after_a_closing_quote_is_an_error(complaint):
    assert complaint('id,response\na,"x" y\n').startswith("data.csv:2: text after a closing quote")


def test_bytes_of_another_encoding_are_named_by_line_and_column(complaint):
    said = complaint(b"id,response\na,x\nb,caf\xe9\nc,na\xefve\n").splitlines()
    assert said[0].startswith("data.csv:3:6: byte 0xe9 is not valid utf-8")
    assert "encoding: cp1252" in said[0]
    assert said[1].startswith("data.csv:4:5: byte 0xef")


def test_a_file_of_utf_16_is_recognized(complaint):
    assert "the file is UTF-16: save it as UTF-8, or set `encoding: utf-16` of a data source" in complaint(
        "response\nx\n".encode("utf-16")
    )


def test_bytes_cut_off_in_utf_16_are_an_error(complaint):
    assert "not readable as utf-16" in complaint("response\nx\n".encode("utf-16")[:-1], encoding="utf-16")


def test_a_nul_byte_is_named_by_line_and_column(complaint):
    assert complaint("id,response\na,x\0y\n").startswith("data.csv:2:4: contains a NUL byte")


def test_an_empty_file_and_a_bare_header_are_told_apart(complaint):
    assert complaint("") == "data.csv: the file is empty; a table must start with a header row"
    assert complaint("\n\n") == "data.csv: the file is empty; a table must start with a header row"
    assert complaint("id,response\n") == "data.csv: the file has a header but no rows"


def test_repeated_columns_are_named(complaint):
    assert complaint("id,response,id\na,x,b\n").startswith("data.csv:1: column 'id' appears 2 times")


def test_another_delimiter_is_suggested(complaint):
    said = complaint("id;response\na;x\n")
    assert said == (
        "data.csv:1: the header is a single column, 'id;response'; if ';' separates the cells, set `delimiter: \";\"`"
    )


def test_all_kinds_of_mistakes_are_told_at_once(complaint):
    said = complaint("id,response,label\na,x,MAYBE\nb,y\na,,YES\nc,w,yes\n")
    assert "data.csv:2: label 'MAYBE' is not on the scale YES, NO" in said
    assert "data.csv:3: too few cells" in said
    assert "data.csv:4: id 'a' is used twice" in said
    assert "data.csv:4: column 'response' (response) is empty" in said
    assert "data.csv:5: label 'yes'" in said
    assert [line.split(":")[1] for line in said.splitlines()] == ["2", "3", "4", "4", "5"]


def test_many_mistakes_are_counted_beyond_the_first_twenty(complaint):
    said = complaint("id,response\n" + "a\n" * 57).splitlines()
    assert len(said) == 21
    assert said[-1] == "data.csv: and 37 more problems of these kinds"


def test_a_missing_file_is_named_as_the_suite_writes_it(tmp_path):
    (tmp_path / "essays.csv").write_text("response\nx\n")
    source = build(jrh_sources.plugin, "csv", options={"path": "esays.csv"}, base=tmp_path)
    with pytest.raises(JrhError, match=r"^esays\.csv: file not found; did you mean 'essays\.csv'\?$"):
        source.read()


def test_a_directory_is_named_with_what_is_in_it(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "essays.csv").write_text("response\nx\n")
    source = build(jrh_sources.plugin, "csv", options={"path": "data"}, base=tmp_path)
    with pytest.raises(JrhError, match=r"^data is a directory; name one file in it: essays\.csv$"):
        source.read()


def test_the_origin_is_relative_where_the_suite_is_elsewhere(tmp_path):
    (tmp_path / "suites").mkdir()
    (tmp_path / "a.csv").write_text("response\nx\n")
    (item,) = build(jrh_sources.plugin, "csv", options={"path": "../a.csv"}, base=tmp_path / "suites").read()
    assert item.origin == "../a.csv:2"


@pytest.mark.parametrize("delimiter", ["", ";;", '"', "\n"])
def test_a_delimiter_is_one_character(read, delimiter):
    with pytest.raises(JrhError, match="delimiter"):
        read("response\nx\n", delimiter=delimiter)


@pytest.mark.parametrize("encoding", ["utf-9", "base64"])
def test_an_unknown_encoding_is_an_error(read, encoding):
    with pytest.raises(JrhError, match=encoding):
        read("response\nx\n", encoding=encoding)


texts = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), min_size=1)
rows = st.lists(st.tuples(texts.filter(str.strip), texts), min_size=1, max_size=8)


@given(rows)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
def test_whatever_pythons_writer_writes_is_read_back(tmp_path, written):
    with (tmp_path / "a.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["response", "note"])
        writer.writerows(written)
    items = build(jrh_sources.plugin, "csv", options={"path": "a.csv"}, base=tmp_path).read()
    assert [(item.fields["response"], item.metadata["note"]) for item in items] == written


def test_a_transcript_is_what_a_transcript_task_needs(read, complaint):
    task = Task(name="t", scale=Scale.of_labels("YES", "NO"), mode=Mode.TRANSCRIPT)
    (item,) = read("transcript\nuser: hello\n", task=task)
    assert item.fields == {"request": "", "transcript": "user: hello"}
    assert "a transcript task needs the field 'transcript'" in complaint("response\nx\n", task=task)


def test_a_long_file_is_not_held_and_its_mistakes_come_after_its_items(read, tmp_path):
    rows = "".join(f"{number},{'text ' * 40},YES\n" for number in range(12_000))
    tracemalloc.start()
    count = sum(1 for _ in read(f"id,response,label\n{rows}"))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 12_000
    assert most < 8 * len(rows)  # 14 times where all are held
    items = iter(read(f"id,response,label\n{rows}short\n"))
    assert sum(1 for _ in islice(items, 12_000)) == 12_000
    with pytest.raises(JrhError, match=r"data\.csv:12002"):
        next(items)
