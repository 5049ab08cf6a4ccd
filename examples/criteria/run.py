"""Run the suite of criteria on three loopback judges: one reads the rubric, one ignores it, one tires in long calls.

    python examples/criteria/run.py              # 40 replies
    python examples/criteria/run.py --replies 8

Every text is made here. Needs jrh-testing for the loopback server.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
from pathlib import Path
from typing import Any

import jrh
import yaml
from jrh.running import RunResult
from jrh_testing import ChatServer
from jrh_testing.server.answers import share
from jrh_testing.server.bodies import prompt_of

HERE = Path(__file__).parent
KEY = "JRH_EXAMPLE_KEY"
WORDS = {"greets": "hello", "price": "euros", "delivery": "days", "promise": "guarantee"}
JUDGES = ("reads", "ignores", "tires")
FOUND = ("rubric-ignored", "batch-fatigue", "halo", "counts-not-applicable")
MET, OFF, TIRED = 0.55, 0.85, 0.5


def replies(number: int) -> list[dict[str, str]]:
    """Make replies with some of the words, and the label that each criterion then has."""
    rows = []
    for place in range(number):
        there = {name: share("has", str(place), name) for name in WORDS}
        parts = [
            f"about {word}" if there[name] < MET else f"{word} : not asked" if there[name] > OFF else "and so on"
            for name, word in WORDS.items()
        ]
        text = f"Reply {place} ; " + " ; ".join(parts)
        labels = {f"label.{name}": label(f"mentions {word}", text) for name, word in WORDS.items()}
        quotes = {
            f"evidence.{name}": f"about {word}" if f"about {word}" in text else "" for name, word in WORDS.items()
        }
        rows.append({"id": str(place), "request": f"Question {place}", "response": text, **labels, **quotes})
    return rows


def label(criterion: str, text: str) -> str:
    """Judge a criterion as one who reads it."""
    word = re.search(r"mentions (\w+)", criterion)
    if word is None:
        return "unmet"
    if f"{word[1]} : not asked" in text:
        return "n/a"
    turned = "The opposite" in criterion or "It is not the case" in criterion
    return "met" if (f"about {word[1]}" in text) != turned else "unmet"


def answer(body: dict[str, Any]) -> str:
    """Answer as the judge that is asked."""
    prompt = prompt_of(body)
    text = prompt.split("<response>")[1].split("</response>")[0].strip()
    rubric = prompt.split("Rubric:\n", 1)[-1].split("<request>")[0].strip() if "Rubric:" in prompt else ""
    together = re.findall(r"^\[(\w+)\](.*)$", rubric, re.MULTILINE)
    if not together:
        return verdict(body["model"], "", rubric, text, place=0, of=1)
    found = {
        name: verdict(body["model"], name, criterion, text, place=place, of=len(together))
        for place, (name, criterion) in enumerate(together)
    }
    return json.dumps(found)


def verdict(model: str, name: str, criterion: str, text: str, *, place: int, of: int) -> str:
    """Give one verdict with the planted habit of a judge."""
    if model == "ignores":
        return label(f"mentions {WORDS.get(name, 'hello')}", text)
    own = label(criterion, text)
    reply = text.split(" ;", maxsplit=1)[0]  # its number alone: a judge that tires has no halo
    tired = model == "tires" and of > 1 and place >= of / 2 and share("tired", reply, name, str(place)) < TIRED
    return {"met": "unmet", "unmet": "met"}.get(own, own) if tired else own


def run(directory: Path, number: int, *overrides: str) -> RunResult:
    """Write the replies and the suite, and run it."""
    rows = replies(number)
    with (directory / "replies.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    (directory / "rubric.yaml").write_text((HERE / "rubric.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    suite = yaml.safe_load((HERE / "suite.yaml").read_text(encoding="utf-8"))
    os.environ.setdefault(KEY, "loopback")
    with ChatServer(answer) as server:
        for name in JUDGES:
            suite["models"][name] = {
                "provider": "openai-http",
                "model": name,
                "base_url": server.url,
                "api_key_env": KEY,
                "price": {"input": 1.0, "output": 1.0},
            }
            suite["judges"].append({"judge": "llm", "name": name, "model": name})
        (directory / "suite.yaml").write_text(yaml.safe_dump(suite, sort_keys=False), encoding="utf-8")
        return jrh.run(directory / "suite.yaml", run_dir=directory / "run", overrides=overrides)


def main() -> None:
    """Run it and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replies", type=int, default=40)
    parser.add_argument("--directory", type=Path, default=Path("criteria-run"))
    chosen = parser.parse_args()
    chosen.directory.mkdir(parents=True, exist_ok=True)
    # Else nothing is seen until the end.
    print(f"Asking three judges on loopback; 40 replies take a minute or more. See {chosen.directory}.", flush=True)  # noqa: T201
    run(chosen.directory, chosen.replies)
    report = json.loads((chosen.directory / "run" / "report.json").read_text(encoding="utf-8"))
    for finding in report["findings"]:
        if finding["kind"] in FOUND:
            print(f"{finding['judge']}: {finding['sentence']}")  # noqa: T201 - what it is for
    print(f"Reports: {chosen.directory / 'run'}")  # noqa: T201 - what it is for


if __name__ == "__main__":
    main()
