"""The thresholds of the audit."""

from __future__ import annotations

from attrs import frozen
from attrs.validators import ge, le
from jrh.plugins import option


@frozen(kw_only=True)
class AuditOptions:
    """Set the thresholds at which the audit reports a finding."""

    near_duplicate: float = option(
        "smallest share of common word triples (Jaccard) that makes two items near-duplicates",
        ge(0.3),
        le(1.0),
        default=0.8,
    )
    lopsided: float = option("smallest share of one gold label that counts as lopsided", ge(0.5), le(1.0), default=0.8)
    stratum_items: int = option("minimum number of items per stratum", ge(1), default=10)
    half_width: float = option(
        "target half-width of the 95% interval of a rate near 0.5", ge(0.001), le(0.5), default=0.1
    )
