"""What the calls of a run came to, over all its sittings."""

from __future__ import annotations

from dataclasses import dataclass

from corpus.store.spending import Spending
from providers.protocol import Completion


@dataclass(slots=True)
class CallTotals:
    """Counts of calls and tokens; costs in USD.

    ``replayed`` were found in the journal, ``unpriced`` have no known price. ``charged_usd`` is set aside for
    ``maybe_paid`` calls, whose outcome nobody knows. ``answered_now`` counts this sitting's answers only.
    """

    answered: int = 0
    answered_now: int = 0
    replayed: int = 0
    failed: int = 0
    retries: int = 0
    unpriced: int = 0
    cost_usd: float = 0.0
    charged_usd: float = 0.0
    maybe_paid: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0

    @classmethod
    def after(cls, earlier: Spending) -> CallTotals:
        """Start from what the sittings before came to."""
        return cls(
            answered=earlier.answered,
            failed=earlier.failed,
            retries=earlier.retries,
            unpriced=earlier.unpriced,
            cost_usd=earlier.cost_usd,
            charged_usd=earlier.charged_usd,
            maybe_paid=earlier.maybe_paid,
            input_tokens=earlier.input_tokens,
            cached_tokens=earlier.cached_tokens,
            output_tokens=earlier.output_tokens,
        )

    @property
    def spent_usd(self) -> float:
        """What counts against a budget: replies, and calls that may have been billed."""
        return self.cost_usd + self.charged_usd

    def count(self, completion: Completion) -> None:
        """Count an answer."""
        self.answered += 1
        self.answered_now += 1
        self.input_tokens += completion.usage.input
        self.cached_tokens += completion.usage.cached
        self.output_tokens += completion.usage.output
        if completion.cost_usd is None:
            self.unpriced += 1
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
