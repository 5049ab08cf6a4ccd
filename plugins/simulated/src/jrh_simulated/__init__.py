"""Simulate judges and models with planted defects of known size, to calibrate the instrument.

`judge` applies the defects in a fixed order, starting from the right answer; `view` is everything it looks at in one
question, `answers` draws numbers and makes the judgement. `model` is a chat model with made-up replies. Every draw is a
hash of what it depends on, so that a defect has the same size in every run, whatever the order of the calls.

A judge here sees the truth. That is why its verdicts are marked as simulated wherever they appear.

Start with `judge.PlantedJudge.answer`. To add a defect, give it an option, a draw with a name of its own, and a closed
form in the tests.
"""
