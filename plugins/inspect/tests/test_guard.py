import json
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from jrh import JrhError

BOMB = """
import sys, time
from pathlib import Path
from jrh import JrhError, Mode
from jrh import DataSourceSpec
from jrh_testing import build, sample_task
from jrh_inspect import plugin
source = build(plugin, "inspect", role=DataSourceSpec, options={"path": sys.argv[1]}, task=sample_task(Mode.TRANSCRIPT))
started = time.process_time()  # of this process, whatever else the machine does
try:
    list(source.read())
except JrhError as error:
    seconds = time.process_time() - started
    peak = next(line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line)
    print(seconds, peak, error, sep="\\n")
print("inspect_ai" in sys.modules)
"""


@pytest.fixture
def complaint(read):
    def of(path, **options):
        with pytest.raises(JrhError) as caught:
            read(path, **options)
        assert len(str(caught.value).splitlines()) == 1
        assert str(path) in str(caught.value)
        return str(caught.value)

    return of


@pytest.fixture
def archive(tmp_path):
    """Write an .eval file of these members."""

    def write(members, name="log.eval", method=zipfile.ZIP_DEFLATED):
        path = tmp_path / name
        with zipfile.ZipFile(path, "w", method) as file:
            for member, content in members:
                file.writestr(member, content)
        return path

    return write


@pytest.fixture
def changed(made, tmp_path):
    """Copy the log made by Inspect with its members changed; None leaves a member out."""

    import inspect_ai.log  # noqa: F401 - teaches `zipfile` the compression of its logs

    def write(change):
        path = tmp_path / "changed.eval"
        with zipfile.ZipFile(made / "made.eval") as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
            for info in old.infolist():
                content = change(info.filename, old.read(info))
                if content is not None:
                    new.writestr(info.filename, content)
        return path

    return write


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of memory is read from /proc")
@pytest.mark.slow
def test_a_bomb_is_refused_in_under_a_second_and_under_100_mb(tmp_path):
    path = tmp_path / "bomb.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file, file.open("header.json", "w") as member:
        for _ in range(400):
            member.write(b"\0" * 1_000_000)
    assert path.stat().st_size < 410_000
    done = subprocess.run(
        [sys.executable, "-c", BOMB, str(path)], capture_output=True, text=True, check=False, timeout=60
    )
    seconds, kilobytes, error, imported = done.stdout.splitlines()
    assert float(seconds) < 1
    assert int(kilobytes) < 100_000
    assert "to 400,000,000, more than 200 times as much" in error
    assert imported == "False"


def test_a_log_larger_than_the_bound_is_refused(complaint, archive, tmp_path):
    path = tmp_path / "large.json"
    path.write_bytes(b"{" + b" " * 1_000_001)
    assert "the log holds 1 MB, more than 1 MB" in complaint(path, max_mb=1)
    large = archive([("header.json", "{}"), ("samples/a_epoch_1.json", b"x" * 3_000_000)])
    assert "the log holds 3 MB, more than 2 MB" in complaint(large, max_mb=2)


def test_many_small_members_that_are_large_together_are_refused(complaint, archive):
    members = [(f"samples/{number}_epoch_1.json", "x" * 10_000_000) for number in range(7)]
    assert "the content unpacks" in complaint(archive([("header.json", "{}"), *members]))


def test_too_many_members_are_refused_before_they_are_listed(complaint, archive):
    path = archive([("header.json", "{}")])
    content = path.read_bytes()
    at = content.rindex(b"PK\x05\x06")
    wide = b"PK\x06\x06" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, 10**9, 10**9, 47 * 10**9, 0)
    path.write_bytes(content[:at] + wide + content[at:])
    assert "the archive has 1,000,000,000 members" in complaint(path)


def test_what_is_no_archive_is_said(complaint, tmp_path):
    path = tmp_path / "text.eval"
    path.write_text("this is text", encoding="utf-8")
    assert "is not an Inspect log: an .eval file is a zip archive, and this is not one" in complaint(path)
    path.write_bytes(b"")
    assert "is not an Inspect log" in complaint(path)


def test_an_archive_that_is_cut_short_is_said(complaint, logs):
    path = logs / "made.eval"
    content = path.read_bytes()
    for length in (len(content) // 2, len(content) - 30, 100):
        path.write_bytes(content[:length])
        assert "the archive is cut short: its end is missing" in complaint(path)


@pytest.mark.parametrize("name", ["../outside.json", "/etc/passwd", "samples/../../x", "C:/x.json", "a\\..\\b"])
def test_a_member_that_leads_out_of_the_archive_is_refused(complaint, archive, name):
    assert "points outside the archive" in complaint(archive([("header.json", "{}"), (name, "{}")]))


def test_two_members_of_one_name_are_refused(complaint, archive):
    with pytest.warns(UserWarning, match="Duplicate name"):
        path = archive([("header.json", "{}"), ("header.json", "{}")])
    assert "two members are named 'header.json'" in complaint(path)


def test_a_method_that_inspect_does_not_use_is_refused(complaint, archive):
    assert "uses a compression method" in complaint(archive([("header.json", "{}")], method=zipfile.ZIP_BZIP2))


def test_an_encrypted_member_is_refused(complaint, archive):
    path = archive([("header.json", "{}")])
    content = bytearray(path.read_bytes())
    content[content.rindex(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(content)
    assert "is encrypted" in complaint(path)


def test_a_wrong_checksum_is_said(complaint, logs):
    path = logs / "made.eval"
    content = bytearray(path.read_bytes())
    at = content.rindex(b"PK\x01\x02")
    content[at + 16] ^= 0xFF
    path.write_bytes(content)
    assert "Bad CRC-32" in complaint(path)


def test_a_member_longer_than_it_says_is_noticed(complaint, archive):
    path = archive([("header.json", "{" + " " * 5_000_000 + "}")])
    content = bytearray(path.read_bytes())
    for mark, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = content.rindex(mark)
        content[at + offset : at + offset + 4] = struct.pack("<I", 10)
    path.write_bytes(content)
    assert "header.json' is damaged" in complaint(path)


LYING = """
import sys
from pathlib import Path
import inspect_ai.log
from jrh import JrhError
from jrh_inspect.guard import Bounds, check_log, verify_content

def peak():
    return int(next(line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line))

before = peak()
path = Path(sys.argv[1])
check_log(path, "log", Bounds(max_mb=1000, max_ratio=200))
try:
    verify_content(path, "log")
except JrhError as error:
    print(peak() - before, error, sep="\\n")
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of memory is read from /proc")
@pytest.mark.slow
def test_a_bomb_that_lies_about_its_size_is_not_unpacked(tmp_path):
    import inspect_ai.log  # noqa: F401 - teaches zipfile Zstandard

    path = tmp_path / "lying.eval"
    with zipfile.ZipFile(path, "w", 93) as file, file.open("header.json", "w") as member:
        for _ in range(400):
            member.write(b"\0" * 1_000_000)
    content = bytearray(path.read_bytes())
    for mark, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = content.rindex(mark)
        content[at + offset : at + offset + 4] = struct.pack("<I", 10)
    path.write_bytes(content)
    done = subprocess.run([sys.executable, "-c", LYING, str(path)], capture_output=True, text=True, check=False)
    kilobytes, error = done.stdout.splitlines()
    assert int(kilobytes) < 100_000
    assert "header.json' is damaged" in error


def test_a_log_that_is_still_written_can_be_read(read, changed):
    path = changed(lambda name, content: None if name in ("header.json", "summaries.json") else content)
    assert [item.id for item in read(path)] == ["book#1", "book#2", "7#1", "7#2"]


def test_a_log_without_a_header_is_said(complaint, changed):
    path = changed(lambda name, content: None if name in ("header.json", "_journal/start.json") else content)
    assert "the archive has neither header.json nor _journal/start.json" in complaint(path)


def test_a_log_without_samples_is_said(complaint, changed, made, tmp_path):
    kept = ("header.json", "_journal/start.json")
    assert "the log has no sample" in complaint(changed(lambda name, content: content if name in kept else None))
    log = json.loads((made / "made.json").read_text(encoding="utf-8"))
    path = tmp_path / "empty.json"
    path.write_text(json.dumps({**log, "samples": []}), encoding="utf-8")
    assert "the log has no samples (status: success)" in complaint(path)


def test_members_that_hold_something_else_are_said(complaint, changed):
    assert "Inspect cannot read this log" in complaint(
        changed(lambda name, content: b"[1, 2]" if name == "header.json" else content)
    )
    path = changed(lambda name, content: b"{" if name.startswith("samples/book") else content)
    assert "sample 'book', epoch 1: Inspect cannot read this log" in complaint(path)
    path = changed(lambda name, content: None if name == "samples/7_epoch_2.json" else content)
    assert "sample '7', epoch 2: Inspect cannot read this log" in complaint(path)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", "3", "[" * 100_000, '{"version": 2, "samples": 3}'])
def test_json_that_is_no_log_is_said(complaint, tmp_path, text):
    path = tmp_path / "log.json"
    path.write_text(text, encoding="utf-8")
    assert "Inspect cannot read this log" in complaint(path)


def test_a_path_without_a_log_is_said(complaint, tmp_path):
    assert "file not found" in complaint(tmp_path / "none.eval")
    assert "no file matches the pattern" in complaint(tmp_path / "*.eval")
    (tmp_path / "empty").mkdir()
    assert "the directory has no Inspect log" in complaint(tmp_path / "empty")
    (tmp_path / "log.txt").touch()
    assert "an Inspect log must be an .eval or a .json file" in complaint(tmp_path / "log.txt")
