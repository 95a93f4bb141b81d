"""What the calls of a run came to, over all its sittings."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from piiloom.corpus.store.spending import Spending
from piiloom.providers.protocol import Completion


@dataclass(slots=True, kw_only=True)
class CallTotals(Spending):
    """What the sittings of a run came to, and this one in particular.

    ``answered_now`` counts this sitting's answers, ``replayed`` those that it found in the journal.
    """

    answered_now: int = 0
    replayed: int = 0

    @classmethod
    def after(cls, earlier: Spending) -> CallTotals:
        """Start from what the sittings before came to."""
        return cls(**asdict(earlier))

    @property
    def spent_usd(self) -> float:
        """What counts against a budget: replies, and calls that may have been billed."""
        return self.cost_usd + self.charged_usd

    def count(self, completion: Completion, charge_usd: float = 0.0) -> None:
        """Count an answer; *charge_usd* is set aside for one whose cost is not known."""
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
        """Count a try that brought nothing; one that is tried again is a retry."""
        self.charged_usd += charge_usd
        self.maybe_paid += maybe_billed
        if final:
            self.failed += 1
        else:
            self.retries += 1
