"""A module is found by its name alone."""

import pkgutil
from collections import Counter

import jrh


def test_no_two_modules_of_the_kernel_have_the_same_name():
    names = [module.name.rpartition(".")[2] for module in pkgutil.walk_packages(jrh.__path__, "jrh.")]
    assert len(names) > 80
    assert [name for name, count in Counter(names).items() if count > 1] == []
