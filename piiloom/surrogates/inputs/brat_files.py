"""BRAT: a text file and, beside it, its annotations in a file ``.ann``. Both are one document, and both are in the mirror.

Text-bound annotations ("T1<tab>Person 0 6;9 12<tab>words") are rewritten; relations, attributes, notes and the like stay as they are.
"""

from __future__ import annotations

import marshal
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from piiloom.foundation.errors import DataError
from piiloom.foundation.words import Range
from piiloom.surrogates.documents import Replaced
from piiloom.surrogates.inputs.given_spans import GivenSpans, found_fields, mentions_of
from piiloom.surrogates.inputs.parts import BratLayout, Found, InputSettings, Notes, Parsed, Part, cannot_read, undecodable
from piiloom.surrogates.inputs.splicing import Change, changed
from piiloom.surrogates.inputs.standoff import BadSpan, Standoff, Told, read_standoff

SUFFIX: Final = ".ann"
_BOUND: Final = re.compile(r"^\ufeff?T[^\t\n]*\t(?P<type>[^\t\n ]+) (?P<offsets>\d+ \d+(?:;\d+ \d+)*)\t(?P<words>[^\r\n]*)", re.MULTILINE)
_LINE: Final = re.compile(r"^\ufeff?T", re.MULTILINE)
_OTHER: Final = re.compile(r"^(?!\ufeff?(?:#|[TREAMN*][^\t\n]*\t))[^\n]*\S|\r(?!\n)", re.MULTILINE)  # no annotation, or an old line end


def annotations_of(name: str) -> str:
    """Return the name of the annotations that belong to the text file *name*."""
    return name.removesuffix(Path(name).suffix) + SUFFIX


class BratSlot:
    """The ``Slot`` of the text. ``ann`` is the text of the other file, ``standoff`` its text-bound annotations."""

    __slots__ = ("_places", "ann", "end", "standoff", "start")

    def __init__(self, text: str, ann: str, standoff: Standoff, places: Sequence[re.Match[str]]) -> None:
        self.start, self.end = 0, len(text)
        self.ann, self.standoff, self._places = ann, standoff, places

    @property
    def ranges(self) -> list[Range]:
        """The fragments of all annotations, in the text."""
        return [one for ranges in self.standoff.ranges for one in ranges]

    def rewritten(self, raw: str, replaced: Replaced) -> str:
        """See ``Slot``."""
        del raw
        return replaced.text

    def annotations(self, replaced: Replaced) -> str:
        """Return the text of the other file for the new text."""
        changes: list[Change] = []
        for place, (told, fragments, words) in zip(self._places, self.standoff.rewritten(replaced), strict=True):
            changes.append((*place.span("offsets"), ";".join(f"{start} {end}" for start, end in fragments)))
            if words.split() != (told.words or "").split():
                changes.append((*place.span("words"), " ".join(words.splitlines())))
        return changed(self.ann, 0, len(self.ann), changes)

    def rest(self, raw: str = "") -> str:
        """Return the other file without what ``annotations`` may change."""
        del raw
        return changed(self.ann, 0, len(self.ann), [(*place.span(group), "") for place in self._places for group in ("offsets", "words")])


class BratParsed(Parsed):
    """A text with annotations; ``ann`` are those of a text that is empty."""

    ann: str = ""

    def mirrored(self, replaced: Sequence[Replaced]) -> bytes:
        """Return the marshalled bytes of both files."""
        text = super().mirrored(replaced)
        if not self.found:
            return marshal.dumps((text, self.ann.encode("utf-8")))
        slot = self.found[0].slot
        assert isinstance(slot, BratSlot)  # noqa: S101 - made below
        return marshal.dumps((text, slot.annotations(replaced[0]).encode("utf-8")))


def read_brat(part: Part, raw: str, settings: InputSettings) -> Parsed:
    """Read a text and its annotations. Raises ``DataError`` for an annotation that does not fit the text."""
    layout = part.file.layout
    assert isinstance(layout, BratLayout)  # noqa: S101 - a BRAT file has one
    ann = _annotations(part, layout)
    places = list(_BOUND.finditer(ann))
    known = {place.start() for place in places}
    for line in _LINE.finditer(ann):
        if line.start() not in known:
            raise _fault(layout, ann, line.start(), "a text-bound annotation has another form than T1<tab>Type 0 6<tab>words")
    if settings.takes_spans and (other := _OTHER.search(ann)) is not None:
        raise _fault(layout, ann, other.start(), "the line is no annotation of BRAT, so a span may be missing")
    told = [Told(place["type"], _fragments(place["offsets"]), place["words"], place.start()) for place in places]
    try:
        standoff = read_standoff(raw, told)
    except BadSpan as bad:
        raise _fault(layout, ann, bad.at, str(bad)) from None
    slot, notes = BratSlot(raw, ann, standoff, places), Notes()
    given: GivenSpans | None = None
    if settings.takes_spans and settings.kind_of is not None:
        given = mentions_of(standoff.spans(), raw, settings.kind_of)
        given.note(notes, 0)
    found = [Found(raw, None, 0, "", slot, *found_fields(given))] if raw else []
    parsed = BratParsed(raw, found, 1, raw.count("\n"), notes)
    parsed.ann = ann
    return parsed


def _fragments(offsets: str) -> tuple[Range, ...]:
    return tuple((int(start), int(end)) for start, end in (one.split() for one in offsets.split(";")))


def _annotations(part: Part, layout: BratLayout) -> str:
    try:
        data = Path(layout.path).read_bytes()
        return data.decode("utf-8")
    except OSError as error:
        raise cannot_read(layout.name, error) from error
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise undecodable(part.file._replace(name=layout.name), error.start, data[error.start], line, "utf-8") from error


def _fault(layout: BratLayout, ann: str, at: int, message: str) -> DataError:
    where = f"{layout.name}:{ann.count(chr(10), 0, at) + 1}"
    return DataError(message, where=where, remedy="Correct the line, or use --skip-bad-rows to set the document aside")
