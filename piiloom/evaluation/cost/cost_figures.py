"""The figures of a cost, as JSON and as cells of a table."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final

# The titles of ``CostFigures.cells``.
COLUMNS: Final = ("USD / 1M tokens", "USD / document", "USD", "tokens")
UNKNOWN: Final = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class CostFigures:
    """What the predictions for ``documents`` have cost.

    ``estimated`` tells that the tokens were not counted by a model but estimated from the texts; ``basis`` says in words how the tokens
    came about. ``input_tokens`` includes ``cached_tokens``. ``cost_usd`` is None if the price of a model is unknown; these are the
    ``unpriced_models``. ``prices_dated`` is the date of the prices, None if the user gave them. ``without_usage`` documents have no
    tokens and are in no mean. ``not_evaluated`` documents of the usage file are not among the evaluated ones and left out.
    """

    models: tuple[str, ...]
    estimated: bool
    basis: str
    documents: int
    without_usage: int
    not_evaluated: int
    calls: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    cost_usd: float | None
    unpriced_models: tuple[str, ...]
    prices_dated: str | None

    @property
    def total_tokens(self) -> int:
        """Input and output tokens together."""
        return self.input_tokens + self.output_tokens

    @property
    def cost_per_million_tokens(self) -> float | None:
        """USD for a million tokens as they were used, input and output together; None if nothing was used or a price is unknown."""
        return None if self.cost_usd is None or not self.total_tokens else self.cost_usd / self.total_tokens * 1e6

    @property
    def cost_per_document(self) -> float | None:
        """USD for a document of which the tokens are known; None if there is none or a price is unknown."""
        counted = self.documents - self.without_usage
        return None if self.cost_usd is None or not counted else self.cost_usd / counted

    def to_json(self) -> dict[str, Any]:
        """Return all figures as JSON values, in USD and not rounded."""
        figures = asdict(self) | {"models": list(self.models), "unpriced_models": list(self.unpriced_models)}
        means = {"cost_per_million_tokens": self.cost_per_million_tokens, "cost_per_document": self.cost_per_document}
        return figures | {"total_tokens": self.total_tokens, **means}

    def cells(self) -> tuple[str, ...]:
        """Return a cell for each of ``COLUMNS``; an estimated amount begins with "~"."""
        about = "~" if self.estimated else ""
        amounts = (self.cost_per_million_tokens, self.cost_per_document, self.cost_usd)
        return (*(UNKNOWN if amount is None else f"{about}{_usd(amount)}" for amount in amounts), f"{about}{self.total_tokens:,}")


def _usd(amount: float) -> str:
    """Write *amount* with three digits that count, or to the cent if it is a dollar or more."""
    return f"{amount:,.2f}" if amount >= 1 or not amount else f"{amount:.3g}" if amount >= 1e-4 else f"{amount:.2e}"
