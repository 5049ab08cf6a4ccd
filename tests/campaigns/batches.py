"""A run directory whose models answer in batches, over processes that are killed, and a provider that misbehaves."""

from __future__ import annotations

from support.batch_provider import FATES, FAULTS, QUESTIONS, Directory

from campaigns.rounds import Round

PROCESSES = 6


def campaign(played: Round) -> None:
    """Run some processes, each with its own faults, fates and kill; then let all go well, and compare the bills."""
    dice = played.dice
    directory = Directory(anthropic=dice.random() < 0.5)
    provider = directory.provider
    for _ in range(dice.randint(1, PROCESSES)):
        provider.faults = {step: dice.choices(names, k=dice.randint(0, 3)) for step, names in FAULTS.items()}
        provider.fates = dice.choices(FATES, k=dice.randint(0, QUESTIONS))
        provider.looks = dice.randint(0, 3)
        directory.run(wait=dice.random() < 0.7, kill_at=max(-1, dice.randint(-6, 14)))
        played.counted["kills"] += provider.killed.is_set()
    directory.finish()
    played.counted["faults"] += sum(provider.met.values())
    played.counted["batches"] += len(provider.held)
    played.counted["answers billed"] += sum(provider.bought.values())
    played.counted["bought twice"] += sum(often > 1 for often in provider.bought.values())
    for problem in directory.problems:
        played.check(False, problem)
    directory.remove()
