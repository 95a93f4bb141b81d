"""A trained CRF: finds the spans of a text, and says how sure it is of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log

from piiloom.foundation.errors import UsageError
from piiloom.foundation.extras import how_to_install
from piiloom.tagging.features import OUTSIDE, FoundSpan, WordToken, labelled_spans, token_features, tokenise
from piiloom.tagging.windows import label_windows

_LEAST = 1e-6  # the CRF's probabilities are not exact enough for more


class SpanFinder:
    """Finds spans by the CRF in *content*, a model file of CRFsuite. Raises ``ValueError`` if it is none, or not all of one.

    And ``UsageError`` without python-crfsuite, which the extra ``probe`` brings.

    CRFsuite believes what it reads: a file that somebody crafted can crash the process. Open none from whom you would not take a program.
    """

    def __init__(self, content: bytes) -> None:
        try:
            from pycrfsuite import Tagger  # noqa: PLC0415 - of an extra
        except ImportError as error:
            raise UsageError("the small detector needs python-crfsuite", remedy=f"Install it: {how_to_install('probe')}") from error
        if int.from_bytes(content[4:8], "little") != len(content):
            raise ValueError("not as long as its header says")
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
        return tuple(labelled_spans(tokens, self._tagger.tag(token_features(tokens))))

    def find_with_odds(self, context: str) -> Iterator[tuple[FoundSpan, float]]:
        """Yield the spans in *context* with the log-odds of the least sure of their labels, among them that the span ends where it does.

        A long text is read in windows, so that time and memory do not grow faster than it.
        """
        for window in label_windows(tokenise(context)):
            part = slice(window.skip, window.skip + window.size)
            labels = self._tagger.tag(token_features(window.tokens)[part])
            yield from self._with_odds(window.tokens[part], labels)

    def _with_odds(self, tokens: Sequence[WordToken], labels: Sequence[str]) -> Iterator[tuple[FoundSpan, float]]:
        position = 0
        for span in labelled_spans(tokens, labels):
            while tokens[position].start < span.start:
                position += 1
            sure = []
            while position < len(tokens) and tokens[position].end <= span.end:
                sure.append(self._marginal(labels[position], position))
                position += 1
            if position < len(tokens):
                sure.append(1 - self._marginal(f"I-{span.entity_type}", position))
            least = min(max(min(sure), _LEAST), 1 - _LEAST)
            yield span, log(least / (1 - least))

    def _marginal(self, label: str, at: int) -> float:
        """The probability of *label* at a position of the texts tagged last; 0 for a label without an example."""
        return float(self._tagger.marginal(label, at)) if label in self._labels else 0.0
