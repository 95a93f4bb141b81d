"""The small detector, trained: what finds spans, judges them, and says how sure it is."""

from __future__ import annotations

from dataclasses import dataclass

from piiloom.corpus.record import Relevance
from piiloom.tagging.calibration import Calibration
from piiloom.tagging.features import relevance_features
from piiloom.tagging.relevance_model import RelevanceModel
from piiloom.tagging.span_finder import SpanFinder
from piiloom.taxonomy.own_types import OwnTypes


@dataclass(frozen=True, slots=True, kw_only=True)
class TaggedSpan:
    """``context[start:end]`` is taken for personal information, rightly with probability ``score`` (exactly this extent, this type).

    ``relevance`` and the probability of "high" (``high_score``) are None if there was no question. The relevance is what is likelier
    where both are as frequent; as most spans are low, "high" may have a probability of 0.4.
    """

    start: int
    end: int
    entity_type: str
    score: float
    relevance: Relevance | None = None
    high_score: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaggingModel:
    """A trained detector; ``own_types`` are the user-defined ones among those that it finds.

    Without a calibration, scores are as the model has them.
    """

    spans: SpanFinder
    relevance: RelevanceModel
    span_calibration: Calibration | None = None
    relevance_calibration: Calibration | None = None
    own_types: OwnTypes = ()

    def tag(self, context: str, question: str | None = None, *, threshold: float = 0.0) -> list[TaggedSpan]:
        """Return the spans in *context* with at least this score, in order and disjoint."""
        as_it_is = Calibration()
        of_span, of_relevance = self.span_calibration or as_it_is, self.relevance_calibration or as_it_is
        tagged = []
        for span, odds in self.spans.find_with_odds(context):
            score = of_span.probability(odds)
            if score < threshold:
                continue
            relevance: Relevance | None = None
            high_score = None
            if question and question.strip():
                features = relevance_features(context, question, span)
                relevance = self.relevance.judge(features)
                high_score = of_relevance.probability(self.relevance.log_odds(features))
            tagged.append(TaggedSpan(**span._asdict(), score=score, relevance=relevance, high_score=high_score))
        return tagged
