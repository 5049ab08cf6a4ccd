"""Decide after each batch which judges are asked on."""

from __future__ import annotations

from collections.abc import Sequence

from jrh import BuildContext, RecordTable
from jrh_measuring.gating.deciding import Outcome

from jrh_sequential.deciding import better_judges, follow_race, follow_rules
from jrh_sequential.options import RaceOptions, StopOptions, shares
from jrh_sequential.totals import TrialsInOrder


class Stop:
    """Asks a judge on until all of its rules are decided, either way."""

    def __init__(self, options: StopOptions, context: BuildContext) -> None:
        """Keep the rules, and the draw of the clusters."""
        self.batch = options.check_every
        self._options, self._draw = options, context.seed
        self._shares = shares()

    def keep(self, judges: Sequence[str], batch: int, records: RecordTable) -> list[str]:  # noqa: ARG002
        """Return the judges with a rule that is open, and those that no rule is about."""
        followed = list(follow_rules(self._options, self._shares, TrialsInOrder.of(records, self._draw)))
        about = {sequence.judge for sequence in followed}
        undecided = {sequence.judge for sequence in followed if sequence.outcome() is Outcome.UNDECIDED}
        return [judge for judge in judges if judge in undecided or judge not in about]


class Race:
    """Asks judges on until one is left that no other is shown to beat."""

    def __init__(self, options: RaceOptions, context: BuildContext) -> None:
        """Keep the measure, and the draw of the clusters."""
        self.batch = options.check_every
        self._options, self._draw = options, context.seed
        self._shares = shares()

    def keep(self, judges: Sequence[str], batch: int, records: RecordTable) -> list[str]:  # noqa: ARG002
        """Return the judges that no other is shown to beat; none once there is a winner."""
        race = follow_race(self._options, self._shares, TrialsInOrder.of(records, self._draw))
        worse = better_judges(race, self._options.alpha)
        left = [judge for judge in judges if judge not in worse]
        # A winner has nothing to win any more; a judge that never had a rival was in no race.
        return left if len(left) > 1 or not worse else []
