"""The rule about verdicts that change with the prompt template."""

from __future__ import annotations

from jrh_measuring import KeptShare


class TemplateFlips(KeptShare):
    """Tells whether verdicts change with the prompt template, where no reruns tell this from noise."""

    kind = "template-flips"
    name = "jss"
    what = "its verdict when the prompt template"
    verbs = ("changes", "changed")
