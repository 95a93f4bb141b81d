"""Checks of a question: whether it gives away marked values, words of relevant values, or the names of the types it asks for."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache

from piiloom.annotation_app.checks.check import Check
from piiloom.annotation_app.checks.shapes import CODE_KINDS
from piiloom.annotation_app.checks.text_facts import TextFacts, facts_of, stems_of
from piiloom.annotation_app.documents.document import Document
from piiloom.foundation.words import STOP_WORDS, Range
from piiloom.taxonomy.entity_types import EntityType


def question_checks(
    document: Document, region: str | None, types: Mapping[str, EntityType], pair: Collection[str] | None
) -> Iterator[Check]:
    """Yield the hints on the question of *document*; none if it has no question.

    Their codes are those of ``piiloom.screening.question_leaks`` (each check has all its places), ``question.empty`` and
    ``question.identifier``. *region* is the country code of the locale, which decides what is a telephone number. *pair* are the planned
    types, which the question must not name. If it is None, the types of the spans of high relevance are used.
    """
    if document.question is None:
        return
    if not document.question.strip():
        yield Check(code="question.empty", sentence="The question is empty.", field="question")
        return
    facts = facts_of(document.question)
    yield from _values(document, facts)
    yield from _content_words(document, facts)
    named = pair if pair is not None else sorted({span.entity_type for span in document.marks if span.relevance == "high"})
    for entity_type in named:
        words = (*sorted(types[entity_type].type_words), entity_type) if entity_type in types else (entity_type,)
        found = tuple(place for hit in _any_word(words).finditer(document.question) if (place := hit.span()))
        if found:
            sentence = f"The question names the type {entity_type}, which it should leave to the text."
            yield Check(code="question.type_word", sentence=sentence, field="question", ranges=found)
    for kind, place in facts.identifiers(region):
        sentence = f"The question holds {CODE_KINDS.get(kind, 'a web address')}."
        yield Check(code="question.identifier", sentence=sentence, field="question", ranges=(place,))


def _values(document: Document, facts: TextFacts) -> Iterator[Check]:
    seen: dict[tuple[Range, ...], list[str]] = {}
    spellings: dict[str, list[str]] = {}
    for span in document.marks:
        text = document.context[span.start : span.end]
        if text.casefold() not in STOP_WORDS:  # "I" marked as a name
            spellings.setdefault(text, []).append(span.id)
    for text, ids in spellings.items():
        places = tuple(place for place in facts.searchable.occurrences(text) if place is not None)
        if places:
            seen.setdefault(places, []).extend(ids)
    for places, ids in seen.items():
        sentence = "The question repeats a marked value: whoever reads it learns the value without the text."
        yield Check(code="question.value", sentence=sentence, field="question", spans=tuple(ids), ranges=places)


def _content_words(document: Document, facts: TextFacts) -> Iterator[Check]:
    if not facts.stems:
        return
    mine = {stem for stem, _ in facts.stems}
    giving: dict[str, list[str]] = {}
    for span in document.marks:
        if span.relevance == "high":
            text = document.context[span.start : span.end]
            if any(place is not None for place in facts.searchable.occurrences(text)):
                continue  # already reported as a whole value
            for stem in sorted(mine & stems_of(text)):
                giving.setdefault(stem, []).append(span.id)
    for stem, ids in giving.items():
        places = tuple(place for held, place in facts.stems if held == stem)
        sentence = "The question shares a word with a span of high relevance."
        yield Check(code="question.content_word", sentence=sentence, field="question", spans=tuple(ids), ranges=places)


@lru_cache(maxsize=256)
def _any_word(words: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(re.escape(word) for word in words)})(?!\w)", re.IGNORECASE)
