"""Examine what is installed: versions against each other, what did not load, entry points that clash."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path

from attrs import frozen

from jrh.plugins import entry_points
from jrh.plugins.factories import missing_module
from jrh.plugins.loading import Loaded

_OURS = "jrh"


@frozen(kw_only=True)
class PluginFound:
    """One plugin that loaded."""

    name: str
    """Entry point's name, file or `module:attr`."""
    distribution: str
    hooks: tuple[str, ...]
    """The hooks it implements, in alphabetical order."""


def plugins_found(loaded: Loaded) -> tuple[PluginFound, ...]:
    """Return the plugins that loaded, with the hooks that each implements."""
    found = []
    for key, plugin in loaded.manager.list_name_plugin():
        distribution, _, name = key.partition(":")
        hooks = sorted(caller.name for caller in loaded.manager.get_hookcallers(plugin) or ())
        found.append(PluginFound(name=name, distribution=distribution, hooks=tuple(hooks)))
    return tuple(found)


def problems(loaded: Loaded, own_commands: Sequence[str]) -> Iterator[str]:
    """Yield what is wrong with the installed plugins, one sentence each.

    Args:
        loaded: the plugins, as loaded.
        own_commands: the commands of jrh itself, which no plugin can replace.
    """
    for each in loaded.plugins.problems:
        yield f"{each.distribution} {each.version}: '{each.plugin}' did not load fully: {each.message}"
    for registry in loaded.plugins.registries():
        yield from (wrong for entry in registry if (wrong := missing_module(entry)))
    distributions = _distributions()
    yield from _twice(distributions)
    yield from _unmet({name: found[0] for name, found in distributions.items()})
    yield from _ambiguous(loaded)
    yield from _commands(own_commands)


def _distributions() -> Mapping[str, list[metadata.Distribution]]:
    """Return the distributions of jrh and its plugins, by normalised name, in the order of the import path."""
    found: defaultdict[str, list[metadata.Distribution]] = defaultdict(list)
    places: set[tuple[str, Path]] = set()
    for each in metadata.distributions():
        name = _normal(each.name)
        ours = name == _OURS or name.startswith(f"{_OURS}-")
        ours = ours or any(p.group in (entry_points.COMPONENTS, entry_points.COMMANDS) for p in each.entry_points)
        place = Path(str(each.locate_file(""))).resolve()
        if ours and (name, place) not in places:  # a directory may be on the import path twice
            places.add((name, place))
            found[name].append(each)
    return dict(sorted(found.items()))


def _twice(distributions: Mapping[str, Sequence[metadata.Distribution]]) -> Iterator[str]:
    for found in distributions.values():
        # An editable install may show its sources' metadata beside its own: the same version is no conflict.
        versions = list(dict.fromkeys(each.version for each in found))
        if len(versions) > 1:
            others = ", ".join(versions[1:])
            yield f"{found[0].name} is installed in several versions: {versions[0]} is used, {others} is hidden"


def _unmet(distributions: Mapping[str, metadata.Distribution]) -> Iterator[str]:
    """Yield requirements between these distributions that what is installed does not meet."""
    from packaging.requirements import InvalidRequirement, Requirement

    for each in distributions.values():
        for written in each.requires or ():
            try:
                needed = Requirement(written)
            except InvalidRequirement:
                yield f"{each.name} {each.version} states a requirement that cannot be read: '{written}'"
                continue
            if needed.marker is not None and not needed.marker.evaluate({"extra": ""}):
                continue
            present = distributions.get(_normal(needed.name))
            if present is None and _normal(needed.name).startswith(f"{_OURS}-"):
                yield f"{each.name} {each.version} requires {needed.name}, which is not installed"
            elif present is not None and not needed.specifier.contains(present.version, prereleases=True):
                yield (
                    f"{each.name} {each.version} requires {needed.name}{needed.specifier}, "
                    f"but {present.version} is installed"
                )


def _ambiguous(loaded: Loaded) -> Iterator[str]:
    for registry in loaded.plugins.registries():
        by_name: defaultdict[str, list[str]] = defaultdict(list)
        for entry in registry:
            by_name[entry.spec.name].append(entry.qualified)
        for name, qualified in sorted(by_name.items()):
            if len(qualified) > 1:
                written = " or ".join(qualified)
                yield f"{registry.role} '{name}' comes from several plugins: write {written} in the suite"


def _commands(own: Sequence[str]) -> Iterator[str]:
    bringing: defaultdict[str, set[str]] = defaultdict(set)
    for point in metadata.entry_points(group=entry_points.COMMANDS):
        bringing[point.name].add(f"{point.dist.name} {point.dist.version}" if point.dist else "unknown")
    for name, distributions in sorted(bringing.items()):
        shown = name.replace(".", " ")
        if name in own:
            yield f"{', '.join(sorted(distributions))}: jrh has its own command '{shown}' and never calls this one"
        elif len(distributions) > 1:
            yield f"the command '{shown}' comes from several plugins: {', '.join(sorted(distributions))}; uninstall one"


def _normal(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")
