"""What a fine-tuning job costs: trained tokens × epochs × the price of training, with where the price comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from piiloom.detection.training.training_options import DEFAULT_EPOCHS
from piiloom.execution.money.budget import BudgetReached
from piiloom.foundation.errors import UsageError
from piiloom.providers.prices import MODELS_VARIABLE, TuningTerms, load_models, shipped_models, tuned_family

PROVIDER: Final = "openai"
# What OpenAI's guide says of the epochs that it chooses: three, or more for few and fewer for many examples.
_FEWEST_SEEN, _MOST_SEEN, _MOST_EPOCHS = 100, 25_000, 25
_PER_MILLION: Final = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingPrice:
    """The price of a million trained tokens in USD, its date (ISO) and its source."""

    usd: float
    dated: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What a job would train on and cost. ``most_tokens`` and ``most_usd`` are careful figures, which a budget must cover.

    ``tokens`` are those of all epochs. ``chosen``: the number of epochs is OpenAI's to choose, and ``epochs`` what its guide says.
    """

    examples: int
    epochs: int
    chosen: bool
    tokens: int
    most_tokens: int
    price: TrainingPrice | None

    @property
    def usd(self) -> float | None:
        """The estimated cost; None: the price is unknown."""
        return cost_usd(self.tokens, self.price)

    @property
    def most_usd(self) -> float | None:
        """What it costs by the careful figure."""
        return cost_usd(self.most_tokens, self.price)

    def to_json(self) -> dict[str, Any]:
        """The fields and costs as JSON values."""
        return asdict(self) | {"usd": self.usd, "most_usd": self.most_usd}


def cost_usd(tokens: int, price: TrainingPrice | None) -> float | None:
    """Return the cost of *tokens* in USD; None if the price is unknown."""
    return None if price is None else round(tokens * price.usd * _PER_MILLION, 9)


def usual_epochs(examples: int) -> int:
    """Return how many epochs OpenAI's guide says that it chooses for so many examples."""
    if examples * DEFAULT_EPOCHS < _FEWEST_SEEN:
        return min(_MOST_EPOCHS, _FEWEST_SEEN // max(1, examples))
    if examples * DEFAULT_EPOCHS > _MOST_SEEN:
        return max(1, _MOST_SEEN // examples)
    return DEFAULT_EPOCHS


def training_price(model: str, given: float | None = None, models_file: Path | None = None) -> TrainingPrice | None:
    """Return the price of training *model*: *given*, or as listed; None if it is unknown."""
    if given is not None:
        return TrainingPrice(usd=given, dated="", source="given with --training-price")
    book, family = load_models(models_file), tuned_family(model)
    found = book.find(PROVIDER, family)
    if found is None or found.training is None:
        return None
    if book is shipped_models() or found == shipped_models().find(PROVIDER, family):
        terms = tuning_terms()
        return TrainingPrice(usd=found.training, dated=terms.dated.isoformat(), source=terms.source)
    return TrainingPrice(usd=found.training, dated=book.dated.isoformat(), source=f"the models file that {MODELS_VARIABLE} names")


def tuning_terms() -> TuningTerms:
    """Return what is known of fine-tuning at OpenAI."""
    return load_models().tuning[PROVIDER]


def warnings_about(model: str) -> list[str]:
    """Return what users should know before they pay for tuning *model*."""
    terms, found = tuning_terms(), load_models().find(PROVIDER, tuned_family(model))
    said = [terms.notice] if terms.notice else []
    if terms.ends is not None:
        said.append(f"it is announced that no new jobs can be created from {terms.ends.isoformat()} on")
    if found is not None and found.shuts_down is not None:
        said.append(f"{model} and the models tuned from it are announced to be turned off on {found.shuts_down.isoformat()}")
    return said


def check_affordable(estimate: Estimate, budget_usd: float | None, *, model: str, unpriced: bool) -> None:
    """Raise ``BudgetReached`` if the job could cost more than *budget_usd*, and ``UsageError`` where that cannot be told."""
    give = "Give it with --training-price (USD per million trained tokens)"
    if estimate.price is None:
        if budget_usd is not None:
            raise UsageError(f"a budget needs a price, and that of training {model!r} is unknown", where="--budget-usd", remedy=give)
        if not unpriced:
            raise UsageError(f"the price of training {model!r} is unknown", where="--model", remedy=f"{give}, or accept it with --unpriced")
        return
    if budget_usd is None:
        return
    if estimate.chosen:
        problem = "a budget needs a number of epochs, and OpenAI is to choose it"
        raise UsageError(problem, where="--epochs auto", remedy="Give a number, such as --epochs 3")
    assert estimate.usd is not None and estimate.most_usd is not None  # noqa: S101, PT018 - there is a price
    if estimate.most_usd > budget_usd:
        raise BudgetReached(
            f"the budget of ${budget_usd:g} is too small: training is estimated at ${estimate.usd:.2f}, and could cost "
            f"${estimate.most_usd:.2f} if the texts have more tokens than usual",
            where="--budget-usd",
            remedy="Raise it, or train on fewer records or for fewer --epochs; nothing was sent",
        )


def estimate_from(counts: Mapping[str, int], epochs: int | None, price: TrainingPrice | None) -> Estimate:
    """Return the estimate for training rows with these *counts* (examples, tokens, most_tokens)."""
    chosen = epochs is None
    number = usual_epochs(counts["examples"]) if epochs is None else epochs
    return Estimate(
        examples=counts["examples"],
        epochs=number,
        chosen=chosen,
        tokens=counts["tokens"] * number,
        most_tokens=counts["most_tokens"] * number,
        price=price,
    )
