"""Measure leaks: questions that state what only the context should tell, and test data that occurs in train."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from piiloom.corpus.normalising import value_form
from piiloom.corpus.record import TEST, TRAIN, Record
from piiloom.corpus.releases.leakage import measure_leakage
from piiloom.foundation.words import whole_word, words
from piiloom.taxonomy.entity_types import Taxonomy

# Deliberately shorter than ``piiloom.foundation.words.STOP_WORDS``, which the screening gates use: a word that a gate ignores as a
# function word is still counted here.
_STOP_WORDS = frozenset(
    "a an the of in on at to for with and or but my your his her their our i me we you he she it they is am are was were be been "
    "do does did have has had this that these those as by from about into over after before so not no if than then how what when "
    "where why who which can could should would will may might must more most some any s t m re ve ll d".split()
)
# A value of one or two characters ("A", "NY") may occur in a question by chance.
_SHORTEST_VALUE = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionLeaks:
    """Numbers and shares of questions that hold a full value, and that share a content word with a high value."""

    questions: int
    holding_value: int
    holding_value_share: float | None
    sharing_word: int
    sharing_word_share: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitLeaks:
    """Shares of the test split that occur in train: distinct values, and near-duplicates of contexts and questions."""

    values_share: float | None
    contexts_share: float | None
    questions_share: float | None


def judged_words(text: str) -> frozenset[str]:
    """The lower-cased words of *text* that are not function words."""
    return frozenset(word.lower() for word in words(text)) - _STOP_WORDS


def measure_question_leaks(records: Iterable[Record]) -> QuestionLeaks:
    """Measure the leaks in the questions of *records*; records without a question are skipped."""
    asked = [record for record in records if record.question is not None]
    holding, sharing = sum(map(_holds_value, asked)), sum(map(_shares_word, asked))
    return QuestionLeaks(
        questions=len(asked),
        holding_value=holding,
        holding_value_share=holding / len(asked) if asked else None,
        sharing_word=sharing,
        sharing_word_share=sharing / len(asked) if asked else None,
    )


def measure_split_leaks(train: Sequence[Record], test: Sequence[Record], taxonomy: Taxonomy) -> SplitLeaks:
    """Measure how much of *test* occurs in *train*."""
    leakage = measure_leakage({TRAIN: train, TEST: test}, taxonomy).splits[TEST]
    return SplitLeaks(
        values_share=leakage.values.share,
        contexts_share=leakage.contexts_near.share,
        questions_share=leakage.questions_near.share,
    )


def questions_of(records: Iterable[Record]) -> list[str]:
    """Return the questions of all *records* that have one."""
    return [record.question for record in records if record.question is not None]


def _holds_value(record: Record) -> bool:
    question = value_form("", record.question or "")
    values = {value_form("", span.text_in(record.context)) for span in record.spans if span.end - span.start >= _SHORTEST_VALUE}
    return any(value in question and whole_word(value).search(question) for value in values - {""})


def _shares_word(record: Record) -> bool:
    asked = judged_words(record.question or "")
    return any(span.relevance == "high" and not asked.isdisjoint(judged_words(span.text_in(record.context))) for span in record.spans)
