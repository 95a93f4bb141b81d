"""Documents of CAPID rows, read leniently, as models write them: ``{"context", "question", "piis": {value: {"type", "relevance"}}}``.

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

from piiloom.corpus.formats.base import ABSENT, INSIDE_WORD, Json, ReadTally, quoted
from piiloom.corpus.formats.native_rows import RowFault
from piiloom.corpus.formats.row_reading import find_values
from piiloom.corpus.mention_search import stands_alone
from piiloom.corpus.record import Relevance
from piiloom.evaluation.inputs.documents import Document, Mention, Needs
from piiloom.evaluation.inputs.native_documents import document_id, text_or_none
from piiloom.evaluation.inputs.type_map import TypeNames
from piiloom.evaluation.inputs.unplaced import Unplaced

RELEVANCES: dict[str, Relevance] = {
    **dict.fromkeys(("high", "1", "1.0", "true"), "high"),
    **dict.fromkeys(("low", "0", "0.0", "false"), "low"),
}
_VALUE_KEYS = ("value", "text")


class CapidDocuments:
    """Makes the documents of one file, with what a scheme *needs*."""

    def __init__(self, file: str, locale: str | None, types: TypeNames, unplaced: Unplaced, needs: Needs, tally: ReadTally) -> None:
        self._tally = tally
        self._file = file
        self._locale = locale
        self._types = types
        self._unplaced = unplaced
        self._needs = needs

    def document(self, number: int, row: Json) -> Document:
        """Return the document of row *number*; raises ``RowFault`` (key) if it is none."""
        context = row.get("context")
        if not isinstance(context, str):
            raise RowFault("context: must be text" if "context" in row else "context: is missing")
        if "piis" not in row:
            raise RowFault("piis: is missing (null means that no prediction was made)")
        entries = list(_entries(row["piis"]))
        values = [value for entry in entries if entry is not None and (value := self._value(*entry)) is not None]
        return Document(
            where=f"{self._file}:{number}",
            id=document_id(row),
            text=context,
            question=text_or_none(row, "question"),
            locale=self._locale,
            mentions=tuple(self._placed(context, values) if self._needs == "places" else values),
            malformed=entries.count(None),
        )

    def _value(self, text: str, about: Json) -> Mention | None:
        raw, relevance = about.get("type"), about.get("relevance")
        written = str(relevance).strip().lower() if isinstance(relevance, str | int | float) else ""
        named = self._types.of(raw if isinstance(raw, str) else None)
        if named is None:
            return None
        return Mention(
            text=text,
            entity_type=named.name,
            relevance=RELEVANCES.get(written),
            written_relevance=written or None,
        )

    def _placed(self, context: str, values: list[Mention]) -> Iterator[Mention]:
        found = find_values(context, [value.text for value in values])
        for number, (value, places) in enumerate(zip(values, found, strict=True), start=1):
            if not places and not self._unplaced.keep(_fault(context, value.text)):
                continue
            self._tally.seams += bool(places) and not stands_alone(context, *places[0])
            one = replace(value, value_id=f"v{number}")
            yield from (replace(one, start=start, end=end) for start, end in places)
            if not places:
                yield one


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
