"""The small detector, trained: a CRF finds spans, a regression judges them, and calibrations say how sure they are.

Tokens of a long text are cut into windows, so that memory and time do not grow with the square of its length. The regression is plain
numbers, so that nothing has to be unpickled.

The features are words and shapes around a token, and how a span relates to the question.

Tokens and features are part of the probe's fixed protocol: figures are comparable only if nothing of them changes. Even the order of the
features matters, since CRFsuite numbers them in order of appearance and sums in that order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import compress
from math import exp, log
from typing import Any, Final, NamedTuple

from piiloom.corpus.record import Relevance
from piiloom.foundation.errors import UsageError, how_to_install
from piiloom.taxonomy.own_types import OwnTypes


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldSpan:
    """One gold span; ``relevance`` is None if it has not been judged."""

    start: int
    end: int
    entity_type: str
    relevance: Relevance | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaggingExample:
    """A text, the question about it ("": none), and its spans, sorted and disjoint.

    Examples that share one of their ``group_keys`` (a story, a scenario …) say too much about each other to learn from one what the other
    is to be tested on.
    """

    context: str
    question: str
    spans: tuple[GoldSpan, ...]
    group_keys: tuple[str, ...] = ()


WordFeatures = dict[str, str | float]

OUTSIDE = "O"

_TOKEN = re.compile(r"\w+(?:[’'`\-]\w+)*|[^\w\s]")
_WORD = re.compile(r"\w+")
NEIGHBOURS = (-3, -2, -1, 1, 2, 3)
_STOP_WORDS = frozenset(
    "the a an i my me to of for and in on is are am do does can could should would what how which with be it at by from if this "
    "that or as".split()
)


class WordToken(NamedTuple):
    """A word or a punctuation mark, and its character offsets."""

    text: str
    start: int
    end: int


class FoundSpan(NamedTuple):
    """A span predicted by the detector, in character offsets."""

    start: int
    end: int
    entity_type: str


def tokenise(context: str) -> list[WordToken]:
    """Return the tokens of *context* in order."""
    return [WordToken(found.group(), found.start(), found.end()) for found in _TOKEN.finditer(context)]


def bio_labels(tokens: Sequence[WordToken], spans: Iterable[GoldSpan]) -> list[str]:
    """Return one label per token: ``B-type`` where a span begins, ``I-type`` inside it, else ``O``. A span covers tokens it overlaps."""
    labels = [OUTSIDE] * len(tokens)
    for span in spans:
        prefix = "B-"
        for position, token in enumerate(tokens):
            if token.start < span.end and token.end > span.start:
                labels[position] = prefix + span.entity_type
                prefix = "I-"
    return labels


def labelled_spans(tokens: Sequence[WordToken], labels: Sequence[str]) -> list[FoundSpan]:
    """Return the spans that *labels* encode; an ``I-`` label after another type, or after ``O``, begins a span."""
    found: list[FoundSpan] = []
    inside = False
    for token, label in zip(tokens, labels, strict=True):
        entity_type = label[2:]
        if label == OUTSIDE:
            inside = False
        elif label.startswith("B") or not inside or found[-1].entity_type != entity_type:
            found.append(FoundSpan(token.start, token.end, entity_type))
            inside = True
        else:
            found[-1] = found[-1]._replace(end=token.end)
    return found


@lru_cache(maxsize=100_000)
def shape(word: str) -> str:
    """Return the shape of *word*: ASCII capitals as X, lower-case letters as x, digits as 9, runs of one character cut to two."""
    plain = re.sub(r"[A-Z]", "X", re.sub(r"[a-z]", "x", re.sub(r"\d", "9", word)))
    return re.sub(r"(.)\1{2,}", r"\1\1", plain)


def token_features(tokens: Sequence[WordToken]) -> list[WordFeatures]:
    """Return the features of each token, from the token itself and three tokens on either side."""
    words = [token.text.lower() for token in tokens]
    shapes = [shape(token.text) for token in tokens]
    rows = []
    for at, (token, lower) in enumerate(zip(tokens, words, strict=True)):
        text = token.text
        row: WordFeatures = {
            "b": 1.0,
            "w": lower,
            "s": shapes[at],
            "p3": text[:3].lower(),
            "x3": text[-3:].lower(),
            "x2": text[-2:].lower(),
            "cap": text[:1].isupper(),
            "dig": any(character.isdigit() for character in text),
        }
        for distance in NEIGHBOURS:
            other = at + distance
            if not 0 <= other < len(tokens):
                row[f"{distance}w"] = "<pad>"
                continue
            row[f"{distance}w"] = words[other]
            if abs(distance) == 1:
                row[f"{distance}s"] = shapes[other]
                row[f"{distance}ww"] = f"{words[min(at, other)]}_{words[max(at, other)]}"
        rows.append(row)
    return rows


def relevance_features(context: str, question: str, span: GoldSpan | FoundSpan) -> WordFeatures:
    """Return the features for whether *span* matters to *question*: its type, its position, and words shared with the question."""
    asked = [word for word in _WORD.findall(question.lower()) if word not in _STOP_WORDS]
    asked_stems = {_stem(word) for word in asked}
    begin, end = context.rfind(".", 0, span.start) + 1, context.find(".", span.end)
    sentence = context[begin : end if end > 0 else len(context)].lower()
    shared = {_stem(word) for word in _WORD.findall(sentence) if word not in _STOP_WORDS} & asked_stems
    row: WordFeatures = {
        "ty": span.entity_type,
        "ov": min(4, len(shared)),
        "pos": int(4 * span.start / max(1, len(context))),
        "inq": any(_stem(word) in asked_stems for word in context[span.start : span.end].lower().split()),
        "ovany": bool(shared),
    }
    for word in asked:
        row[f"q_{_stem(word)}"] = 1
        row[f"t_{span.entity_type}_{_stem(word)}"] = 1
    return row


def _stem(word: str) -> str:
    return word[:5]


BINS: Final = 10
# Probabilities nearer to 0 or 1 than this count as that near.
_EDGE: Final = 1e-4


def log_odds_of(probability: float) -> float:
    """Return the log-odds of *probability*, which are finite for 0 and 1, too."""
    clipped = min(1 - _EDGE, max(_EDGE, probability))
    return log(clipped / (1 - clipped))


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """A sigmoid over log-odds (Platt's). The default takes them as they are."""

    slope: float = 1.0
    offset: float = 0.0

    def probability(self, log_odds: float) -> float:
        """Return the probability that *log_odds* stand for."""
        odds = self.slope * log_odds + self.offset
        return 1 / (1 + exp(-odds)) if odds > 0 else exp(odds) / (1 + exp(odds))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReliabilityBin:
    """The answers with a probability in one tenth (0 to 9): how many, their mean probability, and the share of right ones."""

    tenth: int
    count: int
    said: float
    right: float


def reliability(said: Sequence[float], right: Sequence[bool]) -> list[ReliabilityBin]:
    """Return the tenths that have answers, the least sure first."""
    tenths = [min(int(one * BINS), BINS - 1) for one in said]
    bins = []
    for tenth in sorted(set(tenths)):
        here = [one == tenth for one in tenths]
        size = sum(here)
        bins.append(ReliabilityBin(tenth=tenth, count=size, said=sum(compress(said, here)) / size, right=sum(compress(right, here)) / size))
    return bins


def expected_error(bins: Sequence[ReliabilityBin]) -> float | None:
    """Return the expected calibration error (ECE): how far said and right are apart, averaged over answers. None without any."""
    count = sum(one.count for one in bins)
    return sum(one.count * abs(one.said - one.right) for one in bins) / count if count else None


def reliability_json(said: Sequence[float], right: Sequence[bool]) -> dict[str, Any]:
    """Return number, share of right ones, ECE and bins as JSON values, rounded."""
    bins = reliability(said, right)
    error = expected_error(bins)
    return {
        "count": len(said),
        "right": round(sum(right) / len(right), 4) if right else None,
        "ece": None if error is None else round(error, 4),
        "bins": [{"count": one.count, "said": round(one.said, 4), "right": round(one.right, 4)} for one in bins],
    }


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


MOST_TOKENS: Final = 2000
_ENDS: Final = frozenset(".!?。！？।؟")
_BESIDE: Final = max(NEIGHBOURS)


class LabelWindow(NamedTuple):
    """``size`` tokens to label, behind ``skip`` tokens that only their features see, and before some more of those."""

    tokens: Sequence[WordToken]
    skip: int
    size: int


def label_windows(tokens: Sequence[WordToken], most: int = MOST_TOKENS) -> Iterator[LabelWindow]:
    """Yield windows of at most *most* tokens that hold all of *tokens*; each ends behind a sentence, if one ends in its last half."""
    first = 0
    while first < len(tokens):
        end = _end(tokens, first, most)
        before = max(0, first - _BESIDE)
        yield LabelWindow(tokens[before : end + _BESIDE], first - before, end - first)
        first = end


def _end(tokens: Sequence[WordToken], first: int, most: int) -> int:
    if len(tokens) - first <= most:
        return len(tokens)
    last = first + most
    ends = (at + 1 for at in range(last - 1, first + most // 2, -1) if tokens[at].text in _ENDS)
    return next(ends, last)


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
