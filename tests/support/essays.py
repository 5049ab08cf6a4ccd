"""Essays with a level from 1 to 6: real ones where they are, made ones of the same form elsewhere."""

from __future__ import annotations

import csv
import random
from pathlib import Path
from typing import Final

REAL: Final = Path(__file__).parents[3] / "shared" / "data" / "persuade"
"""Sixty essays of PERSUADE 2.0, which are not part of the repository."""
COUNT: Final = 60
_SHARES: Final = {"1": 3, "2": 17, "3": 23, "4": 12, "5": 4, "6": 1}
_TOPICS: Final = {
    "Car-free cities": "cities without cars",
    "Exploring Venus": "the exploration of Venus",
    "Community service": "community service",
    "Cell phones at school": "phones at school",
    "Distance learning": "distance learning",
    "Driverless cars": "driverless cars",
}
_POOR: Final = (
    "I think {topic} is good becuase it help people alot.",
    "Some people dont like it but they is wrong.",
    "It is a big thing and you can do it to.",
    "My friend said that {topic} was fun and I belive him.",
    "So that is what I think about {topic}.",
)
_FAIR: Final = (
    "In my opinion, {topic} is important because it helps a lot of people every day.",
    "However, some students do not agree, and they say that it costs too much.",
    "For example, my school started to talk about {topic} last year, and many parents liked the idea.",
    "You can learn new things, and you cannot learn them at home.",
    "People should not forget that it takes time to get used to a new idea.",
    "This shows that it is a good choice for our town.",
)
_GOOD: Final = (
    "Although critics of {topic} raise a fair concern about its cost, the evidence points the other way.",
    "Consequently, a community that invests in {topic} gains more than it spends, as a survey of 1,200 families shows.",
    "A careful reader will notice that the author never denies the risk; instead, he weighs it against the benefit.",
    "For instance, the district that tried it for three years reported that 40 percent had changed their habits.",
    "It is therefore reasonable to conclude that {topic} deserves a trial, provided that its results are published.",
    "Nevertheless, we do not have to choose between caution and progress in order to begin.",
)
_RUBRIC: Final = "\n\n".join(
    f"SCORE OF {level}: An essay in this category demonstrates {mastery}; its position is {position} "
    f"and its language is {language}."
    for level, mastery, position, language in (
        (6, "clear and consistent mastery", "insightful and well supported", "varied and accurate"),
        (5, "reasonably consistent mastery", "effective and supported", "apt, with occasional lapses"),
        (4, "adequate mastery", "competent", "generally appropriate"),
        (3, "developing mastery", "present, with weak or inconsistent support", "sometimes weak"),
        (2, "little mastery", "vague or seriously limited", "very limited, with frequent errors"),
        (1, "very little or no mastery", "missing", "so faulty that it is hard to follow"),
    )
)


def essays_folder(make: Path) -> Path:
    """Return a folder with `essays.csv`, `instruction.txt`, `rubric.txt`: the real one, or `make` with made essays."""
    if (REAL / "essays.csv").is_file():
        return REAL
    make.mkdir(parents=True, exist_ok=True)
    (make / "instruction.txt").write_text("Evaluate the writing quality of persuasive essays by the rubric.")
    (make / "rubric.txt").write_text(_RUBRIC)
    with (make / "essays.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["essay_id", "prompt_name", "assignment", "full_text", "holistic_essay_score"])
        rows.writerows(_rows())
    return make


def _rows() -> list[tuple[str, str, str, str, str]]:
    dice = random.Random(7)
    levels = [level for level, count in _SHARES.items() for _ in range(count)]
    dice.shuffle(levels)
    names = list(_TOPICS)
    rows = []
    for number, level in enumerate(levels):
        name = names[number % len(names)]
        task = f"You have read the article '{name}'. Write an argument for or against {_TOPICS[name]}."
        rows.append((f"essay-{number:02}", name, task, _essay(_TOPICS[name], int(level), number, dice), level))
    return rows


def _essay(topic: str, level: int, number: int, dice: random.Random) -> str:
    """Write paragraphs whose sentences are the better, and the more, the higher the level."""
    pools = (_POOR, _POOR, _FAIR) if level <= 2 else (_POOR, _FAIR, _FAIR) if level == 3 else (_FAIR, _GOOD, _GOOD)
    opening = f"This is essay number {number}, and it is about {topic}."
    paragraphs = []
    for _ in range(3 + level // 3):
        pool = dice.choice(pools)
        # At least one sentence of the middle pool, whose words the rules of the perturbers know.
        sentences = [*dice.sample(pool, k=min(len(pool), 2 + level // 2)), dice.choice(_FAIR)]
        paragraphs.append(" ".join(sentence.format(topic=topic) for sentence in sentences))
    return "\n\n".join([f"{opening} {paragraphs[0]}", *paragraphs[1:]])
