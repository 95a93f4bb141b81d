"""Cut a long text into pieces for a model: at ends of sentences, between words, and never within what belongs together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from piiloom.corpus.mention_search import Range
from piiloom.detection.chunking import cut_text
from piiloom.detection.sentences import Sentences
from piiloom.foundation.words import trimmed

WholeRanges = Callable[[str, str], Sequence[Range]]  # of a text and its locale: what no cut parts


@dataclass
class Cutting:
    """Cuts *text* into pieces; *whole* gives what no cut parts, and is asked only if there is something to cut."""

    text: str
    locale: str
    whole: WholeRanges

    def pieces(self, of: Range, limit: int) -> list[Range]:
        """The pieces of a range of at most *limit* characters each, without blanks at their ends; blank ones are left out."""
        start, end = of
        if end - start <= limit:
            pieces = [of]
        else:
            ends = [place - start for place in self._ends if start < place < end]
            whole = [(a - start, b - start) for a, b in self._kept_whole if start <= a and b <= end]
            pieces = [(a + start, b + start) for a, b in cut_text(self.text[start:end], ends, whole, limit)]
        within = (trimmed(self.text, *piece) for piece in pieces)
        return [(a, b) for a, b in within if a < b]

    @cached_property
    def _ends(self) -> list[int]:
        return Sentences(self.text).ends

    @cached_property
    def _kept_whole(self) -> Sequence[Range]:
        return self.whole(self.text, self.locale)
