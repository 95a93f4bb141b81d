r"""Label Studio: a JSON array of tasks with annotations, which its page "Import" takes, and its exports "JSON" and "JSON-MIN".

A task has ``data`` (``text``, ``question``, ``record_id``, ``locale``, and in ``piiloom`` what else a record holds) and one
annotation. Each span is a region: a result of ``label`` (type), and one of ``relevance`` with the same region id if the span has
one. ``label_config.xml`` is the labelling interface for these; regions keep subtype, value and subject in ``meta``. (JSON-MIN
writes the number of the task over ``data.id``, hence ``record_id``.)

Offsets are **code points**. Label Studio splits a text by JavaScript's ``[...text]``, which gives code points, and counts these
(HumanSignal/label-studio, ``web/libs/editor/src/tags/object/RichText/domManager.ts``, pull request 6135 of July 2024); some older
versions counted UTF-16 units (issues 1008 and 1347 there). A span whose ``value.text`` is not at its offsets, but is there if these
count UTF-16 units, gets those code points, and the tally counts it; any other is refused. ``\r`` and ``\n`` count as one each
(``view.jsx`` splits at ``/\n|\r/``). ``value.text`` is a derived copy with ``\n`` in two characters for a line break and without blanks
that a browser folds, so line breaks and blanks are not compared.

Labels of HTML (``hypertextlabels``) count with their ``globalOffsets``: in code points over the text nodes of the body, a ``<br>`` as one
(``domManager.ts``). That text is the context. Labels of a dialogue (``paragraphlabels``) name a paragraph and an offset in it; the
context is the paragraphs' texts, a line each, without who says them (with ``columns``, ``dialogue.phrase`` names their key). A region is
refused if it has no such place, or its text is not what is there. A file with a label of HTML is one of HTML throughout, so tasks
without labels get the same kind of context.

Of several annotations the last that is not cancelled is read. JSON-MIN has a row an annotation, the newest first, and no region
ids: its relevance cannot be assigned and is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from itertools import accumulate
from pathlib import Path
from xml.etree import ElementTree as ET

from piiloom.corpus.formats.base import Json, LossEntry, ReadOptions, ReadTally, RowReject, WriteOptions
from piiloom.corpus.formats.native_rows import (
    RowFault,
    RowLeftOut,
    array_or_lines,
    objects_in,
    parse_object,
    read_rows,
    row_of,
)
from piiloom.corpus.formats.row_reading import JsonRowFormat, Made, MakeRow, details_of, types_of_release, with_all_ids, with_details
from piiloom.corpus.record import Record, Span
from piiloom.taxonomy.entity_types import Taxonomy

CONFIG = "label_config.xml"
EMPTY_QUESTION = "is empty and comes back as none"
_LABEL, _RELEVANCE, _TEXT = "label", "relevance", "text"  # names of tags in the labelling interface
_OURS = "piiloom"  # the key in data
_CONTEXTS = (_TEXT, "html", "dialogue")  # where the templates of Label Studio have what is labelled
_SAID = ("text", "content", "message", "body")  # keys of what a paragraph says
_LABEL_TYPES = ("labels", "hypertextlabels", "paragraphlabels")  # of results, and the keys of their labels
_ADDRESS = re.compile(r"(?:[a-z][a-z0-9+.-]*:/|/data)/\S+")  # where a project keeps its texts, with valueType="url"
_ABOUT_TASK = {"id", "annotation_id", "annotator", "created_at", "updated_at", "lead_time"}  # what JSON-MIN writes besides
_FOLDED = re.compile(r"\\n|\s+")


class LabelStudioFormat(JsonRowFormat):
    """Tasks of Label Studio; see the module docstring."""

    name = "label-studio"
    suffix = ".json"
    column_fields = ("context", "question", "id", "locale")

    def rows(self, records: Iterable[Record], options: WriteOptions, entries: list[LossEntry]) -> Iterator[Json]:  # noqa: ARG002 - has no tokens
        """Yield one task per record. Lost is only the difference between no question and an empty one."""
        for number, record in enumerate(records, start=1):
            if record.question == "":
                entries.append(LossEntry(record_id=record.id, value=None, reason=f"question: {EMPTY_QUESTION}"))
            yield _task(number, record)

    def read_with(self, path: Path, options: ReadOptions, tally: ReadTally, make: MakeRow[Made]) -> Iterator[Made | RowReject]:
        """Yield the tasks of *path*, see ``NativeShapedFormat``. ``options.columns`` names the keys of ``data`` of other projects."""
        rows = list(array_or_lines(path))
        tasks = _Tasks(options, tally, html=any('"hypertextlabels"' in row or '"globalOffsets"' in row for _, row in rows))
        return read_rows(rows, lambda number, row: make(number, tasks.native(parse_object(row))), tally)

    def write_extras(self, folder: Path, about: Json, taxonomy: Taxonomy) -> Sequence[str]:
        """Write the labelling interface."""
        (folder / CONFIG).write_text(labelling_interface(types_of_release(about, taxonomy)), encoding="utf-8", newline="\n")
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

    def __init__(self, options: ReadOptions, tally: ReadTally, *, html: bool) -> None:
        self._columns, self._ignored, self._html = options.columns, tally.ignored_fields, html
        self._seen: set[object] = set()

    def native(self, task: Json) -> Json:
        """Return the native row of *task*. Raises ``RowFault`` if it has no text, or no annotation that counts."""
        if "data" not in task:
            return self._minimal(task)
        data = task["data"]
        if not isinstance(data, dict):
            raise RowFault("data: must have keys and values")
        shown = self._shown(data, "data.")
        self._ignored.update(f"data.{key}" for key in self._unread(data))
        return {**self._about(data), "context": shown.text, "spans": self._spans(shown, self._result(task))}

    def _shown(self, data: Json, place: str) -> _Shown:
        """Return what the labelling page shows: a plain text, the text of HTML, or the paragraphs of a dialogue."""
        key, part = self._key(data)
        found = data.get(key)
        if isinstance(found, str):
            if _ADDRESS.fullmatch(found) and _OURS not in data:
                raise RowFault(f"{place}{key}: is the address of a text, not the text; put the text itself into the tasks")
            return _Shown(_HtmlText(found).text if self._html else found)
        if isinstance(found, list) and found and all(isinstance(one, dict) for one in found):
            said = next((name for name in ([part] if part else _SAID) if all(isinstance(one.get(name), str) for one in found)), None)
            if said is not None:
                self._ignored.update(f"{place}{key}.{name}" for one in found for name in one if name != said)
                lines = [str(one[said]) for one in found]
                return _Shown("\n".join(lines), tuple(accumulate((len(line) + 1 for line in lines), initial=0)))
            raise RowFault(f"{place}{key}: no key has the text of every paragraph; name it with --columns, as context={key}.KEY")
        raise RowFault(f"{place}{key}: must be text; say with --columns which key holds the context")

    def _key(self, data: Json) -> tuple[str, str]:
        """Return the key of the context, and the key of what a paragraph says, if it is named."""
        key = self._columns.get("context") or next((one for one in _CONTEXTS if one in data), _TEXT)
        whole, _, part = key.partition(".")
        return (key, "") if key in data else (whole, part)

    def _unread(self, data: Json) -> list[str]:
        """Return the keys of *data* whose values are not read."""
        read = {self._key(data)[0], "question", _OURS, *self._columns.values(), *(("record_id", "locale") if _OURS in data else ())}
        return [key for key, value in data.items() if key not in read and value not in (None, "", [], {})]

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
            raise RowLeftOut("annotations: there is none that is not cancelled")
        self._ignored.update(["annotations, of several but the last"] * (len(counting) - 1))
        self._ignored.update(["annotations that are cancelled"] * (len(annotations) - len(counting)))
        self._ignored.update(key for key in ("predictions", "drafts") if task.get(key))
        return objects_in(counting[-1].get("result"))

    def _spans(self, shown: _Shown, result: Sequence[Json]) -> list[Json]:
        relevance: dict[object, object] = {}
        regions: list[Json] = []
        for one in result:
            value = one.get("value")
            if isinstance(value, dict) and one.get("type") in _LABEL_TYPES:
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
            span = self._span(shown, number, region["value"], str(region["type"]))
            judged = {"id": region.get("id"), "relevance": relevance.pop(region.get("id"), None)}
            spans.append(with_details({**span, **judged}, ours))
        self._ignored.update(["relevance of no region"] * len(relevance))
        return with_all_ids(spans)

    def _span(self, shown: _Shown, number: int, value: object, key: str) -> Json:
        """Return a labelled place; *key* has its labels. A region without a place, or without labels, raises ``RowFault``."""
        found, text = value if isinstance(value, dict) else {}, shown.text
        start, end = shown.place(found)
        labels = found.get(key)
        if start is None or end is None:
            raise RowFault(f"spans[{number}]: must have whole numbers start and end, globalOffsets, or offsets in a paragraph")
        if not isinstance(labels, list) or not labels or not isinstance(labels[0], str):
            raise RowFault(f"spans[{number}].{key}: must be a list of labels")
        self._ignored.update(["labels of a region but the first"] * (len(labels) - 1))
        there = text[start:end] if 0 <= start < end <= len(text) else ""
        said = found.get("text", text[max(start, 0) : max(end, 0)])
        same = _is_same(said, there)
        if not same and (units := shown.place(found, utf16=True)) != (start, end) and _is_same(said, text[slice(*units)].strip() or "?"):
            (start, end), same = units, True
            there = text[start:end]
            self._ignored["offsets in UTF-16 units (code points took their place)"] += 1
        return {"start": start, "end": end, "text": there if same and there else said, "type": labels[0]}

    def _minimal(self, row: Json) -> Json:
        """Return the native row of a row of JSON-MIN: data and results side by side, results by the names of their tags."""
        shown = self._shown(row, "")
        if "annotation_id" in row:
            if row.get("id") in self._seen:
                raise RowLeftOut("annotation_id: an older annotation of a task that was read already")
            self._seen.add(row.get("id"))
        spans: list[Json] = []
        for name in self._unread(row):
            value = row[name]
            places = objects_in(value)
            key = next((key for key in _LABEL_TYPES if places and all(key in place for place in places)), None)
            if key is not None:
                spans += (self._span(shown, number, place, key) for number, place in enumerate(places))
            elif name not in _ABOUT_TASK:
                self._ignored[name] += 1
        return {**self._about(row), "context": shown.text, "spans": spans}


@dataclass(frozen=True, slots=True)
class _Shown:
    """The text that offsets count in; *begins* are the offsets of the paragraphs of a dialogue."""

    text: str
    begins: tuple[int, ...] = ()

    def place(self, value: Json, *, utf16: bool = False) -> tuple[int | None, int | None]:
        """Return start and end of the region *value*; None if it states none in this text. *utf16*: its offsets count such units."""
        return self._offset(value, "start", utf16=utf16), self._offset(value, "end", utf16=utf16)

    def _offset(self, value: Json, side: str, *, utf16: bool) -> int | None:
        at, within, overall = value.get(side), value.get(f"{side}Offset"), value.get("globalOffsets")
        if self.begins:
            number = int(at) if isinstance(at, str | int) and str(at).isdecimal() else len(self.begins)
            if not isinstance(within, int) or number >= len(self.begins) - 1:
                return None
            return self._after(self.begins[number], within, utf16=utf16)
        offset = at if isinstance(at, int) or not isinstance(overall, dict) else overall.get(side)
        return self._after(0, offset, utf16=utf16) if isinstance(offset, int) else None

    def _after(self, begin: int, offset: int, *, utf16: bool) -> int:
        if not utf16:
            return begin + offset
        return begin + len(self.text[begin:].encode("utf-16-le")[: 2 * max(offset, 0)].decode("utf-16-le", "ignore"))


def _is_same(said: object, there: str) -> bool:
    return isinstance(said, str) and _FOLDED.sub("", said) == _FOLDED.sub("", there)


class _HtmlText(HTMLParser):
    """The text nodes of the body of *page*, as Label Studio counts them; without a body tag, those of the whole page."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self._parts: list[str] = []
        self.feed(page.replace("\r\n", "\n").replace("\r", "\n"))  # as browsers read HTML
        self.close()
        self.text = "".join(self._parts)

    def handle_data(self, data: str) -> None:
        """Keep a text node."""
        self._parts.append(data)

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002 - text only
        """Keep a line break; what stands before the body is not shown."""
        if tag == "br":
            self._parts.append("\n")
        elif tag == "body":
            self._parts.clear()
