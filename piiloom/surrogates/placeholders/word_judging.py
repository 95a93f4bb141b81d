"""Verdicts on placeholders without signs that have words: "Dr. X", "NAME_1", "Ort_3", "Patient A", "FIRST_NAME"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from piiloom.surrogates.placeholders.families import numbered
from piiloom.surrogates.placeholders.grammar_files import Grammar
from piiloom.surrogates.placeholders.grammar_patterns import TITLED
from piiloom.surrogates.placeholders.reading import Meaning, Reader
from piiloom.surrogates.placeholders.scanning import NUMBERED, ROLE_LETTER, Scanner
from piiloom.surrogates.placeholders.verdicts import UNREAD, UNTOLD, Verdict
from piiloom.surrogates.placeholders.widening import WORD_LABEL, WORD_NUMBERED

_GLUED_LESS: Final = 0.14  # subtracted from the confidence of PERSON1, compared with PERSON_1
_LETTER_LESS: Final = 0.13  # subtracted from the confidence of "Dr. B", compared with "Dr. X"
_FOREIGN_TITLE: Final = 0.3  # the confidence in a title of a language that the texts are not in
_PARTY_LESS: Final = 0.1  # "Party A": contracts write so of nobody
CAPITAL_WORDS: Final = "capital_words"
_LETTERED: Final = frozenset("company hospital school university bank city".split())  # "Company A": to be listed
_SHORTEST_ROLE: Final = 4


class WordJudge:
    """Classifies them by the words that *reader* knows and the titles of *scanner*. ``by_name`` are its methods by grammar."""

    def __init__(self, reader: Reader, scanner: Scanner) -> None:
        self._reader = reader
        self._scanner = scanner
        self.by_name: dict[str, Callable[[Grammar, str], Verdict]] = {
            TITLED: self._titled,
            NUMBERED: self._numbered,
            ROLE_LETTER: self._role_letter,
            CAPITAL_WORDS: self._capital_words,
            **dict.fromkeys((WORD_NUMBERED, WORD_LABEL), self._word_numbered),
        }

    def _titled(self, grammar: Grammar, literal: str) -> Verdict:
        title, letters = literal.split(" ", 1)
        told = self._scanner.title(title)
        letters = letters.rstrip(".…")
        index = letters.replace(" ", "").casefold()
        meaning = Meaning(
            "person", role=told.role, index=index, form="family", gender=told.gender, language=self._reader.foreign(told.language)
        )
        usual = len(index) > 1 or letters in "XYZ"
        sure = grammar.upper - _LETTER_LESS * (not usual) if told.language in self._reader.languages else _FOREIGN_TITLE
        return Verdict("known", f"{title} {{letter}}", meaning, sure=sure)

    def _numbered(self, grammar: Grammar, literal: str) -> Verdict:
        meaning = self._reader.read(literal)
        if meaning is None or not meaning.index:
            if "_" not in literal:
                return Verdict("nothing", literal)
            return Verdict("unknown", f"{literal.rstrip('0123456789')}{{index}}", why=UNREAD)
        glued = literal[-len(meaning.index) - 1].isalpha()
        return Verdict("known", numbered(literal, meaning.index), meaning, sure=(grammar.upper - _GLUED_LESS * glued) * meaning.sure)

    def _word_numbered(self, grammar: Grammar, literal: str) -> Verdict:
        """Judge "Ort_3" and "person_1", of which only words that are known are placeholders: programs write so as well."""
        meaning = self._reader.read(literal)
        if meaning is None or not meaning.index:
            return Verdict("nothing", literal)
        sure = grammar.upper if literal[0].isupper() else grammar.lower
        return Verdict("known", numbered(literal, meaning.index), meaning, sure=sure * meaning.sure)

    def _capital_words(self, grammar: Grammar, literal: str) -> Verdict:
        """Judge "FIRST_NAME" without signs, of which only words that are known are placeholders."""
        meaning = self._reader.read(literal)
        return Verdict("nothing", literal) if meaning is None else Verdict("known", literal, meaning, sure=grammar.upper * meaning.sure)

    def _role_letter(self, grammar: Grammar, literal: str) -> Verdict:
        """Judge "Patient A", of which the letter is the name; nothing if the word before it names nobody ("Vitamin C")."""
        word, letter = literal.split(" ", 1)
        meaning = self._reader.read(word.casefold()) if len(word) >= _SHORTEST_ROLE else None
        if meaning is not None and meaning.kind in _LETTERED and not meaning.plural:
            told = Meaning(meaning.kind, role="letter", index=letter.rstrip(".").casefold())
            return Verdict("unknown", f"{word} {{letter}}", told, why=UNTOLD)
        if (
            meaning is None
            or meaning.kind != "person"
            or meaning.plural
            or (meaning.role == "name" and not word.casefold().startswith("pers"))
        ):
            return Verdict("nothing", literal)
        told = Meaning(
            "person", role=meaning.role, index=letter.casefold(), form="family", gender=meaning.gender, language=meaning.language
        )
        return Verdict("known", f"{word} {{letter}}", told, sure=grammar.upper - _PARTY_LESS * bool(meaning.context))
