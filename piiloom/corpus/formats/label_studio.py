r"""Label Studio: a JSON array of tasks with annotations, which its page "Import" takes, and its exports "JSON" and "JSON-MIN".

A task has ``data`` (``text``, ``question``, ``record_id``, ``locale``, and in ``piiloom`` what else a record holds) and one
annotation. Each span is a region: a result of ``label`` (type), and one of ``relevance`` with the same region id if the span has
one. ``label_config.xml`` is the labelling interface for these; regions keep subtype, value and subject in ``meta``. (JSON-MIN
writes the number of the task over ``data.id``, hence ``record_id``.)

Offsets are **code points**. Label Studio splits a text by JavaScript's ``[...text]``, which gives code points, and counts these
(HumanSignal/label-studio, ``web/libs/editor/src/tags/object/RichText/domManager.ts``, pull request 6135 of July 2024); some older
versions counted UTF-16 units (issues 1008 and 1347 there), so spans of theirs behind an emoji have another text here and are
refused. ``\r`` and ``\n`` count as one each (``view.jsx`` splits at ``/\n|\r/``). ``value.text`` is a derived copy with ``\n``
in two characters for a line break and without blanks that a browser folds, so line breaks and blanks are not compared.

Of several annotations the last that is not cancelled is read. JSON-MIN has a row an annotation, the newest first, and no region
ids: its relevance cannot be assigned and is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

from piiloom.corpus.formats.base import Json, LossEntry, LossReport, ReadOptions, ReadTally, RowReject, WriteOptions
from piiloom.corpus.formats.json_rows import RowFault, array_rows, objects_in, parse_object, read_rows, write_array
from piiloom.corpus.formats.labels import types_of_release
from piiloom.corpus.formats.native_rows import row_of
from piiloom.corpus.formats.rejoining import details_of, with_all_ids, with_details
from piiloom.corpus.formats.row_reading import Made, MakeRow, NativeShapedFormat
from piiloom.corpus.record import Record, Span

CONFIG = "label_config.xml"
EMPTY_QUESTION = "is empty and comes back as none"
_LABEL, _RELEVANCE, _TEXT = "label", "relevance", "text"  # names of tags in the labelling interface
_OURS = "piiloom"  # the key in data
_FOLDED = re.compile(r"\\n|\s+")


class LabelStudioFormat(NativeShapedFormat):
    """Tasks of Label Studio; see the module docstring."""

    name = "label-studio"
    suffix = ".json"

    def write(self, records: Iterable[Record], path: Path, options: WriteOptions) -> LossReport:  # noqa: ARG002 - has no tokens
        """Write one task per record. Lost is only the difference between no question and an empty one."""
        entries: list[LossEntry] = []

        def tasks() -> Iterator[Json]:
            for number, record in enumerate(records, start=1):
                if record.question == "":
                    entries.append(LossEntry(record_id=record.id, value=None, reason=f"question: {EMPTY_QUESTION}"))
                yield _task(number, record)

        write_array(tasks(), path)
        return LossReport(entries=tuple(entries))

    def read_with(self, path: Path, options: ReadOptions, tally: ReadTally, make: MakeRow[Made]) -> Iterator[Made | RowReject]:
        """Yield the tasks of *path*, see ``NativeShapedFormat``. ``options.columns`` names the keys of ``data`` of other projects."""
        tasks = _Tasks(options, tally)
        return read_rows(array_rows(path), lambda number, row: make(number, tasks.native(parse_object(row))), tally)

    def write_extras(self, folder: Path, about: Json) -> Sequence[str]:
        """Write the labelling interface."""
        (folder / CONFIG).write_text(labelling_interface(types_of_release(about)), encoding="utf-8", newline="\n")
        return [CONFIG]


def labelling_interface(types: Iterable[str]) -> str:
    """Return the labelling interface as XML: the question, labels for *types*, the text, and the relevance of a region."""
    view = ET.Element("View")
    ET.SubElement(view, "Header", value="$question")
    labels = ET.SubElement(view, "Labels", name=_LABEL, toName=_TEXT)
    for name in types:
        ET.SubElement(labels, "Label", value=name)
    ET.SubElement(view, "Text", name=_TEXT, value="$text")
    choices = ET.SubElement(view, "Choices", name=_RELEVANCE, toName=_TEXT, perRegion="true", choice="single")
    for relevance in ("high", "low"):
        ET.SubElement(choices, "Choice", value=relevance)
    ET.indent(view)
    return ET.tostring(view, encoding="unicode") + "\n"


def _task(number: int, record: Record) -> Json:
    result = [part for span in record.spans for part in _region(record.context, span)]
    row = row_of(record)
    data = {
        "text": record.context,
        "question": record.question or "",  # Label Studio refuses tasks without a value that the interface shows
        "record_id": record.id,
        "locale": record.locale,
        _OURS: {"meta": row["meta"]},
    }
    return {"id": number, "data": data, "annotations": [{"result": result, "was_cancelled": False}], "predictions": []}


def _region(context: str, span: Span) -> Iterator[Json]:
    place = {"start": span.start, "end": span.end, "text": span.text_in(context)}
    kept = details_of(span)
    where = {"id": span.id, "to_name": _TEXT}
    yield {
        **where,
        "from_name": _LABEL,
        "type": "labels",
        "value": {**place, "labels": [span.entity_type]},
        **({"meta": {_OURS: kept}} if kept else {}),
    }
    if span.relevance is not None:
        yield {**where, "from_name": _RELEVANCE, "type": "choices", "value": {**place, "choices": [span.relevance]}}


class _Tasks:
    """Turns the tasks of one file into native rows, and counts in *tally* what is not stored."""

    def __init__(self, options: ReadOptions, tally: ReadTally) -> None:
        self._columns, self._ignored = options.columns, tally.ignored_fields
        self._seen: set[object] = set()

    def native(self, task: Json) -> Json:
        """Return the native row of *task*. Raises ``RowFault`` if it has no text, or no annotation that counts."""
        if "data" not in task:
            return self._minimal(task)
        data = task["data"]
        if not isinstance(data, dict):
            raise RowFault("data: must have keys and values")
        text = self._text(data, "data.")
        return {**self._about(data), "context": text, "spans": self._spans(text, self._result(task))}

    def _text(self, data: Json, place: str) -> str:
        key = self._columns.get("context", _TEXT)
        text = data.get(key)
        if not isinstance(text, str):
            raise RowFault(f"{place}{key}: must be text; say with --columns which key holds the context")
        return text

    def _about(self, data: Json) -> Json:
        """Return what *data* tells besides the text; id, locale and meta only of tasks of ours, or if ``columns`` names the key."""
        ours = data.get(_OURS)
        about: Json = {"question": data.get(self._columns.get("question", "question")) or None}
        if isinstance(ours, dict):
            about |= {"id": data.get("record_id"), "locale": data.get("locale"), "meta": ours.get("meta", {})}
        return about | {field: data.get(self._columns[field]) for field in ("id", "locale") if field in self._columns}

    def _result(self, task: Json) -> list[Json]:
        """Return the results of the last annotation of *task* that is not cancelled."""
        given = task.get("annotations", task.get("completions"))
        annotations = objects_in(given)
        counting = [one for one in annotations if not (one.get("was_cancelled") or one.get("skipped"))]
        if not counting:
            raise RowFault("annotations: there is none that is not cancelled")
        self._ignored.update(["annotations, of several but the last"] * (len(counting) - 1))
        self._ignored.update(["annotations that are cancelled"] * (len(annotations) - len(counting)))
        self._ignored.update(["predictions"] * bool(task.get("predictions")))
        return objects_in(counting[-1].get("result"))

    def _spans(self, text: str, result: Sequence[Json]) -> list[Json]:
        relevance: dict[object, object] = {}
        regions: list[Json] = []
        for one in result:
            value = one.get("value")
            if isinstance(value, dict) and one.get("type") == "labels":
                regions.append(one)
            elif isinstance(value, dict) and one.get("from_name") == _RELEVANCE and one.get("id") is not None:
                choices = value.get("choices")
                relevance[one["id"]] = choices[0] if isinstance(choices, list) and len(choices) == 1 else choices
            else:
                self._ignored[f"results of {one.get('from_name')}"] += 1
        spans: list[Json] = []
        for number, region in enumerate(regions):
            kept = region.get("meta")
            ours = kept.get(_OURS) if isinstance(kept, dict) else None
            span = self._span(text, number, region["value"], "labels")
            judged = {"id": region.get("id"), "relevance": relevance.pop(region.get("id"), None)}
            spans.append(with_details({**span, **judged}, ours))
        self._ignored.update(["relevance of no region"] * len(relevance))
        return with_all_ids(spans)

    def _span(self, text: str, number: int, value: object, key: str) -> Json:
        """Return a labelled place of *text*."""
        found = value if isinstance(value, dict) else {}
        start, end, labels = found.get("start"), found.get("end"), found.get(key)
        if not (isinstance(start, int) and isinstance(end, int)):
            raise RowFault(f"spans[{number}]: must have whole numbers start and end; labels of other than plain text are not read")
        if not isinstance(labels, list) or not labels or not isinstance(labels[0], str):
            raise RowFault(f"spans[{number}].{key}: must be a list of labels")
        self._ignored.update(["labels of a region but the first"] * (len(labels) - 1))
        there = text[start:end] if 0 <= start < end else ""
        said = found.get("text", there)
        same = isinstance(said, str) and _FOLDED.sub("", said) == _FOLDED.sub("", there)
        return {"start": start, "end": end, "text": there if same and there else said, "type": labels[0]}

    def _minimal(self, row: Json) -> Json:
        """Return the native row of a row of JSON-MIN: data and results side by side, results by the names of their tags."""
        text = self._text(row, "")
        if "annotation_id" in row:
            if row.get("id") in self._seen:
                raise RowFault("annotation_id: an older annotation of a task that was read already")
            self._seen.add(row.get("id"))
        spans: list[Json] = []
        for name, value in row.items():
            places = objects_in(value)
            if places and all("labels" in place for place in places):
                spans += (self._span(text, number, place, "labels") for number, place in enumerate(places))
            elif name == _RELEVANCE or places:
                self._ignored[name] += 1
        return {**self._about(row), "context": text, "spans": spans}
