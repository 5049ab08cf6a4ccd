"""Turn a filled bucket into a draft and an abandoned one into a skip."""

from __future__ import annotations

from jrh import Draft, Equals, Json, Skip

from jrh_synthetic_ordinal.buckets import Attempt, Bucket


def variant(level: str) -> str:
    """Name the variant of a level."""
    return f"level-{level}"


def outcome(bucket: Bucket, longest: int, fingerprint: str) -> Draft | Skip:
    """Return the draft or the skip of a bucket; both record all its attempts.

    Args:
        bucket: full, or given up.
        longest: the number of attempts after which a level is given up.
        fingerprint: the model that writes.
    """
    tried: list[Json] = [attempt.described() for attempt in bucket.attempts]
    details: dict[str, Json] = {"by": "model", "place": bucket.place, "attempts": tried}
    if bucket.kept is None:
        reason = f"no response reached level {bucket.level} in {longest} attempts"
        return Skip(reason=reason, variant=variant(bucket.level), details=details)
    return Draft(
        variant=variant(bucket.level),
        fields={"response": bucket.kept.text},
        expectation=Equals(label=bucket.level),
        model=fingerprint,
        details={**details, "kept": bucket.kept.described(), "examples_from_other_levels": _borrowed(bucket.kept)},
    )


def _borrowed(kept: Attempt) -> bool:
    """Return whether the examples came from another level because the wanted level has none."""
    return any(level != kept.wanted for level in kept.examples_of)
