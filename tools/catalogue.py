"""Write the pages of measures, errors and messages in `docs/` from what metrics declare and the code raises.

    python tools/catalogue.py [--check]

`tests/test_catalogue.py` fails where this has not been run.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import inspect
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
SOURCES: Final = (
    "core/kernel/src",
    "core/authoring/src",
    "core/chat/src",
    "core/interchange/src",
    "core/measuring/src",
    "plugins/*/src",
)
MEASURES: Final = """\
# Measures

Every measure that the shipped metrics can print: {count} in {metrics} metrics. A run that asks for nothing else makes
those of {usual} that fit its data; the others are made [on request](suites.md#metrics), as by
`metrics: {{add: [{{ordinal-association: {{also: [pearson]}}}}]}}`. `make reference` writes this page from
what each metric declares; `jrh plugins show METRIC` prints the same for one metric, and the contract tests of every
metric fail where a measure is not declared.

- `y` is a verdict, `t` the right label, `y0` a verdict of the same judge on the same item in the reference condition,
  P the share of trials, Q the number of labels of the scale.
- **Interval.** *Rate* means: 95%, clustered by item; exact where trials are independent (`clopper-pearson`,
  `clopper-pearson-clusters`), otherwise Korn and Graubard's (`korn-graubard`). Where verdicts are not missing at
  random, an interval of Imbens and Manski replaces it (`imbens-manski`).
  [How a number is made](../plugins/metrics/README.md#how-a-number-is-made); [coverage of
  every interval](statistics.md).
- **Flags** lists a measure's own flags. Any measure can also have: {common}.
- **Better** says which values are good for the judge: higher, lower, or near zero.
- **Source** is where the formula comes from; *jrh* where jrh defines the measure; empty where it was not looked up. The
  docstrings of [jrh-stats](../core/stats/README.md) have page numbers and say which sources were not consulted.
- A name ending in `-p` is a p-value: its note names the test. For a measure marked *tested*, `-p-least` is the
  smallest p-value that the test could have given, `-p-holm` and `-p-bh` are adjusted by Holm (1979) and by Benjamini
  and Hochberg (1995) over the tests of a judge.
- A name with `*` means several, such as `first-position-rate`.
"""
ERRORS: Final = """\
# Errors

Each kind of message has an address here. `make reference` writes this page from the code. A message that starts with
`jrh:` and has no traceback is an expected error: it says what is wrong, where, and what to do, and jrh exits with
code 2. [Messages](messages.md) lists every message under its own address, with a link to its kind here. A traceback
is a bug of jrh or of a plugin. [Exit codes](command-line.md#exit-codes) says what the other codes
mean.
"""
PARTS: Final = (
    ("Failures of a model call", "jrh.errors", "FaultKind", "fault"),
    ("Reasons why a run stops", "jrh.errors", "StopReason", "stop"),
    ("Why a trial has no verdict", "jrh.values.verdicts", "Status", "status"),
)
_ABOUT: Final = {
    "FaultKind": "A record whose call failed names the kind at the start of its `detail`. Failed attempts "
    "that a retry made good are not counted.",
    "StopReason": "Calls in flight finish and are kept. The last line of the output names the reason; the same command "
    "continues.",
    "Status": "A missing verdict is a status and never a score. The next `jrh run` asks again after `timeout`, "
    "`provider_error` and `plugin_error`.",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the pages, or with `--check` fail where one is out of date."""
    parser = argparse.ArgumentParser(
        prog="catalogue.py", description="Write docs/measures.md, docs/errors.md, docs/messages.md."
    )
    parser.add_argument("--check", action="store_true", help="change nothing; fail if a page is out of date")
    check = parser.parse_args(arguments).check
    made = pages()
    stale = [path for path, text in made.items() if not path.is_file() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        if check:
            print(f"docs/{path.name} is out of date; run `make reference`", file=sys.stderr)
        else:
            path.write_text(made[path], encoding="utf-8")
    return 1 if check and stale else 0


def pages() -> Mapping[Path, str]:
    """Return the pages by path."""
    docs = ROOT / "docs"
    return {
        docs / "measures.md": measures_page(),
        docs / "errors.md": errors_page(),
        docs / "messages.md": messages_module().messages_page(sources(), sorted(error_classes())),
    }


def sources() -> dict[str, list[Path]]:
    """Return the source files of the kernel and the plugins, by distribution."""
    found: dict[str, list[Path]] = {}
    for place in SOURCES:
        for path in sorted(ROOT.glob(f"{place}/**/*.py")):
            folder = path.relative_to(ROOT).parts[1]
            found.setdefault("jrh" if folder == "kernel" else f"jrh-{folder}", []).append(path)
    return found


def messages_module() -> ModuleType:
    """Import the module next to this one, which is no package."""
    spec = importlib.util.spec_from_file_location("messages", Path(__file__).with_name("messages.py"))
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules.setdefault(spec.name, importlib.util.module_from_spec(spec))
    spec.loader.exec_module(module)
    return module


def shipped_metrics() -> Iterator[tuple[str, Any]]:
    """Yield the metrics of this repository, each with its distribution, in the order in which they are declared."""
    from jrh.plugins.loading import load_plugins

    ours = {path.name for path in (ROOT / "plugins").iterdir()}
    for entry in load_plugins().plugins.metrics:
        if entry.distribution.removeprefix("jrh-") in ours:
            yield entry.distribution, entry.spec


def measures_page() -> str:
    """Return the page of measures."""
    from jrh.plugins.loading import load_plugins
    from jrh_testing.contracts.metrics import COMMON_FLAGS

    metrics = list(shipped_metrics())
    common = ", ".join(f"`{flag}`" for flag in sorted(COMMON_FLAGS))
    count = sum(len(spec.measures) for _, spec in metrics)
    usual = sum(not each.on_request for _, spec in metrics if spec.default for each in spec.measures)
    parts = [MEASURES.format(count=count, metrics=len(metrics), common=common, usual=usual)]
    last = ""
    for distribution, spec in metrics:
        if distribution != last:
            folder = distribution.removeprefix("jrh-")
            parts.append(f"\n## {distribution}\n\nMetrics of [{distribution}](../plugins/{folder}/README.md).\n")
            last = distribution
        parts.append(_metric(spec))
    ours = ("jrh-measuring", *(distribution for distribution, _ in metrics))
    declared = [each for each in load_plugins().plugins.flags if each.distribution in ours]
    flags = [(each.spec.name, each.spec.meaning) for each in declared]
    parts.append("\n## Flags\n\n| flag | meaning |\n|---|---|\n")
    parts.extend(f"| `{flag}` | {_cell(meaning)} |\n" for flag, meaning in sorted(flags))
    parts.append("| `finding` | The measure is a finding; its note states it in words. |\n")
    parts.append("| `simulated` | The judge is simulated: its answers are made up. |\n")
    return "".join(parts)


def _metric(spec: Any) -> str:
    asked = "" if spec.default else " Runs only where a suite names it."
    head = f"\n### `{spec.name}`\n\n{spec.summary[:1].upper()}{spec.summary[1:]}.{asked}\n\n"
    rows = ["| measure | what it is | unit, better | interval | flags | source |\n|---|---|---|---|---|---|\n"]
    for each in spec.measures:
        unit = each.unit + (f", {each.better}" if each.better else "")
        interval = each.interval or ("rate" if each.rate else "none")
        flags = ", ".join(f"`{flag}`" for flag in each.flags)
        marks = ("tested",) * each.tested + ("on request",) * each.on_request
        name = f"`{each.name}`{' (' * bool(marks)}{', '.join(marks)}{')' * bool(marks)}"
        cells = (name, each.formula, unit, interval, flags, each.source)
        rows.append(f"| {' | '.join(map(_cell, cells))} |\n")
    return head + "".join(rows)


def errors_page() -> str:
    """Return the page of errors."""
    parts = [ERRORS, "\n## Kinds of message\n"]
    for name, text in sorted(error_classes().items()):
        parts.append(f"\n### `{name}`\n\n{_prose(text)}\n")
    for title, module, name, prefix in PARTS:
        parts.append(f"\n## {title}\n\n{_ABOUT[name]}\n")
        parts.extend(f"\n### `{prefix}: {code}`\n\n{text}\n" for code, text in members(module, name))
    return "".join(parts)


@cache
def error_classes() -> dict[str, str]:
    """Return the expected errors, `JrhError` and what derives from it, with their docstrings."""
    classes: dict[str, tuple[set[str], str]] = {}
    for path in (path for paths in sources().values() for path in paths):
        text = path.read_text(encoding="utf-8")
        if "Error(" in text:
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.ClassDef):
                    bases = {base.id for base in node.bases if isinstance(base, ast.Name)}
                    classes[node.name] = bases, ast.get_docstring(node) or ""
    found = {"JrhError"}
    while more := {name for name, (bases, _) in classes.items() if bases & found} - found:
        found |= more
    return {name: classes[name][1] for name in found if not name.startswith("_")}


def members(module: str, name: str) -> Iterator[tuple[str, str]]:
    """Yield the values of an enum with the strings below them."""
    from importlib import import_module

    tree = ast.parse(inspect.getsource(getattr(import_module(module), name)))
    (body,) = (node.body for node in tree.body if isinstance(node, ast.ClassDef))
    for node, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.Assign) and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            yield ast.literal_eval(node.value), " ".join(str(after.value.value).split())


def _prose(text: str) -> str:
    first, _, rest = text.partition("\n\n")
    first = " ".join(first.split()).removeprefix("Report ")
    return "\n\n".join(part for part in (first[:1].upper() + first[1:], rest) if part)


def _cell(text: str) -> str:
    return text.replace("|", r"\|")


if __name__ == "__main__":
    sys.exit(main())
