"""Run the JudgeSense protocol on nine loopback judges with planted habits, and print its tables by name.

    python examples/judgesense/run.py                # 27,000 calls of the protocol, 4,500 of the reference condition
    python examples/judgesense/run.py --pairs 10     # 2,160 and 360

Every text and prompt is made here; nothing of the paper's data is used. Needs jrh-testing for the loopback server.
"""

from __future__ import annotations

import argparse
import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import combinations, cycle, pairwise
from pathlib import Path
from random import Random
from typing import Any

import jrh
import yaml
from jrh_testing import ChatServer
from jrh_testing.server.answers import share
from jrh_testing.server.bodies import prompt_of

HERE = Path(__file__).parent
PAIRS, FEWEST = 125, 2
KEY = "JRH_EXAMPLE_KEY"
PROMPTS = {
    "factuality": (
        "Is this statement true? Reply YES or NO.",
        "Check the statement. Reply YES if it is correct, NO if not.",
        "Is the following statement accurate? One word, YES or NO.",
        "Does the statement contain an error? Reply YES (it has one) or NO (it has none).",
        "Judge whether the statement is right. YES or NO only.",
    ),
    "coherence": (
        "Rate how well this sequence is in order, 1 to 5. Number only.",
        "How orderly is the sequence? Reply with a number from 1 to 5.",
        "Give the order of the sequence a score from 1 to 5.",
        "Score: 1 (no order) to 5 (perfect order). Reply with the number.",
        "On a scale of 1 to 5, how well ordered is this? One digit.",
    ),
    "relevance": (
        "Which passage is about a river? A or B only.",
        "About a river: A or B?",
        "Choose the passage that tells of a river. Reply A or B.",
        "Reply A or B: which of these tells of a river?",
        "A or B: which passage answers a question on rivers?",
    ),
    "preference": (
        "Which reply keeps its promise? A or B only.",
        "Better reply: A or B?",
        "Choose the reply that does what it promised. Reply A or B.",
        "Reply A or B: which one keeps its word?",
        "A or B: which reply would you rather have?",
    ),
}
ERROR = "contain an error"
JUDGES = {
    "careful": "right under every prompt",
    "always A": "picks A whatever the texts are",
    "always B": "picks B whatever the texts are",
    "blind to polarity": "answers the prompt about errors as if it asked for truth",
    "noisy": "gives another label to one prompt in five",
    "restless": "gives another label to one asking in seven",
    "touchy": "gives another label to one prompt in twenty",
    "anchored": "gives one level less where the prompt has anchors",
    "shy": "has no answer to one prompt in twelve",
}


def rows(task: str, pairs: int) -> Iterator[dict[str, str]]:
    """Yield paired-prompt rows: a text of its own for every pair, prompts in turn."""
    rng = Random(f"{task} 5")  # noqa: S311 - texts, not secrets
    # The first rows name all five prompts in their order, so that prompt-4 is the fourth.
    turns = cycle([(0, 1), (2, 3), (4, 0), *combinations(range(5), 2)])
    for number, (one, other) in zip(range(pairs), turns, strict=False):
        text, gold = made(task, number, rng)
        shown = text.replace(" | B:", "\nB:")
        yield {
            "pair_id": f"{task}-{number:03}",
            "task_type": task,
            "prompt_a": f"{PROMPTS[task][one]}\n\n{shown}",
            "prompt_b": f"{PROMPTS[task][other]}\n\n{shown}",
            "response_being_judged": text,
            "ground_truth_label": gold,
        }


def made(task: str, number: int, rng: Random) -> tuple[str, str]:
    """Return a text and its right label."""
    if task == "factuality":
        one, other, off = number + 10, rng.randint(2, 9), rng.choice((0, 0, 1, 2))
        return f"{one} plus {other} is {one + other + off}.", "NO" if off else "YES"
    if task == "coherence":
        level = number % 5 + 1
        # As many descents as levels are missing.
        rest = list(range(1, level + 1))
        return f"Sequence {number}: {' '.join(map(str, [*range(9, 4 + level, -1)][: 5 - level] + rest))}.", str(level)
    good, bad = ("river", "hill") if task == "relevance" else ("kept", "broken")
    both = [f"This is about {good} number {number}.", f"This is about {bad} number {number}."]
    first = rng.random() < 0.5  # noqa: PLR2004 - either order
    a, b = both if first else both[::-1]
    return f"A: {a} | B: {b}", "A" if first else "B"


class Judges:
    """Answers as nine judges; the model's name in the request says which."""

    def __init__(self) -> None:
        """Start without any asking."""
        self.asked: Counter[tuple[str, str]] = Counter()

    def __call__(self, body: Mapping[str, Any]) -> str:  # noqa: PLR0911 - one habit, one way out
        """Answer one request."""
        judge, prompt = str(body["model"]), prompt_of(body)  # type: ignore[arg-type]
        labels, label = right(prompt, blind=judge == "blind to polarity")
        self.asked[judge, prompt] += 1
        draw = share(judge, prompt)
        if labels == "AB" and judge in ("always A", "always B"):
            return judge[-1]
        if judge == "noisy" and draw < 1 / 5:
            return another(labels, label, draw)
        if judge == "restless" and share(judge, prompt, str(self.asked[judge, prompt])) < 1 / 7:
            return another(labels, label, draw)
        if judge == "touchy" and draw < 1 / 20:
            return another(labels, label, draw)
        if judge == "anchored" and "(no order)" in prompt:
            return str(max(1, int(label) - 1))
        if judge == "shy" and draw < 1 / 12:
            return "I would rather not decide."
        return label


def another(labels: str | tuple[str, ...], label: str, draw: float) -> str:
    """Return one of the other labels."""
    others = [each for each in labels if each != label]
    return others[int(draw * 7919) % len(others)]


def right(prompt: str, *, blind: bool) -> tuple[str | tuple[str, ...], str]:
    """Read the labels and the right one out of a prompt, as a judge that understands it would."""
    if sums := re.search(r"(\d+) plus (\d+) is (\d+)\.", prompt):
        one, other, total = map(int, sums.groups())
        true = one + other == total
        if ERROR in prompt and not blind:
            true = not true
        return ("YES", "NO"), "YES" if true else "NO"
    if sequence := re.search(r"Sequence \d+: ([\d ]+)\.", prompt):
        steps = [int(each) for each in sequence[1].split()]
        return "12345", str(5 - sum(one > other for one, other in pairwise(steps)))
    good = re.search(r"about (river|kept) number", prompt)
    bad = re.search(r"about (hill|broken) number", prompt)
    return "AB", "A" if good and bad and good.start() < bad.start() else "B"


def prepared(folder: Path, url: str, pairs: int) -> Path:
    """Write data and suite for a server."""
    folder.mkdir(parents=True, exist_ok=True)
    for task in PROMPTS:
        lines = (json.dumps(row) for row in rows(task, pairs))
        (folder / f"{task}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    suite = yaml.safe_load((HERE / "suite.yaml").read_text(encoding="utf-8"))
    price = {"input": 0.5, "output": 1.5}
    for number, judge in enumerate(JUDGES, start=1):
        name = judge.replace(" ", "-").lower()
        suite["models"][name] = {
            "provider": "openai-http", "model": judge, "base_url": url, "api_key_env": KEY,
            "temperature": 0.0, "max_tokens": 20, "concurrency": 8, "price": {k: v * number for k, v in price.items()},
        }  # fmt: skip
        suite["judges"].append({"name": judge, "judge": "llm", "model": name})
    path = folder / "suite.yaml"
    path.write_text(yaml.safe_dump(suite, sort_keys=False, allow_unicode=True), encoding="utf-8")
    return path


def run(folder: Path, pairs: int) -> Path:
    """Run the protocol and return the run directory."""
    os.environ.setdefault(KEY, "an-example-key-of-no-service")
    with ChatServer(Judges()) as server:
        jrh.run(prepared(folder, server.url, pairs), run_dir=folder / "run", use_cache=False)
    return folder / "run"


def main() -> None:
    """Run it and print the tables by their names."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=PAIRS, help="pairs of prompts per task; the paper has 125")
    parser.add_argument("--folder", type=Path, default=Path("runs") / "judgesense", help="where everything is written")
    given = parser.parse_args()
    if given.pairs < FEWEST:
        parser.error("--pairs: at least 2, so that the inverted prompt is asked")
    done = run(given.folder, given.pairs)
    print((done / "papers" / "index.md").read_text(encoding="utf-8"))  # noqa: T201 - what it is for
    print(f"Tables and figures: {done / 'papers'}")  # noqa: T201


if __name__ == "__main__":
    main()
