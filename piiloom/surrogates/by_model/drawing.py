"""Draw values by a model before the texts are replaced: collect the requests, get the user's consent, ask, and keep the values.

::

    drawn = draw_by_model(inputs, factory, options, store=…, folder=…, agree=…)
    run_surrogates(inputs, out, replace(factory, given=drawn.values), …)
    drawn.put_rejects(out)

Everything is collected on disk before anything is sent, to estimate what sending it means. Replies are journaled in the store, as for all
paid calls. A killed run pays again at most for the calls in flight, and a second run with the same key (as of ``--seed``) pays for
nothing.

Requests of one document run concurrently, but their replies are judged in text order, because a value must differ from those before
it. So equal replies give equal values at every concurrency.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import marshal
import shutil
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Final, NamedTuple, TextIO
from urllib.parse import urlsplit

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import asking_run, set_run_status
from piiloom.execution.call_channel import CallChannel, CallPolicy, open_channel
from piiloom.execution.calls import Calls, FailureLimit, Lost, ask_model
from piiloom.execution.committing import GroupCommitter
from piiloom.execution.money.budget import prompt_bytes, schema_bytes, worst_case_usd
from piiloom.execution.ordering import OrderedRun, StopSignal
from piiloom.execution.retrying import RetryPolicy
from piiloom.execution.watching.events import EventSink
from piiloom.foundation.errors import UsageError
from piiloom.foundation.event_loops import run_in_own_loop
from piiloom.foundation.noop import noop
from piiloom.foundation.seeding import digest
from piiloom.foundation.whole_files import drafted
from piiloom.foundation.words import counted
from piiloom.providers.factory import make_priced_provider
from piiloom.providers.model_calls import ModelCalls
from piiloom.providers.prices import UNKNOWN, ModelSpec
from piiloom.providers.protocol import Provider, TokenUsage
from piiloom.surrogates.by_model.value_requests import REACH, STAGE, CallTerms, GapRequest, Sentence, accepted, folded_value, requests_of
from piiloom.surrogates.documents import Document
from piiloom.surrogates.engine import EngineFactory
from piiloom.surrogates.given_values import GivenFile
from piiloom.surrogates.inputs.parts import SourceSettings
from piiloom.surrogates.inputs.reading import iter_documents
from piiloom.surrogates.outputs.folder import REJECTS
from piiloom.surrogates.outputs.report_page import by_count
from piiloom.surrogates.planning import DocumentPlan


@dataclass(frozen=True, slots=True)
class DrawProgress:
    """Progress: ``done`` of ``total`` values are decided, ``rejected`` of them left to code. ``spent_usd`` includes earlier runs."""

    done: int
    total: int
    rejected: int
    answered: int
    replayed: int
    spent_usd: float

    def line(self) -> str:
        """One line for a terminal."""
        share = f"{self.done:,}/{self.total:,} values by the model"
        return f"{share}, {self.rejected:,} made locally instead, {self.replayed:,} answers from the store, ${self.spent_usd:.4f} spent"


class ValueOutcome(NamedTuple):
    """The result of one request. ``got`` is the value, or a ``Lost`` with the reason why there is none."""

    request: GapRequest
    got: str | Lost


class ValueAsker:
    """Sends requests through *calls*.

    ``work`` must be called in input order, because requests of one document form a chain. *concurrency* is the number of requests
    in flight, from which the tolerance for errors is derived (``FailureLimit``).
    """

    def __init__(self, calls: Calls, terms: CallTerms, concurrency: int) -> None:
        self._calls, self._terms = calls, terms
        self._failure_limit = FailureLimit(calls, concurrency)
        self._document = -1
        self._taken: set[str] = set()  # the values used so far in the document (folded)
        self._turn = asyncio.Event()  # set when the most recent request is done

    def work(self, request: GapRequest) -> Coroutine[Any, Any, ValueOutcome]:
        """Return a coroutine that gives the outcome of *request*. It raises errors that would hit every other request, too."""
        if self._document != request.document:
            self._document, self._taken, self._turn = request.document, set(), asyncio.Event()
            self._turn.set()
        before, self._turn = self._turn, asyncio.Event()
        return self._worked(request, self._taken, before, self._turn)

    async def _worked(self, request: GapRequest, taken: set[str], before: asyncio.Event, mine: asyncio.Event) -> ValueOutcome:
        async def judged(data: Any, attempt: int) -> str:  # noqa: ARG001 - all attempts are judged alike
            await before.wait()
            return accepted(data, request, language=self._terms.language, taken=taken)

        make = partial(self._terms.call, request)
        try:
            found = await ask_model(self._calls, make, judged, attempts=self._terms.attempts, failure_limit=self._failure_limit)
            await before.wait()
            if isinstance(found, Lost):
                return ValueOutcome(request, found)
            taken.add(folded_value(found[0]))
            return ValueOutcome(request, found[0])
        finally:
            mine.set()


VALUES: Final = "values.sqlite"
_BATCH_WINDOW: Final = 4096  # values that wait at once in batch mode
_PACE_S: Final = 0.01  # minimum time between commits, as in generation: a commit takes 1 to 3 ms, with one row or with thirty
_LONGEST_REPLY: Final = 2000
# For the cost estimate: prompt bytes per token, tokens per reply, and thinking tokens per reply for models that think.
_BYTES_A_TOKEN: Final = 4
_REPLY_TOKENS: Final = 20
_THINKING_TOKENS: Final = 150
_SHOWN_KINDS: Final = 8
PlanOf = Callable[[Document], tuple[DocumentPlan, Any]]
DrawWatch = Callable[[DrawProgress], None]


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


def plan_described(plan: AskPlan) -> str:
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
    """A spool of requests in an unnamed temporary file, which disappears even after a crash.

    Write all requests with ``add`` first, then iterate over them.
    """

    def __init__(self, folder: Path) -> None:
        self._fh = TemporaryFile(dir=folder)  # noqa: SIM115 - closed by ``close``
        self.close = self._fh.close

    def add(self, request: GapRequest) -> bytes:
        """Append *request* and return its marshalled bytes."""
        data = marshal.dumps((*request[:6], tuple(request.sentence), *request[7:]), 2)
        self._fh.write(data)
        return data

    def __iter__(self) -> Iterator[GapRequest]:
        self._fh.seek(0)
        while True:
            try:
                fields = marshal.load(self._fh)  # noqa: S302 - written by ``add``
            except EOFError:
                return
            yield GapRequest._make((*fields[:6], Sentence._make(fields[6]), *fields[7:]))


def collect(documents: Iterable[Document], planned: PlanOf, terms: CallTerms, provider: Provider, spool: RequestSpool) -> AskPlan:
    """Write the requests of all *documents* to *spool*, in input order, and return their summary. Nothing is sent."""
    spec: ModelSpec = getattr(provider, "spec", UNKNOWN)
    fingerprint = hashlib.sha256()
    sums: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    about = most = 0.0
    for document in documents:
        plan, _ = planned(document)
        requests = list(requests_of(document, plan, terms.language))
        for request in requests:
            fingerprint.update(spool.add(request))
            kinds[request.kind] += 1
            first, worst = _costs(request, terms, spec)
            about, most = about + first, most + worst
        sentences = {"".join(request.sentence) for request in requests}
        known = sum(bool(request.originals) for request in requests)
        sums.update(documents=bool(requests), sentences=len(sentences), characters=sum(map(len, sentences)), known=known)
    told = (provider.name, provider.model, provider.endpoint, terms.template.sha256, terms.language, terms.country, terms.attempts)
    return AskPlan(
        provider=provider.name,
        model=provider.model,
        endpoint=provider.endpoint,
        documents=sums["documents"],
        values=kinds.total(),
        sentences=sums["sentences"],
        characters=sums["characters"],
        known=sums["known"],
        kinds=by_count(kinds),
        about_usd=about if spec.priced else None,
        most_usd=most if spec.priced else None,
        digest=digest("surrogate values", told, fingerprint.hexdigest()),
    )


def _costs(request: GapRequest, terms: CallTerms, spec: ModelSpec) -> tuple[float, float]:
    """Return the cost if the first reply is accepted, and if all replies are refused and have the maximum length."""
    call = terms.call(request, 0, None)
    messages = call.render()
    given = (prompt_bytes(messages) + schema_bytes(call.schema_name, call.schema)) // _BYTES_A_TOKEN
    answered = _REPLY_TOKENS + (_THINKING_TOKENS if spec.thinking_tokens else 0)
    first = spec.cost_usd(TokenUsage(input=given, output=answered)) or 0.0
    return first, terms.attempts * (worst_case_usd(call, messages, spec) or 0.0)


@dataclass(frozen=True, slots=True)
class Drawn:
    """The result of ``draw_by_model``.

    ``values`` is the file for ``EngineFactory.given``, ``rejects`` the file with the rejected values; both are in the folder passed to it.
    """

    values: Path
    rejects: Path
    plan: AskPlan
    report: dict[str, Any] = field(default_factory=dict)

    def put_rejects(self, out: Path) -> Path | None:
        """Copy ``rejects.jsonl`` into the finished folder *out* and return its path; None if nothing was rejected.

        Raises ``OutputError`` if it cannot be written.
        """
        if not self.rejects.stat().st_size:
            return None
        target = out / REJECTS
        with self.rejects.open("rb") as rows, drafted(target) as copy:
            shutil.copyfileobj(rows, copy)
        return target


def draw_by_model(
    inputs: SourceSettings,
    factory: EngineFactory,
    options: ModelCalls,
    *,
    store: Path,
    folder: Path,
    agree: Callable[[str], bool],
    watch: DrawWatch = noop,
    sink: EventSink = noop,
    retry: RetryPolicy | None = None,
) -> Drawn:
    """Ask the model of *options* for the free-text values of all documents. Code draws those it cannot give; each gets a reject row.

    *agree* gets the text of ``plan_described`` and returns whether the sentences may be sent; it is not called if there are none. *folder*
    must exist and be readable by all workers. Replies are kept in the DuckDB file *store*. *watch* is called after each value.

    Raises ``UsageError`` (no consent, unknown provider, no price), ``AuthFailed``, ``BudgetReached`` and other errors of providers and
    stores. Replies that were paid for are kept in any case.
    """
    provider = make_priced_provider(options.provider or "", options, model=options.model, base_url=options.base_url, price=options.price)
    try:
        terms = CallTerms.of(options, factory.settings)
        with closing(RequestSpool(folder)) as spool:
            plan = collect(iter_documents(inputs), factory().plan, terms, provider, spool)
            if plan.values and not agree(plan_described(plan)):
                raise UsageError(
                    "nothing was sent, because sending was not confirmed", where="--values llm", remedy="Confirm it, or add --yes"
                )
            session = _DrawSession(plan, terms, options, watch, folder)
            return session.run(spool, store, provider, sink, retry or RetryPolicy())
    finally:
        run_in_own_loop(provider.aclose)


class _DrawSession:
    """One asking session: opens the run in the store, sends the requests to the provider, and records each value as it is decided."""

    def __init__(self, plan: AskPlan, terms: CallTerms, options: ModelCalls, watch: DrawWatch, folder: Path) -> None:
        self._plan, self._terms, self._options, self._watch = plan, terms, options, watch
        self._values, self._rejects = folder / VALUES, folder / REJECTS
        self._drawn: Counter[str] = Counter()
        self._reasons: Counter[str] = Counter()

    def run(self, spool: RequestSpool, store_path: Path, provider: Provider, sink: EventSink, retry: RetryPolicy) -> Drawn:
        with (
            GivenFile(self._values) as values,
            self._rejects.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as rejects,
        ):
            if self._plan.values:
                with Store.open(store_path) as store:
                    self._ask(spool, store, provider, sink, retry, values, rejects)
            report = self._report()
            values.tell(report)
        return Drawn(self._values, self._rejects, self._plan, report)

    def _ask(
        self, spool: RequestSpool, store: Store, provider: Provider, sink: EventSink, retry: RetryPolicy, values: GivenFile, rejects: TextIO
    ) -> None:
        plan, options = self._plan, self._options
        about = {"surrogates": True, "provider": plan.provider, "model": plan.model, "endpoint": plan.endpoint, "seed": self._terms.seed}
        run = asking_run(store, "surrogates", about, plan.digest)  # an earlier one of this plan, whose spending counts, or a new one
        committer = GroupCommitter(store, run.id, pace_s=_PACE_S)
        policy = CallPolicy(
            concurrency=options.concurrency,
            rpm=options.rpm,
            tpm=options.tpm,
            budget_usd=options.budget_usd,
            batch=options.batch,
            retry=retry,
            sink=sink,
        )
        channel = open_channel(store, run.id, provider, committer, policy, seed=self._terms.seed)

        def consume(outcome: ValueOutcome) -> None:
            self._keep(outcome, values, rejects)
            totals, rejected = channel.calls.totals, self._reasons.total()
            done = self._drawn.total() + rejected
            self._watch(DrawProgress(done, plan.values, rejected, totals.answered_now, totals.replayed, totals.spent_usd))

        status: Any = "interrupted"
        committer.start()
        try:
            run_in_own_loop(lambda: self._answer(spool, channel, provider, consume))
            status = "finished"
        finally:
            committer.close()
            set_run_status(store, run.id, status)

    async def _answer(self, spool: RequestSpool, channel: CallChannel, provider: Provider, consume: Callable[[ValueOutcome], None]) -> None:
        concurrency = self._options.concurrency
        at_once = _BATCH_WINDOW if self._options.batch else concurrency + concurrency // 2  # some outcomes are still being stored
        asker = ValueAsker(channel.calls, self._terms, concurrency)
        try:
            await OrderedRun(
                source=iter(spool),
                work=asker.work,
                consume=consume,
                concurrency=at_once,
                stop=StopSignal(),
                gauge=channel.items,
            ).run()
        finally:
            await channel.calls.drain()  # calls in flight are paid for, so wait for them: the next run finds their replies
            await provider.aclose()

    def _keep(self, outcome: ValueOutcome, values: GivenFile, rejects: TextIO) -> None:
        """Store a value, or write why the model could not give it: document, span of the first mention, reason, and last reply."""
        request, got = outcome
        if isinstance(got, str):
            self._drawn[request.kind] += 1
            values.put(request.document, request.numbers, got)
            return
        self._reasons[got.code] += 1
        row = {
            "id": request.id,
            "document": request.document,
            "start": request.start,
            "end": request.end,
            "kind": request.kind,
            "stage": STAGE,
            "reason": got.code,
            "detail": got.message,
            "attempts": got.attempts,
            "last_reply": got.last_reply[:_LONGEST_REPLY] if got.last_reply is not None else None,
        }
        rejects.write(json.dumps(row, ensure_ascii=False) + "\n")

    def _report(self) -> dict[str, Any]:
        """Return the entry for ``report.json``. It is equal for equal replies, so it has neither costs nor times."""
        plan = self._plan
        return {
            "provider": plan.provider,
            "model": plan.model,
            "endpoint": plan.endpoint,
            "prompt": {"template": self._terms.template.id, "sha256": self._terms.template.sha256},
            "sentences_sent": plan.sentences,
            "values_asked": plan.values,
            "values_drawn": self._drawn.total(),
            "by_kind": dict(sorted(self._drawn.items())),
            "left_to_code": self._reasons.total(),
            "reasons": dict(sorted(self._reasons.items())),
        }
