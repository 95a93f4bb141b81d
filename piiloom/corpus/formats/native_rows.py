"""The JSON schema of native rows (DESIGN 2.2) as pydantic models, and the conversion of a record to a row.

Other keys in a row are allowed and counted, but not stored.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from piiloom.corpus.formats.base import Json
from piiloom.corpus.formats.json_rows import encodes
from piiloom.corpus.record import LostValue, Provenance, Record, SourceReference, Span
from piiloom.foundation.errors import DataError


class _Part(BaseModel):
    # strict: "3" is not accepted as an offset, nor 1 as a text. The reader counts extra keys.
    model_config = ConfigDict(strict=True, extra="allow", frozen=True)


_Name = Annotated[str, Field(min_length=1)]


class SpanRow(_Part):
    """One span; ``text`` must equal ``context[start:end]`` (code points), which the reader verifies. Ids of others may be numbers.

    ``score``, ``detector``, ``validated`` and ``relevance_score`` are what ``piiloom detect`` says of its spans; records have no place for
    them.
    """

    start: int = Field(ge=0)
    end: int = Field(ge=1)
    text: str
    type: str
    relevance: Literal["high", "low"] | None = None
    id: _Name | int | None = None
    subtype: str | None = None
    value_id: str | int | None = None
    subject: str | int | None = None
    score: float | None = None
    detector: str | None = None
    validated: bool | None = None
    relevance_score: float | None = None


class LostRow(_Part):
    """A value of the originally imported row that the record lacks."""

    text: str
    type: str
    reason: str
    relevance: Literal["high", "low"] | None = None
    start: int | None = Field(default=None, ge=0)
    end: int | None = Field(default=None, ge=1)


class SourceRow(_Part):
    """The origin of an imported text, and the values that its record lacks."""

    file: str
    line: int | None = None
    id: str | int | None = None
    lost: list[LostRow] = []
    relevance_as: Literal["high/low"] | None = None

    def reference(self) -> SourceReference:
        """Convert to a ``SourceReference``."""
        lost = (
            LostValue(text=one.text, entity_type=one.type, reason=one.reason, relevance=one.relevance, start=one.start, end=one.end)
            for one in self.lost
        )
        return SourceReference(file=self.file, line=self.line, id=as_text(self.id), lost=tuple(lost), relevance_as=self.relevance_as)


class ProvenanceRow(_Part):
    """How the record was made; provider and model are separate fields of ``meta``."""

    stage: str
    templates: list[list[str]] = []
    seed: int | None = None
    parents: list[str] = []


class MetaRow(_Part):
    """Everything about a record that is neither text nor span."""

    pair: list[str] | None = Field(default=None, min_length=2, max_length=2)
    topic: str | None = None
    subtopic: str | None = None
    provider: str | None = None
    model: str | None = None
    scenario: str | None = None
    rationale: str | None = None
    register_: str | None = Field(default=None, alias="register")
    cue_level: str | None = None
    source: SourceRow | None = None
    group_keys: list[str] = []
    revision: int = Field(default=0, ge=0)
    provenance: ProvenanceRow | None = None


class NativeRow(_Part):
    """One line of a native file."""

    id: _Name | int | None = None
    locale: str | None = Field(default=None, min_length=1)
    context: str
    question: str | None = None
    spans: list[SpanRow]
    meta: MetaRow = MetaRow()


def as_text(name: str | int | None) -> str | None:
    """Return an id, which may be a number in the files of others, as text."""
    return str(name) if isinstance(name, int) else name


def row_of(record: Record) -> Json:
    """Return the native row of *record*; keys in fixed order, optional ones left out if they have no value."""
    return {
        "id": record.id,
        "locale": record.locale,
        "context": record.context,
        "question": record.question,
        "spans": [_span(record.context, span) for span in record.spans],
        "meta": meta_of(record),
    }


# The columns that every record has in a table.
COLUMNS = ("id", "locale", "context", "question", "spans")


def flat_row_of(record: Record) -> Json:
    """Return the native row of *record* as columns of a table: what is in its ``meta`` stands beside the rest."""
    return {name: value for name, value in row_of(record).items() if name != "meta"} | meta_of(record)


def unencodable(records: Sequence[Record]) -> DataError:
    """Return the error that names the first of *records* with a text that UTF-8 cannot hold."""
    owner = next(record.id for record in records if not encodes(json.dumps(row_of(record), ensure_ascii=False)))
    where = f"record {owner.encode('unicode_escape').decode('ascii')}"
    return DataError("a text holds a lone surrogate (half of a character), which UTF-8 cannot hold", where=where)


def extra_keys(row: NativeRow) -> list[str]:
    """Return the dotted names of the keys that the reader does not store."""
    parts: list[tuple[str, _Part | None]] = [("", row), ("meta.", row.meta), ("meta.source.", row.meta.source)]
    parts += [("meta.source.lost.", lost) for lost in (row.meta.source.lost if row.meta.source else ())]
    parts += [("meta.provenance.", row.meta.provenance), *(("spans.", span) for span in row.spans)]
    found = [prefix + key for prefix, part in parts if part is not None for key in (part.model_extra or ())]
    if row.meta.pair is None:  # a plan without a pair is not stored
        plan_keys = ("topic", "subtopic", "scenario", "rationale", "register_", "cue_level")
        found += [f"meta.{key.rstrip('_')}" for key in plan_keys if getattr(row.meta, key) is not None]
    return found


def _span(context: str, span: Span) -> Json:
    start, end = span.start, span.end
    row: Json = {
        "start": start,
        "end": end,
        "text": context[start:end],
        "type": span.entity_type,
        "relevance": span.relevance,
        "id": span.id,
    }
    if span.subtype is not None:
        row["subtype"] = span.subtype
    if span.value_id is not None:
        row["value_id"] = span.value_id
    if span.subject is not None:
        row["subject"] = span.subject
    return row


def meta_of(record: Record) -> Json:
    """Return ``meta`` of the native row: everything about *record* that is neither text nor span."""
    plan, made, source = record.plan, record.provenance, record.source
    meta: Json = {}
    if plan is not None:
        meta |= {"pair": list(plan.pair), "topic": plan.topic, "subtopic": plan.subtopic}
    if made is not None:
        meta |= {"provider": made.provider, "model": made.model}
    if plan is not None:
        meta |= _stated({"scenario": plan.scenario, "rationale": plan.rationale, "register": plan.register, "cue_level": plan.cue_level})
    if source is not None:
        meta["source"] = _source(source)
    elif plan is None and made is None:
        meta["source"] = None  # explicit null: otherwise a reader takes the row for one that piiloom did not write
    if record.group_keys:
        meta["group_keys"] = list(record.group_keys)
    if record.revision:
        meta["revision"] = record.revision
    if made is not None:
        meta["provenance"] = _provenance(made)
    return meta


def _source(source: SourceReference) -> Json:
    row = {"file": source.file, **_stated({"line": source.line, "id": source.id, "relevance_as": source.relevance_as})}
    if source.lost:
        row["lost"] = [_lost(one) for one in source.lost]
    return row


def _lost(value: LostValue) -> Json:
    place = _stated({"relevance": value.relevance, "start": value.start, "end": value.end})
    return {"text": value.text, "type": value.entity_type, "reason": value.reason, **place}


def _provenance(made: Provenance) -> Json:
    lists = {"templates": [list(template) for template in made.templates], "parents": list(made.parents)}
    return {"stage": made.stage, **_stated({"seed": made.seed}), **{key: value for key, value in lists.items() if value}}


def _stated(fields: Mapping[str, object]) -> Json:
    return {key: value for key, value in fields.items() if value is not None}
