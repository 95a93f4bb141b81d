"""Cache of the finished documents of all people, by record; each update reads only what has changed since the last one."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from piiloom.annotation_app.figures.spans import ComparedSpan, carried
from piiloom.corpus.store.annotation_figures import (
    BaseRow,
    DocumentRow,
    base_rows,
    base_spans,
    changed_documents,
    edited_contexts,
    work_record_ids,
)
from piiloom.corpus.store.database import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedVersion:
    """One person's finished version. ``spans`` are offsets of the original text, even if the person edited it."""

    annotator: str
    verdict: str
    changed_at: str
    spans: tuple[ComparedSpan, ...]
    context_edited: bool
    question_edited: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedRecord:
    """A record as it was before annotation, and its finished versions, sorted by annotator."""

    base: BaseRow
    spans: tuple[ComparedSpan, ...]
    versions: tuple[FinishedVersion, ...]

    @property
    def record_id(self) -> str:
        """The id of the record."""
        return self.base.record_id

    @property
    def accepted(self) -> tuple[FinishedVersion, ...]:
        """The accepted versions; the spans of rejected ones are not compared."""
        return tuple(version for version in self.versions if version.verdict == "accepted")


class FinishedRecords:
    """Incremental cache of all finished records of a store. Thread-safe. Unchanged documents are not read again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._newest = 0
        self._bases: dict[str, tuple[BaseRow, tuple[ComparedSpan, ...]]] = {}
        self._versions: dict[str, dict[str, FinishedVersion]] = {}
        self._records: dict[str, FinishedRecord] = {}

    def load(self, store: Store) -> list[FinishedRecord]:
        """Return all records of the work list that somebody has finished, sorted by id; unchanged ones are the same objects as before.

        Records that were deleted from the store are left out.
        """
        with self._lock:
            rows = list(changed_documents(store, self._newest))
            if rows:
                self._take(store, rows)
                self._newest = max(row.event for row in rows)
            stored = work_record_ids(store)
            return [self._records[record_id] for record_id in sorted(self._records.keys() & stored)]

    def _take(self, store: Store, rows: Sequence[DocumentRow]) -> None:
        changed = {row.record_id for row in rows}
        self._read_bases(store, sorted(changed - self._bases.keys()))
        texts = self._edited_texts(store, rows)
        parsed: dict[str, tuple[ComparedSpan, ...]] = {}
        for row in rows:
            if row.record_id not in self._bases:
                continue  # practice, a control, or deleted
            versions = self._versions.setdefault(row.record_id, {})
            if row.verdict == "open":
                versions.pop(row.annotator, None)
            else:
                versions[row.annotator] = self._version(row, parsed, texts)
        for record_id in changed & self._versions.keys():
            self._records.pop(record_id, None)
            if versions := self._versions[record_id]:
                base, spans = self._bases[record_id]
                ordered = tuple(versions[name] for name in sorted(versions))
                self._records[record_id] = FinishedRecord(base=base, spans=spans, versions=ordered)

    def _read_bases(self, store: Store, record_ids: Sequence[str]) -> None:
        rows = base_rows(store, record_ids)
        spans = base_spans(store, [row.record_order for row in rows.values()])
        for record_id, row in rows.items():
            self._bases[record_id] = row, tuple(ComparedSpan(*span) for span in spans.get(row.record_order, ()))

    def _edited_texts(self, store: Store, rows: Iterable[DocumentRow]) -> Mapping[tuple[str, str], tuple[str, str]]:
        """Return (edited text, original text) by (record id, person), for those documents whose text was edited."""
        edited = {(row.record_id, row.annotator) for row in rows if self._is_edited(row)}
        if not edited:
            return {}
        bases, theirs = edited_contexts(store, {record_id for record_id, _ in edited})
        return {key: (theirs[key], bases[key[0]]) for key in edited if key in theirs and key[0] in bases}

    def _is_edited(self, row: DocumentRow) -> bool:
        known = self._bases.get(row.record_id)
        return known is not None and known[0].context_hash != row.context_hash

    def _version(
        self, row: DocumentRow, parsed: dict[str, tuple[ComparedSpan, ...]], texts: Mapping[tuple[str, str], tuple[str, str]]
    ) -> FinishedVersion:
        spans = parsed.get(row.spans)
        if spans is None:
            spans = parsed[row.spans] = _parsed(row.spans)
        if (changed := texts.get((row.record_id, row.annotator))) is not None:
            spans = carried(spans, *changed)
        base, base_spans_ = self._bases[row.record_id]
        return FinishedVersion(
            annotator=row.annotator,
            verdict=row.verdict,
            changed_at=row.changed_at,
            spans=base_spans_ if spans == base_spans_ else spans,
            context_edited=row.context_hash != base.context_hash,
            question_edited=row.question_hash != base.question_hash,
        )


def _parsed(text: str) -> tuple[ComparedSpan, ...]:
    return tuple(ComparedSpan(span["start"], span["end"], span["type"], span["relevance"]) for span in json.loads(text))
