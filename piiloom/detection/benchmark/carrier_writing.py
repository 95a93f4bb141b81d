"""Have a model write carriers, as one run of a store, into a folder with one folder a locale and one YAML file a domain.

Orders are asked for in rounds: all at once, and again those whose carrier is a copy of an earlier one. Replies are journaled, as for all
paid calls: a stopped or killed run pays again at most for the calls in flight, and the same request is never paid for twice, in whatever
run.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import yaml

from piiloom.corpus.near_duplicates import NearDuplicateIndex
from piiloom.detection.asking import CallsSoFar, ModelSession, cost_of, in_session
from piiloom.detection.benchmark.benchmark_options import WritingOptions
from piiloom.detection.benchmark.carriers import Carrier, shipped_carriers
from piiloom.detection.benchmark.written_carriers import CarrierOrder, carrier_of, carrier_orders, comparable, reply_schema
from piiloom.execution.call_channel import CallPolicy
from piiloom.execution.call_entries import CallTotals
from piiloom.execution.calls import AGAIN, Lost
from piiloom.execution.ordering import OrderedRun, StopSignal
from piiloom.foundation.errors import DataError, Interrupted, OutputError
from piiloom.foundation.noop import noop
from piiloom.foundation.whole_files import output_errors, write_folder
from piiloom.providers.protocol import SamplingSettings
from piiloom.taxonomy.entities.catalogue_file import DOMAINS
from piiloom.taxonomy.entities.entity_catalogue import LocaleCatalogue, load_catalogue

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
        session: ModelSession,
        catalogues: Mapping[str, LocaleCatalogue],
        *,
        attempts: int,
        concurrency: int,
        watch: Callable[[CallsSoFar], None] = noop,
    ) -> None:
        self._orders, self._session, self._catalogues = orders, session, catalogues
        self._attempts, self._concurrency, self._watch = attempts, concurrency, watch
        self._results: dict[str, Carrier | Lost] = {}
        self._known: dict[str, NearDuplicateIndex] = {}
        provider = session.channel.calls.provider
        self._written_by = f"{provider.name} {provider.model}"

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
                gauge=self._session.channel.items,
            ).run()
            tasks = again

    async def _asked(self, task: _OrderTask) -> tuple[_OrderTask, tuple[Carrier, int] | Lost]:
        order = task.order
        words = order.size.words[1] if not order.size.entries else (order.size.entries + 2) * _ENTRY_WORDS
        return task, await self._session.asker.ask_on(
            TEMPLATE,
            order.variables(),
            item_id=order.id,
            read=lambda data: carrier_of(data, order, self._catalogues[order.locale], self._written_by),
            schema=reply_schema(order),
            settings=SamplingSettings(max_output_tokens=_LEAST_TOKENS + _TOKENS_A_WORD * words),
            used=task.used,
            fault=task.fault,
        )

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
        rejected = sum(isinstance(one, Lost) for one in self._results.values())
        self._watch(
            CallsSoFar("carriers", len(self._results) - rejected, len(self._orders), self._session.channel.calls.totals, rejected=rejected)
        )

    def _index(self, locale: str) -> NearDuplicateIndex:
        """What carriers of *locale* there are already: first those that ship."""
        if locale not in self._known:
            self._known[locale] = NearDuplicateIndex(_ALIKE)
            for carrier in shipped_carriers(locale):
                self._known[locale].insert(carrier.id, comparable(carrier))
        return self._known[locale]


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenCarriers:
    """The result of a run: what became of each order, in their order, who wrote, by which template (id, SHA-256), and at what cost.

    ``totals`` are those of all sessions of the run.
    """

    run_id: str
    outcomes: tuple[OrderOutcome, ...]
    author: tuple[str, str]
    template: tuple[str, str]
    totals: CallTotals

    @property
    def rejected(self) -> Counter[str]:
        """The numbers of orders without a usable carrier, by reason."""
        return Counter(one.result.code for one in self.outcomes if isinstance(one.result, Lost))

    @property
    def kept(self) -> int:
        """The number of carriers."""
        return len(self.outcomes) - self.rejected.total()

    def to_json(self) -> dict[str, Any]:
        """Return the result as JSON values."""
        return {
            "provider": self.author[0],
            "model": self.author[1],
            "template": self.template[0],
            "kept": self.kept,
            "rejected": dict(sorted(self.rejected.items())),
            "cost": cost_of(self.run_id, self.totals),
        }


def write_carriers(
    options: WritingOptions, *, watch: Callable[[CallsSoFar], None] = noop, policy: CallPolicy | None = None
) -> WrittenCarriers:
    """Have the carriers written. *watch* is called after each order.

    Raises ``Interrupted`` after Ctrl-C, ``BudgetReached``, ``AuthFailed`` and other errors of providers and stores. Replies that were
    paid for are kept in any case. Raises ``UsageError`` for unknown locales, providers or prices.
    """
    orders = [
        order
        for locale in options.locales
        for order in carrier_orders(locale, options.documents, domains=options.domains, lengths=options.lengths, seed=options.seed)
    ]
    catalogues = {locale: load_catalogue(locale, unconfirmed=True) for locale in options.locales}
    outcomes: list[OrderOutcome] = []

    async def ask(session: ModelSession, stop: StopSignal) -> bool:
        rounds = CarrierRounds(orders, session, catalogues, attempts=options.max_attempts, concurrency=options.concurrency, watch=watch)
        await rounds.run(stop)
        outcomes.extend(rounds.outcomes())
        return not stop.requested

    named = ("locales", "domains", "lengths", "documents")
    about = {"benchmark_carriers": True} | {name: getattr(options, name) for name in named}
    session, finished = in_session(options, (TEMPLATE,), ask, kind="carriers", about=about, policy=policy)
    if not finished:
        raise Interrupted("stopped", where=f"run {session.run_id}", remedy=AGAIN)
    calls, template = session.channel.calls, session.library.find(TEMPLATE)
    return WrittenCarriers(
        run_id=session.run_id,
        outcomes=tuple(outcomes),
        author=(calls.provider.name, calls.provider.model),
        template=(template.id, template.sha256),
        totals=calls.totals,
    )


REJECTS: Final = "rejects.jsonl"
ABOUT: Final = "written.json"
_SCHEMA: Final = 1
_WIDTH: Final = 1 << 20  # lines of a text are its own


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as such."""


def _represent(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _represent)


def check_carrier_place(out: Path, locales: Sequence[str], *, force: bool) -> None:
    """Raise ``OutputError`` if carriers cannot be written into *out*, or are there already (but with *force*). Leaves nothing behind."""
    for locale in locales:
        folder = out / locale
        if folder.exists() and not folder.is_dir():
            raise OutputError("this is not a folder", where=str(folder), remedy="Name another one with --out")
        if not force and any((folder / name).exists() for name in _names()):
            raise OutputError("there are carriers already", where=str(folder), remedy="Give another folder, or --force to replace them")
        missing = [one for one in (folder, *folder.parents) if not one.exists()]
        with output_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
            probe = folder / ".written.part"
            probe.touch()
            probe.unlink()
            for one in missing:
                one.rmdir()


def have_written(
    out: Path, options: WritingOptions, *, force: bool, watching: Callable[[], AbstractContextManager[Callable[[CallsSoFar], None]]]
) -> tuple[WrittenCarriers, list[Path]]:
    """Have carriers written into the folder *out*; return them, and the files. *watching* makes a display of the progress.

    Raises what ``check_carrier_place`` and ``write_carriers`` raise, for a wrong request before anything is sent, and ``DataError`` if no
    carrier is usable.
    """
    check_carrier_place(out, options.locales, force=force)
    with watching() as watch:
        written = write_carriers(options, watch=watch)
    files = write_files(out, options, written)
    if not written.kept:
        reasons = ", ".join(f"{code} {count}" for code, count in written.rejected.most_common())
        raise DataError(f"no carrier was usable ({reasons})", where=str(out), remedy="rejects.jsonl has the last reply to each")
    return written, files


def write_files(out: Path, options: WritingOptions, written: WrittenCarriers) -> list[Path]:
    """Write the carriers of each locale, what was rejected, and last who wrote them; return the files. Raises ``OutputError``."""
    files: list[Path] = []
    for locale in options.locales:
        outcomes = [one for one in written.outcomes if one.order.locale == locale]
        contents = _contents(locale, outcomes)
        contents[ABOUT] = _json(_about(locale, options, written, outcomes), indent=1).encode()
        # All that an earlier run has written goes: of carriers of two runs in one folder nobody knows whose they are.
        write_folder(out / locale, contents, stale=set(_names()) - contents.keys())
        files += [out / locale / name for name in contents]
    return files


def _names() -> list[str]:
    return [*(f"{domain.lower()}.yaml" for domain in DOMAINS), REJECTS, ABOUT]


def _contents(locale: str, outcomes: Sequence[OrderOutcome]) -> dict[str, bytes]:
    contents: dict[str, bytes] = {}
    carriers = [one.result for one in outcomes if isinstance(one.result, Carrier)]
    for domain in DOMAINS:
        found = [one for one in carriers if one.domain == domain]
        if found:
            file = {
                "locale": locale,
                "domain": domain,
                "checked_by": None,
                "written_by": found[0].written_by,
                "documents": [_document(one) for one in found],
            }
            dumped = yaml.dump(file, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=_WIDTH)
            contents[f"{domain.lower()}.yaml"] = dumped.encode()
    rejects = "".join(_json(_reject(one, one.result)) for one in outcomes if isinstance(one.result, Lost))
    return contents | ({REJECTS: rejects.encode()} if rejects else {})


def _document(carrier: Carrier) -> dict[str, Any]:
    lengths = list(carrier.lengths)
    document: dict[str, Any] = {"id": carrier.id, "form": carrier.form, "length": lengths if len(lengths) > 1 else lengths[0]}
    if not carrier.entries:
        return document | {"text": carrier.opening}
    return document | {"opening": f"{carrier.opening}\n", "entries": list(carrier.entries), "closing": carrier.closing}


def _reject(outcome: OrderOutcome, lost: Lost) -> dict[str, Any]:
    order = outcome.order
    asked = {"order": order.id, "domain": order.domain, "length": order.length, "form": order.form}
    return asked | {"reason": lost.code, "detail": lost.message, "attempts": lost.attempts, "last_reply": lost.last_reply}


def _about(locale: str, options: WritingOptions, written: WrittenCarriers, outcomes: Sequence[OrderOutcome]) -> dict[str, Any]:
    kept = [one for one in outcomes if isinstance(one.result, Carrier)]
    return {
        "schema": _SCHEMA,
        "locale": locale,
        "provider": written.author[0],
        "model": written.author[1],
        "template": written.template[0],
        "template_sha256": written.template[1],
        "seed": options.seed,
        "documents": options.documents,
        "kept": len(kept),
        "rejected": len(outcomes) - len(kept),
        "checked_by": None,
    }


def _json(value: Mapping[str, Any], indent: int | None = None) -> str:
    # A reply may hold half a surrogate pair, which no file can: such text is written with escapes.
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    is_broken = any("\ud800" <= character <= "\udfff" for character in text)
    return (json.dumps(value, indent=indent) if is_broken else text) + "\n"
