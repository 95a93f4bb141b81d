"""The report's figures are those of the independent quality judge, which shares no code with piiloom."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from piiloom.evaluation.report.figures import ReportFigures, measure
from piiloom.evaluation.report.sources import corpus_of_file
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.evaluation.report_records import varied, write_capid, write_native
from tests.shared_files import shared

JUDGE = shared("tools/quality_bars.py")
# The judge's own list; the taxonomy knows more open types.
OPEN = ("name", "code", "datetime", "location", "organization", "occupation", "health", "finance")
TOP = "top value share of an open type %"


def judged(path: Path) -> dict[str, object]:
    done = subprocess.run([sys.executable, str(JUDGE), str(path), "--json"], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)[str(path)]
    name, share = found[TOP].rsplit(" ", 1)
    assert name
    return {**found, TOP: share}  # of types that tie the judge names the first


def percent(share: float | None) -> float | None:
    return None if share is None else round(100 * share, 2)


def in_the_words_of_the_judge(figures: ReportFigures) -> dict[str, object]:
    counts, contexts, questions, guess = figures.counts, figures.contexts, figures.questions, figures.guessability
    assert questions is not None
    types = {each.type: each for each in figures.types}
    lengths = contexts.lengths
    top = max(each.top[0].share for name, each in types.items() if name in OPEN)
    return {
        "records": counts.records,
        "spans": counts.spans,
        "types": len(types),
        "pairs (of 78, from meta)": len(figures.plan.pairs),
        "context words p5/p50/p95": f"{lengths.p5}/{lengths.p50}/{lengths.p95}",
        "records without PII %": percent(counts.without_pii_share),
        "spans without relevance": counts.unjudged,
        "question holds a full value %": percent(figures.question_leaks.holding_value_share),
        "question shares a content word with a high value %": percent(figures.question_leaks.sharing_word_share),
        "list ordered high-first %": percent(counts.high_first_share),
        "exactly two high %": percent(counts.exactly_two_high_share),
        "a type both high and low %": percent(counts.type_high_and_low_share),
        "relevance from type alone (bal. acc.)": round(guess.type.accuracy or 0, 3),
        "from position alone": round(guess.position.accuracy or 0, 3),
        "from word overlap alone": round(guess.word_overlap.accuracy or 0, 3),
        "most frequent opener %": percent(contexts.openers.top[0].share),
        "openers for half of records": contexts.openers.for_half,
        "distinct values %": percent(sum(each.distinct for each in types.values()) / counts.spans),
        **{f"distinct {name} %": percent(types[name].distinct_share) if name in types else None for name in OPEN},
        TOP: f"{100 * top:.1f}",
        "contexts near-duplicate %": percent(contexts.repeats.near_share),
        "questions near-duplicate %": percent(questions.repeats.near_share),
        "card-like numbers passing Luhn": f"{figures.cards.passing_luhn}/{figures.cards.numbers}",
    }


def test_a_native_file_measures_the_same(tmp_path):
    path = write_native(varied(), tmp_path / "native.jsonl")
    ours, theirs = in_the_words_of_the_judge(measure(corpus_of_file(path).splits, taxonomy=shipped_taxonomy())), judged(path)
    assert ours == {name: theirs[name] for name in ours}
    # The file must be worth comparing: no figure that could be equal for want of cases.
    assert 0 < theirs["question holds a full value %"] < 100
    assert 0 < theirs["question shares a content word with a high value %"] < 100
    assert 0 < theirs["a type both high and low %"] < 100
    assert theirs["card-like numbers passing Luhn"] == "1/2"
    assert 0.5 < theirs["from word overlap alone"] < 1


def test_a_capid_file_measures_the_same(tmp_path):
    path = write_capid(varied(), tmp_path / "capid.jsonl")
    ours, theirs = in_the_words_of_the_judge(measure(corpus_of_file(path).splits, taxonomy=shipped_taxonomy())), judged(path)
    # Of a format without order the judge looks at the order of the file, the report at that of the text.
    assert {name: theirs[name] for name in ours} == {**ours, "list ordered high-first %": theirs["list ordered high-first %"]}
