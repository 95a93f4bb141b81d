"""Compute the cost of predictions: from a usage file, or, for a model by name, estimated from the texts.

::

    costs = CostCollector(usage_source(Path("usage.jsonl")))   # or CostCollector(model_source("gpt-6-luna"))
    costs.add(pair)                                            # for each pair, in the one pass over the files
    costs.figures().to_json()

``cost_of`` does it for documents at hand.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from piiloom.evaluation.cost.cost_figures import CostFigures
from piiloom.evaluation.cost.model_prices import PriceList
from piiloom.evaluation.cost.usage_file import read_usage
from piiloom.evaluation.inputs.documents import Document, Pair
from piiloom.foundation.errors import UsageError
from piiloom.providers.protocol import TokenUsage

# About this many bytes of UTF-8 make a token: 4 in English. Scripts with shorter tokens have more bytes a letter.
BYTES_A_TOKEN: Final = 4
_COUNTED: Final = "tokens as the usage file states them"


@dataclass(slots=True)
class Spent:
    """Sums of calls. ``cost_usd`` is that of the calls with a known price."""

    calls: int = 0
    input: int = 0
    cached: int = 0
    output: int = 0
    cost_usd: float = 0.0
    models: Counter[str] = field(default_factory=Counter)
    unpriced: Counter[str] = field(default_factory=Counter)

    def add_call(self, model: str, usage: TokenUsage, prices: PriceList, provider: str | None = None) -> None:
        """Add one call; it counts as unpriced if *prices* do not know the model."""
        self.calls += 1
        self.input += usage.input
        self.cached += usage.cached
        self.output += usage.output
        self.models[model] += 1
        spec = prices.find(model, provider)
        if spec is None:
            self.unpriced[model] += 1
        else:
            self.cost_usd += spec.cost_usd(usage) or 0.0  # None: no token was used

    def add(self, other: Spent) -> None:
        """Add *other* to these sums."""
        self.calls += other.calls
        self.input += other.input
        self.cached += other.cached
        self.output += other.output
        self.cost_usd += other.cost_usd
        self.models += other.models
        self.unpriced += other.unpriced


class TokenSource(Protocol):
    """Where the tokens of a document come from; ``UsageSource`` and ``ModelSource``."""

    prices: PriceList
    estimated: bool
    basis: str

    def spent_on(self, gold: Document, found: Document) -> Spent | None:
        """Return what the prediction *found* took, or None if that is not known."""
        ...

    def not_evaluated(self) -> int:
        """Return the number of documents that ``spent_on`` was not asked about."""
        ...


class UsageSource:
    """Tokens as a usage file states them, by document id."""

    estimated = False
    basis = _COUNTED

    def __init__(self, by_document: Mapping[str, Spent], prices: PriceList) -> None:
        self.prices = prices
        self._left = dict(by_document)

    def spent_on(self, gold: Document, found: Document) -> Spent | None:
        """Return the sums of the document's rows. A document is asked about once."""
        return next((self._left.pop(name) for name in (gold.id, found.id) if name in self._left), None)

    def not_evaluated(self) -> int:
        """Return how many documents of the file were not asked about."""
        return len(self._left)


class ModelSource:
    """Estimated tokens of one call a document: its text, *prompt_tokens* around it, and the found values as JSON for the reply."""

    estimated = True

    def __init__(self, model: str, prices: PriceList, *, provider: str | None = None, prompt_tokens: int = 0) -> None:
        self.prices = prices
        self._model, self._provider, self._prompt = model, provider, prompt_tokens
        around = f"and {prompt_tokens:,} tokens of prompt" if prompt_tokens else "without any prompt"
        self.basis = (
            f"estimated: one call a document, {BYTES_A_TOKEN} bytes a token; input: the text {around}; "
            "output: the found values and types as JSON"
        )

    def spent_on(self, gold: Document, found: Document) -> Spent | None:
        """Return the estimate for a document; None if neither side has its text."""
        text = gold.text if gold.text is not None else found.text
        if text is None:
            return None
        reply = [{"text": one.text, "type": one.entity_type} for one in found.mentions]
        usage = TokenUsage(input=self._prompt + tokens_of(text), output=tokens_of(json.dumps(reply, ensure_ascii=False)))
        spent = Spent()
        spent.add_call(self._model, usage, self.prices, self._provider)
        return spent

    def not_evaluated(self) -> int:
        """Return 0: an estimate has the documents that it was asked about."""
        return 0


def usage_source(path: Path, prices: PriceList | None = None) -> UsageSource:
    """Read the usage file *path*. Raises ``DataError`` if it is none, ``UsageError`` if a model's provider is not clear."""
    chosen = prices or PriceList()
    by_document: dict[str, Spent] = {}
    for row in read_usage(path):
        by_document.setdefault(row.document, Spent()).add_call(row.model, row.usage, chosen, row.provider)
    return UsageSource(by_document, chosen)


def model_source(model: str, prices: PriceList | None = None, *, provider: str | None = None, prompt_tokens: int = 0) -> ModelSource:
    """Prepare an estimate for *model*. Raises ``UsageError`` if its price is unknown: nothing would be left to say."""
    chosen = prices or PriceList()
    if chosen.find(model, provider) is None:
        remedy = "Add it to the file that the variable PIILOOM_MODELS names, or state the tokens with --usage"
        raise UsageError(f"the price of the model {model!r} is unknown", where="--model", remedy=remedy)
    return ModelSource(model, chosen, provider=provider, prompt_tokens=prompt_tokens)


class CostCollector:
    """A ``Collector`` of costs; it keeps sums and no text."""

    def __init__(self, source: TokenSource) -> None:
        self._source = source
        self._sums = Spent()
        self._documents = self._without = 0

    def add(self, pair: Pair) -> None:
        """Count one document."""
        self._documents += 1
        spent = self._source.spent_on(pair.gold, pair.found)
        if spent is None:
            self._without += 1
        else:
            self._sums.add(spent)

    def figures(self) -> CostFigures:
        """Return the figures of all documents so far. Raises ``UsageError`` if the usage file is about other documents."""
        sums, strange = self._sums, self._source.not_evaluated()
        if strange and self._without == self._documents:
            fault = f"the usage file names none of the {self._documents:,} evaluated documents, but {strange:,} others"
            raise UsageError(fault, where="--usage", remedy="Give the tokens by the ids of the documents")
        return CostFigures(
            models=tuple(sorted(sums.models)),
            estimated=self._source.estimated,
            basis=self._source.basis,
            documents=self._documents,
            without_usage=self._without,
            not_evaluated=strange,
            calls=sums.calls,
            input_tokens=sums.input,
            cached_tokens=sums.cached,
            output_tokens=sums.output,
            cost_usd=None if sums.unpriced else round(sums.cost_usd, 12),  # so that sums do not hang on the order
            unpriced_models=tuple(sorted(sums.unpriced)),
            prices_dated=self._source.prices.dated,
        )


def cost_of(source: Path | str, documents: Iterable[Document], *, prices: PriceList | None = None) -> CostFigures:
    """Return the cost of the predictions *documents*: by the usage file *source*, or estimated for the model of that name."""
    costs = CostCollector(usage_source(source, prices) if isinstance(source, Path) else model_source(source, prices))
    for document in documents:
        costs.add(Pair(gold=document, found=document))
    return costs.figures()


def tokens_of(text: str) -> int:
    """Estimate the tokens of *text*, rounded up."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_A_TOKEN)
