"""Hidden control records: copies of correct records, either unchanged (gold) or with one planted error each.

They look like normal work; ``worklist.assigning`` mixes them in. The person who makes them must be sure that the source records
are correct.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from piiloom.annotation_app.documents.document import document_of
from piiloom.annotation_app.event_log import EventLog
from piiloom.annotation_app.onboarding.known_answers import KnownAnswer, store_known
from piiloom.annotation_app.onboarding.seeded_errors import ERROR_KINDS, ErrorKind, plant
from piiloom.annotation_app.worklist.project_settings import SettingsStore
from piiloom.corpus.record import Record
from piiloom.corpus.store.annotation_assignments import load_controls
from piiloom.corpus.store.annotation_items import newest_records
from piiloom.corpus.store.opening import SharedStore
from piiloom.foundation.errors import UsageError
from piiloom.foundation.seeding import derive_rng

GOLD = "gold"


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlReport:
    """Numbers of controls made, by kind, and the ids of the sources for which none was made.

    ``known`` sources have such a control already, ``unfit`` ones have no span that can take an error, ``missing`` ones are not in
    the store.
    """

    made: dict[str, int]
    known: tuple[str, ...] = ()
    unfit: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


class Controls:
    """Makes the control records of the store *shared*."""

    def __init__(self, shared: SharedStore, log: EventLog, settings: SettingsStore) -> None:
        self._shared = shared
        self._log = log
        self._settings = settings

    def plant_errors(self, actor: str, record_ids: Sequence[str], kinds: Sequence[ErrorKind] = ERROR_KINDS) -> ControlReport:
        """Make a control from each of *record_ids* by planting one error.

        The *kinds* take turns, so that they are about equally frequent. A record that cannot have the next kind of error gets the
        first possible one after it. The same records, kinds and project seed give the same controls. Raises ``UsageError`` if
        *kinds* is empty or has an unknown kind.
        """
        if not kinds or not set(kinds) <= set(ERROR_KINDS):
            raise UsageError("These are not kinds of errors", remedy=f"Known: {', '.join(ERROR_KINDS)}")
        good, known, missing = self._good(record_ids, ERROR_KINDS)
        unfit: list[str] = []
        answers = list(_planted(good, kinds, self._settings.current().seed, unfit))
        return self._store(actor, answers, known, unfit, missing)

    def add_gold(self, actor: str, record_ids: Sequence[str]) -> ControlReport:
        """Make gold controls: unchanged copies of *record_ids*. A person who changes their spans has made an error."""
        good, known, missing = self._good(record_ids, [GOLD])
        answers = [KnownAnswer(kind=GOLD, shown=record, reference=document_of(record)) for record in good]
        return self._store(actor, answers, known, (), missing)

    def _good(self, record_ids: Sequence[str], kinds: Sequence[str]) -> tuple[list[Record], list[str], list[str]]:
        with self._shared.reading() as store:
            had = {row.source_id for row in load_controls(store, kinds)}
            found = {record.id: record for _, record in newest_records(store, record_ids=record_ids)}
        named = list(dict.fromkeys(record_ids))
        good = [found[name] for name in named if name in found and name not in had]
        return good, [name for name in named if name in had], [name for name in named if name not in found]

    def _store(
        self, actor: str, answers: Sequence[KnownAnswer], known: Sequence[str], unfit: Sequence[str], missing: Sequence[str]
    ) -> ControlReport:
        with self._shared.writing() as store:
            made = store_known(store, self._log, self._settings.current(), actor, answers, "control")
        counts = dict(sorted(Counter(row.kind for row in made).items()))
        return ControlReport(made=counts, known=tuple(known), unfit=tuple(unfit), missing=tuple(missing))


def _planted(good: Iterable[Record], kinds: Sequence[ErrorKind], seed: int, unfit: list[str]) -> Iterator[KnownAnswer]:
    turn = 0
    for record in sorted(good, key=lambda one: derive_rng("control order", seed, one.id).random()):
        rng = derive_rng("control", seed, record.id)
        tries = (plant(record, kinds[(turn + step) % len(kinds)], rng) for step in range(len(kinds)))
        found = next((one for one in tries if one is not None), None)
        if found is None:
            unfit.append(record.id)
            continue
        turn += 1
        yield KnownAnswer(kind=found.kind, shown=found.record, reference=document_of(record), detail={"span": found.span_id})
