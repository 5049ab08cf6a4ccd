"""A new suite, put together from what the installed plugins suggest."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from importlib.metadata import entry_points
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Final, TypeAlias, cast

from attrs import evolve, field, frozen
from jrh import Item, JrhError, JudgeKind, Task
from jrh.document.yaml_reader import parse_document
from jrh.plugins.loading import Loaded
from jrh.plugins.registry import Plugins, Registry
from jrh.running import make_cases, run_to_end
from jrh.running.from_python import build_request
from jrh.running.outcome import Settings
from jrh.running.rehearsal import suite_builder
from jrh.running.stages.load import read
from jrh.suite import tests_of
from jrh.text import clean_text

Propose: TypeAlias = Callable[
    [Path, str, Mapping[str, str], str | None, Mapping[str, str], Mapping[str, str]], tuple[str, Sequence[str]]
]
_PROTOCOLS: Final = "jrh.protocols"
"""Entry points of protocols: functions of the suite's part about data, the file of labels, the task and its items."""
LABELS: Final = ".labels.jsonl"
_MEND: Final = "Wrong? Use --column label=NAME or --scale 1-6 (add --force)."
_REASON: Final = 1000
_TRIED: Final = 100
"""Items on which a test is tried before it is suggested."""
_EXAMPLE: Final = "openai/gpt-4o-mini"
_CHAT: Final = f"No chat model judges yet: uncomment the end of the suite, or add --judge {_EXAMPLE} --force."
_COMMENTED: Final = "# A chat model as judge: remove the first two characters of each line below."
_TESTS: Final = "# Each test changes what the judge sees and states what a reliable judge does then."


@frozen(kw_only=True)
class OwnTable:
    """A table that no suite describes yet."""

    path: Path
    written: str
    """The path as the suite writes it."""
    columns: Mapping[str, str]
    """Target -> column, as far as the user said."""
    scale: str | None
    labels: Mapping[str, str] = field(factory=dict)
    """Text of a label -> label of the scale, as far as the user said."""
    settings: Mapping[str, str] = field(factory=dict)
    """Options of the data source, as far as the user said."""


@frozen(kw_only=True)
class _Suggested:
    """Entries of a suite, and which were left out and why."""

    entries: Sequence[str]
    left_out: Sequence[str] = ()

    def write(self) -> str:
        return _entries([*self.entries, *(f"# Left out: {clean_text(why, _REASON)}" for why in self.left_out)])


def starter_suite(
    loaded: Loaded,
    name: str,
    *,
    preset: str | None = None,
    data: str | None = None,
    table: OwnTable | None = None,
    chat: Sequence[str] = (),
    protocol: str | None = None,
) -> tuple[str, Sequence[str]]:
    """Return a commented suite made of the components' own starters, and sentences on what was guessed.

    Args:
        loaded: what is installed.
        name: the suite's name.
        preset: the benchmark whose data and task the suite has; otherwise the starter of a data source.
        data: where the user's copy of the benchmark is; otherwise it is downloaded.
        table: the user's own data, whose columns are guessed.
        chat: chat models that judge, such as `openai/gpt-4o-mini`; without any, one is a comment.
        protocol: which tests and gate it has; otherwise the starters of perturbers.

    Raises:
        JrhError: no data source, or no judge, suggests anything; there is no such preset or protocol; the table cannot
            be read; or no installed plugin reaches a chat model.
    """
    plugins = loaded.plugins
    said: Sequence[str] = ()
    tests, judges = _Suggested(entries=_starters(plugins.perturbers)), _Suggested(entries=_offline_judges(plugins))
    sources = _starters(plugins.data_sources) if preset is None else [_preset(plugins, preset, data)]
    if table is not None:
        part, said = propose(plugins, table)
        sources = [part]
    if not sources or not judges.entries:
        raise JrhError(
            "cannot write a suite: no installed plugin suggests a data source and a judge; install the standard "
            "plugins (`pip install jrh`), or see `jrh plugins list`"
        )
    if table is not None and protocol is None:
        try:
            tests, judges = _fit_to_data(loaded, sources[0], table)
        except JrhError as error:
            raise JrhError("\n".join([str(error), *said])) from error
        said = [*said, *(f"Left out: {why}." for why in (*tests.left_out, *judges.left_out)), _MEND]
    if protocol is not None:
        sources = [_apply_protocol(loaded, protocol, sources[0], f"{name}{LABELS}", table)]
    models, chat_judges = _chat_judges(plugins, chat)
    variables = dict.fromkeys(re.findall(r"api_key_env: (\w+)", "".join(models)))
    if chat:
        said = [
            *said,
            *(f"Set the variable {variable} to your key before you run the suite." for variable in variables),
        ]
    elif table is not None and models:
        said = [*said, _CHAT]
    made_up = [entry.spec.starter for entry in plugins.judges if entry.spec.kind is JudgeKind.SIMULATED]
    # Who names a model wants to know about that one, not what made-up answers look like. A protocol's gate is about the
    # judge whose card it is, and no other has to pass it.
    own = chat_judges if chat else made_up if protocol else []
    others = [] if protocol else [text for text in judges.entries if not chat or text not in made_up]
    judges = evolve(judges, entries=[*own, *others])
    # A preset may bring tests of its own; the starters of perturbers are not added to them.
    own_tests = "\ntests:" in sources[0]
    parts = [
        "# A suite for `jrh run`. Every component's options: `jrh plugins show NAME`.",
        f"name: {_plain_name(name) or 'suite'}",
        "# Every random choice follows from this number.\nseed: 0",
        sources[0].rstrip("\n"),
        *([] if own_tests else [_TESTS, "tests:" + tests.write()]),
        "judges:" + judges.write(),
    ]
    if models:
        # The entries of `judges` come first: as comments, they follow those that are none.
        lines = f"models:{_entries(models)}".splitlines()
        more = _entries(chat_judges).splitlines()[1:]
        parts[-1] += "\n\n" + "\n".join(lines) if chat else "\n" + "\n# ".join([_COMMENTED, *more, *lines])
    # The comment about tests belongs directly above its key, unlike the other parts.
    return "\n\n".join(parts).replace(" then.\n\ntests:", " then.\ntests:") + "\n", said


def _offline_judges(plugins: Plugins) -> list[str]:
    """Return the starters of judges that ask no model, and so need no key."""
    return [starter for starter in _starters(plugins.judges) if "model" not in _values([starter])[0]]


def _chat_judges(plugins: Plugins, names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return entries of `models` and of `judges` that ask them; one as an example where no model is named.

    Raises:
        JrhError: no installed provider reaches a model.
    """
    template = next((text for text in _starters(plugins.judges) if "model" in _values([text])[0]), "")
    vendors = {vendor: text for text in _starters(plugins.models) for vendor in _values([text])}
    # A provider whose example has a slash reaches the models of other vendors.
    others = [text for text in vendors.values() if re.search(r"(?m)^  model: \S+/", text)]
    models: dict[str, str] = {}
    for name in dict.fromkeys(names) or [_EXAMPLE]:
        vendor, _, model = name.partition("/")
        known = vendors.get(vendor)
        text, model = (known, model) if known else ("".join(others[:1]), name if vendor and model else "")
        if template and text and model:
            short = _plain_name(name.rpartition("/")[2])
            key = _plain_name(name) if short in models else short
            models[key] = re.sub(r"\A[^:]+", key, _for_model(text, model))
        elif names:
            raise JrhError(
                f"--judge: no installed plugin reaches '{name}'. Write {'/MODEL or '.join(vendors)}/MODEL, or install "
                "a plugin for other vendors: `pip install 'jrh[litellm]'`"
            )
    return [*models.values()], [re.sub(r"(?m)^  (name|model): .*", rf"  \1: {key}", template) for key in models]


def _for_model(text: str, model: str) -> str:
    """Return the starter of a provider for another model, whose price it does not know."""
    if f"  model: {model}\n" not in text:
        text = re.sub(r"(?m)^  price: [^#\n]*", "  # price: {input: ..., output: ...} ", text)
    return re.sub(r"(?m)^  model: \S+", lambda _: f"  model: {json.dumps(model)}", text)


def propose(plugins: Plugins, table: OwnTable) -> tuple[str, Sequence[str]]:
    """Let the data source that reads such files guess what the columns are.

    Returns:
        The `data:` and `task:` of a suite, and sentences on what was guessed.

    Raises:
        JrhError: there is no such file, no data source reads it, or it cannot be guessed.
    """
    readers = {suffix: entry.spec for entry in plugins.data_sources for suffix in entry.spec.suffixes}
    spec = readers.get(table.path.suffix.lower())
    if spec is None:
        raise JrhError(f"--data: no data source reads '{table.path.name}'; files end in {', '.join(sorted(readers))}")
    if not table.path.is_file():
        raise JrhError(f"--data: there is no file '{table.path}'")
    guess = cast("Propose", resolve_name(spec.propose))
    return guess(table.path, table.written, table.columns, table.scale, table.labels, table.settings)


def _fit_to_data(loaded: Loaded, part: str, table: OwnTable) -> tuple[_Suggested, _Suggested]:
    """Return the tests that make cases of the data, and the judges that it has enough labels for.

    Raises:
        JrhError: a run could not read the data.
    """
    judges: dict[str, list[str]] = {"entries": [], "left_out": []}
    suite, _, items = _read_items(loaded, part, table)
    golds = {item.gold for found in items.values() for item in found} - {None}
    for entry in loaded.plugins.judges:
        if entry.spec.starter and entry.spec.kind is JudgeKind.TRAINED and len(golds) <= 1:
            judges["left_out"].append(f"{entry.spec.name} (it learns from labels, and there are no different ones)")
        elif entry.spec.starter in _offline_judges(loaded.plugins):
            judges["entries"].append(entry.spec.starter)
    tests: dict[str, list[str]] = {"entries": [], "left_out": []}
    for perturber in (entry.spec for entry in loaded.plugins.perturbers if entry.spec.starter):
        why = _why_no_case(loaded, {**suite, "tests": _values([perturber.starter])}, items)
        tests["left_out" if why else "entries"].append(f"{perturber.name} ({why})" if why else perturber.starter)
    return _Suggested(**tests), _Suggested(**judges)


def _read_items(
    loaded: Loaded, part: str, table: OwnTable | None
) -> tuple[dict[str, Any], Sequence[Task], Mapping[str, Sequence[Item]]]:
    """Return the suite of some data with all offline judges, its tasks, and the items of each.

    Raises:
        JrhError: a run could not read the data.
    """
    suite = cast("dict[str, Any]", parse_document(part, "suite").value)
    if table is not None:
        # A suite that is no file has its paths relative to the working directory.
        suite["data"] = {**suite["data"], "path": str(table.path.absolute())}
    suite |= {"name": "suite", "judges": _values(_offline_judges(loaded.plugins))}
    resolved = build_request({**suite, "tests": []}, Settings(), loaded).resolved
    return suite, [use.task for use in resolved.suite.tasks], read(suite_builder(resolved, loaded))


def _apply_protocol(loaded: Loaded, name: str, part: str, labels: str, table: OwnTable | None) -> str:
    """Return the part of a suite about data with the tests and the gate of a protocol.

    Raises:
        JrhError: no installed plugin has such a protocol, or a run could not read the data.
    """
    known = {point.name: point for point in entry_points(group=_PROTOCOLS)}
    if name not in known:
        raise JrhError(f"no protocol '{name}'. Protocols: {', '.join(sorted(known)) or 'none is installed'}")
    _, (task, *_), items = _read_items(loaded, part, table)
    return cast("str", known[name].load()(part, labels, task, items[task.name]))


def _why_no_case(loaded: Loaded, suite: Mapping[str, Any], items: Mapping[str, Sequence[Item]]) -> str:
    """Return why the test of a suite makes no case of the first items; empty if it makes some."""
    try:
        resolved = build_request(suite, Settings(), loaded).resolved
        (task,) = (use.task for use in resolved.suite.tasks)
        builder = suite_builder(resolved, loaded)
        for test in tests_of(resolved, task):
            cases, why, _ = run_to_end(partial(make_cases, builder, test, task, items[task.name][:_TRIED]))
            return "" if cases else f"no cases: {why}"
    except JrhError as error:
        # The test cannot be built for the scale; what it needs follows its name.
        return str(error).splitlines()[0].partition(": ")[2] or str(error)
    return f"not for {task.mode.value} tasks"


def _values(starters: Sequence[str]) -> Any:
    return cast("Mapping[str, Any]", parse_document("of:" + _entries(starters), "suite").value)["of"]


def _preset(plugins: Plugins, name: str, data: str | None) -> str:
    known = {entry.spec.name: entry.spec.preset for entry in plugins.data_sources if entry.spec.preset}
    # A benchmark of several tasks has a preset for each, after its file: another scale would refuse the labels.
    of_file = f"{name}-{Path(data).stem}" if data is not None else name
    name = of_file if of_file in known else name
    if name not in known:
        close = get_close_matches(name, known, n=1)
        hint = f"; did you mean '{close[0]}'?" if close else ""
        raise JrhError(f"no preset '{name}'{hint}. Presets: {', '.join(known) or 'none is installed'}")
    if data is None and "{path}" in known[name]:
        raise JrhError(f"jrh cannot download '{name}'; say where your copy is with --data")
    # JSON text is YAML text, whatever the path contains.
    place = "download: true" if data is None else f"path: {json.dumps(data, ensure_ascii=False)}"
    return known[name].replace("{data}", place).replace("{path}", place)


def _plain_name(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-")


def write_suite(path: Path, text: str, *, force: bool) -> None:
    """Write a new suite.

    Raises:
        JrhError: the path is a directory, the file exists and `force` is not given, or it cannot be written.
    """
    if path.is_dir():
        raise JrhError(f"'{path}' is a directory; name a file, such as {path / 'suite.yaml'}")
    try:
        # "x" fails if the file appeared since any check: nothing is overwritten without --force.
        with path.open("w" if force else "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise JrhError(f"'{path}' exists already; use --force to overwrite it") from None
    except OSError as error:
        raise JrhError(f"cannot write '{path}': {error.strerror or error}") from error


def _starters(registry: Registry[Any]) -> list[str]:
    return [entry.spec.starter for entry in registry if entry.spec.starter]


def _entries(starters: Iterable[str]) -> str:
    lines = [line for starter in starters for line in starter.strip("\n").splitlines()]
    return "\n" + "\n".join(f"  {line}" if line else "" for line in lines) if lines else " []"
