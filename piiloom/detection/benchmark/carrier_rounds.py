"""Ask for carriers in rounds: all orders at once, and again for those whose carrier is a copy of an earlier one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from piiloom.corpus.near_duplicates import NearDuplicateIndex
from piiloom.detection.benchmark.carrier_orders import CarrierOrder
from piiloom.detection.benchmark.carriers import Carrier, shipped_carriers
from piiloom.detection.benchmark.written_carriers import carrier_of, comparable, reply_schema
from piiloom.execution.call_channel import CallChannel
from piiloom.execution.calls import FailureLimit, Lost, ask_model
from piiloom.execution.ordering import OrderedRun, StopSignal
from piiloom.execution.prompt_calls import prompt_call
from piiloom.foundation.noop import noop
from piiloom.prompts.library import PromptLibrary
from piiloom.providers.protocol import PromptCall, SamplingSettings
from piiloom.taxonomy.entities.entity_catalogue import LocaleCatalogue

TEMPLATE: Final = "benchmark_carrier"  # the name of the template, of the schema, and of the stage in the journal
_ALIKE: Final = 0.5  # of the runs of five words that two carriers have, this share is common to both
_TOKENS_A_WORD: Final = 8  # Hindi and Arabic take many
_ENTRY_WORDS: Final = 60
_LEAST_TOKENS: Final = 1024  # beside the words: labels of JSON, slots, and what a model thinks before it writes


@dataclass(frozen=True, slots=True)
class OrderOutcome:
    """What became of an order: a carrier, or why there is none."""

    order: CarrierOrder
    result: Carrier | Lost


@dataclass(frozen=True, slots=True)
class WritingProgress:
    """Progress: of ``total`` orders ``kept`` are carriers and ``rejected`` are given up; ``spent_usd`` is that of all sessions."""

    kept: int
    rejected: int
    total: int
    replayed: int
    spent_usd: float

    def line(self) -> str:
        """One line for a terminal."""
        share = f"carriers {self.kept:,}/{self.total:,}, {self.rejected:,} rejected"
        return f"{share}, {self.replayed:,} replies from the store, ${self.spent_usd:.4f} spent"


@dataclass(frozen=True, slots=True)
class _OrderTask:
    """An order to ask for: ``used`` attempts are gone, the last one with this ``fault``."""

    order: CarrierOrder
    used: int = 0
    fault: str | None = None


class CarrierRounds:
    """One session of asking for *orders*, with *attempts* for each."""

    def __init__(
        self,
        orders: Sequence[CarrierOrder],
        channel: CallChannel,
        library: PromptLibrary,
        catalogues: Mapping[str, LocaleCatalogue],
        *,
        attempts: int,
        concurrency: int,
        watch: Callable[[WritingProgress], None] = noop,
    ) -> None:
        self._orders, self._channel, self._catalogues = orders, channel, catalogues
        self._template, self._attempts, self._concurrency, self._watch = library.find(TEMPLATE), attempts, concurrency, watch
        self._limit = FailureLimit(channel.calls, concurrency)
        self._results: dict[str, Carrier | Lost] = {}
        self._known: dict[str, NearDuplicateIndex] = {}
        self._written_by = f"{channel.calls.provider.name} {channel.calls.provider.model}"

    def outcomes(self) -> tuple[OrderOutcome, ...]:
        """What became of each order, in their order."""
        return tuple(OrderOutcome(order, self._results[order.id]) for order in self._orders if order.id in self._results)

    async def run(self, stop: StopSignal) -> None:
        """Ask for all, or until *stop* is requested. Raises errors that would hit every other request, too.

        Copies are told in the order of the orders, once a round is over, so concurrency changes no result.
        """
        tasks = [_OrderTask(order) for order in self._orders]
        while tasks and not stop.requested:
            again: list[_OrderTask] = []
            await OrderedRun(
                source=iter(tasks),
                work=self._asked,
                consume=partial(self._take, again),
                concurrency=self._concurrency + self._concurrency // 2,  # more than in flight: some replies are still being stored
                stop=stop,
                gauge=self._channel.items,
            ).run()
            tasks = again

    async def _asked(self, task: _OrderTask) -> tuple[_OrderTask, tuple[Carrier, int] | Lost]:
        order = task.order
        words = order.size.words[1] if not order.size.entries else (order.size.entries + 2) * _ENTRY_WORDS
        settings = SamplingSettings(max_output_tokens=_LEAST_TOKENS + _TOKENS_A_WORD * words)
        variables = order.variables()

        def make(attempt: int, fault: str | None) -> PromptCall:
            return prompt_call(
                self._template,
                variables,
                stage=TEMPLATE,
                schema_name=TEMPLATE,
                schema=reply_schema(order),
                item_id=order.id,
                attempt=task.used + attempt,
                fault=fault or task.fault,
                settings=settings,
            )

        async def judged(data: Any, attempt: int) -> Carrier:  # noqa: ARG001 - all attempts are judged alike
            return carrier_of(data, order, self._catalogues[order.locale], self._written_by)

        left = self._attempts - task.used
        return task, await ask_model(self._channel.calls, make, judged, attempts=left, failure_limit=self._limit)

    def _take(self, again: list[_OrderTask], answered: tuple[_OrderTask, tuple[Carrier, int] | Lost]) -> None:
        """Keep what came of a task, or put it among those to ask *again*."""
        task, answer = answered
        result: Carrier | Lost
        if isinstance(answer, Lost):
            result = answer
        else:
            result, rejected = answer
            used = task.used + rejected + 1
            like = self._index(result.locale).add(result.id, comparable(result))
            if like is not None:
                fault = "it is nearly the same as another document; write one with another matter, another build and other words"
                if used < self._attempts:
                    again.append(_OrderTask(task.order, used, fault))
                    return
                result = Lost(code="copy", message=f"it is nearly the same as {like}", attempts=used, last_reply="\n".join(result.texts()))
        self._results[task.order.id] = result
        self._tell()

    def _index(self, locale: str) -> NearDuplicateIndex:
        """What carriers of *locale* there are already: first those that ship."""
        if locale not in self._known:
            self._known[locale] = NearDuplicateIndex(_ALIKE)
            for carrier in shipped_carriers(locale):
                self._known[locale].insert(carrier.id, comparable(carrier))
        return self._known[locale]

    def _tell(self) -> None:
        rejected = sum(isinstance(one, Lost) for one in self._results.values())
        totals = self._channel.calls.totals
        kept = len(self._results) - rejected
        self._watch(WritingProgress(kept, rejected, len(self._orders), totals.replayed, totals.spent_usd))
