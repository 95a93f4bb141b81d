"""Documents of the input, chunks of them, and tallies of their spans.

A chunk is the work of a worker at a time; finished chunks are kept when a run is killed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Final, NamedTuple

from piiloom.detection.detector import ScoredSpan
from piiloom.detection.findings import SetAside


class InputDocument(NamedTuple):
    """One text of the input.

    ``id`` is the row's own, ``given_id``, or made of file and line; ids may repeat. ``line`` is None if the file is one document.
    """

    id: str
    text: str
    locale: str
    question: str | None
    file: str
    line: int | None
    given_id: str | None = None
    group_keys: tuple[str, ...] = ()


class RefusedRow(NamedTuple):
    """A row, or a file of a folder, that is no document, and why. ``row`` is the unchanged row, "" for a file."""

    file: str
    line: int | None
    reason: str
    row: str

    @property
    def where(self) -> str:
        """File and line."""
        return self.file if self.line is None else f"{self.file}:{self.line}"


# A chunk ends at whichever comes first.
MOST_DOCUMENTS: Final = 250
MOST_CHARACTERS: Final = 500_000


class DocumentChunk(NamedTuple):
    """Consecutive documents, numbered from ``first`` on. ``done``: how much of the input had been read behind them."""

    number: int
    first: int
    documents: tuple[InputDocument, ...]
    done: int

    @property
    def place(self) -> str:
        """Files and lines, for messages; none of the text."""
        first, last = self.documents[0], self.documents[-1]
        if first.file != last.file or first.line is None:
            return first.file if len(self.documents) == 1 else f"{first.file} to {last.file}"
        return f"{first.file}, lines {first.line} to {last.line}"

    @property
    def digest(self) -> str:
        """Equal for equal documents."""
        found = blake2b(digest_size=16)
        for one in self.documents:
            question = "" if one.question is None else f"?{one.question}"
            for part in (one.id, one.text, one.locale, question, one.file, str(one.line), *one.group_keys):
                data = part.encode("utf-8", "surrogatepass")
                found.update(b"%d:" % len(data))
                found.update(data)
        return found.hexdigest()


def document_chunks(
    found: Iterable[InputDocument | RefusedRow],
    set_aside: Callable[[RefusedRow], object],
    done: Callable[[], int],
    most_documents: int = MOST_DOCUMENTS,
) -> Iterator[DocumentChunk]:
    """Yield the documents of *found* in chunks, and call *set_aside* with what is none.

    *done* (``DocumentReader.done``) is asked at the end of each chunk.
    """
    number, first, size = 0, 0, 0
    taken: list[InputDocument] = []
    for one in found:
        if isinstance(one, RefusedRow):
            set_aside(one)
            continue
        taken.append(one)
        size += len(one.text)
        if len(taken) >= most_documents or size >= MOST_CHARACTERS:
            yield DocumentChunk(number, first, tuple(taken), done())
            number, first, size, taken = number + 1, first + len(taken), 0, []
    if taken:
        yield DocumentChunk(number, first, tuple(taken), done())


@dataclass(slots=True, kw_only=True)
class SpanCounts:
    """Counts of documents and what was found in them.

    ``failed`` documents, of which nothing could be found out, are none of the ``documents``. ``types`` and ``subtypes`` count spans;
    ``validated`` those whose validator passed. ``overlapping`` were left out in favour of a surer one. ``set_aside`` counts by reason what
    a model or a rule refused. ``catalogues`` has the digests of those used, by locale.
    """

    documents: int = 0
    failed: int = 0
    with_spans: int = 0
    spans: int = 0
    validated: int = 0
    overlapping: int = 0
    types: Counter[str] = field(default_factory=Counter)
    subtypes: Counter[str] = field(default_factory=Counter)
    locales: Counter[str] = field(default_factory=Counter)
    set_aside: Counter[str] = field(default_factory=Counter)
    catalogues: dict[str, str] = field(default_factory=dict)

    def count(self, locale: str, spans: Sequence[ScoredSpan], overlapping: int, set_aside: Iterable[SetAside]) -> None:
        """Count one document."""
        self.documents += 1
        self.with_spans += bool(spans)
        self.spans += len(spans)
        self.validated += sum(span.validated is True for span in spans)
        self.overlapping += overlapping
        self.types.update(span.entity_type for span in spans)
        self.subtypes.update(span.subtype for span in spans if span.subtype is not None)
        self.locales[locale] += 1
        self.set_aside.update(one.reason for one in set_aside)

    def add(self, other: SpanCounts) -> None:
        """Add the counts of other documents."""
        for name in self.__slots__:
            mine, theirs = getattr(self, name), getattr(other, name)
            if isinstance(mine, int):
                setattr(self, name, mine + theirs)
            else:
                mine.update(theirs)

    def to_json(self) -> dict[str, Any]:
        """Return all counts as JSON values, the most frequent first."""
        return {name: dict(_by_count(value)) if isinstance(value := getattr(self, name), dict) else value for name in self.__slots__}

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> SpanCounts:
        """Return what ``to_json`` made JSON of."""
        values: dict[str, Any] = {
            name: value if name == "catalogues" or isinstance(value, int) else Counter(value) for name, value in told.items()
        }
        return cls(**values)


def _by_count(counts: dict[str, Any]) -> list[tuple[str, Any]]:
    if not isinstance(counts, Counter):
        return sorted(counts.items())
    return sorted(counts.items(), key=lambda one: (-one[1], one[0]))
