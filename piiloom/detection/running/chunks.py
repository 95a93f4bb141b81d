"""Chunks of documents: what a worker takes at a time, and what is kept when a run is killed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from typing import Final, NamedTuple

from piiloom.detection.running.documents import Document, Refused

# A chunk ends at whichever comes first.
MOST_DOCUMENTS: Final = 250
MOST_CHARACTERS: Final = 500_000


class Chunk(NamedTuple):
    """Consecutive documents, numbered from ``first`` on. ``done``: how much of the input had been read behind them."""

    number: int
    first: int
    documents: tuple[Document, ...]
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


def chunks(
    found: Iterable[Document | Refused],
    set_aside: Callable[[Refused], object],
    done: Callable[[], int],
    most_documents: int = MOST_DOCUMENTS,
) -> Iterator[Chunk]:
    """Yield the documents of *found* in chunks, and call *set_aside* with what is none.

    *done* (``DocumentReader.done``) is asked at the end of each chunk.
    """
    number, first, size = 0, 0, 0
    taken: list[Document] = []
    for one in found:
        if isinstance(one, Refused):
            set_aside(one)
            continue
        taken.append(one)
        size += len(one.text)
        if len(taken) >= most_documents or size >= MOST_CHARACTERS:
            yield Chunk(number, first, tuple(taken), done())
            number, first, size, taken = number + 1, first + len(taken), 0, []
    if taken:
        yield Chunk(number, first, tuple(taken), done())
