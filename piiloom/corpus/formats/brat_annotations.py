"""Reading an ``.ann`` file of BRAT: T lines as spans, with relevance and what else was noted for them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from piiloom.corpus.formats.base import Json, ReadTally
from piiloom.corpus.formats.brat_configuration import RELEVANCE, brat_name
from piiloom.corpus.formats.native_rows import RowFault, parse_object
from piiloom.corpus.formats.rejoining import with_all_ids, with_details

NOTE = "AnnotatorNotes"
_TEXT_BOUND = re.compile(r"(T\S+)\t(\S+) ([0-9]{1,15} [0-9]{1,15}(?:;[0-9]{1,15} [0-9]{1,15})*)(?:\t(.*))?", re.DOTALL)
_ABOUT_SPAN = re.compile(r"[A#]\S*\t(\S+) (T\S+)(?:[ \t](.*))?", re.DOTALL)
_IGNORED = {
    "E": "events",
    "R": "relations",
    "N": "normalisations",
    "A": "attributes",
    "M": "modifications",
    "#": "notes",
    "*": "equivalences",
}


def read_annotations(text: str, ann: str, tally: ReadTally) -> list[Json]:
    """Return the native spans of *text* that *ann* has; *tally* counts the lines that are not stored.

    Raises ``RowFault`` for a line that is no annotation.
    """
    return _Annotations(text, tally).spans(ann)


class _Annotations:
    """Reads the ``.ann`` file of *text*."""

    def __init__(self, text: str, tally: ReadTally) -> None:
        self._text, self._tally = text, tally
        self._relevance: dict[str, str] = {}
        self._notes: dict[str, Json] = {}

    def spans(self, ann: str) -> list[Json]:
        """Return the native spans. Raises ``RowFault`` for a line that is no annotation."""
        bound: list[re.Match[str]] = []
        for number, line in enumerate(ann.replace("\r\n", "\n").split("\n"), start=1):
            found = _TEXT_BOUND.fullmatch(line)
            if found:
                bound.append(found)
            elif line and not self._is_about_span(line):
                if line[0] not in _IGNORED:
                    raise RowFault(f"line {number} of the .ann file is no annotation")
                self._tally.ignored_fields[_IGNORED[line[0]]] += 1
        return with_all_ids([span for found in bound for span in self._bound(found)])

    def _is_about_span(self, line: str) -> bool:
        """Keep the relevance or the note of ours that *line* is; False if it is neither."""
        found = _ABOUT_SPAN.fullmatch(line)
        if found is None or found[3] is None:
            return False
        if line[0] == "A" and found[1] == RELEVANCE:
            self._relevance[found[2]] = found[3]
            return True
        if line[0] == "#" and found[1] == NOTE and found[3].startswith('{"id": '):
            try:
                self._notes[found[2]] = parse_object(found[3])
            except RowFault:
                return False
            return True
        return False

    def _bound(self, found: re.Match[str]) -> Iterator[Json]:
        """Yield the span of a T line, or one for each of its fragments if there is text between them."""
        name, label, places, said = found.groups()
        parts = [(int(start), int(end)) for start, end in (place.split() for place in places.split(";"))]
        note = self._notes.get(name, {})
        told: Json = {"id": note.get("id")} if "id" in note else {}
        if name in self._relevance:
            told["relevance"] = self._relevance[name]
        whole = self._text[parts[0][0] : parts[-1][1]]
        between = [self._text[end:start] for (_, end), (start, _) in pairwise(parts)]
        exact = [self._text[start:end] for start, end in parts]
        said_rightly = said is None or said == " ".join(exact)
        if _in_order(parts) and not any(gap.strip() for gap in between):
            span = {"start": parts[0][0], "end": parts[-1][1], "text": whole if said_rightly else said}
            yield with_details({**span, "type": self._type(label, note), **told}, note)
            return
        self._tally.ignored_fields["bonds between fragments (a span each)"] += 1
        for (start, end), text in zip(parts, exact, strict=True):
            told.pop("id", None)
            yield {"start": start, "end": end, "text": text if said_rightly else said, "type": label, "value_id": name, **told}

    def _type(self, label: str, note: Json) -> str:
        """Return the type of a note of ours if *label* is its name in BRAT, otherwise *label*."""
        ours = note.get("type")
        return ours if isinstance(ours, str) and brat_name(ours) == label else label


def _in_order(parts: Sequence[tuple[int, int]]) -> bool:
    return all(end <= start for (_, end), (start, _) in pairwise(parts))
