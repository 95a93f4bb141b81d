"""Add records to the work list, compute their priorities (which people should annotate first), and query the list.

The score of a record is ``wj·J + ws·S + wr·R + wu·U``. Each part is between 0 and 1; the weights are project settings:

- J (judges): ``1 - 0.5ⁿ`` for n values where the judge disagreed with the planned label;
- S (screening): ``1 - 0.5ⁿ`` for n gates of ``screening`` that would refuse the record as it is now
  (``UnlistedGate``: text that looks like an identifier is not a span; ``QuestionLeaksGate``: the question reveals the answer);
- R (rare): ``1 - c/m`` where the record's pair has c records in the pool and the most common pair has m; 0 without a pair;
- U (random): drawn from the seed and the record's id, so that records are not annotated in the order of generation.

If the setting ``by_uncertainty`` is on, records about which detectors are least sure come first. The score is then
``Q + P / (1000 (1 + w))``: P is the score above, w the sum of the weights, and Q, rounded to 3 decimals, the greater of

- ``1 - |2s - 1|`` for the score s, among the record's suggestions, that is nearest to 0.5;
- ``1 - F1`` of the suggestions of the two detectors that agree least (equal in ends and type), if two looked at the record.

So P only orders records of one Q. A record without suggestions has Q = 0.

An admin can put records before or after all others, whatever their score: 1,000 is added or taken away (``OrderChoice``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import Any, Final, Literal, TypeVar, get_args

from piiloom.annotation_app.event_log import item_of, stamp
from piiloom.annotation_app.people.accounts import AppUser
from piiloom.annotation_app.worklist.assigning import (
    DEFAULT_WEIGHTS,
    MOST_PEOPLE,
    ProjectService,
    ProjectSettings,
    may_manage,
    may_see_people,
    may_see_why,
)
from piiloom.corpus.record import Record
from piiloom.corpus.store.annotation_events import NewEvent
from piiloom.corpus.store.annotation_items import (
    OPEN_STATUSES,
    AnnotationItem,
    ItemRole,
    ItemStatus,
    ListedItem,
    ListFilter,
    OwnState,
    Sort,
    add_items,
    base_records,
    disagreement_counts,
    filter_choices,
    item_facts,
    item_pair_counts,
    list_items,
    load_items,
    newest_ids,
    newest_records,
    pair_of,
    pooled,
    pooled_ids,
    set_priorities,
    set_wanted,
    shown_status_counts,
)
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.judgements import Uncertainty, uncertainties
from piiloom.corpus.store.releases import types_of
from piiloom.foundation.errors import UsageError
from piiloom.foundation.seeding import derive_rng
from piiloom.screening.gates import Expectations, Gate, QuestionLeaksGate, UnlistedGate
from piiloom.taxonomy.entity_types import Taxonomy, shipped_taxonomy
from piiloom.taxonomy.own_types import extended

# A placeholder for records without a pair. No text contains it, so their questions cannot leak its type words.
_NO_PAIR = ("\0", "\0")
RARE_REASON = "pair.rare"
OrderChoice = Literal["first", "usual", "last"]
# The reason codes of records that somebody has put before or after all others; scores are far below the number.
_CHOSEN: Final[dict[OrderChoice, str]] = {"first": "chosen.first", "last": "chosen.last"}
_CHOSEN_WORDS: Final = {"chosen.first": "an admin wants it first", "chosen.last": "an admin wants it last"}
_FAR: Final = {"first": 1_000.0, "usual": 0.0, "last": -1_000.0}
JUDGES_REASON = "judges"
UNSURE_REASON = "unsure"
APART_REASON = "detectors"
# From this value of R on, the reasons call a pair rare; and from this value on, they say that a detector is unsure.
_RARE_FROM = 0.5
_UNCERTAIN_FROM = 0.5
CERTAIN = Uncertainty()


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """The inputs for a record's score. ``disagreements`` counts judges' disagreements; ``doubts`` are codes of screening gates."""

    record_id: str
    pair: str | None
    disagreements: int
    doubts: tuple[str, ...]
    uncertainty: Uncertainty = CERTAIN


def screening_doubts(record: Record, taxonomy: Taxonomy) -> tuple[str, ...]:
    """Return the codes of the gates that would refuse the record as it is now."""
    expected = Expectations(pair=pair_of(record) or _NO_PAIR)
    verdicts = (gate.check(record, expected) for gate in _gates(taxonomy))
    return tuple(verdict.code for verdict in verdicts if verdict is not None)


def signals_of(record: Record, taxonomy: Taxonomy, disagreements: int, uncertainty: Uncertainty = CERTAIN) -> Signals:
    """Collect the signals of *record*; *disagreements* is the number of values where its judge disagreed with the plan."""
    pair = pair_of(record)
    return Signals(
        record_id=record.id,
        pair="+".join(pair) if pair else None,
        disagreements=disagreements,
        doubts=screening_doubts(record, taxonomy),
        uncertainty=uncertainty,
    )


def scored(signals: Signals, counts: Mapping[str, int], settings: ProjectSettings) -> tuple[float, tuple[str, ...]]:
    """Return the score and its reason codes (``explained`` puts them into words). *counts* is the number of records per pair."""
    weights = {**DEFAULT_WEIGHTS, **settings.priority_weights}
    commonest = max(counts.values(), default=0)
    count = counts.get(signals.pair, 0) if signals.pair else commonest
    rare = 1 - count / commonest if commonest else 0.0
    chance = derive_rng("annotation priority", settings.seed, signals.record_id).random()
    parts = {"judges": 1 - 0.5**signals.disagreements, "screening": 1 - 0.5 ** len(signals.doubts), "rare": rare, "random": chance}
    reasons = [f"{JUDGES_REASON}:{signals.disagreements}"] if signals.disagreements else []
    reasons += signals.doubts
    reasons += [RARE_REASON] if rare >= _RARE_FROM else []
    score = sum(weights[name] * part for name, part in parts.items())
    if not settings.by_uncertainty:
        return round(score, 6), tuple(reasons)
    value = round(signals.uncertainty.value, 3)
    return round(value + score / (1000 * (1 + sum(weights.values()))), 9), (*_why_uncertain(signals.uncertainty), *reasons)


def choice_of(reasons: Iterable[str]) -> OrderChoice:
    """Return what an admin has chosen for a record with *reasons*."""
    given = set(reasons)
    return next((choice for choice, code in _CHOSEN.items() if code in given), "usual")


def chosen(score: float, reasons: Iterable[str], choice: OrderChoice) -> tuple[float, tuple[str, ...]]:
    """Return *score* and *reasons*, which are without a choice, as they are with *choice*."""
    return score + _FAR[choice], (*((_CHOSEN[choice],) if choice in _CHOSEN else ()), *reasons)


def without_choice(score: float, reasons: Iterable[str]) -> tuple[float, tuple[str, ...]]:
    """Return score and reasons as they were before an admin's choice."""
    given = tuple(reasons)
    return round(score - _FAR[choice_of(given)], 9), tuple(reason for reason in given if reason not in _CHOSEN_WORDS)


def _why_uncertain(found: Uncertainty) -> list[str]:
    reasons = []
    if found.nearest is not None and Uncertainty(nearest=found.nearest).value >= _UNCERTAIN_FROM:
        reasons.append(f"{UNSURE_REASON}:{found.nearest:.2f}")
    if found.apart is not None and found.apart >= _UNCERTAIN_FROM:
        reasons.append(f"{APART_REASON}:{found.apart:.2f}")
    return reasons


def explained(reason: str) -> str:
    """Return a reason code in plain words; an unknown code is returned as it is."""
    code, _, detail = reason.partition(":")
    one, several = "a judge went against one label, or a detector found a value more", f"judges and detectors went against {detail} labels"
    words = {
        **{code: words for gate in _gates(shipped_taxonomy()) for code, words in gate.codes.items()},
        **_CHOSEN_WORDS,
        RARE_REASON: "few records have this pair of types",
        UNSURE_REASON: f"the score of a suggestion is {detail}",
        APART_REASON: f"two detectors disagree ({detail} of 1)",
        JUDGES_REASON: one if detail == "1" else several,
    }
    return words.get(code, reason)


@lru_cache(maxsize=4)
def _gates(taxonomy: Taxonomy) -> tuple[Gate, ...]:
    return (UnlistedGate(), QuestionLeaksGate({name: kind.type_words for name, kind in taxonomy.types.items()}))


# Number of records per event or batch.
_CHUNK = 1_000
_Row = TypeVar("_Row")


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolReport:
    """The result of pooling: how many records were added, how many were in the list before, and the ids that are not in the store.

    ``otherwise``: how many of the known ones are unfinished and for another number of people; pooling leaves that as it is.
    """

    added: int
    known: int
    otherwise: int = 0
    missing: tuple[str, ...] = ()


class Pool(ProjectService):
    """The work list's pool of records, in the store *shared*."""

    def add(
        self,
        actor: str,
        *,
        run_id: str | None = None,
        imported: bool = False,
        record_ids: Collection[str] | None = None,
        wanted: int | None = None,
    ) -> PoolReport:
        """Add the records of a run, all imports, or *record_ids* to the pool: the newest revision of each, unless already pooled.

        *wanted* is the number of people to annotate each record (None: the project's overlap). Raises ``UsageError`` if no source
        is named or *wanted* is not from 1 to ``MOST_PEOPLE``.
        """
        if run_id is None and not imported and record_ids is None:
            raise UsageError("nothing is named that could be annotated", remedy="Name a run, the imports, or records.")
        people = _people(self._settings.current().overlap if wanted is None else wanted)
        # The screening gates are slow for many records, so they run before the write lock is taken.
        with self._shared.reading() as store:
            looked, found = _looked_at(store, newest_records(store, run_id=run_id, imported=imported, record_ids=record_ids), people)
        with self._shared.writing() as store:
            there = pooled_ids(store, [item.record_id for item, _ in looked])
            fresh = [(item, signals) for item, signals in looked if item.record_id not in there]
            known = found - {item.record_id for item, _ in fresh}
            otherwise = len(_to_change(store, known, people))
            self._put(store, actor, fresh)
        missing = tuple(sorted(set(record_ids or ()) - found))
        return PoolReport(added=len(fresh), known=len(known), otherwise=otherwise, missing=missing)

    def prioritise(self, actor: str) -> int:
        """Recompute the priorities of all work records, e.g. after new judgments or changed weights; returns how many changed."""
        with self._shared.reading() as store:
            items = load_items(store, roles=["work"])
            against, bases = disagreement_counts(store), base_records(store, [item.record_id for item in items])
            unsure = uncertainties(store)
        looked = [
            (item, signals_of(bases[name], self._shared.taxonomy, against.get(name, 0), unsure.get(name, CERTAIN)))
            for item in items
            if (name := item.record_id) in bases
        ]
        counts, settings = Counter(signals.pair for _, signals in looked if signals.pair), self._settings.current()
        changed: list[tuple[str, float, tuple[str, ...]]] = []
        for item, signals in looked:
            priority, reasons = chosen(*scored(signals, counts, settings), choice_of(item.reasons))
            if (priority, reasons) != (item.priority, item.reasons):
                changed.append((item.record_id, priority, reasons))
        with self._shared.writing() as store:
            self._set_priorities(store, actor, changed)
        return len(changed)

    def put(self, actor: str, record_ids: Collection[str], choice: OrderChoice) -> int:
        """Have *record_ids* come before or after all others, or in their usual place again; returns how many records changed."""
        with self._shared.writing() as store:
            items = [item for item in load_items(store, record_ids, roles=["work"]) if choice_of(item.reasons) != choice]
            changed = [(item.record_id, *chosen(*without_choice(item.priority, item.reasons), choice)) for item in items]
            self._set_priorities(store, actor, changed)
        return len(changed)

    def _set_priorities(self, store: Store, actor: str, changed: Sequence[tuple[str, float, tuple[str, ...]]]) -> None:
        for chunk in batched(changed, _CHUNK):
            rows = [[record_id, priority, list(reasons)] for record_id, priority, reasons in chunk]
            event = self._log.append(store, [NewEvent(actor=actor, kind="prioritised", entry={"items": rows})])[0]
            set_priorities(store, chunk, event.at)

    def want(
        self,
        actor: str,
        wanted: int,
        record_ids: Collection[str] | None = None,
        *,
        run_id: str | None = None,
        imported: bool = False,
    ) -> int:
        """Set how many people annotate each unfinished record among *record_ids*, of a run, or of the imports; returns how many changed.

        Without any of these: all unfinished records. Finished records are left as they are. Raises ``UsageError`` if *wanted* is not from
        1 to ``MOST_PEOPLE``.
        """
        people = _people(wanted)
        with self._shared.writing() as store:
            among = newest_ids(store, run_id=run_id, imported=imported) if run_id is not None or imported else record_ids
            others = _to_change(store, among, people)
            for chunk in batched(others, _CHUNK):
                entry = {"records": chunk, "wanted": people}
                event = self._log.append(store, [NewEvent(actor=actor, kind="pooled", entry=entry)])[0]
                set_wanted(store, chunk, people, event.at)
        return len(others)

    def _put(self, store: Store, actor: str, looked: Sequence[tuple[AnnotationItem, Signals]]) -> None:
        counts = Counter(item_pair_counts(store))
        counts.update(signals.pair for _, signals in looked if signals.pair)
        settings = self._settings.current()
        for chunk in batched(looked, _CHUNK):
            rows = []
            for item, signals in chunk:
                priority, reasons = scored(signals, counts, settings)
                rows.append(pooled(replace(item, priority=priority, reasons=reasons), actor))
            add_items(store, [item_of(event) for event in self._log.append(store, rows)])


def _looked_at(store: Store, records: Iterable[tuple[int, Record]], wanted: int) -> tuple[list[tuple[AnnotationItem, Signals]], set[str]]:
    """Return (item without priority, signals) for each record that is not pooled yet, and the ids of all *records*."""
    against, unsure, taxonomy = disagreement_counts(store), uncertainties(store), extended(types_of(store))
    looked: list[tuple[AnnotationItem, Signals]] = []
    found: set[str] = set()
    for chunk in batched(records, _CHUNK):
        found.update(record.id for _, record in chunk)
        there = pooled_ids(store, [record.id for _, record in chunk])
        for order, record in chunk:
            if record.id not in there:
                item = AnnotationItem(record_id=record.id, record_order=order, wanted=wanted, facts=item_facts(record))
                looked.append((item, signals_of(record, taxonomy, against.get(record.id, 0), unsure.get(record.id, CERTAIN))))
    return looked, found


def _to_change(store: Store, record_ids: Collection[str] | None, people: int) -> list[str]:
    """Return the unfinished records of the list (among *record_ids*) that are for another number of people than *people*."""
    return [i.record_id for i in load_items(store, record_ids, roles=["work"]) if i.wanted != people and i.status in OPEN_STATUSES]


def _people(wanted: int) -> int:
    if not 1 <= wanted <= MOST_PEOPLE:
        raise UsageError(f"{wanted} people per record is not possible", remedy=f"Give a number from 1 to {MOST_PEOPLE}.")
    return wanted


def batched(rows: Iterable[_Row], size: int) -> Iterator[list[_Row]]:
    """Yield *rows* in lists of *size*; the last one may be shorter."""
    rest = iter(rows)
    while chunk := list(islice(rest, size)):
        yield chunk


_MOST_LINES = 500
_ALL_LINES = 10_000_000
# Annotators' lists show control records among the others; only an admin can tell them apart.
_SEEN_ROLES: tuple[ItemRole, ...] = ("work", "control")


@dataclass(frozen=True, slots=True, kw_only=True)
class ListQuery:
    """A query for the work list. None means no restriction; pages count from 1.

    ``own`` filters by the person's own progress on the record, ``annotator`` by a person who has worked on it or has it now.
    ``roles`` is for admins only: it can include practice, test and control records.
    """

    status: ItemStatus | None = None
    pair: str | None = None
    type: str | None = None
    locale: str | None = None
    model: str | None = None
    own: OwnState | None = None
    annotator: str | None = None
    flagged: bool | None = None
    text: str = ""
    roles: tuple[ItemRole, ...] | None = None
    sort: Sort = "priority"
    descending: bool = True
    page: int = 1
    per_page: int = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordListing:
    """One page of the list. ``page`` is the page shown: the last one if the query asked for a page beyond it."""

    lines: tuple[ListedItem, ...]
    total: int
    page: int
    pages: int


class RecordLists(ProjectService):
    """Queries on the work list of the store *shared*."""

    def find(self, person: AppUser, query: ListQuery) -> RecordListing:
        """Return one page of what *person* may see; raises ``UsageError`` if the query is invalid or not allowed for the person."""
        settings = self._settings.current()
        wanted = self._filter(person, query, settings)
        with self._shared.reading() as store:
            lines, total = list_items(store, wanted, query.sort, descending=query.descending)
            if not lines and wanted.offset:
                first = replace(wanted, offset=0)
                lines, total = list_items(store, first, query.sort, descending=query.descending)
                if total > wanted.limit:
                    last = replace(wanted, offset=(total - 1) // wanted.limit * wanted.limit)
                    lines, total = list_items(store, last, query.sort, descending=query.descending)
        pages = max(1, -(-total // wanted.limit))
        shown = tuple(_veiled(line, person, settings) for line in lines)
        return RecordListing(lines=shown, total=total, page=min(query.page, pages), pages=pages)

    def matching(self, person: AppUser, query: ListQuery) -> tuple[ListedItem, ...]:
        """Return everything that *query* matches, on all its pages, in the order of the list; raises the same errors as ``find``."""
        settings = self._settings.current()
        wanted = replace(self._filter(person, query, settings), limit=_ALL_LINES, offset=0)
        with self._shared.reading() as store:
            lines, _ = list_items(store, wanted, query.sort, descending=query.descending)
        return tuple(_veiled(line, person, settings) for line in lines)

    def choices(self, person: AppUser) -> Mapping[str, list[str]]:
        """Return the pairs, types, locales and models that *person* can filter by."""
        with self._shared.reading() as store:
            found = filter_choices(store)
        return found if may_see_why(person, self._settings.current()) else {**found, "pair": [], "model": []}

    def counts(self) -> dict[str, int]:
        """How many records have each status."""
        with self._shared.reading() as store:
            return shown_status_counts(store)

    def _filter(self, person: AppUser, query: ListQuery, settings: ProjectSettings) -> ListFilter:
        people = may_see_people(person, settings)
        if query.annotator not in {None, person.name} and not people:
            raise UsageError("In this project annotators see only their own work", remedy="Choose “any” under “Worked on by”.")
        if query.roles is not None and not may_manage(person):
            raise UsageError("Only an admin can ask for these records", remedy="Ask an admin.")
        if query.sort not in get_args(Sort) or query.page < 1 or not 1 <= query.per_page <= _MOST_LINES:
            raise UsageError("There is no such order or page", remedy=f"A page has at most {_MOST_LINES} lines.")
        if (query.pair is not None or query.model is not None) and not may_see_why(person, settings):
            raise UsageError(
                "In this project annotators don't see what a record was planned to be", remedy="Choose “any” under “Pair” and “Model”."
            )
        roles = query.roles if query.roles is not None else ("work",) if may_manage(person) else _SEEN_ROLES
        return ListFilter(
            viewer=person.name,
            now=stamp(self._log.clock()),
            all=people,
            roles=roles,
            statuses=None if query.status is None else (query.status,),
            pair=query.pair,
            type=query.type,
            locale=query.locale,
            model=query.model,
            own=query.own,
            annotator=query.annotator,
            flagged=query.flagged,
            text=query.text.strip() or None,
            limit=query.per_page,
            offset=(query.page - 1) * query.per_page,
        )


def _veiled(line: ListedItem, person: AppUser, settings: ProjectSettings) -> ListedItem:
    """Return *line* without the information that *person* may not see."""
    changes: dict[str, Any] = {} if may_manage(person) else {"role": "work"}
    if not may_see_people(person, settings):
        me = (person.name,)
        changes |= {"worked": tuple(n for n in line.worked if n in me), "holding": tuple(n for n in line.holding if n in me)}
    if not may_see_why(person, settings):
        hidden = ("model", "provider", "stage", "pair")
        changes |= {"reasons": (), "priority": 0.0, "facts": {k: v for k, v in line.facts.items() if k not in hidden}}
    return replace(line, **changes)
