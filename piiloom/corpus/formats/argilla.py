"""Records of Argilla 2 (``argilla``), and samples of presidio-evaluator (``presidio``).

``argilla``: a JSON array of records, as ``dataset.records.to_json`` writes and ``from_json`` reads it.

Fields ``text`` and, if there is one, ``question``; one span question ``pii`` with the spans as a suggestion. A label is the type, with
the relevance after a colon if the span has one (``health:high``): an Argilla field can have one span question only, and a
relevance in the metadata could be neither seen nor corrected. What else a record holds is JSON text in the metadata
(``piiloom``), so nothing is lost. Argilla is no longer developed, so this is written without its SDK; ``tests/peers`` opens it with it.

Of a record that people answered, the last response is read, and not the suggestion. Offsets are code points, as the SDK has them.
The labelling page of Argilla 2.4 counts UTF-16 units (argilla-io/argilla issue 5729): what people mark there behind an emoji is
off by one for each, which cannot be seen in the file, since its spans have no text.

``presidio``: a JSON array of its ``InputSample``, as ``InputSample.to_json`` writes and ``read_dataset_json`` reads it.

A sample has ``full_text``, ``masked`` (the text with ``{{TYPE}}`` in the place of each span), ``spans`` (``entity_type``,
``entity_value``, ``start_position``, ``end_position``; code points), ``template_id`` and ``metadata``. A span has Presidio's name
where one of its names means exactly that type or subtype, otherwise the name of our type in upper case. The question and whatever
else a record holds are in ``metadata`` under ``piiloom``, so nothing is lost.

Read labels are looked up in the label map ``presidio``, unless the given map has them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from piiloom.corpus.formats.base import Json, LossEntry, ReadOptions, ReadTally, WriteOptions
from piiloom.corpus.formats.native_rows import RowFault, parse_object
from piiloom.corpus.formats.row_reading import JsonRowFormat, Reading, kept_aside, rejoined, types_of_release
from piiloom.corpus.record import Record, with_span_values
from piiloom.taxonomy.entity_types import Taxonomy

QUESTION = "pii"
SETTINGS = "argilla_settings.json"
_OURS = "piiloom"  # the key in metadata
_RELEVANCE = ("high", "low")
_GUIDELINES = (
    "Mark whatever discloses personal information about somebody. health:high is for a span that matters for the answer to the "
    "question, health:low for one that does not, health for one that was not judged."
)


class ArgillaFormat(JsonRowFormat):
    """Argilla records; see the module docstring."""

    name = "argilla"
    suffix = ".json"
    column_fields = ("context", "question")

    def row(self, record: Record, options: WriteOptions, entries: list[LossEntry]) -> Json:  # noqa: ARG002 - nothing is lost
        """See ``JsonRowFormat``."""
        marked = [{"start": span.start, "end": span.end, "label": _label(span.entity_type, span.relevance)} for span in record.spans]
        question = {} if record.question is None else {"question": record.question}
        return {
            "id": record.id,
            "fields": {"text": record.context, **question},
            "metadata": {"locale": record.locale, _OURS: json.dumps(kept_aside(record), ensure_ascii=False)},
            "suggestions": {QUESTION: {"value": marked, "score": None, "agent": "piiloom"}},
            "responses": {},
            "vectors": {},
            "status": "pending",
            "_server_id": None,
        }

    def native(self, number: int, row: Json, reading: Reading) -> Json:  # noqa: ARG002 - no row depends on its number
        """See ``JsonRowFormat``. ``ReadOptions.columns`` names the fields for context and question."""
        fields, aside = _object(row.get("fields")), _aside(row)
        key = reading.options.columns.get("context", "text")
        text = fields.get(key)
        if not isinstance(text, str):
            raise RowFault(f"fields.{key}: must be text; say with --columns which field is the context")
        found = [_span(text, number, span) for number, span in enumerate(_marked(row, reading.tally))]
        spans = rejoined(found, aside.get("spans"), lambda span: _label(span.get("type"), span.get("relevance")))
        return {
            "id": row.get("id"),
            "context": text,
            "question": fields.get(reading.options.columns.get("question", "question")),
            **{name: aside[name] for name in ("locale", "meta") if name in aside},
            "spans": [_judged(span, reading.options) for span in spans],
        }

    def write_extras(self, folder: Path, about: Json, taxonomy: Taxonomy) -> Sequence[str]:
        """Write the dataset settings, for ``argilla.Settings.from_json``."""
        text = json.dumps(_settings(types_of_release(about, taxonomy)), ensure_ascii=False, indent=2) + "\n"
        (folder / SETTINGS).write_text(text, encoding="utf-8", newline="\n")
        return [SETTINGS]


def _label(entity_type: object, relevance: object) -> str:
    return f"{entity_type}:{relevance}" if relevance else str(entity_type)


def _marked(row: Json, tally: ReadTally) -> list[Json]:
    """Return the spans of the last response, or of the suggestion if there is none; *tally* tells the answers that are not read."""
    suggestions, responses = _object(row.get("suggestions")), _object(row.get("responses"))
    spans: dict[str, list[Json]] = {}
    for name in dict.fromkeys([QUESTION, *responses, *suggestions]):
        given = responses.get(name)
        answers = [_object(one).get("value") for one in given] if isinstance(given, list) else []
        value = answers[-1] if answers else _object(suggestions.get(name)).get("value")
        if isinstance(value, list) and all(isinstance(one, dict) and "label" in one for one in value):
            spans[name] = value
            tally.ignored_fields.update(["responses, of several but the last"] * (len(answers) - 1))
        elif value is not None:
            tally.ignored_fields[f"answer to {name}"] += 1
    if not spans:
        raise RowFault("responses: neither a response nor a suggestion has spans")
    return next(iter(spans.values()))


def _span(text: str, number: int, span: Json) -> Json:
    start, end = span.get("start"), span.get("end")
    if not (isinstance(start, int) and isinstance(end, int) and isinstance(span["label"], str)):
        raise RowFault(f"spans[{number}]: must have whole numbers start and end, and a label that is text")
    return {"start": start, "end": end, "text": text[start:end] if 0 <= start < end else "", "type": span["label"]}


def _judged(span: Json, options: ReadOptions) -> Json:
    """Return *span* with the relevance that its label names after the colon, unless the label map has the whole label."""
    label = str(span["type"])
    name, colon, relevance = label.rpartition(":")
    if colon and relevance in _RELEVANCE and label not in options.label_map:
        return {**span, "type": name, "relevance": relevance}
    return span


def _aside(row: Json) -> Json:
    """Return what ``_argilla`` kept aside in the metadata; nothing if the record is not one of ours."""
    text = _object(row.get("metadata")).get(_OURS)
    try:
        return parse_object(text) if isinstance(text, str) else {}
    except RowFault:
        return {}


def _object(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def _settings(types: Sequence[str]) -> Json:
    """Return the settings of a dataset, as ``argilla.Settings.serialize`` returns them."""
    labels = [label for name in types for label in (name, *(_label(name, relevance) for relevance in _RELEVANCE))]
    options = [{"value": label, "text": label} for label in labels]
    return {
        "guidelines": _GUIDELINES,
        "questions": [
            {
                "name": QUESTION,
                "title": "Personal information",
                "description": _GUIDELINES,
                "required": True,
                "type": "span",
                "settings": {
                    "type": "span",
                    "allow_overlapping": False,
                    "field": "text",
                    "options": options,
                    "visible_options": len(options),
                },
            }
        ],
        "fields": [_field("text", "Text", required=True), _field("question", "Question", required=False)],
        "vectors": [],
        "metadata": [],
        "allow_extra_metadata": True,
        "distribution": {"strategy": "overlap", "min_submitted": 1},
        "mapping": None,
    }


def _field(name: str, title: str, *, required: bool) -> Json:
    return {"name": name, "title": title, "required": required, "type": "text", "settings": {"type": "text", "use_markdown": False}}


# Type, or type/subtype → the one name of Presidio's that means just that.
NAMES: Mapping[str, str] = {
    "name": "PERSON",
    "location": "LOCATION",
    "location/address": "ADDRESS",
    "organization": "ORGANIZATION",
    "datetime": "DATE_TIME",
    "code/phone": "PHONE_NUMBER",
    "code/email": "EMAIL_ADDRESS",
    "code/payment_card": "CREDIT_CARD",
    "code/ip_address": "IP_ADDRESS",
    "code/wallet": "CRYPTO",
    "demographic/nationality": "NATIONALITY",
    "belief/religion": "RELIGION",
}


def presidio_name(entity_type: str, subtype: str | None) -> str:
    """Return the ``entity_type`` that a span of this type and subtype is written with."""
    name = NAMES.get(f"{entity_type}/{subtype}") or NAMES.get(entity_type)
    return name or entity_type.replace(" ", "_").upper()


class PresidioFormat(JsonRowFormat):
    """The format of presidio-evaluator; see the module docstring."""

    name = "presidio"
    suffix = ".json"
    label_map_name = "presidio"

    def row(self, record: Record, options: WriteOptions, entries: list[LossEntry]) -> Json:  # noqa: ARG002 - nothing is lost
        """See ``JsonRowFormat``."""
        names = [presidio_name(span.entity_type, span.subtype) for span in record.spans]
        spans = [
            {
                "entity_type": name,
                "entity_value": span.text_in(record.context),
                "start_position": span.start,
                "end_position": span.end,
            }
            for span, name in zip(record.spans, names, strict=True)
        ]
        return {
            "full_text": record.context,
            "masked": with_span_values(record, [f"{{{{{name}}}}}" for name in names]).context,
            "spans": spans,
            "template_id": None,
            "metadata": {_OURS: {"question": record.question, **kept_aside(record)}},
        }

    def native(self, number: int, row: Json, reading: Reading) -> Json:  # noqa: ARG002 - no row depends on its number
        """See ``JsonRowFormat``."""
        for key in ("full_text", "spans"):
            if key not in row:
                raise RowFault(f"{key}: is missing")
        spans = row["spans"]
        if not isinstance(spans, list):
            raise RowFault("spans: must be a list")
        found = [_sample_span(number, span) for number, span in enumerate(spans)]
        metadata = row.get("metadata")
        ours = metadata.get(_OURS) if isinstance(metadata, dict) else None
        if not isinstance(ours, dict):
            reading.tally.ignored_fields.update(key for key in ("template_id", "metadata") if row.get(key) is not None)
            return {"context": row["full_text"], "spans": found}
        joined = rejoined(found, ours.get("spans"), lambda span: presidio_name(str(span.get("type")), _text(span.get("subtype"))))
        stated = {key: ours[key] for key in ("id", "locale", "question", "meta") if key in ours}
        return {"context": row["full_text"], **stated, "spans": joined}


def _sample_span(number: int, span: object) -> Json:
    if not isinstance(span, dict):
        raise RowFault(f"spans[{number}]: must have keys and values")
    names = {"start": "start_position", "end": "end_position", "text": "entity_value", "type": "entity_type"}
    for key in names.values():
        if key not in span:
            raise RowFault(f"spans[{number}].{key}: is missing")
    return {ours: span[theirs] for ours, theirs in names.items()}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
