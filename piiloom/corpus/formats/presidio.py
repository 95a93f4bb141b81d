"""presidio-evaluator: a JSON array of its ``InputSample``, as ``InputSample.to_json`` writes and ``read_dataset_json`` reads it.

A sample has ``full_text``, ``masked`` (the text with ``{{TYPE}}`` in the place of each span), ``spans`` (``entity_type``,
``entity_value``, ``start_position``, ``end_position``; code points), ``template_id`` and ``metadata``. A span has Presidio's name
where one of its names means exactly that type or subtype, otherwise the name of our type in upper case. The question and whatever
else a record holds are in ``metadata`` under ``piiloom``, so nothing is lost.

Read labels are looked up in the label map ``presidio``, unless the given map has them.
"""

from __future__ import annotations

from collections.abc import Mapping

from piiloom.corpus.formats.base import Json, LossEntry, WriteOptions
from piiloom.corpus.formats.native_rows import RowFault
from piiloom.corpus.formats.row_reading import JsonRowFormat, Reading, kept_aside, rejoined
from piiloom.corpus.record import Record, with_span_values

_OURS = "piiloom"  # the key in metadata

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
        found = [_span(number, span) for number, span in enumerate(spans)]
        metadata = row.get("metadata")
        ours = metadata.get(_OURS) if isinstance(metadata, dict) else None
        if not isinstance(ours, dict):
            reading.tally.ignored_fields.update(key for key in ("template_id", "metadata") if row.get(key) is not None)
            return {"context": row["full_text"], "spans": found}
        joined = rejoined(found, ours.get("spans"), lambda span: presidio_name(str(span.get("type")), _text(span.get("subtype"))))
        stated = {key: ours[key] for key in ("id", "locale", "question", "meta") if key in ours}
        return {"context": row["full_text"], **stated, "spans": joined}


def _span(number: int, span: object) -> Json:
    if not isinstance(span, dict):
        raise RowFault(f"spans[{number}]: must have keys and values")
    names = {"start": "start_position", "end": "end_position", "text": "entity_value", "type": "entity_type"}
    for key in names.values():
        if key not in span:
            raise RowFault(f"spans[{number}].{key}: is missing")
    return {ours: span[theirs] for ours, theirs in names.items()}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
