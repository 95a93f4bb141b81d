"""The gates in their order: cheap ones first, those that remember last, so that only sound records are remembered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from piiloom.corpus.record import Record
from piiloom.screening.duplicates import DuplicatesGate
from piiloom.screening.exactness import ExactnessGate
from piiloom.screening.gate import Expectations, Gate, MemoryGate, Verdict
from piiloom.screening.language import LanguageGate
from piiloom.screening.length import LengthGate
from piiloom.screening.presence import PresenceGate
from piiloom.screening.question_leaks import QuestionLeaksGate
from piiloom.screening.refusals import RefusalsGate
from piiloom.screening.unlisted import UnlistedGate
from piiloom.taxonomy.entity_types import load_taxonomy


class Screen:
    """Gates that a record must pass one after the other."""

    def __init__(self, gates: Sequence[Gate]) -> None:
        self.gates = tuple(gates)

    @property
    def codes(self) -> Mapping[str, str]:
        """Every reason code that the gates can give, explained."""
        return {code: explanation for gate in self.gates for code, explanation in gate.codes.items()}

    def check(self, record: Record, expected: Expectations) -> Verdict | None:
        """The verdict of the first gate that refuses *record*; None when all let it pass."""
        for gate in self.gates:
            verdict = gate.check(record, expected)
            if verdict is not None:
                return verdict
        return None

    def prime(self, record: Record) -> None:
        """Let the gates that compare records remember one accepted earlier (a resumed run, an existing corpus)."""
        for gate in self.gates:
            if isinstance(gate, MemoryGate):
                gate.prime(record)


def default_screen(
    *, near_duplicate_threshold: float = 0.5, repeated_questions: bool = False, common_words: frozenset[str] = frozenset()
) -> Screen:
    """All gates in their fixed order, with the type words of the taxonomy; a new one for each run, as it remembers.

    With *repeated_questions* a question may be asked again, of another text. *common_words* are stems that a question may share with a
    value that matters.
    """
    type_words = {name: entity_type.type_words for name, entity_type in load_taxonomy().types.items()}
    return Screen(
        (
            ExactnessGate(),
            PresenceGate(),
            LengthGate(),
            QuestionLeaksGate(type_words, common_words=common_words),
            RefusalsGate(),
            UnlistedGate(),
            LanguageGate(),
            DuplicatesGate(threshold=near_duplicate_threshold, questions=not repeated_questions),
        )
    )
