"""A sequence of gates. Cheap gates come first, stateful ones last, so that they store only records that pass all others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from piiloom.corpus.record import Record
from piiloom.screening.exactness import DuplicatesGate, ExactnessGate, LengthGate, PresenceGate
from piiloom.screening.gate import Expectations, Gate, GateVerdict, MemoryGate
from piiloom.screening.language import LanguageGate, knows
from piiloom.screening.question_leaks import QuestionLeaksGate
from piiloom.screening.refusals import RefusalsGate
from piiloom.screening.unlisted import TrainedDetector, UnlistedGate
from piiloom.taxonomy.entity_types import Taxonomy
from piiloom.taxonomy.locales import Locale


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
