"""A sequence of gates, and the gates over the values and texts of a record: presence, length, exact mentions, duplicates.

Cheap gates come first, stateful ones last, so that they store only records that pass all others. ``Record`` already refuses spans that are
unsorted, empty, overlapping or outside the context. ``piiloom.corpus.mention_search`` defines whole words, and the spellings that mention a
value.

Texts are near-duplicates if the Jaccard similarity of their 5-word shingles reaches the threshold
(``piiloom.corpus.near_duplicates``). Records of one contrast group share their context, which is no duplicate. The duplicates gate stores
the records that pass, so records must come in plan order. It must be the last gate of a screen, because a record that another
gate refuses must not be stored. A record id that was seen before passes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from piiloom.corpus.mention_search import SearchableText, is_same_value, stands_alone
from piiloom.corpus.near_duplicates import NearDuplicateIndex, shingle_hashes
from piiloom.corpus.normalising import trim
from piiloom.corpus.record import Record, Span
from piiloom.foundation.words import count_words
from piiloom.screening.gates import (
    Expectations,
    ExpectedValue,
    Gate,
    GateVerdict,
    MemoryGate,
    QuestionLeaksGate,
    RefusalsGate,
    TrainedDetector,
    UnlistedGate,
)
from piiloom.screening.language import LanguageGate, knows
from piiloom.taxonomy.entity_types import Taxonomy
from piiloom.taxonomy.locales import Locale


class PresenceGate:
    """Refuses records in which a type of the pair (or of ``high_types``) has no high-relevance span."""

    name = "presence"
    codes = MappingProxyType({"presence.no_high_span": "a type that must be of high relevance has no such span"})

    def check(self, record: Record, expected: Expectations) -> GateVerdict | None:
        """Return a verdict for the first type without a high-relevance span."""
        present = {span.entity_type for span in record.spans if span.relevance == "high"}
        for entity_type in expected.pair if expected.high_types is None else expected.high_types:
            if entity_type not in present:
                return GateVerdict(code="presence.no_high_span", detail=f"no high-relevance span of type {entity_type}")
        return None


class LengthGate:
    """Refuses contexts with fewer or more words than requested."""

    name = "length"
    codes = MappingProxyType(
        {"length.short": "the context has fewer words than asked for", "length.long": "the context has more words than asked for"}
    )

    def check(self, record: Record, expected: Expectations) -> GateVerdict | None:
        """Count the words of the context."""
        count = count_words(record.context)
        if count < expected.min_words:
            return GateVerdict(code="length.short", detail=f"{count} words, at least {expected.min_words} asked for")
        if expected.max_words is not None and count > expected.max_words:
            return GateVerdict(code="length.long", detail=f"{count} words, at most {expected.max_words} asked for")
        return None


class ExactnessGate:
    """Refuses spans that cut words or do not match their value, values without a span, and mentions without a span."""

    name = "exactness"
    codes = MappingProxyType(
        {
            "exactness.edges": "a span begins or ends inside a word, a number or a grapheme, or with white space",
            "exactness.unexpected_span": "a span belongs to no expected value",
            "exactness.label": "a span's type or relevance is not its value's",
            "exactness.changed_value": "a span's text is another value",
            "exactness.missing_value": "an expected value has no span",
            "exactness.unmarked_mention": "a whole-word mention of a value is no span",
        }
    )

    def check(self, record: Record, expected: Expectations) -> GateVerdict | None:
        """Check each span, then look for values without a span, then for mentions without a span."""
        values = {value.id: value for value in expected.values}
        for span in record.spans:
            verdict = _judge_span(record, span, values)
            if verdict is not None:
                return verdict
        marked = {span.value_id for span in record.spans}
        for value in expected.values:
            if value.id not in marked:
                return GateVerdict(code="exactness.missing_value", detail=f"value {value.id} ({value.entity_type}) has no span")
        return _unmarked(record, expected)


def _judge_span(record: Record, span: Span, values: dict[str, ExpectedValue]) -> GateVerdict | None:
    value = values.get(span.value_id or "")
    if trim(record.context, span.start, span.end) != (span.start, span.end) or not stands_alone(record.context, span.start, span.end):
        code = "edges"
    elif value is None:
        code = "unexpected_span"
    elif (span.entity_type, span.relevance) != (value.entity_type, value.relevance):
        code = "label"
    elif not is_same_value(span.text_in(record.context), value.text):
        code = "changed_value"
    else:
        return None
    return GateVerdict(
        code=f"exactness.{code}", detail=f"span {span.id} [{span.start}, {span.end}) of value {span.value_id} ({span.entity_type})"
    )


def _unmarked(record: Record, expected: Expectations) -> GateVerdict | None:
    searchable = SearchableText(record.context)
    spellings = {value.text: value.id for value in expected.values}
    for span in record.spans:
        spellings.setdefault(span.text_in(record.context), span.value_id or "")
    for text, value_id in spellings.items():
        for start, end in searchable.mentions(text):
            # A shorter value inside a longer one's mention is part of that mention.
            if not any(span.start <= start and end <= span.end for span in record.spans):
                detail = f"value {value_id} is mentioned at [{start}, {end}) without a span"
                return GateVerdict(code="exactness.unmarked_mention", detail=detail)
    return None


class DuplicatesGate:
    """Refuses near-duplicates of earlier records; use one gate object per run.

    *threshold* is the Jaccard similarity in (0, 1]. With *questions* false, questions are not compared.
    """

    name = "duplicate"
    codes = MappingProxyType(
        {
            "duplicate.near": "an earlier record has the same or nearly the same context",
            "duplicate.question": "an earlier record has the same or nearly the same question",
        }
    )

    def __init__(self, *, threshold: float = 0.5, questions: bool = True) -> None:
        self._question_counts = questions
        self._texts: dict[str, str] = {}
        self._contexts = NearDuplicateIndex(threshold=threshold)
        self._questions = NearDuplicateIndex(threshold=threshold)
        self._seen: set[str] = set()

    def check(self, record: Record, expected: Expectations) -> GateVerdict | None:  # noqa: ARG002  the protocol's signature
        """Compare *record* with all earlier ones and store it if it is new."""
        if record.id in self._seen:
            return None
        asked = shingle_hashes(record.question) if record.question and self._question_counts else None
        earlier = None if asked is None else self._questions.nearest(asked)
        if earlier is not None:
            return GateVerdict(code="duplicate.question", detail=f"of record {earlier}")
        if not self._is_known(record):
            earlier = self._contexts.add(record.id, record.context)
            if earlier is not None:
                return GateVerdict(code="duplicate.near", detail=f"of record {earlier}")
            self._remember_text(record)
        self._seen.add(record.id)
        if asked is not None:
            self._questions.put(record.id, asked)
        return None

    def prime(self, record: Record) -> None:
        """Store a record that was accepted earlier, without checking it."""
        if record.id not in self._seen:
            if not self._is_known(record):
                self._contexts.put(record.id, shingle_hashes(record.context))
                self._remember_text(record)
            self._seen.add(record.id)
            if record.question and self._question_counts:
                self._questions.put(record.id, shingle_hashes(record.question))

    def _is_known(self, record: Record) -> bool:
        """Whether an accepted record of the same contrast group has the same context."""
        group = record.contrast_group
        return group is not None and self._texts.get(group) == record.context

    def _remember_text(self, record: Record) -> None:
        if record.contrast_group is not None:
            self._texts[record.contrast_group] = record.context


class RecordScreen:
    """An ordered list of gates, all of which a record must pass."""

    def __init__(self, gates: Sequence[Gate]) -> None:
        self.gates = tuple(gates)

    @property
    def codes(self) -> Mapping[str, str]:
        """Explanation of every reason code that the gates can give."""
        return {code: explanation for gate in self.gates for code, explanation in gate.codes.items()}

    def check(self, record: Record, expected: Expectations) -> GateVerdict | None:
        """Return the verdict of the first gate that refuses *record*; None if it passes all."""
        for gate in self.gates:
            verdict = gate.check(record, expected)
            if verdict is not None:
                return verdict
        return None

    def prime(self, record: Record) -> None:
        """Store *record*, accepted earlier (by a resumed run, in an existing corpus), in the stateful gates."""
        for gate in self.gates:
            if isinstance(gate, MemoryGate):
                gate.prime(record)


def default_screen(
    taxonomy: Taxonomy,
    *,
    near_duplicate_threshold: float = 0.5,
    repeated_questions: bool = False,
    common_words: frozenset[str] = frozenset(),
    detector: TrainedDetector | None = None,
    locale: Locale | None = None,
) -> RecordScreen:
    """Build the screen of all gates in their fixed order. It is stateful, so build a new one for each run.

    *near_duplicate_threshold* is a Jaccard similarity. With *repeated_questions*, a question may occur again with another context.
    *common_words* are stems that a question may share with a high-relevance value. *detector* refuses, too. For a *locale* in a language
    without word lists of ours, what needs them is left out (``stepping_aside``).
    """
    foreign = locale is not None and not locale.has_word_lists
    type_words = {name: entity_type.type_words for name, entity_type in taxonomy.types.items()}
    return RecordScreen(
        (
            ExactnessGate(),
            PresenceGate(),
            LengthGate(),
            QuestionLeaksGate(type_words, common_words=common_words, whole_values=foreign),
            RefusalsGate(),
            UnlistedGate(detector),
            *(() if foreign and locale is not None and not knows(locale.language) else (LanguageGate(),)),
            DuplicatesGate(threshold=near_duplicate_threshold, questions=not repeated_questions),
        )
    )


def stepping_aside(locale: Locale) -> list[str]:
    """Return the checks that are left out for texts of *locale*, since they need words of its language that we do not have."""
    if locale.has_word_lists:
        return []
    return [
        "type words and content words of values in questions (whole values are looked for)",
        "the first person",
        "refusals and remarks of a model in words (marks and slots are looked for)",
        *([] if knows(locale.language) else ["the language of the text, which the classifier does not know"]),
    ]
