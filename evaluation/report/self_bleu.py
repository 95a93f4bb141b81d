"""Self-BLEU: how much the texts of a corpus look like one another (Zhu et al. 2018, Texygen).

Each text of a sample is scored with BLEU-4 against all others of the sample; the mean is the sample's self-BLEU, from 0 (no
common words) to 1 (copies). It rises with the number of texts compared, so the sample has a fixed size: only
figures of the same ``texts`` may be compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean

from piiloom.evaluation.report.words import WordedTexts
from piiloom.foundation.extras import how_to_install
from piiloom.foundation.seeding import derive_rng

# With this sample size, draws differ by 0.01 to 0.02; the time grows with the square of the size.
SAMPLE_TEXTS = 100
SAMPLES = 3
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
        from sacrebleu.metrics.bleu import BLEU
    except ImportError:
        return SelfBleu(mean=None, install=INSTALL)
    # effective_order, as sacrebleu advises for single sentences: a text of three words has no 4-gram.
    metric = BLEU(tokenize="none", smooth_method="exp", effective_order=True)
    draws = SAMPLES if len(worded) > SAMPLE_TEXTS else 1  # if a draw takes all texts, further draws would be the same
    scores = []
    for draw in range(draws):
        chosen = derive_rng(seed, "self-bleu", draw).sample(worded, size)
        lines = [" ".join(texts.words_of(number)) for number in chosen]
        scores.append(fmean(metric.sentence_score(line, [*lines[:at], *lines[at + 1 :]]).score for at, line in enumerate(lines)) / 100)
    return SelfBleu(mean=fmean(scores), lowest=min(scores), highest=max(scores), texts=size, samples=draws)
