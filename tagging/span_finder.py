"""A trained CRF: finds the spans of a text, and says how sure it is of each of their tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from piiloom.foundation.errors import UsageError
from piiloom.foundation.extras import how_to_install
from piiloom.tagging.features import OUTSIDE, FoundSpan, Token, spans_of, token_features, tokenise
from piiloom.tagging.windows import windows

try:
    from pycrfsuite import Tagger
except ImportError as error:
    raise UsageError("the small detector needs python-crfsuite", remedy=f"Install it: {how_to_install('probe')}") from error


class Evidence(NamedTuple):
    """What the CRF says about a span: the probability of each of its labels, and that it goes no further."""

    labels: tuple[float, ...]
    ends: float


class SpanFinder:
    """Finds spans by the CRF in *content*, a model file of CRFsuite."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self._tagger = Tagger()
        self._tagger.open_inmemory(content)
        self._labels = frozenset(self._tagger.labels())

    @property
    def entity_types(self) -> list[str]:
        """The types that it can find, sorted."""
        return sorted({label[2:] for label in self._labels if label != OUTSIDE})

    def find(self, context: str) -> tuple[FoundSpan, ...]:
        """Return the spans in *context*, in order and disjoint."""
        tokens = tokenise(context)
        return tuple(spans_of(tokens, self._tagger.tag(token_features(tokens))))

    def find_with_evidence(self, context: str) -> Iterator[tuple[FoundSpan, Evidence]]:
        """Yield the spans in *context* with what speaks for each; a long text is read in windows, so its length does not count."""
        tokens = tokenise(context)
        for window in windows(tokens):
            labels = self._tagger.tag(token_features(window.tokens)[window.skip : window.skip + window.size])
            yield from self._with_evidence(window.tokens[window.skip : window.skip + window.size], labels)

    def _with_evidence(self, tokens: Sequence[Token], labels: Sequence[str]) -> Iterator[tuple[FoundSpan, Evidence]]:
        position = 0
        for span in spans_of(tokens, labels):
            while tokens[position].start < span.start:
                position += 1
            first = position
            while position < len(tokens) and tokens[position].end <= span.end:
                position += 1
            sure = tuple(self._marginal(labels[at], at) for at in range(first, position))
            further = self._marginal(f"I-{span.entity_type}", position) if position < len(tokens) else 0.0
            yield span, Evidence(sure, 1 - further)

    def _marginal(self, label: str, at: int) -> float:
        """The probability of *label* at a position of the window tagged last; that of a label without an example is 0."""
        return min(1.0, float(self._tagger.marginal(label, at))) if label in self._labels else 0.0
