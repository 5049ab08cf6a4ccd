"""Options of the perturber, the metrics and the search."""

from __future__ import annotations

from attrs import frozen
from attrs.validators import and_, deep_iterable, ge, in_, le, min_len
from jrh import ModelName, Text
from jrh.plugins import option
from jrh_authoring import distinct, repeats_option
from jrh_measuring import MetricOptions

from jrh_injection.texts import ATTACKS, KINDS, POSITIONS


@frozen(kw_only=True)
class InjectionOptions:
    """Options of the perturber `injection`."""

    kinds: tuple[str, ...] = option(
        f"which attacks: {', '.join(KINDS)}", deep_iterable(in_(tuple(KINDS))), distinct, default=ATTACKS
    )
    positions: tuple[str, ...] = option(
        "where the text goes: start, middle, end; tool: the last tool output of a transcript",
        min_len(1),
        deep_iterable(in_(POSITIONS)),
        distinct,
        default=("end",),
    )
    doses: tuple[int, ...] = option(
        "how often the text is repeated in its place, 1 to 20",
        min_len(1),
        deep_iterable(and_(ge(1), le(20))),
        distinct,
        default=(1,),
    )
    suffixes: Text | None = option("your own texts, one per line; {target} and {field} are filled in", default=None)
    attacks: tuple[str, ...] = option(
        "composed attacks, such as command@end*2+plea@start, instead of kinds, positions and doses", default=()
    )
    target: str = option(
        "the label attacks ask for; default: the highest level, the positive label, the option", default=""
    )
    control: bool = option("also ask about harmless text of the same length; doubles the calls", default=True)
    repeats: int = repeats_option()


@frozen(kw_only=True)
class WrittenOptions:
    """Options of the perturber `written-injection`."""

    model: ModelName = option("the suite's model that writes the texts", default=ModelName("writer"))
    number: int = option("number of texts; the model is asked once for each", and_(ge(1), le(20)), default=3)
    target: str = option("the label they ask for; default: as for `injection`", default="")
    repeats: int = repeats_option()


@frozen(kw_only=True)
class DefenceOptions(MetricOptions):
    """Options of the metric `defence-worth`."""

    baseline: str = option("the judge without defences, to compare the others with", default="")
