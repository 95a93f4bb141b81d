"""Verdicts on placeholders without signs that have words: "Dr. X", "NAME_1", "Ort_3", "Patient A", "FIRST_NAME"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from piiloom.surrogates.placeholders.families import IN_INITIALS, numbered
from piiloom.surrogates.placeholders.grammar_files import Grammar
from piiloom.surrogates.placeholders.grammar_patterns import TITLED
from piiloom.surrogates.placeholders.other_scripts import in_other_script, speaks_in_other_script
from piiloom.surrogates.placeholders.reading import Meaning, Reader
from piiloom.surrogates.placeholders.scanning import NUMBERED, ROLE_LETTER, Scanner
from piiloom.surrogates.placeholders.verdicts import UNREAD, UNTOLD, Verdict
from piiloom.surrogates.placeholders.widening import HYPHEN_NUMBERED, TITLE_WORDS, WORD_LABEL, WORD_NUMBERED

_GLUED_LESS: Final = 0.14  # subtracted from the confidence of PERSON1, compared with PERSON_1
_LETTER_LESS: Final = 0.13  # subtracted from the confidence of "Dr. B", compared with "Dr. X"
_FOREIGN_TITLE: Final = 0.3  # the confidence in a title of a language that the texts are not in
_PARTY_LESS: Final = 0.1  # "Party A": contracts write so of nobody
CAPITAL_WORDS: Final = "capital_words"
CAMEL_NAME: Final = "camel_name"
BARE_WORD: Final = "bare_word"
GLUED: Final = "glued"
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
            **dict.fromkeys((CAPITAL_WORDS, TITLE_WORDS, CAMEL_NAME, BARE_WORD), self._capital_words),
            GLUED: self._glued,
            **dict.fromkeys((WORD_NUMBERED, WORD_LABEL, HYPHEN_NUMBERED), self._word_numbered),
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
            other = in_other_script(literal) and literal[-1].isdigit()
            return Verdict("unknown", f"{literal.rstrip('0123456789')}{{index}}", why=UNREAD) if other else Verdict("nothing", literal)
        if grammar.name == HYPHEN_NUMBERED and meaning.kind != "person":
            return Verdict("nothing", literal)  # "Type-2"
        sure = grammar.upper if literal[0].isupper() else grammar.lower
        return Verdict("known", numbered(literal, meaning.index), meaning, sure=sure * meaning.sure)

    def _capital_words(self, grammar: Grammar, literal: str) -> Verdict:
        """Judge "FIRST_NAME", "First_Name" and "FirstName" without signs: filled if all words are known, listed if one is."""
        meaning = self._reader.read(literal)
        if meaning is not None:
            return Verdict("known", literal, meaning, sure=grammar.upper * meaning.sure)
        return Verdict("unknown", literal, why=UNREAD) if self._reader.speaks(literal) else Verdict("nothing", literal)

    @staticmethod
    def _glued(grammar: Grammar, literal: str) -> Verdict:
        """Judge "ФИО1", of which only words that tags have are placeholders."""
        if not speaks_in_other_script(literal):
            return Verdict("nothing", literal)
        return Verdict("unknown", f"{literal.rstrip('0123456789')}{{index}}", sure=grammar.upper, why=UNREAD)

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
        index = "".join(filter(str.isalpha, letter)).casefold()
        form = "family" if len(index) == 1 else "full"
        told = Meaning("person", role=meaning.role, index=index, form=form, gender=meaning.gender, language=meaning.language)
        family = f"{word} {{letter}}" if len(index) == 1 else f"{word} {IN_INITIALS}"
        return Verdict("known", family, told, sure=grammar.upper - _PARTY_LESS * bool(meaning.context))
