"""The vocabulary of tags in several languages: what each word or phrase stands for."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from typing import Final, Literal, NamedTuple

from piiloom.surrogates.mentions import Gender, Same
from piiloom.surrogates.placeholders.folding import phrase_of
from piiloom.surrogates.placeholders.vocabulary_files import LANGUAGES, VocabularyFile, vocabulary_file

What = Literal["role", "name", "value", "blank", "skip", "qualifier", "unread"]

_SHORT: Final = 3
_ANYBODYS: Final = frozenset({"id_number", "employee_id"})  # numbers that do not imply one role
_PLURAL_IN_S: Final = frozenset({"en", "nl", "pt", "fr", "es"})  # Italian CAP and CAPS are two words


class Word(NamedTuple):
    """The meaning of one phrase of one language.

    ``stem`` is the role that it names, ``owner`` the role of the person who has an id of this kind ("student" for "student id").
    ``sure`` is the confidence (0 to 1), ``party``: may also be an organization, ``lettered``: may follow a letter ("a-straat").
    ``beside``: what stands beside the tag may tell another kind. ``head_last``: in compounds of this language the last word determines
    the meaning. ``language`` is the one whose file has it.
    """

    what: What
    kind: str = ""
    stem: str = ""
    owner: str = ""
    form: str = ""
    gender: Gender | None = None
    plural: bool = False
    same: Same = "document"
    sure: float = 1.0
    party: bool = False
    lettered: bool = False
    beside: bool = False
    head_last: bool = False
    language: str = ""


class Vocabulary:
    """The phrases of some languages. Where two share a phrase, the language listed first wins.

    ``rivals`` holds, for such a phrase, the first word of a later language that means something else.
    """

    def __init__(self, languages: tuple[str, ...] = LANGUAGES) -> None:
        self.languages = languages
        self.words: dict[str, Word] = {}
        self.rivals: dict[str, Word] = {}
        self.articles: set[str] = set()
        self.doubtful: set[str] = set()
        self.adjectives: set[str] = set()
        self.places: set[str] = set()
        self.own: set[str] = set()
        self.ids: dict[str, str] = {}
        index_words: set[str] = set()
        for language in languages:
            source = vocabulary_file(language)
            for phrase, word in _words_of(source):
                known = self.words.setdefault(phrase, word)
                if (known.what, known.kind) != (word.what, word.kind) and known.language != word.language:
                    self.rivals.setdefault(phrase, word)
            self.articles.update(map(phrase_of, source.articles))
            self.doubtful.update(map(phrase_of, source.doubtful))
            for role, kind in source.ids.items():
                self.ids.setdefault(role, kind)
            self.adjectives.update(map(phrase_of, source.describing.adjectives))
            self.places.update(map(phrase_of, source.describing.places))
            self.own.update(map(phrase_of, source.describing.own))
            index_words.update(map(phrase_of, source.index_words))
        self.index_words = frozenset(index_words)
        self.longest = max(phrase.count(" ") + 1 for phrase in self.words)

    def get(self, phrase: str) -> Word | None:
        """Return the meaning of *phrase* (normalized by ``phrase_of``), or None.

        An unknown phrase that ends in -s is also looked up without it, as a plural of a language that makes them so.
        """
        found = self.words.get(phrase)
        if found is None and phrase.endswith("s") and len(phrase) > _SHORT:
            single = self.words.get(phrase[:-1])
            if single is not None and single.what in {"role", "name", "value"} and single.language in _PLURAL_IN_S:
                found = single._replace(plural=True)
        return found


def _words_of(source: VocabularyFile) -> Iterator[tuple[str, Word]]:
    """Yield all phrases of one file, normalized, with their meanings; the caller keeps the first of duplicates."""
    for spellings, word in _meanings(source):
        for spelling in spellings:
            yield phrase_of(spelling), word


def _meanings(source: VocabularyFile) -> Iterator[tuple[tuple[str, ...], Word]]:
    word = partial(Word, head_last=source.head == "last", language=source.language)
    for who in source.people:
        base = word("role", "person", stem=who.role, same=who.same, sure=who.sure, party=who.party)
        yield who.words, base
        yield who.female, base if who.weak else base._replace(gender="female")
        yield who.male, base if who.weak else base._replace(gender="male")
        gender: Gender | None = None if who.weak or who.words else "female" if who.female else "male"
        yield who.plural, base._replace(plural=True, gender=gender)
    for name in source.names:
        base = word("name", "person", stem=name.role or "name", form=name.form, same="document" if name.role else "mention")
        yield name.words, base
        yield name.plural, base._replace(plural=True)
    owners = {kind: role for role, kind in reversed(source.ids.items())}
    for value in source.values:
        owner = owners.get(value.kind, "") if value.kind not in _ANYBODYS else ""
        base = word("value", value.kind, value.role, owner, value.form, same=value.same, sure=value.sure)
        base = base._replace(lettered=value.lettered, beside=value.beside)
        yield value.words, base
        yield value.plural, base._replace(plural=True)
    yield source.blanks, word("blank", "generic", same="mention")
    yield source.unread, word("unread")
    yield source.qualifiers.female, word("qualifier", gender="female")
    yield source.qualifiers.male, word("qualifier", gender="male")
    yield (*source.joiners, *source.articles), word("skip")


@cache
def vocabulary(languages: tuple[str, ...] = LANGUAGES) -> Vocabulary:
    """Return the vocabulary of *languages*; cached."""
    return Vocabulary(languages)
