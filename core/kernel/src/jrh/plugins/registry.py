"""Look up components by name: names are never silently shadowed, and a wrong name gets a suggestion."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, Generic, TypeVar

from attrs import field, frozen

from jrh.document.positions import did_you_mean
from jrh.errors import JrhError
from jrh.plugins import specs
from jrh.plugins.component_identity import Source
from jrh.plugins.specs import Spec
from jrh.values.measures import Flag, FlagEffect

S = TypeVar("S", bound=Spec)
_WHOLE: Final = "jrh"
"""The distribution that brings the shipped plugins; those with many dependencies are extras of it."""


@frozen(kw_only=True)
class Entry(Generic[S]):
    """A declared component and the plugin it comes from."""

    spec: S
    distribution: str
    """The distribution's name, or the file or module of a local plugin."""
    version: str
    plugin: str
    """The entry point's name."""
    code: Callable[[], tuple[Source, ...]] = field(default=tuple, repr=False, eq=False)
    """Return the source that identifies it; nothing for an installed release."""

    @property
    def qualified(self) -> str:
        """Return `distribution/name`."""
        return f"{self.distribution}/{self.spec.name}"


@frozen(kw_only=True)
class LoadProblem:
    """A problem found while a plugin was loaded."""

    plugin: str
    """The entry point's name, file or `module:attr`."""
    distribution: str
    version: str
    message: str
    """What happened, one line."""

    @property
    def summary(self) -> str:
        """Return `distribution version (message)`."""
        return f"{self.distribution} {self.version} ({self.message})".replace("  ", " ")


class Registry(Generic[S]):
    """All components of one role."""

    def __init__(self, role: str, entries: Iterable[Entry[S]] = (), problems: Iterable[LoadProblem] = ()) -> None:
        """Keep the entries in loading order; the error for an unknown name also lists the `problems`."""
        self.role = role
        self._entries = tuple(entries)
        self._problems = tuple(problems)

    def __iter__(self) -> Iterator[Entry[S]]:
        """Yield the entries in the order of loading."""
        return iter(self._entries)

    def __len__(self) -> int:
        """Return the number of components."""
        return len(self._entries)

    def find(self, name: str, *, prefer: str = "") -> Entry[S]:
        """Return the component with a bare or qualified name.

        Args:
            name: `name` or `distribution/name`.
            prefer: the distribution whose component wins if a bare name is ambiguous, usually the caller's own plugin.

        Raises:
            JrhError: no component or several components have the name; the message lists the alternatives.
        """
        matches = [entry for entry in self._entries if name in (entry.spec.name, entry.qualified)]
        # A plugin that names a component means its own, whatever else is installed.
        if len(matches) > 1 and prefer:
            matches = [entry for entry in matches if entry.distribution == prefer] or matches
        if not matches:
            raise JrhError(self._unknown(name))
        # The qualified name would not tell them apart either.
        if len({entry.qualified for entry in matches}) < len(matches):
            raise JrhError(f"{self.role} '{name}' is declared twice by {matches[0].distribution}; remove one of them")
        if len(matches) > 1:
            candidates = ", ".join(sorted(entry.qualified for entry in matches))
            raise JrhError(f"ambiguous {self.role} '{name}': write one of {candidates}")
        return matches[0]

    def meant_by(self, name: str) -> str:
        """Ask which component is meant by an ambiguous name that none has; empty where nothing is declared of it.

        The sentence fits after "there is no metric 'accuracy': ".
        """
        reasons = {entry.spec.name: entry.spec.instead_of[name] for entry in self if name in entry.spec.instead_of}
        if name in {entry.spec.name for entry in self._entries} or not reasons:
            return ""
        matches = [f"'{match}' ({why})" for match, why in sorted(reasons.items(), reverse=True)]
        return f"did you mean {' or '.join(matches)}?"

    def _unknown(self, name: str) -> str:
        if meant := self.meant_by(name):
            return f"there is no {self.role} '{name}': {meant}"
        names = sorted({entry.spec.name for entry in self._entries})
        lines = [f"unknown {self.role} '{name}'"]
        # The distribution in front may be right, and the name misspelt.
        bare = name.rpartition("/")[2]
        lines.append(f"{did_you_mean(bare, names)}Installed: {', '.join(names) or 'none'}.")
        from importlib import metadata

        # Some extras are named after what they provide.
        if any(bare in (dist.metadata.get_all("Provides-Extra") or ()) for dist in metadata.distributions(name=_WHOLE)):
            lines.append(f'Run `pip install "{_WHOLE}[{bare}]"` to install what provides it.')
        if self._problems:
            # A plugin may have several problems.
            count = len({problem.plugin for problem in self._problems})
            listed = "; ".join(problem.summary for problem in self._problems)
            plural = "plugin did" if count == 1 else "plugins did"
            lines.append(f"{count} {plural} not load fully and may provide it: {listed}.")
            lines.append("Run `jrh plugins list` for details.")
        return "\n".join(lines)


@frozen(kw_only=True)
class Plugins:
    """All that installed plugins declare and that could be loaded."""

    data_sources: Registry[specs.DataSourceSpec]
    perturbers: Registry[specs.PerturberSpec]
    validators: Registry[specs.ValidatorSpec]
    judges: Registry[specs.JudgeSpec]
    parsers: Registry[specs.ParserSpec]
    metrics: Registry[specs.MetricSpec]
    models: Registry[specs.ModelSpec]
    reporters: Registry[specs.ReporterSpec]
    sections: Registry[specs.SectionSpec] = Registry("section")
    flags: Registry[specs.FlagSpec] = Registry("flag")
    stages: Registry[specs.StageSpec] = Registry("stage")
    modes: Registry[specs.ModeSpec] = Registry("mode")
    findings: Registry[specs.RuleSpec] = Registry("rule")
    importers: Registry[specs.ImporterSpec] = Registry("importer")
    exporters: Registry[specs.ExporterSpec] = Registry("exporter")
    executors: Registry[specs.ExecutorSpec] = Registry("executor")
    allocators: Registry[specs.AllocatorSpec] = Registry("allocator")
    problems: tuple[LoadProblem, ...] = ()

    def registries(self) -> tuple[Registry[Spec], ...]:
        """Return the registries of components: in pipeline order, then those no suite names."""
        return tuple(getattr(self, name) for name, kind in specs.KINDS.items() if kind.protocol is not None)

    def all_registries(self) -> tuple[Registry[Spec], ...]:
        """Return all registries that a list of what is installed shows: components, then flags."""
        return tuple(getattr(self, name) for name in specs.KINDS)

    def flags_by_name(self) -> dict[str, Flag]:
        """Return the flags by name, in the order of loading; of several declarations, the strictest counts."""
        strict = list(FlagEffect)
        flags: dict[str, Flag] = {}
        for flag in (entry.spec.flag for entry in self.flags):
            known = flags.get(flag.name)
            # A doubt that one plugin forbids a claim for is not lifted because another is installed.
            if known is None or strict.index(flag.effect) > strict.index(known.effect):
                flags[flag.name] = flag
        return flags

    def wrong_floors(self, floors: Iterable[str]) -> dict[str, str]:
        """Return the kinds of finding among `floors` that are held against no effect floor, each with a message."""
        known = sorted(kind.name for entry in self.findings for kind in entry.spec.kinds if kind.floored)
        wrong = {}
        for name in floors:
            if name not in known:
                hint = did_you_mean(name, known)
                listed = ", ".join(known) or "none"
                wrong[name] = f"no finding '{name}' is held against an effect floor\n{hint}Those that are: {listed}."
        return wrong
