"""The README keeps its word: its suites, its commands and its links."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from jrh.cli import COMMANDS
from jrh.cli.plugin_commands import plugin_commands
from jrh_testing import Project, loop_over

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = sorted(
    path
    for place in ("*.md", "docs/**/*.md", "core/*/*.md", "plugins/*/*.md", "plugins-contrib/*/*.md", ".github/*.md")
    for path in ROOT.glob(place)
)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
ESSAYS = "essay_id,assignment,full_text,score\ne1,Is it so?,It is.,YES\ne2,Is it so?,It is not.,NO\n"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


@pytest.fixture
def first(project: Project) -> Project:
    project.write("suite.yaml", blocks("yaml")[0])
    return project


def test_it_is_short() -> None:
    assert len(README.splitlines()) < 120


@pytest.mark.slow
def test_the_first_suite_is_planned_and_runs_offline_and_python_reads_it(first: Project) -> None:
    for command in ("plan", "run"):
        assert f".venv/bin/jrh {command} suite.yaml" in README
        done = first.run(command, "suite.yaml")
        assert done.exit_code == 0, done.output
    assert (first.path / "runs" / "first" / "report.html").is_file()


@pytest.mark.slow
def test_the_python_example_prints_a_measure(
    first: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(first.path)
    first.write("suite.yaml", blocks("yaml")[0].replace("dataset: factual", "dataset: factual, sample: {n: 6}"))
    (code,) = blocks("python")
    exec(compile(code, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert printed.startswith("Measure(name='gold-accuracy', judge='baseline', task='first', test='reference'")


@pytest.mark.slow
def test_the_parts_for_real_data_and_a_real_judge_fit_into_the_first_suite(first: Project) -> None:
    suite, parts = (yaml.safe_load(block) for block in blocks("yaml"))
    first.write("essays.csv", ESSAYS)
    first.write("suite.yaml", yaml.safe_dump(suite | parts))
    done = first.run("plan", "suite.yaml", env={"OPENAI_API_KEY": "sk-none-is-used"})
    assert done.exit_code == 0, done.output
    assert "mini" in done.stdout


@loop_over("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_relative_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in LINK.findall(text):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        assert path.exists(), f"{target}: there is no such file"
        if anchor:
            headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in {re.sub(r"[^\w\- ]", "", each).lower().replace(" ", "-") for each in headings}, target


def test_every_page_is_reachable_from_the_index() -> None:
    reached, due = set(), [ROOT / "docs" / "index.md"]
    while due:
        page = due.pop()
        if page in reached or page.suffix != ".md":
            continue
        reached.add(page)
        targets = [each.partition("#")[0] for each in LINK.findall(page.read_text(encoding="utf-8")) if ":" not in each]
        due += [path for each in targets if each and (path := (page.parent / each).resolve()).is_file()]
    pages = {page for page in PAGES if (ROOT / "docs") in page.parents}
    assert sorted(str(page.relative_to(ROOT)) for page in pages - reached) == []


def test_the_index_lists_every_shipped_plugin_once() -> None:
    page = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    shipped = [f"../plugins/{path.parent.name}/README.md" for path in sorted(ROOT.glob("plugins/*/pyproject.toml"))]
    assert sorted(target for target in LINK.findall(page) if target.startswith("../plugins/")) == shipped


def test_the_page_on_the_command_line_has_every_command_and_no_other() -> None:
    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `jrh ")]
    written = {name for row in rows for name in re.findall(r"`jrh ([\w-]+)", row)}
    assert written == {*COMMANDS, *plugin_commands()}
