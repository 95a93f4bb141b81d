"""Figures about wording: lengths, openers, distinct n-grams, self-BLEU and near-duplicates of contexts or of questions.

Words are those of ``piiloom.foundation.words``, in lower case. A corpus of 10,000 texts has a million words; as ids in one array
they take eight bytes each, and distinct n-grams can be counted by sorting.

Near-duplicates are texts whose 5-word shingles have a Jaccard similarity of ``THRESHOLD`` or more. They are found with the exact index of
``piiloom.corpus.near_duplicates``, not with MinHash, which misses some just above the threshold
(``docs/decisions/0004-exact-jaccard-instead-of-minhash.md``).

Self-BLEU (Zhu et al. 2018, Texygen) is how much the texts of a corpus look like one another: each text of a sample is scored with BLEU-4
against all others of the sample; the mean is the sample's self-BLEU, from 0 (no common words) to 1 (copies). It rises with the number of
texts compared, so the sample has a fixed size: only figures of the same ``texts`` may be compared.
"""

from __future__ import annotations

from bisect import insort
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from piiloom.corpus.near_duplicates import NearDuplicateIndex
from piiloom.foundation.errors import how_to_install
from piiloom.foundation.seeding import derive_rng
from piiloom.foundation.words import words

ORDERS = (1, 2, 3, 4)
THRESHOLD = 0.5
# With this sample size, draws differ by 0.01 to 0.02.
SAMPLE_TEXTS = 100
SAMPLES = 3
_LONGEST_NGRAM = 4
INSTALL = how_to_install("report")
OPENER_WORDS = 3
TOP_OPENERS = 10
# Distinct-n falls as a corpus grows; for a fixed number of words it can be compared between corpora.
SAMPLE_WORDS = 10_000
_BINS = 24
_BIN_WIDTHS = (1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000, 5000)


@dataclass(frozen=True, slots=True, kw_only=True)
class WordedTexts:
    """The words of texts. Text *i* is ``ids[bounds[i]:bounds[i + 1]]``; ids are indexes into ``vocabulary``."""

    vocabulary: tuple[str, ...]
    ids: NDArray[np.int64]
    bounds: NDArray[np.int64]

    @classmethod
    def of(cls, texts: Iterable[str]) -> WordedTexts:
        """Create it from *texts*."""
        numbers: dict[str, int] = {}
        ids: list[int] = []
        bounds = [0]
        for text in texts:
            ids += [numbers.setdefault(word.lower(), len(numbers)) for word in words(text)]
            bounds.append(len(ids))
        return cls(vocabulary=tuple(numbers), ids=np.array(ids, dtype=np.int64), bounds=np.array(bounds, dtype=np.int64))

    def __len__(self) -> int:
        return self.bounds.size - 1

    def lengths(self) -> NDArray[np.int64]:
        """Return the number of words of each text, shape (texts,)."""
        return np.diff(self.bounds)

    def words_of(self, number: int, first: int | None = None) -> tuple[str, ...]:
        """Return the words of text *number*, only the *first* so many if given."""
        start, end = int(self.bounds[number]), int(self.bounds[number + 1])
        end = end if first is None else min(end, start + first)
        return tuple(self.vocabulary[word] for word in self.ids[start:end].tolist())

    def key(self, number: int) -> bytes:
        """Return a key of text *number* that is equal exactly for texts with the same words in the same order."""
        return self.ids[self.bounds[number] : self.bounds[number + 1]].tobytes()

    def beginning(self, order: Iterable[int], size: int) -> WordedTexts:
        """Return the texts with the numbers in *order*, up to *size* words in total; the last text may be cut."""
        chosen = list(order)
        ends = np.cumsum(self.lengths()[chosen])
        needed = int(np.searchsorted(ends, size)) + 1
        parts = (self.ids[self.bounds[number] : self.bounds[number + 1]] for number in chosen[:needed])
        ids = np.concatenate([self.ids[:0], *parts])[:size]
        bounds = np.minimum(np.concatenate([[0], ends[:needed]]), size)
        return WordedTexts(vocabulary=self.vocabulary, ids=ids, bounds=bounds)


def distinct_shares(texts: WordedTexts) -> tuple[float | None, ...]:
    """Return distinct-n for each n in ``ORDERS``: the number of different n-grams divided by that of all; None without n-grams.

    N-grams do not cross text boundaries. The count is exact: the id of an n-gram is made from the id of its first n-1 words and the id
    of its last word.
    """
    owner = np.repeat(np.arange(len(texts)), texts.lengths())
    starts = np.arange(texts.ids.size)
    grams = texts.ids
    shares: list[float | None] = []
    for order in ORDERS:
        if order > 1:
            whole = starts + order - 1 < texts.ids.size
            starts, grams = starts[whole], grams[whole]
            inside = owner[starts] == owner[starts + order - 1]
            starts, grams = starts[inside], grams[inside]
            grams = grams * len(texts.vocabulary) + texts.ids[starts + order - 1]
        different, grams = np.unique(grams, return_inverse=True)
        shares.append(different.size / grams.size if grams.size else None)
    return tuple(shares)


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeats:
    """How many texts have a near-duplicate in the corpus (``near``), and how many a text with the same words (``identical``)."""

    near: int
    near_share: float | None
    identical: int
    identical_share: float | None


def measure_repeats(texts: Sequence[str], worded: WordedTexts) -> Repeats:
    """Count the texts with near-duplicates; *worded* holds the words of *texts*."""
    twins: dict[bytes, list[int]] = {}
    for number in range(len(texts)):
        twins.setdefault(worded.key(number), []).append(number)
    index = NearDuplicateIndex(THRESHOLD)
    groups = list(twins.values())
    near = {group for group, members in enumerate(groups) if len(members) > 1}
    identical = sum(len(groups[group]) for group in near)
    for group, members in enumerate(groups):
        similar = index.insert(str(group), texts[members[0]])
        if similar:
            near |= {group, *(int(key) for key in similar)}
    found = sum(len(groups[group]) for group in near)
    total = len(texts)
    return Repeats(
        near=found,
        near_share=found / total if total else None,
        identical=identical,
        identical_share=identical / total if total else None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfBleu:
    """The mean, lowest and highest self-BLEU of ``samples`` draws of ``texts`` texts.

    ``mean`` is None if sacrebleu is missing (then ``install`` says how to install it) or if there are fewer than two texts.
    """

    mean: float | None
    lowest: float | None = None
    highest: float | None = None
    texts: int = 0
    samples: int = 0
    install: str | None = None


def self_bleu(texts: WordedTexts, *, seed: int) -> SelfBleu:
    """Return the self-BLEU of seeded samples of *texts*; texts without words are left out."""
    worded = [number for number, length in enumerate(texts.lengths().tolist()) if length]
    size = min(SAMPLE_TEXTS, len(worded))
    if size < 2:
        return SelfBleu(mean=None)
    try:
        # sacrebleu rather than nltk: it loads in 0.1 s and 28 MB (nltk.translate: 1.4 s, 143 MB), and smoothing and tokenizer are
        # explicit settings.
        import sacrebleu  # noqa: F401 - is it there?
    except ImportError:
        return SelfBleu(mean=None, install=INSTALL)
    draws = SAMPLES if len(worded) > SAMPLE_TEXTS else 1  # if a draw takes all texts, further draws would be the same
    scores = []
    for draw in range(draws):
        chosen = derive_rng(seed, "self-bleu", draw).sample(worded, size)
        scores.append(fmean(bleu_against_others([" ".join(texts.words_of(number)) for number in chosen])) / 100)
    return SelfBleu(mean=fmean(scores), lowest=min(scores), highest=max(scores), texts=size, samples=draws)


def bleu_against_others(lines: Sequence[str]) -> Iterator[float]:
    """Yield the BLEU (0 to 100) of each line with all other lines as its references; words are what blanks separate.

    The same as ``BLEU(tokenize="none", smooth_method="exp", effective_order=True).sentence_score(line, others)``, which reads all
    references again for every line.
    """
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.helpers import extract_all_word_ngrams

    counted = [extract_all_word_ngrams(line, 1, _LONGEST_NGRAM) for line in lines]
    often: defaultdict[tuple[str, ...], list[tuple[int, int]]] = defaultdict(list)  # how often each n-gram stands in which line, most first
    for at, (ngrams, _) in enumerate(counted):
        for ngram, count in ngrams.items():
            insort(often[ngram], (-count, at))
    for at, (ngrams, length) in enumerate(counted):
        correct, total = [0] * _LONGEST_NGRAM, [0] * _LONGEST_NGRAM
        for ngram, count in ngrams.items():
            total[len(ngram) - 1] += count
            correct[len(ngram) - 1] += min(count, next((-most for most, where in often[ngram] if where != at), 0))
        closest = min((abs(length - other), other) for number, (_, other) in enumerate(counted) if number != at)[1]
        # effective_order, as sacrebleu advises for single sentences: a text of three words has no 4-gram.
        yield BLEU.compute_bleu(correct, total, length, closest, smooth_method="exp", effective_order=True).score


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthBin:
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
    histogram: tuple[LengthBin, ...]


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


def _histogram(lengths: Sequence[int], p99: int) -> tuple[LengthBin, ...]:
    """Return bins of a round width so that 99% of the texts fit into ``_BINS``; longer texts go into a last, open bin."""
    width = next((width for width in _BIN_WIDTHS if width * _BINS > p99), _BIN_WIDTHS[-1])
    counts = Counter(min(length // width, _BINS) for length in lengths)
    last = max(counts)
    return tuple(
        LengthBin(first=number * width, last=None if number == _BINS else (number + 1) * width - 1, texts=counts[number])
        for number in range(min(counts), last + 1)
    )
