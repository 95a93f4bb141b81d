"""Collect all requests of an input on disk, before anything is sent, and estimate what sending them means."""

from __future__ import annotations

import hashlib
import marshal
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import urlsplit

from piiloom.execution.money.budget import prompt_bytes, schema_bytes, worst_case_usd
from piiloom.foundation.seeding import digest
from piiloom.foundation.words import counted
from piiloom.providers.prices import UNKNOWN, ModelSpec
from piiloom.providers.protocol import Provider, TokenUsage
from piiloom.surrogates.by_model.sentences import REACH, Sentence
from piiloom.surrogates.by_model.terms import Terms
from piiloom.surrogates.by_model.value_requests import ValueRequest, requests_of
from piiloom.surrogates.documents import Document
from piiloom.surrogates.outputs.report_page import most_common
from piiloom.surrogates.planning import DocumentPlan

Planned = Callable[[Document], tuple[DocumentPlan, Any]]

# For the cost estimate: prompt bytes per token, tokens per reply, and thinking tokens per reply for models that think.
_BYTES_A_TOKEN: Final = 4
_REPLY_TOKENS: Final = 20
_THINKING_TOKENS: Final = 150
_SHOWN_KINDS: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class AskPlan:
    """Summary of what is about to be sent.

    ``values`` is the number of requests; ``characters`` counts the code points of the sentences, each sentence once per document.
    ``known`` is the number of values whose original is known; it is not sent. The costs are None if the price is unknown:
    ``about_usd`` assumes that each first reply is accepted, ``most_usd`` that all replies are refused and have the maximum length.
    ``digest`` identifies the plan: equal input and settings give an equal digest.
    """

    provider: str
    model: str
    endpoint: str
    documents: int
    values: int
    sentences: int
    characters: int
    known: int
    kinds: Mapping[str, int]
    about_usd: float | None
    most_usd: float | None
    digest: str

    @property
    def host(self) -> str:
        """The host that the sentences are sent to."""
        return urlsplit(self.endpoint).netloc or self.endpoint


def describe(plan: AskPlan) -> str:
    """Return a text that tells the user what would leave this machine, and what it costs."""
    kinds = ", ".join(f"{kind} {count:,}" for kind, count in list(plan.kinds.items())[:_SHOWN_KINDS])
    more = f" and {len(plan.kinds) - _SHOWN_KINDS} more kinds" if len(plan.kinds) > _SHOWN_KINDS else ""
    sent = (
        f"{counted(plan.sentences, 'sentence')} of {counted(plan.documents, 'document')} ({plan.characters:,} characters) would leave this "
        f"machine for {plan.host} ({plan.provider}, model {plan.model}): one request for each of {counted(plan.values, 'value')} "
        f"({kinds}{more})."
    )
    lines = [
        sent,
        f"Each carries one sentence as it stands, at most {REACH} characters to either side of its placeholder, and nothing else.",
    ]
    if plan.known:
        lines.append(f"What stood in {counted(plan.known, 'gap')} is known here and is not sent; the rest of the sentence is.")
    if plan.about_usd is None or plan.most_usd is None:
        lines.append("The price of the model is unknown.")
    else:
        lines.append(f"Estimated cost: about ${plan.about_usd:,.4f}; under ${plan.most_usd:,.4f} even if every reply is refused.")
    lines.append("Answers that the store holds already are neither asked nor paid for again.")
    return "\n".join(lines)


class RequestSpool:
    """A spool of requests in an unnamed temporary file, which disappears even after a crash. A context manager.

    Write all requests with ``add`` first, then iterate over them.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __enter__(self) -> Self:
        self._fh = TemporaryFile(dir=self._folder)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._fh.close()

    def add(self, request: ValueRequest) -> bytes:
        """Append *request* and return its marshalled bytes."""
        data = marshal.dumps((*request[:6], tuple(request.sentence), *request[7:]), 2)
        self._fh.write(data)
        return data

    def __iter__(self) -> Iterator[ValueRequest]:
        self._fh.seek(0)
        while True:
            try:
                fields = marshal.load(self._fh)  # noqa: S302 - written by ``add``
            except EOFError:
                return
            yield ValueRequest._make((*fields[:6], Sentence._make(fields[6]), *fields[7:]))


class _Sums:
    """Running totals and costs of the requests of an input."""

    def __init__(self, terms: Terms, spec: ModelSpec) -> None:
        self._terms, self._spec = terms, spec
        self.documents = self.values = self.sentences = self.characters = self.known = 0
        self.kinds: Counter[str] = Counter()
        self._about = self._most = 0.0

    def add(self, requests: list[ValueRequest]) -> None:
        """Count the requests of one document."""
        self.documents += bool(requests)
        self.values += len(requests)
        seen: dict[str, None] = {}
        for request in requests:
            self.kinds[request.kind] += 1
            self.known += bool(request.originals)
            seen.setdefault("".join(request.sentence))
            self._cost(request)
        self.sentences += len(seen)
        self.characters += sum(map(len, seen))

    def _cost(self, request: ValueRequest) -> None:
        call = self._terms.call(request, 0, None)
        messages = call.render()
        given = (prompt_bytes(messages) + schema_bytes(call.schema_name, call.schema)) // _BYTES_A_TOKEN
        answered = _REPLY_TOKENS + (_THINKING_TOKENS if self._spec.thinking_tokens else 0)
        self._about += self._spec.cost_usd(TokenUsage(input=given, output=answered)) or 0.0
        self._most += self._terms.attempts * (worst_case_usd(call, messages, self._spec) or 0.0)

    @property
    def costs(self) -> tuple[float | None, float | None]:
        return (self._about, self._most) if self._spec.priced else (None, None)


def collect(documents: Iterable[Document], planned: Planned, terms: Terms, provider: Provider, spool: RequestSpool) -> AskPlan:
    """Write the requests of all *documents* to *spool*, in input order, and return their summary. Nothing is sent."""
    sums = _Sums(terms, getattr(provider, "spec", UNKNOWN))
    fingerprint = hashlib.sha256()
    for document in documents:
        plan, _ = planned(document)
        requests = list(requests_of(document, plan, terms.language))
        for request in requests:
            fingerprint.update(spool.add(request))
        if requests:
            sums.add(requests)
    about, most = sums.costs
    told = (provider.name, provider.model, provider.endpoint, terms.template.sha256, terms.language, terms.country, terms.attempts)
    return AskPlan(
        provider=provider.name,
        model=provider.model,
        endpoint=provider.endpoint,
        documents=sums.documents,
        values=sums.values,
        sentences=sums.sentences,
        characters=sums.characters,
        known=sums.known,
        kinds=most_common(sums.kinds),
        about_usd=about,
        most_usd=most,
        digest=digest("surrogate values", told, fingerprint.hexdigest()),
    )
