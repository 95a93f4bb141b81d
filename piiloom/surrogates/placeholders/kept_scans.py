"""What the survey of a corpus scanned, for the finder that goes over the same texts afterwards in the same process."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from piiloom.surrogates.placeholders.scanning import Candidate, Scanner

_ROOM: Final = 16_000_000  # code points of texts with their candidates: some 40 MB
_LONGEST: Final = 100_000  # code points of a text that is kept: what is made of a longer one takes all the space that there is
_PER_CANDIDATE: Final = 100  # a candidate takes as much as so many code points


class KeptScans:
    """Candidates by text. What does not fit is not kept, and scanned again. Pickled it is empty: another process has its own."""

    def __init__(self, room: int = _ROOM) -> None:
        self._found: dict[str, list[Candidate]] = {}
        self._size = self._room = room
        self._scanner: Scanner | None = None

    def __reduce__(self) -> tuple[type[KeptScans], tuple[()]]:
        return KeptScans, ()

    def scan(self, text: str, scanner: Scanner) -> list[Candidate]:
        """Return the candidates that *scanner* finds in *text*, and keep them if there is room. One scanner is kept, the last."""
        if scanner is not self._scanner:
            self._found.clear()
            self._room, self._scanner = self._size, scanner
        found = list(scanner.scan(text))
        if len(text) <= _LONGEST and text not in self._found:
            self._room -= len(text) + _PER_CANDIDATE * len(found)
            if self._room > 0:
                self._found[text] = found
        return found

    def scan_of(self, scanner: Scanner) -> Callable[[str], Iterable[Candidate]]:
        """Return a function with the result of ``scanner.scan``, which takes what is kept for a text where that is sure to be the same."""
        before = self._scanner
        if before is None or before.names != scanner.names:
            return scanner.scan
        told_apart = [f"{title} " for title in scanner.titles_unlike(before)]
        kept = self._found.get

        def scanned(text: str) -> Iterable[Candidate]:
            found = kept(text)
            if found is None or any(title in text for title in told_apart):
                return scanner.scan(text)
            return found

        return scanned
