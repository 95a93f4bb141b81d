"""Figures about suggestions: how uncertain detectors are about each record, and what people made of each suggestion."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.suggestions import ORIGIN

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
    sql = """
        SELECT g.detector, count(*) FROM release_members m JOIN spans s ON s.record_order = m.record_order
        JOIN suggestions g ON s.id = ? || g.id WHERE m.release_name = ? GROUP BY 1 ORDER BY 1"""
    return dict(store.rows(sql, [ORIGIN, release_name]))


def edited_documents(store: Store) -> dict[tuple[str, str], Any]:
    """Return, by record id and person, the JSON documents of records with suggestions whose context that person has edited."""
    return {(record_id, annotator): json.loads(document) for record_id, annotator, document in store.rows(_EDITED)}
