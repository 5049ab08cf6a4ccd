"""The thresholds of the audit."""

from __future__ import annotations

from attrs import field, frozen
from attrs.validators import and_, ge, le


@frozen(kw_only=True)
class AuditOptions:
    """Set the thresholds at which the audit reports a finding."""

    near_duplicate: float = field(
        default=0.8,
        validator=and_(ge(0.3), le(1.0)),
        metadata={"help": "smallest share of common word triples (Jaccard) that makes two items near-duplicates"},
    )
    lopsided: float = field(
        default=0.8,
        validator=and_(ge(0.5), le(1.0)),
        metadata={"help": "smallest share of one gold label that counts as lopsided"},
    )
    stratum_items: int = field(default=10, validator=ge(1), metadata={"help": "minimum number of items per stratum"})
    half_width: float = field(
        default=0.1,
        validator=and_(ge(0.001), le(0.5)),
        metadata={"help": "target half-width of the 95% interval of a rate near 0.5"},
    )
