"""A run directory remembers the local plugins of `--plugins`, and code that this user has not run is not loaded."""

from __future__ import annotations

import importlib.util
import json
import os
import py_compile
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest
from jrh_testing import Inside, Project, loop_over

pytestmark = pytest.mark.inside

PLUGIN = '''\
"""A local plugin: a metric, a perturber and a reporter."""

from pathlib import Path

from jrh import Draft, Measure, MetricSpec, PerturberSpec, ReporterSpec, hookimpl
from attrs import frozen
from helper import CLOSING

Path("loaded.txt").write_text("x")

@frozen(kw_only=True)
class Options:
    """None."""

class Rows:
    def measure(self, records, context):
        number = len(records)
        yield Measure(name="rows", judge="s", task="mine", test="closed", estimate=float(number), n_trials=number)

class Short:
    def render(self, report):
        return f"{len(report.records)} rows, mine"

class Closed:
    async def perturb(self, item):
        return [Draft(variant="closed", fields={"response": f"{item.fields['response']} {CLOSING}"})]

@hookimpl
def jrh_metrics():
    yield MetricSpec(name="rows", summary="rows", options=Options, factory=lambda options: Rows())

@hookimpl
def jrh_perturbers():
    yield PerturberSpec(name="closed", summary="closed", options=Options, factory=lambda options: Closed())

@hookimpl
def jrh_reporters():
    yield ReporterSpec(name="short", summary="s", factory=lambda options: Short(), filename="short.txt")
'''
SUITE = """\
name: mine
data: {source: examples, dataset: factual, sample: {n: 3, seed: 1}}
task: {instruction: Is it right?, scale: {labels: ["YES", "NO"]}}
tests: [closed]
judges: [{judge: simulated, name: s}]
metrics: {add: [rows]}
reports: [short, json]
gate: {rules: ["flip-rate[closed] <= 1"]}
"""


HELPER = 'CLOSING = "Bye."\n'


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Provide a finished run that was made with `--plugins mine.py`."""
    return _run_with(Inside(tmp_path_factory.mktemp("study")), _restore)


def _run_with(project: Inside, write_plugin: Callable[[Project], None]) -> Project:
    project.write("suite.yaml", SUITE)
    write_plugin(project)
    done = project.run("run", "suite.yaml", "--plugins", "mine.py")
    assert done.exit_code == 0, done.stderr
    return project


@pytest.fixture
def study(made: Project) -> Project:
    """Provide that run with the plugin as it was."""
    _restore(made)
    return made


def _restore(project: Project) -> None:
    for name, text in (("mine.py", PLUGIN), ("helper.py", HELPER)):
        (project.path / name).unlink(missing_ok=True)
        project.write(name, text)
    (project.path / "loaded.txt").unlink(missing_ok=True)


def _loaded(study: Project) -> bool:
    return (study.path / "loaded.txt").exists()


def test_every_command_on_the_run_works_without_the_option(study: Project) -> None:
    first = (study.path / "runs/mine/short.txt").read_text()
    (study.path / "runs/mine/short.txt").unlink()
    again = study.run("report", "runs/mine")
    assert again.exit_code == 0, again.stderr
    assert again.stderr.splitlines()[0] == "jrh: loading 'mine.py', which this run was made with (--plugins)."
    assert (study.path / "runs/mine/short.txt").read_text() == first == "9 rows, mine"
    for command in (("gate", "runs/mine"), ("plan", "suite.yaml"), ("audit", "suite.yaml")):
        done = study.run(*command)
        assert done.exit_code == 0, (command, done.stderr)
    assert study.run("plan", "suite.yaml", "--pilot", "runs/mine").exit_code == 0


def test_a_run_goes_on_without_the_option_and_asks_nothing_twice(study: Project) -> None:
    assert study.run("report", "runs/mine").exit_code == 0  # another test has reported with changed code
    before = json.loads((study.path / "runs/mine/report.json").read_text())
    done = study.run("run", "suite.yaml", "--limit", "2")
    assert done.exit_code == 0, done.stderr
    assert study.run("run", "suite.yaml").exit_code == 0
    assert json.loads((study.path / "runs/mine/report.json").read_text()) == before
    elsewhere = study.run("run", "suite.yaml", "--run-dir", "elsewhere")
    assert "unknown perturber 'closed'" in elsewhere.stderr, "another directory remembers nothing"


def test_merged_parts_remember_what_each_remembers(study: Project) -> None:
    (study.path / "deeper").mkdir()
    for part in (1, 2):
        flags = ("--plugins", "mine.py", "--shard", f"{part}/2", "--run-dir", f"part-{part}")
        assert study.run("run", "suite.yaml", *flags).exit_code == 0
    done = study.run("merge", "part-1", "part-2", "--run-dir", "deeper/whole")
    assert done.exit_code == 0, done.stderr
    _restore(study)
    again = study.run("run", "suite.yaml", "--run-dir", "deeper/whole")
    assert again.exit_code == 0, again.stderr
    assert "loading 'mine.py'" in again.stderr
    assert (study.path / "deeper/whole/short.txt").read_text() == "9 rows, mine"
    _restore(study)
    (study.path / "helper.py").write_text('CLOSING = "Changed."\n')
    changed = study.run("run", "suite.yaml", "--run-dir", "deeper/whole")
    assert changed.exit_code == 2, "code that was not run is not loaded"
    assert not _loaded(study)


def test_the_run_directory_holds_no_path_of_this_machine(study: Project) -> None:
    assert str(study.path).encode() not in (study.path / "runs/mine/run.sqlite").read_bytes()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("plugin", "it has changed since; pass --plugins mine.py to load it as it is now"),
        ("helper", "it has changed since; pass --plugins mine.py to load it as it is now"),
        ("gone", "it is no longer there; pass --plugins with its new path"),
        ("pipe", "it is no longer there; pass --plugins with its new path"),
    ],
)
def test_a_file_that_changed_or_is_gone_is_one_sentence_and_is_not_loaded(
    study: Project, change: str, why: str
) -> None:
    name = "helper.py" if change == "helper" else "mine.py"
    if change in ("gone", "pipe"):
        (study.path / name).unlink()
    else:
        study.write(name, (study.path / name).read_text() + "\n# edited\n")
    if change == "pipe":
        os.mkfifo(study.path / name)
    done = study.run("report", "runs/mine")
    told = f"jrh: this run was made with 'mine.py' (--plugins), which is not loaded: {why}."
    assert done.stderr.splitlines()[0] == told
    assert done.exit_code == 2
    assert done.stderr.splitlines()[-1] == "jrh: reporter 'short' writes nothing: it is not loaded"
    assert "Report: runs/mine/report.json" in done.stdout, "the others still are written"
    assert not _loaded(study)
    if name == "mine.py" and change == "plugin":
        assert study.run("report", "runs/mine", "--plugins", "mine.py").exit_code == 0


def test_what_a_metric_measured_is_reported_without_its_plugin(study: Project) -> None:
    whole = json.loads((study.path / "runs/mine/report.json").read_text())
    (study.path / "mine.py").unlink()
    done = study.run("report", "runs/mine", "--format", "json")
    assert done.exit_code == 0, done.stderr
    kept = "The plugin of 1 metric (rows) is not loaded: the measures are those that the run stored."
    assert kept in done.stderr
    assert json.loads((study.path / "runs/mine/report.json").read_text())["measures"] == whole["measures"]
    study.write("runs/mine/report.json", json.dumps(whole))


def test_a_run_directory_of_somebody_else_makes_no_code_run(study: Project, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    shutil.copytree(study.path, theirs)
    for environment, place in (({}, theirs), ({"JRH_STATE_DIR": str(tmp_path / "other")}, study.path)):
        done = study.run("report", place / "runs/mine", env=environment)
        assert "another user, machine or directory ran it, and a plugin can run any code; pass --plugins" in done.stderr
        assert done.exit_code == 2
        assert not _loaded(study)


def test_what_is_named_is_what_is_loaded(study: Project) -> None:
    done = study.run("report", "runs/mine", "--plugins", "jrh-report")
    assert "loading" not in done.stderr
    assert not _loaded(study)


def test_a_module_is_remembered_too(study: Project) -> None:
    done = study.run("run", "suite.yaml", "--plugins", "mine:", "--run-dir", "by-module")
    assert done.exit_code == 0, done.stderr
    assert study.run("report", "by-module").exit_code == 0


@pytest.mark.parametrize("stored", ["{", '{"a": 1}', '[{"written": 1, "digest": 2}]'])
def test_a_damaged_memory_is_one_sentence(study: Project, tmp_path: Path, stored: str) -> None:
    copy = tmp_path / "damaged"
    shutil.copytree(study.path / "runs/mine", copy)
    database = sqlite3.connect(copy / "run.sqlite")
    database.execute("UPDATE meta SET value = ? WHERE key = 'plugins'", (stored,))
    database.commit()
    database.close()
    done = study.run("report", copy)
    assert done.exit_code == 2
    assert "Traceback" not in done.stderr
    assert not _loaded(study)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Provide a directory of the import path with a plugin that imports a module of Python and one that is missing."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    code = PLUGIN.replace(
        "from helper import CLOSING",
        "import colorsys\ntry:\n    import faster\nexcept ImportError:\n    pass\nCLOSING = ''",
    )
    (folder / "installed_plug.py").write_text(code)
    monkeypatch.syspath_prepend(folder)
    yield folder
    for name in ("installed_plug", "colorsys", "faster"):
        sys.modules.pop(name, None)


def test_nothing_in_a_run_directory_is_imported(made: Project, installed: Path, tmp_path: Path) -> None:
    study = Inside(tmp_path / "study", made.env)
    study.path.mkdir()
    study.write("suite.yaml", SUITE)
    assert study.run("run", "suite.yaml", "--plugins", "installed_plug:").exit_code == 0
    # What somebody else sends: a run that remembers a plugin which this user has run, and modules that it imports.
    sent = Inside(tmp_path / "sent", study.env)
    shutil.copytree(study.path / "runs/mine", sent.path)
    for name in ("colorsys", "faster", "sitecustomize", "attrs", "installed_plug"):
        sent.write(f"{name}.py", f"from pathlib import Path\nPath('pwned-{name}').touch()\n")
        (sent.path / "below").mkdir(exist_ok=True)
        shutil.copy(sent.path / f"{name}.py", sent.path / "below")
    below = Inside(sent.path / "below", study.env)
    for place, run in ((sent, "."), (below, "..")):
        for options in ((), ("--plugins", "installed_plug:")):
            for name in ("installed_plug", "colorsys", "faster"):
                sys.modules.pop(name, None)
            done = place.run("report", run, *options)
            assert done.exit_code == 0, done.stderr
            assert ("loading 'installed_plug:'" in done.stderr) == (not options)
        done = place.run("report", run, "--plugins", "faster.py")
        assert (
            f"'faster.py' lies in the run directory '{sent.path}', and a run directory is data; move it" in done.stderr
        )
        assert "cannot" in place.run("report", run, "--plugins", "faster:").stderr
    # As a program: `python -m` puts the working directory first.
    assert Project(sent.path, study.env).run("report", ".", env={"PYTHONPATH": str(installed)}).exit_code == 0
    assert not [str(path) for path in sent.path.rglob("pwned-*")]


def _write(name: str, content: bytes | str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)


def _compile(name: str, *, cached: bool = False) -> Callable[[Path], object]:
    """Return what puts byte code in the place of a module, or into Python's cache of it."""

    def change(folder: Path) -> None:
        code = folder / "evil.py"
        code.write_text("open('pwned', 'w')\nCLOSING = 'pwned'\n")
        target = importlib.util.cache_from_source(str(folder / f"{name}.py")) if cached else f"{folder / name}.pyc"
        unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
        py_compile.compile(str(code), cfile=target, invalidation_mode=unchecked)
        if not cached:
            (folder / f"{name}.py").unlink()

    return change


def _package(folder: Path) -> None:
    (folder / "helper").mkdir()
    (folder / "helper/__init__.py").write_text("CLOSING = ''")


@loop_over(
    "change, is_loaded",
    [
        pytest.param(_write("unused.py", ""), True, id="a module that nothing imports"),
        pytest.param(_write("colorsys.py", "open('pwned', 'w')"), True, id="a module named as one of Python"),
        pytest.param(_compile("helper", cached=True), True, id="byte code in the cache"),
        pytest.param(_compile("helper"), False, id="byte code in the place of a module"),
        pytest.param(_write(f"helper{EXTENSION_SUFFIXES[0]}", b"\x7fELF"), False, id="an extension"),
        pytest.param(_package, False, id="a package"),
        pytest.param(_write("work.py", "open('pwned', 'w')"), False, id="the module of a factory"),
        pytest.param(_compile("work"), False, id="byte code of a factory"),
        # Its name is computed, so that no record covers it: it cannot be imported.
        pytest.param(_write("hidden.py", "open('pwned', 'w')"), True, id="a module of a computed name"),
    ],
)
def test_the_users_record_covers_what_a_plugin_imports(
    wide: Project, change: Callable[[Path], object], is_loaded: bool
) -> None:
    for path in set(wide.path.iterdir()) - {wide.path / "runs", wide.path / "suite.yaml", wide.path / ".state"}:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    _write_wide(wide)
    for name in [name for name in sys.modules if name.startswith(("helper", "work", "colorsys", "jrh_local_mine"))]:
        del sys.modules[name]  # as in a process of its own
    change(wide.path)
    done = wide.run("report", "runs/mine")
    assert _loaded(wide) == is_loaded, done.stderr
    assert ("it has changed since" in done.stderr) == (not is_loaded), done.stderr
    assert not (wide.path / "pwned").exists()


def _write_wide(project: Project) -> None:
    """Write a plugin that imports a module beside it, one of Python, one of a computed name, and names a factory."""
    imports = (
        "import colorsys, importlib\ntry:\n    importlib.import_module('hid' + 'den')\nexcept ImportError:\n    pass\n"
    )
    code = PLUGIN.replace("from helper", f"{imports}from helper").replace("lambda options: Rows()", "'work:make'", 1)
    project.write("mine.py", code.replace("factory='work", 'factory="work').replace("make'", 'make"'))
    project.write("helper.py", HELPER)
    work = PLUGIN[PLUGIN.index("class Rows") : PLUGIN.index("class Short")]
    project.write("work.py", f"from jrh import Measure\n\n{work}def make(options):\n    return Rows()\n")


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Provide a finished run of that plugin."""
    return _run_with(Inside(tmp_path_factory.mktemp("wide")), _write_wide)


def test_a_run_directory_is_for_its_user_alone(made: Project) -> None:
    run_dir = made.path / "runs/mine"
    assert oct(run_dir.stat().st_mode & 0o777) == "0o700"
    modes = {path.name: oct(path.stat().st_mode & 0o777) for path in run_dir.iterdir()}
    assert set(modes) >= {"run.sqlite", "log.jsonl", "report.json", "short.txt"}
    assert set(modes.values()) == {"0o600"}, modes
