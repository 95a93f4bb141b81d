"""Totals of a run's calls over all its sessions."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from piiloom.corpus.store.costs import Spending
from piiloom.providers.protocol import Completion


@dataclass(slots=True, kw_only=True)
class CallTotals(Spending):
    """Totals of all sessions of a run, and of the current one.

    ``answered_now`` counts the answers of the current session, ``replayed`` the replies it took from the journal.
    """

    answered_now: int = 0
    replayed: int = 0

    @classmethod
    def after(cls, earlier: Spending) -> CallTotals:
        """Start from the totals of the earlier sessions."""
        return cls(**asdict(earlier))

    def __sub__(self, other: CallTotals) -> CallTotals:
        return CallTotals(**{name: count - getattr(other, name) for name, count in asdict(self).items()})

    def add(self, more: CallTotals) -> None:
        """Add *more* to these totals, in place."""
        for name, count in asdict(more).items():
            setattr(self, name, getattr(self, name) + count)

    @property
    def spent_usd(self) -> float:
        """What counts against the budget, in USD: the cost of replies plus charges for calls that may have been billed."""
        return self.cost_usd + self.charged_usd

    def count(self, completion: Completion, charge_usd: float = 0.0) -> None:
        """Count an answer; *charge_usd* is added instead of its cost if that is not reported."""
        self.answered += 1
        self.answered_now += 1
        self.input_tokens += completion.usage.input
        self.cached_tokens += completion.usage.cached
        self.output_tokens += completion.usage.output
        if completion.cost_usd is None:
            self.unpriced += 1
            self.charged_usd += charge_usd
        else:
            self.cost_usd += completion.cost_usd

    def count_failure(self, charge_usd: float, *, maybe_billed: bool, final: bool) -> None:
        """Count a failed try: as a failure if *final*, otherwise as a retry."""
        self.charged_usd += charge_usd
        self.maybe_paid += maybe_billed
        if final:
            self.failed += 1
        else:
            self.retries += 1
