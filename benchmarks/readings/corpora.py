"""The corpora of shared/data as the engine's documents: redacted texts, and texts whose spans are replaced.

Four corpora do not bring spans as ``--spans`` takes them: they are made here from what the corpus has (slots, columns, values without
offsets, tags that bear their originals).
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from piiloom.surrogates.documents import Document
from piiloom.surrogates.inputs.given_spans import mentions_of
from piiloom.surrogates.inputs.parts import SourceSettings
from piiloom.surrogates.inputs.reading import iter_documents
from piiloom.surrogates.placeholders.reading import kind_of_span

DATA: Final = Path(__file__).parents[3] / "shared" / "data"
Span = dict[str, Any]


class Redacted(NamedTuple):
    """A corpus with placeholders: where it lies in ``DATA``, the input settings that differ from the defaults, and its locale."""

    path: str
    settings: dict[str, Any]
    locale: str = "en_US"


REDACTED: Final = {
    "goemotions": Redacted("goemotions/placeholders.tsv", {"header": False, "text_fields": ("1",), "id_field": "3"}),
    "rechtspraak_nl": Redacted("rechtspraak_nl", {}, "nl_NL"),
    "mts_dialog": Redacted("mts_dialog/MTS_Dataset_TrainingSet.csv", {"text_fields": ("section_text", "dialogue")}),
    "obi_ehr_notes": Redacted("obi_ehr_notes/deid.jsonl", {"text_fields": ("deid_text",)}),
    "meqsum": Redacted("meqsum/questions.jsonl", {"question_field": "question"}),
    "presidio_masked": Redacted("presidio_research/generated_small.json", {"text_fields": ("masked",)}),
}
# Slots of sgd that are personal information (shared/data/SOURCES.md), and their types.
_SLOTS: Final = {
    **dict.fromkeys(("receiver", "contact_name"), "PERSON"),
    **dict.fromkeys(("city", "from", "to", "destination", "where_to", "from_city", "to_city", "area"), "CITY"),
    **dict.fromkeys(("start_date", "end_date", "departure_date", "return_date", "date_of_journey", "visit_date", "date"), "DATE"),
    **dict.fromkeys(("check_in_date", "check_out_date", "show_date", "appointment_date"), "DATE"),
    **dict.fromkeys(("pickup_time", "new_alarm_time", "show_time", "appointment_time"), "TIME"),
    "amount": "MONEY",
    "location": "LOCATION",
}
_BEARING: Final = re.compile(r"<<([A-Z]+):(.*?)>>", re.DOTALL)


def corpus_documents(name: str) -> tuple[list[Document], str]:
    """Return the documents of the corpus *name*, and its locale."""
    if name in REDACTED:
        corpus = REDACTED[name]
        return list(iter_documents(SourceSettings(path=DATA / corpus.path, **corpus.settings))), corpus.locale
    rows = _MARKED[name](DATA)
    return [_marked(number, text, spans, name) for number, (text, spans) in enumerate(rows)], "en_US"


def _marked(number: int, text: str, spans: Sequence[Span], name: str) -> Document:
    mentions = mentions_of(list(spans), text, kind_of_span).mentions
    return Document(number, str(number), text, name, number + 1, mentions)


def _rows(path: Path) -> Iterator[Any]:
    yield from map(json.loads, path.read_text(encoding="utf-8").splitlines())


def _obi(data: Path) -> Iterator[tuple[str, list[Span]]]:
    """The notes as they were before they were tagged: the tags bear their originals."""
    for row in _rows(data / "obi_ehr_notes" / "deid.jsonl"):
        pieces: list[str] = []
        spans: list[Span] = []
        at = length = 0
        for tag in _BEARING.finditer(row["deid_text"]):
            before = row["deid_text"][at : tag.start()]
            start = length + len(before)
            length = start + len(tag[2])
            pieces += [before, tag[2]]
            spans.append({"start": start, "end": length, "type": tag[1]})
            at = tag.end()
        yield "".join([*pieces, row["deid_text"][at:]]), spans


def _presidio(data: Path) -> Iterator[tuple[str, list[Span]]]:
    """Without the one row whose span is a character off: ``--spans`` refuses it, or sets it aside (``--skip-bad-rows``)."""
    for row in json.loads((data / "presidio_research" / "generated_small.json").read_text(encoding="utf-8")):
        words = [row["full_text"][span["start_position"] : span["end_position"]] for span in row["spans"]]
        if words == [span["entity_value"] for span in row["spans"]]:
            yield row["full_text"], row["spans"]


def _bitext(data: Path) -> Iterator[tuple[str, list[Span]]]:
    with next((data / "bitext_intents").glob("*.csv")).open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["entity_type"]:
                start, end = int(row["start_offset"]), int(row["end_offset"])
                yield row["utterance"], [{"start": start, "end": end, "type": row["entity_type"]}]


def _sgd(data: Path) -> Iterator[tuple[str, list[Span]]]:
    for row in _rows(data / "sgd" / "turns.jsonl"):
        told = ((slot, _SLOTS.get(slot["slot"].partition(".")[2])) for slot in row["slots"])
        yield row["text"], [{"start": slot["start"], "end": slot["end"], "type": kind} for slot, kind in told if kind]


def _capid(data: Path) -> Iterator[tuple[str, list[Span]]]:
    """Every place where a value stands as whole words; longer values win."""
    for row in _rows(data / "capid" / "validated_sample.jsonl"):
        yield row["context"], list(_places(row["context"], ((value, told["type"]) for value, told in row["piis"].items())))


def _places(text: str, values: Iterable[tuple[str, str]]) -> Iterator[Span]:
    for value, kind in values:
        for found in re.finditer(rf"(?<!\w){re.escape(value)}(?!\w)", text) if value else ():
            yield {"start": found.start(), "end": found.end(), "type": kind}


_MARKED: Final = {"obi_spans": _obi, "presidio_research": _presidio, "bitext": _bitext, "sgd": _sgd, "capid": _capid}
CORPORA: Final = (*REDACTED, *_MARKED)
