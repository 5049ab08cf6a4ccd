"""Options of the perturber, the metrics and the search."""

from __future__ import annotations

from attrs import field, frozen
from attrs.validators import and_, deep_iterable, ge, in_, le, min_len
from jrh import ModelName, Text
from jrh_authoring import distinct, repeats_option
from jrh_measuring import MetricOptions

from jrh_injection.texts import ATTACKS, KINDS, POSITIONS


@frozen(kw_only=True)
class InjectionOptions:
    """Options of the perturber `injection`."""

    kinds: tuple[str, ...] = field(
        default=tuple(ATTACKS),
        validator=[deep_iterable(in_(tuple(KINDS))), distinct],
        metadata={"help": f"which attacks: {', '.join(KINDS)}"},
    )
    positions: tuple[str, ...] = field(
        default=("end",),
        validator=[min_len(1), deep_iterable(in_(POSITIONS)), distinct],
        metadata={"help": "where the text goes: start, middle, end; tool: the last tool output of a transcript"},
    )
    doses: tuple[int, ...] = field(
        default=(1,),
        validator=[min_len(1), deep_iterable(and_(ge(1), le(20))), distinct],
        metadata={"help": "how often the text is repeated in its place, 1 to 20"},
    )
    suffixes: Text | None = field(
        default=None, metadata={"help": "your own texts, one per line; {target} and {field} are filled in"}
    )
    attacks: tuple[str, ...] = field(
        default=(),
        metadata={"help": "composed attacks, such as command@end*2+plea@start, instead of kinds, positions and doses"},
    )
    target: str = field(
        default="",
        metadata={"help": "the label attacks ask for; default: the highest level, the positive label, the option"},
    )
    control: bool = field(
        default=True, metadata={"help": "also ask about harmless text of the same length; doubles the calls"}
    )
    repeats: int = repeats_option()


@frozen(kw_only=True)
class WrittenOptions:
    """Options of the perturber `written-injection`."""

    model: ModelName = field(default=ModelName("writer"), metadata={"help": "the suite's model that writes the texts"})
    number: int = field(
        default=3, validator=and_(ge(1), le(20)), metadata={"help": "number of texts; the model is asked once for each"}
    )
    target: str = field(default="", metadata={"help": "the label they ask for; default: as for `injection`"})
    repeats: int = repeats_option()

    def injection(self) -> InjectionOptions:
        """Return the options of `injection` that ask for the same label."""
        return InjectionOptions(target=self.target)


@frozen(kw_only=True)
class DefenceOptions(MetricOptions):
    """Options of the metric `defence-worth`."""

    baseline: str = field(default="", metadata={"help": "the judge without defences, to compare the others with"})
