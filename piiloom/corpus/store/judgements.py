"""What models and detectors say of records: judgements of LLM judges and trained detectors, and suggestions for annotators.

A judgement never changes the planned labels. It is stored once per run, plan item, kind of judgement and value; adding an equal judgement
again is a no-op.

A suggestion is a span that a detector proposes for a record that people annotate. It belongs to one stored revision of its record
(``record_order``) and to the run of a detector that gave it. People decide on it in the annotation app; their decisions are annotation
events, so nothing here changes with them. When a detector runs again over a record, what it no longer finds is withdrawn; the row stays,
with the reason.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Literal

from piiloom.corpus.record import Relevance
from piiloom.corpus.store.database import AMONG_RECORDS, Store, conditions, field_names, select
from piiloom.foundation.seeding import digest

# "unlisted": a trained detector finds a value that the record has not; it has no span, and its place stands for a value's id.
JudgementKind = Literal["relevance", "leak", "unlisted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The judgement of one judge on one value.

    ``planned`` is the verdict expected by the plan: the planned relevance, "nowhere" for a leak, or "nothing" for an unlisted value, whose
    verdict is a type. ``score`` is from 0 to 1,
    ``verdict`` is derived from it, and ``agrees`` says whether the verdict is the planned one. ``span_id`` is the value's first
    mention in the record.
    """

    kind: JudgementKind
    value_id: str
    span_id: str
    planned: str
    score: float
    verdict: str
    agrees: bool
    reason: str
    provider: str
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgementRow:
    """A judgement and the record that it is about."""

    record_id: str
    run_id: str
    plan_index: int
    judgement: Judgement


_SAID = field_names(Judgement)
_COLUMNS = ("record_id", "run_id", "plan_index", *_SAID)
_ORDER = "ORDER BY run_id, plan_index, kind, rowid"


def save_judgements(store: Store, run_id: str, rows: Sequence[tuple[int, str, Judgement]]) -> int:
    """Save the (plan index, record id, judgement) rows that the run does not have yet. Return how many were new."""
    if not rows:
        return 0
    indexes = [index for index, _, _ in rows]
    clause = "WHERE run_id = ? AND plan_index BETWEEN ? AND ?"
    fresh: list[tuple[object, ...]] = []
    with store.writing():
        sql = f"SELECT plan_index, kind, value_id FROM judgements {clause}"  # noqa: S608 - the constant above
        known = set(store.rows(sql, [run_id, min(indexes), max(indexes)]))
        for index, record_id, said in rows:
            key = (index, said.kind, said.value_id)
            if key not in known:
                known.add(key)
                fresh.append((record_id, run_id, index, *(getattr(said, name) for name in _SAID)))
        store.append("judgements", _COLUMNS, fresh)
    return len(fresh)


def load_judgements(store: Store, run_id: str | None = None, record_id: str | None = None) -> list[JudgementRow]:
    """Return the judgements of a run and/or a record, or all; sorted by run, plan index and kind, then in the order saved."""
    return _load(store, *conditions(("run_id = ?", run_id), ("record_id = ?", record_id)))


def records_judged_otherwise(store: Store, run_id: str | None = None) -> set[str]:
    """Return the ids of records (None: of all runs) with a judgement that disagrees with the plan."""
    return set(
        store.column("SELECT DISTINCT record_id FROM judgements WHERE NOT agrees AND (?::VARCHAR IS NULL OR run_id = ?)", [run_id, run_id])
    )


def judgements_of(store: Store, record_ids: Collection[str]) -> dict[str, tuple[JudgementRow, ...]]:
    """Return the judgements on *record_ids* by record id, each in the order of ``load_judgements``."""
    found: dict[str, list[JudgementRow]] = {}
    for row in _load(store, *conditions((AMONG_RECORDS, record_ids))):
        found.setdefault(row.record_id, []).append(row)
    return {record_id: tuple(rows) for record_id, rows in found.items()}


def unlisted_in(store: Store, run_id: str) -> JudgedCount:
    """Count what a trained detector found outside of the spans of a run's records."""
    ((found, records),) = store.rows(
        "SELECT count(*), count(DISTINCT record_id) FROM judgements WHERE kind = 'unlisted' AND run_id = ?", [run_id]
    )
    return JudgedCount(kind="unlisted", judged=found, disagree=found, records=records)


def disagreements(store: Store, run_id: str) -> dict[str, tuple[JudgementRow, ...]]:
    """Return by record id, in plan order, the judgements of a run that disagree with the plan. Annotators should check these."""
    against = _load(store, "WHERE run_id = ? AND NOT agrees", [run_id])
    return {record_id: tuple(rows) for record_id, rows in groupby(against, key=lambda row: row.record_id)}


def _load(store: Store, condition: str, parameters: Sequence[object]) -> list[JudgementRow]:
    found = store.rows(select(_COLUMNS, f"FROM judgements {condition} {_ORDER}"), parameters)
    return [
        JudgementRow(record_id=record_id, run_id=run_id, plan_index=index, judgement=Judgement(**dict(zip(_SAID, said, strict=True))))
        for record_id, run_id, index, *said in found
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedCount:
    """Counts for some records: values ``judged``, those where judge and plan ``disagree``, and the ``records`` with such values."""

    kind: JudgementKind
    judged: int
    disagree: int
    records: int


def judged_in_release(store: Store, name: str) -> list[JudgedCount]:
    """Count the judgements on the records of the release *name*, by kind. Kinds without judgements are left out."""
    return store.objects(
        JudgedCount,
        "SELECT j.kind, count(*), count(*) FILTER (NOT j.agrees), count(DISTINCT j.record_id) FILTER (NOT j.agrees) FROM judgements j "
        "JOIN records r ON r.id = j.record_id AND r.run_id = j.run_id JOIN release_members m ON m.record_order = r.record_order "
        "WHERE m.release_name = ? GROUP BY j.kind ORDER BY j.kind",
        [name],
    )


def judged_among(store: Store, record_ids: Collection[str]) -> list[JudgedCount]:
    """Count the judgements on *record_ids*, by kind. Kinds without judgements are left out."""
    return store.objects(
        JudgedCount,
        "SELECT kind, count(*), count(*) FILTER (NOT agrees), count(DISTINCT record_id) FILTER (NOT agrees) FROM judgements "
        "WHERE record_id IN (SELECT unnest(?::VARCHAR[])) GROUP BY kind ORDER BY kind",
        [list(record_ids)],
    )


# How the id of a span begins that an annotator made of a suggestion; the suggestion's id follows.
ORIGIN = "p-"
# Why a suggestion is withdrawn: its detector looked again and did not find it.
SUPERSEDED = "superseded"
_OWN = (
    "id",
    "run_id",
    "record_id",
    "record_order",
    "revision",
    "span_start",
    "span_end",
    "entity_type",
    "relevance",
    "subtype",
    "score",
    "detector",
    "found_by",
)
# Statements apart: the tables are large, and one joined statement took twice as long.
_SOURCES = "SELECT record_id, source_id FROM annotation_controls WHERE list_contains(?::VARCHAR[], record_id)"
_LISTED = "SELECT record_id, record_order, role FROM annotation_items WHERE list_contains(?::VARCHAR[], record_id)"
_OPEN = "WHERE withdrawn IS NULL AND list_contains(?::VARCHAR[], record_id) ORDER BY span_start, span_end, score DESC NULLS LAST, id"
_TEXTS = "SELECT record_order, context FROM records WHERE record_order IN (SELECT unnest(?::BIGINT[]))"
_WITHDRAW = """
    UPDATE suggestions SET withdrawn = ? WHERE detector = ? AND withdrawn IS NULL
        AND record_id IN (SELECT unnest(?::VARCHAR[])) AND id NOT IN (SELECT unnest(?::VARCHAR[]))"""
_RENEW = """
    UPDATE suggestions SET withdrawn = NULL, run_id = given.run_id, score = given.score, relevance = given.relevance,
        subtype = given.subtype, found_by = given.found_by
    FROM (SELECT unnest(?::VARCHAR[]) AS id, unnest(?::VARCHAR[]) AS run_id, unnest(?::DOUBLE[]) AS score,
        unnest(?::VARCHAR[]) AS relevance, unnest(?::VARCHAR[]) AS subtype, unnest(?::VARCHAR[]) AS found_by) AS given
    WHERE suggestions.id = given.id"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuggestionRun:
    """One run of a detector. ``detector`` is its name as in ``piiloom detect --detector``, ``made_by`` who stored the result."""

    id: str
    detector: str
    model: str | None
    made_by: str
    made_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """``[start, end)`` of the text of the revision ``record_order`` is proposed as a span.

    ``detector`` names the run's detector and ``found_by`` the part of it that found the span, if it has parts. ``score`` is None if the
    detector gives none. ``model`` and ``made_at`` are the run's. ``text`` is the context that the offsets are of, None if that is the text
    that annotation begins with.
    """

    id: str
    run_id: str
    record_id: str
    record_order: int
    revision: int
    start: int
    end: int
    entity_type: str
    relevance: Relevance | None = None
    subtype: str | None = None
    score: float | None = None
    detector: str
    found_by: str | None = None
    model: str | None = None
    made_at: str = ""
    text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SuggestionCounts:
    """What a run changed: new suggestions, those that its detector had given before, and those that it withdrew."""

    added: int
    known: int
    withdrawn: int


def suggestion_id(record_order: int, start: int, end: int, entity_type: str, detector: str) -> str:
    """Return the id of a suggestion: the same place and type by the same detector is the same suggestion, whenever it is made."""
    return digest("suggestion", record_order, start, end, entity_type, detector)[:24]


def save_suggestions(store: Store, run: SuggestionRun, looked: Sequence[tuple[str, int]], rows: Sequence[Suggestion]) -> SuggestionCounts:
    """Store what *run* found, in one transaction with what the caller writes.

    *looked* are (record id, record_order) of all records that the detector looked at, also those where it found nothing. *rows* must all
    be of these records; a suggestion that occurs twice is stored once.
    """
    fresh = {row.id: row for row in rows}
    names, ids = list({record_id for record_id, _ in looked}), list(fresh)
    with store.writing():
        before = "SELECT count(*) FROM suggestions WHERE withdrawn IS NOT NULL"
        store.add("suggestion_runs", [run])
        store.append("suggested_records", ("run_id", "record_id", "record_order"), [(run.id, *one) for one in looked])
        withdrawn = store.value(before)
        store.change(_WITHDRAW, [SUPERSEDED, run.detector, names, ids])
        withdrawn = store.value(before) - withdrawn
        known = set(store.column("SELECT id FROM suggestions WHERE id IN (SELECT unnest(?::VARCHAR[]))", [ids]))
        again = [row for row in fresh.values() if row.id in known]
        if again:
            columns = ("id", "run_id", "score", "relevance", "subtype", "found_by")
            store.change(_RENEW, [[getattr(row, name) for row in again] for name in columns])
        store.append("suggestions", _OWN, [_values(row) for row in fresh.values() if row.id not in known])
    return SuggestionCounts(added=len(fresh) - len(known), known=len(known), withdrawn=withdrawn)


def suggestions_for(store: Store, record_ids: Collection[str]) -> dict[str, list[Suggestion]]:
    """Return, by id of a record of the work list, its suggestions that are not withdrawn, in text order.

    A hidden control record shows those of the record that it was made from: without any it would be told from others at once.
    """
    sources = dict(store.rows(_SOURCES, [list(record_ids)]))
    made_for = {name: sources.get(name, name) for name in record_ids}
    by_record: dict[str, list[Suggestion]] = {}
    for row in store.rows(select(_OWN, f"FROM suggestions {_OPEN}"), [list(set(made_for.values()))]):
        one = Suggestion(**{name.removeprefix("span_"): value for name, value in zip(_OWN, row, strict=True)})
        by_record.setdefault(one.record_id, []).append(one)
    if not by_record:
        return {}
    runs = {run.id: run for run in suggestion_runs(store)}
    listed = {name: order for name, order, role in store.rows(_LISTED, [list(record_ids)]) if _may_show(role, name in sources)}
    pairs = [(name, base, one) for name, base in listed.items() for one in by_record.get(made_for[name], ())]
    others = {one.record_order for _, base, one in pairs if one.record_order != base}
    texts = dict(store.rows(_TEXTS, [list(others)])) if others else {}
    found: dict[str, list[Suggestion]] = {}
    for name, base, one in pairs:
        text = None if one.record_order == base else texts.get(one.record_order)
        if text is None and one.record_order != base:
            continue  # the revision that it was made for has been deleted
        run = runs[one.run_id]
        found.setdefault(name, []).append(replace(one, record_id=name, text=text, model=run.model, made_at=run.made_at))
    return found


def _may_show(role: str, is_control: bool) -> bool:
    return role == "work" or (role == "control" and is_control)


def suggestion_runs(store: Store) -> list[SuggestionRun]:
    """Return all runs, oldest first."""
    return store.objects(SuggestionRun, "FROM suggestion_runs ORDER BY made_at, rowid")


def _values(row: Suggestion) -> tuple[object, ...]:
    return tuple(getattr(row, name.removeprefix("span_")) for name in _OWN)


_NEAREST = """
    SELECT record_id, arg_min(score, (abs(score - 0.5), score)) FROM suggestions
    WHERE withdrawn IS NULL AND score IS NOT NULL AND (?::VARCHAR[] IS NULL OR record_id IN (SELECT unnest(?::VARCHAR[])))
    GROUP BY record_id"""
# A detector that looked at a record and found nothing there disagrees with one that found something.
_APART = """
    WITH looked AS (
        SELECT DISTINCT o.record_id, r.detector FROM suggested_records o JOIN suggestion_runs r ON r.id = o.run_id
        WHERE ?::VARCHAR[] IS NULL OR o.record_id IN (SELECT unnest(?::VARCHAR[]))),
    own AS (SELECT record_id, detector, record_order, span_start, span_end, entity_type FROM suggestions WHERE withdrawn IS NULL),
    sizes AS (SELECT record_id, detector, count(*) AS size FROM own GROUP BY ALL),
    alike AS (
        SELECT a.record_id, a.detector AS one, b.detector AS other, count(*) AS both FROM own a
        JOIN own b USING (record_id, record_order, span_start, span_end, entity_type) WHERE a.detector < b.detector GROUP BY ALL)
    SELECT l.record_id, max(CASE WHEN coalesce(s.size, 0) + coalesce(t.size, 0) = 0 THEN 0
        ELSE 1 - 2 * coalesce(a.both, 0) / (coalesce(s.size, 0) + coalesce(t.size, 0)) END)::DOUBLE
    FROM looked l JOIN looked m ON m.record_id = l.record_id AND l.detector < m.detector
    LEFT JOIN sizes s ON s.record_id = l.record_id AND s.detector = l.detector
    LEFT JOIN sizes t ON t.record_id = m.record_id AND t.detector = m.detector
    LEFT JOIN alike a ON a.record_id = l.record_id AND a.one = l.detector AND a.other = m.detector
    GROUP BY l.record_id"""
# Documents with their decisions, one row for each suggestion that its author could see; base and own contexts only where they differ.
_SHOWN = """
    SELECT s.id, s.detector, s.entity_type, s.score, s.withdrawn, s.record_id, d.annotator, d.state->'$.decided'
    FROM suggestions s JOIN annotation_items i ON i.record_id = s.record_id AND i.role = 'work'
    LEFT JOIN annotation_documents d ON d.record_id = s.record_id
    ORDER BY s.record_id, d.annotator, s.span_start, s.id"""
_EDITED = """
    SELECT d.record_id, d.annotator, d.state->'$.document' FROM annotation_documents d
    JOIN annotation_items i ON i.record_id = d.record_id AND i.role = 'work'
    JOIN records r ON r.record_order = i.record_order
    WHERE d.record_id IN (SELECT record_id FROM suggestions) AND hash(d.state->>'$.document.context') <> hash(r.context)"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Uncertainty:
    """How unsure detectors are about a record.

    ``nearest`` is the score nearest to 0.5 of its suggestions, None if none has a score. ``apart`` is the greatest disagreement of two
    detectors that looked at it: 1 - F1 of their suggestions, equal in ends and type; None unless two looked.
    """

    nearest: float | None = None
    apart: float | None = None

    @property
    def value(self) -> float:
        """The greater of ``1 - |2 · nearest - 1|`` and ``apart``: from 0 to 1; 0 if nothing is known."""
        near = 0.0 if self.nearest is None else 1 - abs(2 * self.nearest - 1)
        return max(near, self.apart or 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownSuggestion:
    """A suggestion as one person has it; ``annotator`` is None if nobody has worked on its record yet.

    ``how`` is "accepted", "changed" or "refused", None if it is not decided. ``withdrawn`` says why its detector took it back.
    """

    id: str
    detector: str
    entity_type: str
    score: float | None
    withdrawn: str | None
    record_id: str
    annotator: str | None
    how: str | None


def uncertainties(store: Store, record_ids: Collection[str] | None = None) -> dict[str, Uncertainty]:
    """Return the uncertainty of each record with suggestions, of *record_ids* or of all."""
    ids = None if record_ids is None else list(record_ids)
    nearest = dict(store.rows(_NEAREST, [ids, ids]))
    apart = dict(store.rows(_APART, [ids, ids]))
    return {name: Uncertainty(nearest=nearest.get(name), apart=apart.get(name)) for name in nearest | apart}


def shown_suggestions(store: Store) -> Iterator[ShownSuggestion]:
    """Iterate over the suggestions for the work list, once for each person who has worked on the record (once if nobody has)."""
    read: tuple[str, str | None] | None = None
    outcomes: dict[str, str] = {}
    for suggestion, detector, kind, score, withdrawn, record_id, annotator, decided in store.rows(_SHOWN):
        if read != (record_id, annotator):
            read, outcomes = (record_id, annotator), {one["suggestion"]: one["how"] for one in json.loads(decided or "[]")}
        yield ShownSuggestion(
            id=suggestion,
            detector=detector,
            entity_type=kind,
            score=score,
            withdrawn=withdrawn,
            record_id=record_id,
            annotator=annotator,
            how=outcomes.get(suggestion),
        )


def suggested_spans(store: Store, release_name: str) -> dict[str, int]:
    """Count the spans of a release that annotators made of suggestions, by the detector that suggested them first."""
    return dict(
        store.rows(
            """
        SELECT g.detector, count(*) FROM release_members m JOIN spans s ON s.record_order = m.record_order
        JOIN suggestions g ON s.id = ? || g.id WHERE m.release_name = ? GROUP BY 1 ORDER BY 1""",
            [ORIGIN, release_name],
        )
    )


def edited_documents(store: Store) -> dict[tuple[str, str], Any]:
    """Return, by record id and person, the JSON documents of records with suggestions whose context that person has edited."""
    return {(record_id, annotator): json.loads(document) for record_id, annotator, document in store.rows(_EDITED)}
