"""Phase III, second part: numbers so short that only what stands around them tells what they are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from piiloom.detection.hybrid.candidates import EntityCandidate
from piiloom.detection.sentences import Sentences

MOST_DIGITS: Final = 6
_AGE: Final = "age"


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberCheck:
    """A question: is ``value`` between ``before`` and ``after`` really what *candidate* says? With one sentence before and after."""

    candidate: EntityCandidate
    before: str
    value: str
    after: str

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Equal questions have equal keys, and are asked once."""
        return (self.before, self.value, self.after, self.candidate.entity.id)


def number_checks(sentences: Sentences, candidates: Iterable[EntityCandidate]) -> list[NumberCheck]:
    """The questions about those of *candidates* that are short numbers."""
    return [_question(sentences, one) for one in candidates if is_short_number(sentences.text[one.start : one.end], one)]


def is_short_number(value: str, candidate: EntityCandidate) -> bool:
    """Whether *value* has one to six digits and no letters (an age may have some), and nothing has confirmed it yet.

    A validator has, if it accepts it, and so have two finders that agree: the reader of phase I has seen what stands around it.
    """
    digits = sum(c.isdigit() for c in value)
    if candidate.validated or candidate.agreed or not 1 <= digits <= MOST_DIGITS:
        return False
    return candidate.entity.entity_type == _AGE or not any(map(str.isalpha, value))


def _question(sentences: Sentences, one: EntityCandidate) -> NumberCheck:
    text = sentences.text
    begin, end = sentences.around(one.start, one.end, beside=1)
    return NumberCheck(candidate=one, before=text[begin : one.start], value=text[one.start : one.end], after=text[one.end : end])


def by_cues(check: NumberCheck, against: Iterable[str]) -> bool:
    """Return whether a label or context word of the entity is near, and no word against it is nearer before the value."""
    entity = check.candidate.entity
    labels = [phrase for pattern in entity.patterns if not pattern.followed_by for phrase in pattern.preceded_by]
    behind = [phrase for pattern in entity.patterns for phrase in pattern.followed_by]
    before, after = check.before.lower(), check.after.lower()
    speaking_for = max((_end_of_last(before, phrase) for phrase in (*entity.context, *labels)), default=-1)
    speaking_against = max((_end_of_last(before, phrase) for phrase in against), default=-1)
    if speaking_against > speaking_for:
        return False
    return speaking_for >= 0 or any(phrase in after for phrase in (*entity.context, *behind))


def _end_of_last(text: str, phrase: str) -> int:
    at = text.rfind(phrase)
    return -1 if at < 0 else at + len(phrase)
