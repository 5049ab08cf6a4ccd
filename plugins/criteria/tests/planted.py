"""Judges that really read their rubric: Python functions, as `function` takes them. Other defects are simulated.

A criterion is a word that the response has to contain, negated and inverted wordings included. `n/a` is right where the
response says so. The defect draws by hash: the same question always has the same answer.
"""

import hashlib
import re


def draw(*parts):
    digest = hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()
    return int(digest[:12], 16) / 16**12


def truth(text, response):
    """Answer a criterion as one who reads it."""
    word = re.search(r"mentions (\w+)", text)
    if word is None:
        return "unmet"  # nothing is asked, so nothing is met
    if f"no {word[1]} here" in response:
        return "n/a"
    turned = text.startswith(("It is not the case", "The opposite"))
    return "met" if (word[1] in response.split()) != turned else "unmet"


def other(label):
    return "unmet" if label == "met" else "met"


def _noisy(label, question, rate=0.03):
    """Answer otherwise now and then, in every repeat anew; no seed of jrh's decides, so that no version does."""
    fields = question["fields"]
    asked = (fields["request"], fields["response"], fields["criterion"], fields.get("criteria"), question["repeat"])
    return other(label) if draw("noise", *asked) < rate else label


async def reads(question):
    fields = question["fields"]
    return _noisy(truth(fields["criterion"]["text"], fields["response"]), question)
