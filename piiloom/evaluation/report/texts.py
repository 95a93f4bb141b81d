"""Figures about wording: lengths, openers, distinct n-grams, self-BLEU and near-duplicates of contexts or of questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from piiloom.evaluation.report.repeats import Repeats, measure_repeats
from piiloom.evaluation.report.self_bleu import SelfBleu, self_bleu
from piiloom.evaluation.report.words import WordedTexts, distinct_shares
from piiloom.foundation.seeding import derive_rng

OPENER_WORDS = 3
TOP_OPENERS = 10
# Distinct-n falls as a corpus grows; for a fixed number of words it can be compared between corpora.
SAMPLE_WORDS = 10_000
_BINS = 24
_BIN_WIDTHS = (1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000, 5000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """How many texts have ``first`` to ``last`` words (both count); the last bin of a histogram is open: ``last`` None."""

    first: int
    last: int | None
    texts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Lengths:
    """Words per text: percentiles and a histogram."""

    p5: int | None
    p50: int | None
    p95: int | None
    longest: int | None
    histogram: tuple[Bin, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Opener:
    """The first words of texts, in lower case, and how many texts begin with them."""

    words: str
    texts: int
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Openers:
    """How texts begin. ``distinct``: number of different openers. ``for_half``: how many of the most frequent ones cover half the texts."""

    distinct: int
    for_half: int
    top: tuple[Opener, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFigures:
    """All figures of one kind of text. ``distinct``: distinct-1 to distinct-4; ``distinct_sampled``: same for ``SAMPLE_WORDS`` words."""

    texts: int
    words: int
    vocabulary: int
    lengths: Lengths
    distinct: tuple[float | None, ...]
    distinct_sampled: tuple[float | None, ...] | None
    self_bleu: SelfBleu
    openers: Openers
    repeats: Repeats


def measure_texts(texts: Sequence[str], *, seed: int) -> TextFigures:
    """Measure *texts*; *seed* decides which of them are sampled."""
    texts = sorted(texts)  # so that samples do not depend on the order of records
    worded = WordedTexts.of(texts)
    return TextFigures(
        texts=len(texts),
        words=int(worded.ids.size),
        vocabulary=len(worded.vocabulary),
        lengths=measure_lengths(worded),
        distinct=distinct_shares(worded),
        distinct_sampled=sampled_distinct_shares(worded, seed=seed),
        self_bleu=self_bleu(worded, seed=seed),
        openers=measure_openers(worded),
        repeats=measure_repeats(texts, worded),
    )


def measure_lengths(worded: WordedTexts) -> Lengths:
    """Return percentiles and histogram of the lengths. A percentile is the length at rank ``int(p * (n - 1))``, without interpolation."""
    lengths = sorted(worded.lengths().tolist())
    if not lengths:
        return Lengths(p5=None, p50=None, p95=None, longest=None, histogram=())
    p5, p50, p95, p99 = (lengths[int(p * (len(lengths) - 1))] for p in (0.05, 0.5, 0.95, 0.99))
    return Lengths(p5=p5, p50=p50, p95=p95, longest=lengths[-1], histogram=_histogram(lengths, p99))


def measure_openers(worded: WordedTexts) -> Openers:
    """Count the first ``OPENER_WORDS`` words of the texts."""
    counts = Counter(" ".join(worded.words_of(number, OPENER_WORDS)) for number in range(len(worded)))
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    reached = accumulate(count for _, count in ranked)
    for_half = next((rank for rank, total in enumerate(reached, start=1) if 2 * total >= len(worded)), 0)
    top = tuple(Opener(words=words, texts=count, share=count / len(worded)) for words, count in ranked[:TOP_OPENERS])
    return Openers(distinct=len(counts), for_half=for_half, top=top)


def sampled_distinct_shares(worded: WordedTexts, *, seed: int) -> tuple[float | None, ...] | None:
    """Return distinct-n of a seeded sample of texts with ``SAMPLE_WORDS`` words in total; None if there are fewer words."""
    if worded.ids.size < SAMPLE_WORDS:
        return None
    order = list(range(len(worded)))
    derive_rng(seed, "distinct-n").shuffle(order)
    return distinct_shares(worded.beginning(order, SAMPLE_WORDS))


def _histogram(lengths: Sequence[int], p99: int) -> tuple[Bin, ...]:
    """Return bins of a round width so that 99% of the texts fit into ``_BINS``; longer texts go into a last, open bin."""
    width = next((width for width in _BIN_WIDTHS if width * _BINS > p99), _BIN_WIDTHS[-1])
    counts = Counter(min(length // width, _BINS) for length in lengths)
    last = max(counts)
    return tuple(
        Bin(first=number * width, last=None if number == _BINS else (number + 1) * width - 1, texts=counts[number])
        for number in range(min(counts), last + 1)
    )
