"""Both allocators hold the contract of allocators."""

from __future__ import annotations

from typing import ClassVar

import jrh_sequential.plugin
from jrh_testing import AllocatorContract


class TestStop(AllocatorContract):
    plugin = jrh_sequential.plugin
    component = "stop"
    required_options = ("when",)
    options: ClassVar = {"when": ["gold-accuracy >= 0.5", "missing <= 0.3"]}


class TestRace(AllocatorContract):
    plugin = jrh_sequential.plugin
    component = "race"
