"""Self-BLEU: how much the texts of a corpus look like one another (Zhu et al. 2018, Texygen).

Each text of a sample is scored with BLEU-4 against all others of the sample; the mean is the sample's self-BLEU, from 0 (no
common words) to 1 (copies). It rises with the number of texts compared, so the sample has a fixed size: only
figures of the same ``texts`` may be compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from piiloom.evaluation.report.words import WordedTexts
from piiloom.foundation.extras import how_to_install
from piiloom.foundation.seeding import derive_rng

# With this sample size, draws differ by 0.01 to 0.02.
SAMPLE_TEXTS = 100
SAMPLES = 3
_LONGEST_NGRAM = 4
INSTALL = how_to_install("report")


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
    most = _MostInALine([ngrams for ngrams, _ in counted])
    for at, (ngrams, length) in enumerate(counted):
        correct, total = [0] * _LONGEST_NGRAM, [0] * _LONGEST_NGRAM
        for ngram, count in ngrams.items():
            total[len(ngram) - 1] += count
            correct[len(ngram) - 1] += min(count, most.outside(at, ngram))
        closest = min((abs(length - other), other) for number, (_, other) in enumerate(counted) if number != at)[1]
        # effective_order, as sacrebleu advises for single sentences: a text of three words has no 4-gram.
        yield BLEU.compute_bleu(correct, total, length, closest, smooth_method="exp", effective_order=True).score


class _MostInALine:
    """How often an n-gram stands in the one line of all but *at* that has it most often."""

    def __init__(self, counted: Sequence[Counter[tuple[str, ...]]]) -> None:
        # Per n-gram: its highest count, the line that has it, and the highest count in the other lines.
        self._found: dict[tuple[str, ...], tuple[int, int, int]] = {}
        for at, ngrams in enumerate(counted):
            for ngram, count in ngrams.items():
                highest, where, second = self._found.get(ngram, (0, -1, 0))
                self._found[ngram] = (count, at, highest) if count > highest else (highest, where, max(second, count))

    def outside(self, at: int, ngram: tuple[str, ...]) -> int:
        """Return the highest count of *ngram* in a line other than the line number *at*."""
        highest, where, second = self._found[ngram]
        return second if where == at else highest
