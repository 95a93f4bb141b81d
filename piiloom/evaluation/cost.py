"""The cost of predictions, tokens times dated prices: from a usage file, or, for a model by name, estimated from the texts.

::

    costs = usage_costs(Path("usage.jsonl"))   # or estimated_costs("gpt-6-luna")
    costs.add(pair)                            # for each pair, in the one pass over the files
    costs.figures().to_json()

A usage file has the tokens of each call for a document: JSONL with an object a line, or CSV with a header (by the suffix ``.csv``).
``document``, ``model``, ``input_tokens`` and ``output_tokens`` are required, ``cached_tokens`` (or ``cached``) and ``provider`` are not;
other columns are ignored. ``input_tokens`` includes the cached ones. A document may have several rows: one for each call.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Final

from piiloom.corpus.formats.native_rows import RowFault, numbered_lines, parse_object
from piiloom.evaluation.inputs.documents import AnnotatedDocument, Pair
from piiloom.foundation.errors import DataError, UsageError
from piiloom.providers.prices import ModelBook, ModelSpec, load_models
from piiloom.providers.protocol import TokenUsage

# The titles of ``CostFigures.cells``.
COLUMNS: Final = ("USD / 1M tokens", "USD / document", "USD", "tokens")
UNKNOWN: Final = "unknown"
_REMEDY: Final = 'Write for example {"document": "d1", "model": "gpt-6-luna", "input_tokens": 812, "output_tokens": 95}'
_BOM: Final = "\ufeff"
# About this many bytes of UTF-8 make a token: 4 in English. Scripts with shorter tokens have more bytes a letter.
BYTES_A_TOKEN: Final = 4
_ESTIMATED: Final = (
    f"estimated: one call a document, {BYTES_A_TOKEN} bytes a token; input: the text without any prompt; "
    "output: the found values and types as JSON"
)


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


class PriceList:
    """The prices of a model that is known by its name alone, from *book* (None: as ``piiloom generate``), and the date they are of."""

    def __init__(self, book: ModelBook | None = None) -> None:
        self._book = book or load_models()
        self.dated = self._book.dated.isoformat()
        self._known: dict[tuple[str, str | None], ModelSpec | None] = {}

    def find(self, model: str, provider: str | None = None) -> ModelSpec | None:
        """Return what is known of *model*, or of the model of which it is a dated snapshot; None if it has no known price.

        Without *provider*, all are searched. Raises ``UsageError`` if several have a model of that name at different prices.
        """
        if (model, provider) not in self._known:
            self._known[model, provider] = self._searched(model, provider)
        return self._known[model, provider]

    def _searched(self, model: str, provider: str | None) -> ModelSpec | None:
        providers = [provider] if provider is not None else list(self._book.models)
        found = [spec for name in providers if (spec := self._book.find(name, model)) is not None and spec.priced]
        if any(_prices(spec) != _prices(found[0]) for spec in found):
            raise UsageError(f"several providers have a model {model!r}, at different prices", remedy="Name the provider of each row")
        return found[0] if found else None


def _prices(spec: ModelSpec) -> tuple[float | None, ...]:
    return (spec.input, spec.cached, spec.output, spec.cache_write)


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageRow:
    """One call for one document; ``provider`` is None if the file does not say it."""

    document: str
    model: str
    usage: TokenUsage
    provider: str | None = None


def read_usage(path: Path) -> Iterator[UsageRow]:
    """Yield the rows of *path*. Raises ``DataError``, naming file, line and field, for anything that is no usage, and for an empty file."""
    number = 0
    for number, row in _csv_rows(path) if path.suffix.lower() == ".csv" else _json_rows(path):
        try:
            yield _usage_row(row)
        except RowFault as fault:
            raise DataError(str(fault), where=f"{path.name}:{number}", remedy=_REMEDY) from fault
    if not number:
        raise DataError("the usage file has no rows", where=str(path), remedy=_REMEDY)


def _json_rows(path: Path) -> Iterator[tuple[int, Mapping[str, object]]]:
    for number, line in numbered_lines(path):
        try:
            yield number, parse_object(line)
        except RowFault as fault:
            raise DataError(str(fault), where=f"{path.name}:{number}", remedy=_REMEDY) from fault


def _csv_rows(path: Path) -> Iterator[tuple[int, Mapping[str, object]]]:
    """Yield (last line, cells by column) for each row. An empty cell counts as absent."""
    rows = csv.reader((line + "\n" for _, line in numbered_lines(path)), strict=True)
    try:
        header = next(rows, [])
        if header:
            header[0] = header[0].removeprefix(_BOM)
        for cells in rows:
            if len(cells) != len(header):
                problem = f"the row has {len(cells)} cells, the header {len(header)}"
                raise DataError(problem, where=f"{path.name}:{rows.line_num}", remedy="Correct the row")
            yield rows.line_num, {name.strip(): cell for name, cell in zip(header, cells, strict=True) if cell.strip()}
    except csv.Error as error:
        raise DataError(f"not a row of a CSV table ({error})", where=f"{path.name}:{rows.line_num}", remedy="Correct the row") from error


def _usage_row(row: Mapping[str, object]) -> UsageRow:
    document = row.get("document")
    given = _tokens(row, "input_tokens", required=True)
    cached = _tokens(row, "cached_tokens" if "cached_tokens" in row else "cached", required=False)
    if cached > given:
        raise RowFault("cached_tokens: more than input_tokens, which includes them")
    usage = TokenUsage(input=given, cached=cached, output=_tokens(row, "output_tokens", required=True))
    provider = None if row.get("provider") is None else _name(row, "provider")
    if type(document) is int:
        document = str(document)
    if not isinstance(document, str) or not document:
        raise RowFault("document: not an id")
    return UsageRow(document=document, model=_name(row, "model"), usage=usage, provider=provider)


def _name(row: Mapping[str, object], field: str) -> str:
    value = row.get(field)
    if not isinstance(value, str) or not value.strip():
        raise RowFault(f"{field}: not a name")
    return value.strip()


def _tokens(row: Mapping[str, object], field: str, *, required: bool) -> int:
    value = row.get(field)
    if value is None and not required:
        return 0
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit():
        return int(value)
    if type(value) is int and value >= 0:
        return value
    raise RowFault(f"{field}: not a number of tokens (a whole number, 0 or more)")


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
        for one in fields(self):
            setattr(self, one.name, getattr(self, one.name) + getattr(other, one.name))


class CostCollector:
    """A ``Collector`` of costs; it keeps sums and no text.

    *spent_on* returns what the prediction for a document took, None if that is not known. *left* are the documents of a usage file that
    it was not asked about. ``usage_costs`` and ``estimated_costs`` make one.
    """

    def __init__(
        self,
        spent_on: Callable[[AnnotatedDocument, AnnotatedDocument], Spent | None],
        prices: PriceList,
        basis: str,
        left: Mapping[str, Spent] | None = None,
    ) -> None:
        self._spent_on, self._prices, self._basis, self._left = spent_on, prices, basis, left
        self._sums = Spent()
        self._documents = self._without = 0

    def add(self, pair: Pair) -> None:
        """Count one document."""
        self._documents += 1
        spent = self._spent_on(pair.gold, pair.found)
        if spent is None:
            self._without += 1
        else:
            self._sums.add(spent)

    def figures(self) -> CostFigures:
        """Return the figures of all documents so far. Raises ``UsageError`` if the usage file is about other documents."""
        sums, strange = self._sums, len(self._left or ())
        if strange and self._without == self._documents:
            fault = f"the usage file names none of the {self._documents:,} evaluated documents, but {strange:,} others"
            raise UsageError(fault, where="--usage", remedy="Give the tokens by the ids of the documents")
        return CostFigures(
            models=tuple(sorted(sums.models)),
            estimated=self._left is None,
            basis=self._basis,
            documents=self._documents,
            without_usage=self._without,
            not_evaluated=strange,
            calls=sums.calls,
            input_tokens=sums.input,
            cached_tokens=sums.cached,
            output_tokens=sums.output,
            cost_usd=None if sums.unpriced else round(sums.cost_usd, 12),  # so that sums do not hang on the order
            unpriced_models=tuple(sorted(sums.unpriced)),
            prices_dated=self._prices.dated,
        )


def usage_costs(path: Path, prices: PriceList | None = None) -> CostCollector:
    """Return a collector by the usage file *path*. Raises ``DataError`` if it is none, ``UsageError`` for a model of several providers."""
    chosen = prices or PriceList()
    left: dict[str, Spent] = {}
    for row in read_usage(path):
        left.setdefault(row.document, Spent()).add_call(row.model, row.usage, chosen, row.provider)

    def spent_on(gold: AnnotatedDocument, found: AnnotatedDocument) -> Spent | None:
        return next((left.pop(name) for name in (gold.id, found.id) if name in left), None)

    return CostCollector(spent_on, chosen, "tokens as the usage file states them", left)


def estimated_costs(model: str, prices: PriceList | None = None) -> CostCollector:
    """Return a collector of estimates for *model*: one call a document, with its text, and the found values as JSON for the reply.

    Raises ``UsageError`` if its price is unknown: nothing would be left to say.
    """
    chosen = prices or PriceList()
    if chosen.find(model) is None:
        remedy = "Add it to the file that the variable PIILOOM_MODELS names, or state the tokens with --usage"
        raise UsageError(f"the price of the model {model!r} is unknown", where="--model", remedy=remedy)

    def spent_on(gold: AnnotatedDocument, found: AnnotatedDocument) -> Spent | None:
        text = gold.text if gold.text is not None else found.text
        if text is None:
            return None
        reply = [{"text": one.text, "type": one.entity_type} for one in found.mentions]
        spent = Spent()
        usage = TokenUsage(input=tokens_of(text), output=tokens_of(json.dumps(reply, ensure_ascii=False)))
        spent.add_call(model, usage, chosen)
        return spent

    return CostCollector(spent_on, chosen, _ESTIMATED)


def tokens_of(text: str) -> int:
    """Estimate the tokens of *text*, rounded up."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_A_TOKEN)
