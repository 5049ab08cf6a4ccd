"""A module is found by its name alone."""

import pkgutil
from collections import Counter
from pathlib import Path

import jrh


def test_no_two_modules_of_the_kernel_have_the_same_name():
    names = [module.name.rpartition(".")[2] for module in pkgutil.walk_packages(jrh.__path__, "jrh.")]
    assert len(names) > 80
    assert [name for name, count in Counter(names).items() if count > 1] == []


def test_no_module_of_the_kernel_is_longer_than_400_lines():
    root = Path(jrh.__path__[0])
    lengths = {path.relative_to(root): len(path.read_text().splitlines()) for path in root.rglob("*.py")}
    assert len(lengths) > 80
    assert {path: length for path, length in lengths.items() if length > 400} == {}
