"""``capid`` against a second implementation, written from the words of the definition, and on real samples changed in known ways."""

from __future__ import annotations

import random
import string
from collections import Counter
from statistics import fmean

import pytest

from tests.evaluation.input_files import lines, read_pairs
from tests.evaluation.scored_samples import REAL_FILES, real_rows, scored, values
from tests.longer import sampled
from tests.shared_files import of_whole

FIGURES = (
    "span_precision",
    "span_recall",
    "span_f1",
    "coverage",
    "type_accuracy",
    "relevance_accuracy",
    "low_accuracy",
    "high_accuracy",
)


def normalised(value):
    value = value.strip()
    value = value.lower()
    return "".join(character for character in value if character not in string.punctuation)


def f1_of(predicted, gold):
    """F1 of two multisets, in floating point as the authors compute it: the threshold and the best match depend on the last digit."""
    common = sum((predicted & gold).values())
    if not common:
        return 0.0
    precision, recall = common / sum(predicted.values()), common / sum(gold.values())
    return 2 * precision * recall / (precision + recall)


def similarity(one, other):
    one, other = normalised(one), normalised(other)
    if len(one.split()) == 1 and len(other.split()) == 1:
        return f1_of(Counter(one), Counter(other))
    return f1_of(Counter(set(one.split())), Counter(set(other.split())))


def capid_row(side):
    piis = [{"value": text, "type": kind, "relevance": said} for text, kind, said in side]
    return {"context": "Ann", "question": "Why?", "piis": piis}


def divided(above, below):
    return above / below if below else 0


def spelled(relevance):
    return None if relevance is None else str(relevance).strip().lower()


def sample_figures(gold, found):
    """The figures of one sample; relevances are compared as they are spelled, and only 1 and 0 are classes."""
    gold, found = ([(text, kind, spelled(said)) for text, kind, said in side] for side in (gold, found))
    free = dict(enumerate(gold))
    matched = []
    for prediction in found:
        similarities = [similarity(prediction[0], value[0]) for value in gold]
        best = similarities.index(max(similarities)) if gold else None
        if best in free and similarities[best] > 0.2:
            matched.append((free.pop(best), prediction, similarities[best]))
    precision, recall = divided(len(matched), len(found)), divided(len(matched), len(gold))
    right = [one[2] == other[2] is not None for one, other, _ in matched]
    by_class = [[ok for ok, (one, _, _) in zip(right, matched, strict=True) if one[2] == said] for said in ("0", "1")]
    return {
        "span_precision": precision,
        "span_recall": recall,
        "span_f1": divided(2 * precision * recall, precision + recall),
        "coverage": float(divided(sum(alike for _, _, alike in matched), len(matched))),
        "type_accuracy": divided(sum(one[1] == other[1] is not None for one, other, _ in matched), len(matched)),
        "relevance_accuracy": divided(sum(right), len(matched)),
        "low_accuracy": divided(sum(by_class[0]), len(by_class[0])),
        "high_accuracy": divided(sum(by_class[1]), len(by_class[1])),
    }


PIECES = [
    "ann",
    "Ann",
    "nan",
    "lee",
    "Léé",
    "(a)",
    "a-b",
    "ß",
    "SS",
    "İ",
    "i",
    "...",
    "—",
    "e\u0301",
    "\u00e9",
    "\uff01",
    "40",
    "4 0",
    "bcdef",
    "abcde",
    "avwxy",
]
RELEVANCES = ["1", "0", 1, 0, "high", "low", " HIGH ", True, "relevant", None]


def made_side(rng):
    """Up to six values of few pieces, so that equal ones, ties, and similarities of 0.2 are frequent."""
    texts = [rng.choice([" ", "", "\t"]).join(rng.choices(PIECES, k=rng.choice([1, 1, 2, 3]))) for _ in range(rng.randint(0, 6))]
    return [(text, rng.choice(["name", "age", None]), rng.choice(RELEVANCES)) for text in texts]


@pytest.mark.parametrize("count", sampled(400, 2000))
def test_a_second_implementation_agrees(count, tmp_path):
    rng = random.Random(count)
    samples = [(made_side(rng), made_side(rng)) for _ in range(count)]
    files = [lines(tmp_path / f"{at}.jsonl", [capid_row(sample[at]) for sample in samples]) for at in (0, 1)]
    pairs = [(pair.gold, pair.found) for pair in read_pairs(*files, needs="values")[0]]
    expected = [sample_figures(gold, found) for gold, found in samples]
    for pair, figures in zip(pairs[:200], expected, strict=False):
        ours = scored("capid", pair)
        assert {name: ours[name] for name in FIGURES} == pytest.approx(figures)
    total = scored("capid", *pairs)
    assert {name: total[name] for name in FIGURES} == pytest.approx({name: fmean(one[name] for one in expected) for name in FIGURES})


@pytest.fixture(params=REAL_FILES)
def rows(request):
    """All samples but one whose gold is not all right against itself; see the next test."""
    return [row for row in real_rows(request.param) if len({"".join(sorted(text)) for text, *_ in row}) == len(row)]


def test_a_real_sample_is_wrong_against_itself():
    # The ages 42 and 24 are the same bag of characters, so 24 takes 42 as well, which is taken.
    samples = list(real_rows("validated_sample.jsonl"))
    figures = changed(samples, lambda _, row: row)
    assert {text for text, kind, _ in samples[of_whole(81, 13)] if kind == "age"} == {"42", "24"}
    assert figures["span_recall"] == figures["span_f1"] == pytest.approx((len(samples) - 1 / 6) / len(samples))


def share_of(relevance, row, *, wrong=0):
    """The accuracy of those values of *row* that have this relevance, if *wrong* of them are wrong."""
    count = sum(said == relevance for _, _, said in row)
    return divided(count - wrong, count)


def changed(rows, change):
    return scored("capid", *((values(*row), values(*change(number, row))) for number, row in enumerate(rows)))


def test_real_samples_against_themselves(rows):
    figures = changed(rows, lambda _, row: row)
    # 1 but for samples that have no high or no low value.
    expected = dict.fromkeys(FIGURES[:6], 1.0)
    expected |= {f"{said}_accuracy": fmean(share_of(said, row) for row in rows) for said in ("low", "high")}
    assert {name: figures[name] for name in FIGURES} == pytest.approx(expected)


def test_real_samples_with_values_dropped(rows):
    # Every third sample loses its last value, n - 1 of n are left: recall (n - 1)/n, F1 2(n - 1)/(2n - 1).
    figures = changed(rows, lambda number, row: row[:-1] if number % 3 == 0 else row)
    lost = [len(row) for number, row in enumerate(rows) if number % 3 == 0]
    whole = len(rows) - len(lost)
    assert figures["span_precision"] == figures["coverage"] == figures["type_accuracy"] == 1
    assert figures["span_recall"] == pytest.approx((whole + sum((n - 1) / n for n in lost)) / len(rows))
    assert figures["span_f1"] == pytest.approx((whole + sum(2 * (n - 1) / (2 * n - 1) for n in lost)) / len(rows))
    assert figures["matched"] == figures["gold"] - len(lost)


def test_real_samples_with_values_added(rows):
    # What has only characters that no value has matches nothing: n of n + 2 predictions are right.
    figures = changed(rows, lambda _, row: [("ꙮ", "name", "high"), *row, ("ꙮꙮ ꙮ", "name", "high")])
    assert figures["span_recall"] == 1
    assert figures["span_precision"] == pytest.approx(fmean(len(row) / (len(row) + 2) for row in rows))
    assert figures["span_f1"] == pytest.approx(fmean(2 * len(row) / (2 * len(row) + 2) for row in rows))


def test_real_samples_with_types_changed(rows):
    # Every second value, from the first, gets a type that does not exist or none.
    figures = changed(rows, lambda _, row: [(text, [None, kind, "other", kind][at % 4], said) for at, (text, kind, said) in enumerate(row)])
    assert figures["type_accuracy"] == pytest.approx(fmean((len(row) // 2) / len(row) for row in rows))
    assert figures["span_f1"] == figures["relevance_accuracy"] == 1


def test_real_samples_with_relevance_flipped(rows):
    # The first value of each sample is said to be what it is not, the last one gets no relevance.
    other = {"high": "low", "low": "high"}

    def flipped(_, row):
        (text, kind, said), *inner, last = row
        return [(text, kind, other[said]), *inner, (*last[:2], None)]

    figures = changed(rows, flipped)
    assert figures["relevance_accuracy"] == pytest.approx(fmean((len(row) - 2) / len(row) for row in rows))
    for said in ("low", "high"):
        wrong = [(row[0][2] == said) + (row[-1][2] == said) for row in rows]
        expected = fmean(share_of(said, row, wrong=count) for row, count in zip(rows, wrong, strict=True))
        assert figures[f"{said}_accuracy"] == pytest.approx(expected)


def test_real_samples_with_punctuation_and_case_changed(rows):
    figures = changed(rows, lambda _, row: [(f"  “'{text.upper()}'!? ".replace("“", ""), *rest) for text, *rest in row])
    assert figures["span_f1"] == figures["type_accuracy"] == 1
