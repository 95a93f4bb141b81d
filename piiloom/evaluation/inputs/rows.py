"""Documents of rows: in the native shape, which the reader of nearly every format makes, and in that of CAPID.

Unlike records, they keep overlapping and repeated mentions, types as they are written, and predicted values without a place.

In native rows, a span without ``text`` has that of its range; ``annotator``, ``identifier`` (direct or quasi) and ``score`` (a number from
0 to 1, else it is none) are read where spans have them.

CAPID rows are read leniently, as models write them: ``{"context", "question", "piis": {value: {"type", "relevance"}}}``.

- ``piis: null`` means that no prediction was made: there are no values. ``piis`` may also be a list of objects with the key ``value`` or
  ``text``.
- An entry that is no object (a model's malformed JSON) is dropped and counted as malformed.
- Types are compared as they are written; a type that is null or no text is none, which is never right.
- Relevance is high for 1, "1", "high" and true, low for 0, "0", "low" and false, in any case; anything else is none. Its spelling is kept.

For schemes that compare values, these are the values in the order of the file, also such as are not in the text, without a place. For
those that compare places, a value is mentioned wherever it is a whole word, also within another value, or else at a seam of digits and
letters (``piiloom.corpus.formats.row_reading``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import get_args

from piiloom.corpus.formats.base import ABSENT, INSIDE_WORD, Json, ReadTally, quoted
from piiloom.corpus.formats.native_rows import RowFault, as_text
from piiloom.corpus.formats.row_reading import find_values
from piiloom.corpus.mention_search import stands_alone
from piiloom.corpus.record import Relevance
from piiloom.evaluation.inputs.documents import AnnotatedDocument, AnnotatedMention, IdentifierKind, Needs
from piiloom.evaluation.inputs.sides import SideSummary, TypeNames

_MISSING = object()
_TEXTS = ("type", "text", "subtype", "value_id", "subject", "annotator")
_OFFSETS = ("start", "end")
_WORDS: dict[str, tuple[str, ...]] = {"relevance": get_args(Relevance), "identifier": get_args(IdentifierKind)}
_RELEVANCES, _IDENTIFIERS = ((None, *words) for words in _WORDS.values())
_TEXT_OR_NONE, _INT_OR_NONE = {str, type(None)}, {int, type(None)}


class MentionRows:
    """Makes the documents of the rows of one file, with what a scheme *needs*; *locale* is for rows that name none."""

    def __init__(self, file: str, locale: str | None, types: TypeNames, summary: SideSummary, needs: Needs, tally: ReadTally) -> None:
        self._file, self._locale, self._types = file, locale, types
        self._summary, self._needs, self._tally = summary, needs, tally

    def native(self, number: int, row: Json) -> AnnotatedDocument:
        """Return the document of row *number*; raises ``RowFault`` (field) if it is none."""
        context, spans = row.get("context"), row.get("spans", _MISSING)
        if not isinstance(context, str):
            raise RowFault("context: must be text" if "context" in row else "context: is missing")
        if not isinstance(spans, list):
            raise RowFault("spans: is missing" if spans is _MISSING else "spans: must be a list")
        return AnnotatedDocument(
            where=f"{self._file}:{number}",
            id=document_id(row),
            text=context,
            question=text_or_none(row, "question"),
            locale=text_or_none(row, "locale") or self._locale,
            group_keys=_group_keys(row.get("meta")),
            mentions=tuple(mention for at, span in enumerate(spans) if (mention := self._mention(context, at, span)) is not None),
        )

    def _mention(self, context: str, at: int, span: object) -> AnnotatedMention | None:
        """Return the mention of a span, or None if it is left out."""
        if not isinstance(span, dict):
            raise RowFault(f"spans[{at}]: must have keys and values")
        if numbers := {key: as_text(span[key]) for key in ("value_id", "subject") if type(span.get(key)) is int}:
            span = {**span, **numbers}
        texts = tuple(map(span.get, _TEXTS))
        start, end = offsets = tuple(map(span.get, _OFFSETS))
        relevance, identifier = span.get("relevance"), span.get("identifier")
        right_kinds = _TEXT_OR_NONE.issuperset(map(type, texts)) and _INT_OR_NONE.issuperset(map(type, offsets))
        if not (right_kinds and relevance in _RELEVANCES and identifier in _IDENTIFIERS):
            raise RowFault(f"spans[{at}].{next(_faults(span))}")
        raw, said, subtype, value_id, subject, annotator = texts
        named = self._types.of(raw)
        if named is None:
            return None
        text, misfit = _at_place(context, start, end, said)
        if misfit is not None:
            if not self._summary.keep(f"spans[{at}]: {quoted(text)} {misfit}"):
                return None
            start = end = None
        return AnnotatedMention(
            text=text,
            entity_type=named.name,
            start=start,
            end=end,
            relevance=relevance,
            subtype=subtype,
            value_id=value_id,
            subject=subject,
            annotator=annotator,
            identifier=identifier,
            score=_score(span.get("score")),
            detector=detector if isinstance(detector := span.get("detector"), str) else None,
        )

    def capid(self, number: int, row: Json) -> AnnotatedDocument:
        """Return the document of row *number*; raises ``RowFault`` (key) if it is none."""
        context = row.get("context")
        if not isinstance(context, str):
            raise RowFault("context: must be text" if "context" in row else "context: is missing")
        if "piis" not in row:
            raise RowFault("piis: is missing (null means that no prediction was made)")
        entries = list(_entries(row["piis"]))
        values = [value for entry in entries if entry is not None and (value := self._value(*entry)) is not None]
        return AnnotatedDocument(
            where=f"{self._file}:{number}",
            id=document_id(row),
            text=context,
            question=text_or_none(row, "question"),
            locale=self._locale,
            mentions=tuple(self._placed(context, values) if self._needs == "places" else values),
            malformed=entries.count(None),
        )

    def _value(self, text: str, about: Json) -> AnnotatedMention | None:
        raw, relevance = about.get("type"), about.get("relevance")
        written = str(relevance).strip().lower() if isinstance(relevance, str | int | float) else ""
        named = self._types.of(raw if isinstance(raw, str) else None)
        if named is None:
            return None
        return AnnotatedMention(
            text=text,
            entity_type=named.name,
            relevance=RELEVANCES.get(written),
            written_relevance=written or None,
        )

    def _placed(self, context: str, values: list[AnnotatedMention]) -> Iterator[AnnotatedMention]:
        found = find_values(context, [value.text for value in values])
        for number, (value, places) in enumerate(zip(values, found, strict=True), start=1):
            if not places and not self._summary.keep(_fault(context, value.text)):
                continue
            self._tally.seams += bool(places) and not stands_alone(context, *places[0])
            one = replace(value, value_id=f"v{number}")
            yield from (replace(one, start=start, end=end) for start, end in places)
            if not places:
                yield one


def _score(found: object) -> float | None:
    return float(found) if isinstance(found, int | float) and not isinstance(found, bool) and 0 <= found <= 1 else None


def document_id(row: Json) -> str | None:
    """Return the id of a row, a number as text; raises ``RowFault`` if it is anything else, or empty."""
    found = row.get("id")
    if isinstance(found, int) and not isinstance(found, bool):
        return str(found)
    if found is None or (isinstance(found, str) and found):
        return found
    raise RowFault("id: must be text that is not empty, or a whole number")


def text_or_none(row: Json, key: str) -> str | None:
    """Return ``row[key]``, None if there is none; raises ``RowFault`` if it is no text."""
    found = row.get(key)
    if found is None or isinstance(found, str):
        return found
    raise RowFault(f"{key}: must be text or null")


def _faults(span: Json) -> Iterator[str]:
    """Yield what is wrong with the keys of *span*."""
    for key in (*_OFFSETS, *_WORDS, *_TEXTS):
        found = span.get(key)
        if key in _OFFSETS and type(found) not in _INT_OR_NONE:
            yield f"{key}: must be a whole number"
        if key in _WORDS and found is not None and found not in _WORDS[key]:
            yield f"{key}: must be {', '.join(map(repr, _WORDS[key]))} or null"
        if key in _TEXTS and type(found) not in _TEXT_OR_NONE:
            yield f"{key}: must be text or null"


def _at_place(context: str, start: int | None, end: int | None, said: str | None) -> tuple[str, str | None]:
    """Return the text of a mention, and why it has no place in *context*: None if it has one."""
    if start is None or end is None:
        return said or "", "has no place in the context"
    if not 0 <= start < end <= len(context):
        return said or "", f"has the range [{start}, {end}), which is empty or outside the context"
    there = context[start:end]
    if said is not None and said != there:
        return said, f"differs from context[{start}:{end}]"
    return there, None


def _group_keys(meta: object) -> tuple[str, ...]:
    """Return the group keys, and the pair of types that the record was made for as a key "pair:age+health".

    The groups of people are keys, too ("student:female Africa"); releases do not read them.
    """
    if not isinstance(meta, dict):
        return ()
    keys, pair = meta.get("group_keys"), meta.get("pair")
    found = [key for key in keys if isinstance(key, str)] if isinstance(keys, list) else []
    if isinstance(pair, list) and len(pair) == 2 and all(isinstance(name, str) for name in pair):
        found.append(f"pair:{'+'.join(pair)}")
    people = meta.get("person_groups")
    if isinstance(people, dict):  # of surrogates: "student:female Africa"
        found += [f"{role}:{group}" for role, groups in people.items() if isinstance(groups, list) for group in groups]
    return tuple(found)


RELEVANCES: dict[str, Relevance] = {
    **dict.fromkeys(("high", "1", "1.0", "true"), "high"),
    **dict.fromkeys(("low", "0", "0.0", "false"), "low"),
}
_VALUE_KEYS = ("value", "text")


def _fault(context: str, value: str) -> str:
    return f"piis[{quoted(value)}]: {INSIDE_WORD if value and value in context else ABSENT}"


def _entries(piis: object) -> Iterator[tuple[str, Json] | None]:
    """Yield (value, what is said of it), or None for an entry that is malformed."""
    if isinstance(piis, dict):
        for value, about in piis.items():
            yield (value, about) if isinstance(about, dict) else None
    elif isinstance(piis, list):
        for entry in piis:
            about = entry if isinstance(entry, dict) else {}
            text = next((about[key] for key in _VALUE_KEYS if isinstance(about.get(key), str)), None)
            yield None if text is None else (str(text), about)
    elif piis is not None:
        raise RowFault("piis: must be an object of values, or null")
