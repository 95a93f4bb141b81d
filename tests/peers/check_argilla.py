"""Open our records with the SDK of Argilla: ``python tests/peers/check_argilla.py OUT [FIXTURES]``.

Without a server: records are read as ``dataset.records.from_json`` does, and the settings are loaded, which needs a client that is
never asked anything. FIXTURES gets the first records as ``to_json`` writes them, one with a response.
"""

from __future__ import annotations

import sys
from pathlib import Path
from uuid import UUID

import argilla as rg
from argilla.records._io import JsonIO
from compared import Spans, compare, native_rows

FEW = 4


class _NoServer:
    def __getattr__(self, name: str) -> _NoServer:
        return self


def spans_of_record(record: rg.Record) -> tuple[str, Spans]:
    """Text and spans (label with relevance) of a record."""
    text = record.fields["text"]
    spans = record.suggestions["pii"].value
    return text, [(one["start"], one["end"], text[one["start"] : one["end"]], one["label"]) for one in spans]


def main(out: Path, fixtures: Path | None) -> None:
    """Check the export in *out*."""
    rg.Argilla._set_default(_NoServer())
    settings = rg.Settings.from_json(out / "argilla" / "argilla_settings.json")
    labels = set(settings.questions["pii"].labels)
    records = JsonIO._records_from_json(out / "argilla" / "records.json")
    rows = native_rows(out)
    ours = [
        [(s["start"], s["end"], s["text"], s["type"] + (f":{s['relevance']}" if s["relevance"] else "")) for s in row["spans"]]
        for row in rows
    ]
    theirs = [spans_of_record(record) for record in records]
    compare(rows, theirs, ours)
    if not {label for _, spans in theirs for *_, label in spans} <= labels:
        raise SystemExit("the settings lack a label")
    print(f"the settings have {len(labels)} labels, all that occur among them")
    if fixtures is not None:
        value = [{"start": 0, "end": 2, "label": "name"}]
        records[1].responses.add(rg.Response("pii", value, user_id=UUID(int=1)))
        file = fixtures / "argilla_records.json"
        file.unlink(missing_ok=True)
        JsonIO.to_json(records[:FEW], file)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None)
