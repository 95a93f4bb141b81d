"""A trained regression that judges whether a span matters to a question: plain numbers, so that nothing has to be unpickled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from piiloom.corpus.record import Relevance
from piiloom.tagging.features import WordFeatures


@dataclass(frozen=True, slots=True, kw_only=True)
class RelevanceModel:
    """A weight for each feature ("ty=age", "q_insur" …). A feature without one does not count."""

    weights: Mapping[str, float]
    intercept: float

    def log_odds(self, features: WordFeatures) -> float:
        """Return the log-odds of "high" among spans of which half are high, as the classes are balanced in training."""
        return self.intercept + sum(self._part(name, value) for name, value in features.items())

    def judge(self, features: WordFeatures) -> Relevance:
        """Return the likelier relevance."""
        return "high" if self.log_odds(features) > 0 else "low"

    def _part(self, name: str, value: str | float) -> float:
        # As DictVectorizer names features: a text becomes part of the name.
        return self.weights.get(f"{name}={value}", 0.0) if isinstance(value, str) else self.weights.get(name, 0.0) * value
