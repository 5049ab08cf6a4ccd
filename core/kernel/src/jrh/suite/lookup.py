"""One component that a suite names: found in the registry, with its options read and all they refer to."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import parse_qsl, urlsplit

from attrs import define, field, frozen

from jrh.document import option_types
from jrh.document.convert import collect
from jrh.document.positions import Document, Location, did_you_mean, path_text, read_plain, unknown_key
from jrh.document.yaml_reader import in_order
from jrh.errors import RAISED, JrhError, Problem, SuiteError
from jrh.plugins.component_identity import Source, program_source, python_source
from jrh.plugins.registry import Entry, Plugins, Registry
from jrh.plugins.specs import ParserSpec, Spec
from jrh.suite.definition import Suite, Use
from jrh.suite.resolved import Resolved, locate
from jrh.suite.syntax import DATA, PARSER, Role
from jrh.text.redact import Redactor, environment_secrets, error_line, find_keys

_NAME: Final = re.compile(
    r"(api|access|private|subscription|account|signing|client)[-_ ]?key$"
    r"|(access|auth|bearer|refresh|session|id|api)[-_ ]?token$"
    r"|secret$|passw(or)?d$|credentials?$|authorization$|^x-api-key$",
    re.IGNORECASE,
)
"""Names of secrets anywhere. Not every key or token: `prompt_cache_key` and `eos_token` are settings."""
_CARRIED: Final = re.compile(
    r"key$|token$|secret$|passw(or)?d$|credentials?$|auth(orization)?$|^cookie$|^sig(nature)?$", re.IGNORECASE
)
"""Names of secrets in a query or among headers, which hold little else."""
_UUID: Final = re.compile(r"[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}", re.IGNORECASE)
_SHORTEST_OWN: Final = 16
"""A value of the environment is looked for in the suite from this length on: shorter ones may be ordinary words."""
_INSTEAD: Final = (
    "; a suite must hold no secret: put it in an environment variable, and name the variable in an option such as "
    "`api_key_env` or `headers_env`; a command or a function reads the variable itself"
)


def refuse_keys(document: Document, base: Path) -> None:
    """Refuse a suite that holds a key anywhere, also in a file that it names with `{file: ...}`.

    Before anything else is read: any other message could show the key.

    Raises:
        SuiteError: with every place, and what to do; the key itself is never in the message.
    """
    found = _Search(hidden=_environment(), base=base).value((), document.value)
    problems = [document.problem(at, f"{what}{_INSTEAD}") for at, what in found]
    if problems:
        raise SuiteError(in_order(dict.fromkeys(problems)))


def find_secrets(options: Mapping[str, Any], own: Sequence[str]) -> Iterator[tuple[Location, str]]:
    """Yield where options hold a secret, and what to do about it; the secret itself is never in the message.

    Args:
        options: of one component, as the suite has them.
        own: names of the component's options; those that end in `_env` are the way to do it.
    """
    named = [name for name in own if name.endswith("_env")]
    where = f"name the variable in `{'` or `'.join(named)}`" if named else "have the component read it from there"
    # Most components of a run are defaults, without options.
    for at, what in _Search(hidden=_environment(), by_name=True).value((), options) if options else ():
        if not str(at[0]).endswith("_env"):  # its component says what is wrong there
            yield at, f"{what}; a suite must hold no secret: put it in an environment variable and {where}"


def _environment() -> Redactor:
    # The redactor knows the encoded forms, too: a suite may hold a key in base64.
    return Redactor(frozenset(value for value in environment_secrets() if len(value) >= _SHORTEST_OWN))


@frozen(kw_only=True)
class _Search:
    """A search for secrets through what a suite says."""

    hidden: Redactor
    base: Path | None = None
    """Where files that are named lie; None: they are not read."""
    by_name: bool = False
    """A value is a secret also for its name alone, such as `api_key: x`."""

    def value(self, at: Location, value: Any) -> Iterator[tuple[Location, str]]:
        """Yield where a value holds a secret, and what it is."""
        if isinstance(value, Mapping):
            yield from self._mapping(at, value)
        elif isinstance(value, list | tuple):
            for place, part in enumerate(value):
                yield from self.value((*at, place), part)
                # The words of a command belong together, as in `[--api-key, KEY]`.
                pair = value[place : place + 2]
                if all(isinstance(word, str) for word in pair) and not any(map(self._in_text, pair)):
                    yield from self._say((*at, place), self._in_text(" ".join(pair)))
        elif isinstance(value, str):
            yield from self._say(at, self._in_text(value))

    def _mapping(self, at: Location, value: Mapping[str, Any]) -> Iterator[tuple[Location, str]]:
        headers = bool(at) and "headers" in str(at[-1]).lower()
        for name, part in value.items():
            if what := self._in_text(str(name)):
                yield at, what
            # At the top are a component's own options, whose meaning it knows itself.
            elif (
                self.by_name and at and isinstance(part, str) and part and (_CARRIED if headers else _NAME).search(name)
            ):
                yield (*at, name), f"'{name}' looks like a secret"
            elif isinstance(part, str):
                # A word that looks random is a key where its name says so, and among headers. A UUID there is a name.
                named = "key" if headers and not _UUID.fullmatch(part) else name
                yield from self._say((*at, name), self._in_text(part) or self._in_text(f"{named}: {part}"))
                if name == "file" and len(value) == 1:
                    yield from self._say((*at, name), self._in_file(part))
            else:
                yield from self.value((*at, str(name)), part)

    def _in_file(self, name: str) -> str:
        if self.base is None:
            return ""
        try:
            return self._in_text(read_plain(self.base / name).decode("utf-8", "replace"))
        except (OSError, ValueError):  # whoever reads it says so
            return ""

    def _say(self, at: Location, what: str) -> Iterator[tuple[Location, str]]:
        if what:
            yield at, what

    def _in_text(self, text: str) -> str:
        if any(find_keys(text)):
            return "the text holds a key or a password"
        if self.hidden.knows(text):
            return "the value contains a secret of the environment"
        # Prose that quotes an address is no address.
        if "://" not in text or any(sign in text.strip() for sign in " \n"):
            return ""
        try:
            names = [name for name, _ in parse_qsl(urlsplit(text).query)]
        except ValueError:
            return ""
        return next((f"'{name}' in the address looks like a secret" for name in names if _CARRIED.search(name)), "")


S = TypeVar("S", bound=Spec)


@define(kw_only=True)
class Lookup:
    """One pass over a suite; whatever is wrong is kept, with its place."""

    document: Document
    plugins: Plugins
    suite: Suite
    problems: list[Problem] = field(factory=list)
    _parsers: dict[str, Resolved[ParserSpec] | None] = field(factory=dict)
    _resolving: list[str] = field(factory=list)
    """What is being resolved, so that nothing refers to itself."""

    def component(self, use: Use, role: Role, *, prefer: str = "") -> Resolved[Any] | None:
        """Resolve an entry of a role; `prefer` is the distribution whose component wins where a name is ambiguous."""
        entry = self.entry(use, getattr(self.plugins, role.plural), role.key, prefer)
        ours = [role.key, *option_types.field_names(role.settings)]
        if role is DATA:
            ours += [stage.spec.key for stage in self.plugins.stages if stage.spec.of_data]
        return None if entry is None else self.resolve_options(use, entry, tuple(ours))

    def entry(self, use: Use, registry: Registry[S], key: str, prefer: str = "") -> Entry[S] | None:
        """Return the component of an entry; `key` names it where the entry is written flat."""
        try:
            return registry.find(use.component, prefer=prefer)
        except JrhError as error:
            short = use.location[-1:] == (use.component,) and key not in use.options
            flat = (*use.location, key)
            at = flat if flat in self.document.positions else use.location
            problem = self.document.problem(at, str(error))
            # With a line, the message also names the entry. A suite from Python has no lines.
            if problem.line:
                named, where = f"'{use.component}'", path_text(use.location[:-1] if short else use.location)
                problem = self.document.problem(at, str(error).replace(named, f"{named} in {where}", 1))
            self.problems.append(problem)
            return None

    def resolve_options(self, use: Use, entry: Entry[S], ours: tuple[str, ...]) -> Resolved[S] | None:
        """Read the options of a component that was found; `ours` are the suite's own keys in the same mapping."""
        options = self._options(use, entry, ours)
        if options is None:
            return None
        return Resolved(
            use=use,
            entry=entry,
            options=options,
            parts=self._parts(use.location, entry, options),
            sources=self._sources(use.location, entry, options),
        )

    def parser(self, name: str, at: Location) -> Resolved[ParserSpec] | None:
        """Resolve an entry of the suite's `parsers`, once."""
        use = self.suite.parsers.get(name)
        if use is None:  # it could not be read, which is reported already
            return None
        # Once: several judges may refer to it, and its mistakes are to be reported once.
        if name not in self._parsers:
            self._parsers[name] = self._refuse_cycle(f"parser '{name}'", at, lambda: self.component(use, PARSER))
        return self._parsers[name]

    def section(self, name: str) -> Any:
        """Return what the document says under a top-level key, right or wrong."""
        return self.document.value.get(name) if isinstance(self.document.value, Mapping) else None

    def _options(self, use: Use, entry: Entry[Any], ours: tuple[str, ...]) -> Any:
        """Return the options of an entry, typed, or None; they may check the suite.

        The message about an unknown key lists all keys that may be there: the component's own, and `ours`.
        """
        cls = entry.spec.options
        theirs = option_types.field_names(cls)
        known = list(dict.fromkeys([*theirs, *ours]))
        # Here and not where options are read: the message lists the suite's own keys as well.
        for key in use.options:
            if key not in theirs:
                self.problems.append(self.document.wrong((*use.location, key), unknown_key(key, known)))
        written = {key: value for key, value in use.options.items() if key in theirs}
        secrets = [self.document.problem((*use.location, *at), text) for at, text in find_secrets(written, theirs)]
        if secrets:
            self.problems += secrets
            return None  # any other message could show the secret
        options, problems = collect(written, cls, base=self.suite.base, document=self.document, location=use.location)
        self.problems += problems
        # What options can see only with the whole suite, such as a judge of another name.
        check = getattr(options, "check_suite", None)
        try:
            for place, message in check(self.suite, self.plugins) if check is not None else ():
                text = message if use.location else f"'{use.name}': {message}"  # a default has no place in the suite
                self.problems.append(self.document.wrong((*use.location, *place), text))
        # Code of a plugin: whatever it raises is reported with the other mistakes.
        except RAISED as error:
            failed = f"the options of '{entry.qualified}' cannot check the suite: {error_line(error)}"
            self.problems.append(self.document.problem(use.location, failed))
        return options

    def _parts(self, at: Location, entry: Entry[Any], options: object) -> tuple[Resolved[Any], ...]:
        """Check everything that options refer to, and resolve what is not a model."""
        parts = []
        for kind, name, where in locate(options, entry.spec.options, at, option_types.REFERENCES):
            if kind == "model":
                self.check_model(name, where)
            elif part := self._part(kind, name, where, entry):
                parts.append(part)
        return tuple(parts)

    def _sources(self, at: Location, entry: Entry[Any], options: object) -> tuple[Source, ...]:
        """Read the source of a component and of the code its options name, before any of it is executed."""
        sources: list[Source] = []
        words: list[str] = []
        try:
            sources += entry.code()
            # Only fields of these types name code: any other text that looks like a path is left alone.
            for kind, text, place in locate(options, entry.spec.options, at, option_types.SOURCES):
                at = place
                if kind == "command":
                    # The words of a command belong together: what a word means depends on the one before.
                    words.append(text)
                else:
                    sources.append(python_source(text, self.suite.base))
            if words:
                sources.append(program_source(words, self.suite.base))
        except JrhError as error:
            self.problems.append(self.document.wrong(at, str(error)))
        return tuple(sources)

    def _part(self, kind: str, name: str, at: Location, asker: Entry[Any]) -> Resolved[Any] | None:
        """Resolve an entry of the suite's `parsers`, or a component with its default options."""
        if kind == "parser" and name in self._names("parsers"):
            return self.parser(name, at)
        entry = self._by_name_alone(kind, name, at, asker.distribution)
        if entry is None:
            return None
        # With its full name, since the entry is found already and must not be another at the next look.
        use = Use(name=name, component=entry.qualified, location=at)
        return self._refuse_cycle(f"{kind} '{entry.qualified}'", at, lambda: self.resolve_options(use, entry, ()))

    def _refuse_cycle(self, what: str, at: Location, resolve: Callable[[], Resolved[S] | None]) -> Resolved[S] | None:
        if what in self._resolving:
            self.problems.append(self.document.wrong(at, f"{what} refers to itself"))
            return None
        # A stack: what is not on it any more may be resolved again elsewhere.
        self._resolving.append(what)
        try:
            return resolve()
        finally:
            self._resolving.pop()

    def _by_name_alone(self, kind: str, name: str, at: Location, prefer: str) -> Entry[Any] | None:
        """Return the parser or the validator of a name that an option holds, where there is one with defaults."""
        registry: Registry[Any] = self.plugins.parsers if kind == "parser" else self.plugins.validators
        try:
            entry = registry.find(name, prefer=prefer)
        except JrhError as error:
            names = self._names("parsers") if kind == "parser" else []
            listed = f"\n{did_you_mean(name, names)}Parsers of the suite: {', '.join(names)}." if names else ""
            self.problems.append(self.document.wrong(at, f"{error}{listed}"))
            return None
        needed = option_types.mandatory_names(entry.spec.options)
        if needed:
            where = "; describe it under `parsers`" if kind == "parser" else ""
            message = f"{kind} '{name}' cannot be used by its name alone: it needs {', '.join(needed)}{where}"
            self.problems.append(self.document.wrong(at, message))
        return None if needed else entry

    def _names(self, section: str) -> list[str]:
        """Return the names that a section of the document defines, right or wrong."""
        defined = self.section(section)
        return list(defined) if isinstance(defined, Mapping) else []

    def check_model(self, name: str, at: Location) -> None:
        """Report a model that the suite does not describe."""
        names = self._names("models")
        if name not in names:
            listed = f"Models of the suite: {', '.join(names)}." if names else "Describe it under `models`."
            self.problems.append(
                self.document.wrong(at, f"unknown model '{name}'\n{did_you_mean(name, names)}{listed}")
            )
