"""Templates are compiled once for each user, and what was compiled is read only where no other user can write."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from jinja2 import Environment
from jrh_measuring import page_environment

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="nothing is kept where a mode says nothing")

PACKAGE = "pages_of_a_test"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's cache, and a package with one template."""
    templates = tmp_path / PACKAGE / "templates"
    templates.mkdir(parents=True)
    (tmp_path / PACKAGE / "__init__.py").touch()
    (templates / "page").write_text('{{ "a constant" }} & {{ name }}', encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, PACKAGE, raising=False)
    monkeypatch.setenv("JRH_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the templates that are compiled."""
    names: list[str] = []
    compile_one = Environment.compile

    def counted(self: Environment, *given: object, **named: object) -> object:
        names.append(str(given[1]))
        return compile_one(self, *given, **named)  # type: ignore[call-overload]

    monkeypatch.setattr(Environment, "compile", counted)
    return names


def page(limit: int = 100) -> str:
    """Render the template in an environment of its own, as each program does."""
    return page_environment(PACKAGE, {}, limit=limit).get_template("page").render(name="<b>")


def test_a_template_is_compiled_once(cache: Path, compiled: list[str]) -> None:
    assert page() == page() == "a constant & &lt;b&gt;"
    assert compiled == ["page"]
    assert [(each.stat().st_mode & 0o077) for each in (cache, cache / "pages")] == [0, 0]


def test_a_changed_template_is_compiled_again(cache: Path, compiled: list[str]) -> None:
    page()
    (cache.parent / PACKAGE / "templates" / "page").write_text("new: {{ name }}", encoding="utf-8")
    assert page() == "new: &lt;b&gt;"
    assert compiled == ["page", "page"]


def test_what_the_code_of_jrh_makes_of_a_constant_is_not_kept(cache: Path) -> None:
    assert [page(limit=limit) for limit in (100, 5)] == [
        "a constant & &lt;b&gt;",
        "a con… (5 more characters) & &lt;b&gt;",
    ]


@pytest.mark.parametrize("damage", [lambda kept: kept[:60], lambda kept: b"!" + kept[1:], lambda _: b""])
def test_what_is_not_as_it_was_written_is_compiled_again(cache: Path, compiled: list[str], damage: object) -> None:
    page()
    (kept,) = (cache / "pages").iterdir()
    whole = kept.read_bytes()
    kept.write_bytes(damage(whole))  # type: ignore[operator]
    assert page() == "a constant & &lt;b&gt;"
    assert compiled == ["page", "page"]
    assert [each.read_bytes() for each in (cache / "pages").iterdir()] == [whole]


@pytest.mark.parametrize("mode", [0o770, 0o707])
def test_nothing_is_read_from_a_directory_to_which_others_can_write(
    cache: Path, compiled: list[str], mode: int
) -> None:
    page()
    (cache / "pages").chmod(mode)
    page()
    assert compiled == ["page", "page"]


def test_nothing_is_read_through_a_link(cache: Path, compiled: list[str]) -> None:
    page()
    (cache / "pages").rename(cache / "theirs")
    (cache / "pages").symlink_to(cache / "theirs")
    page()
    assert compiled == ["page", "page"]


def test_a_cache_that_cannot_be_written_costs_nothing_but_time(cache: Path, compiled: list[str]) -> None:
    cache.write_text("a file", encoding="utf-8")
    assert page() == page()
    assert compiled == ["page", "page"]
