"""The vocabulary of tags in several languages: its data, and the lookup of a folded tag.

The data is ``data/vocabulary/<language>.yaml``; the head of ``en.yaml`` explains the keys. LAST_NAME, LastName and "last name" are equal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache, partial
from itertools import chain
from typing import Final, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from piiloom.foundation.yaml_files import load_data
from piiloom.pii_values.names.regions import Gender
from piiloom.surrogates.documents import Same
from piiloom.surrogates.known_names import unaccented

LANGUAGES: Final = ("en", "nl", "pt", "de", "fr", "es", "it", "sv", "no", "da", "fi", "pl")


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", defer_build=True)


class WordsEntry(_Entry):
    """Words of one meaning: a role, the name of anybody, a value of another kind, or titles before a letter; see ``en.yaml``."""

    kind: str = "person"
    role: str = ""
    words: tuple[str, ...] = ()
    female: tuple[str, ...] = ()
    male: tuple[str, ...] = ()
    plural: tuple[str, ...] = ()
    gender: Gender | None = None
    form: str = ""
    same: Same | None = None
    sure: float = 1.0
    weak: bool = False
    party: bool = False
    lettered: bool = False
    beside: bool = False
    account: bool = False
    service: bool = False


class CueEntry(_Entry):
    """What stands beside a placeholder and tells its kind, or how a value of its kind is written there."""

    kind: str
    before: str = ""
    after: str = ""
    form: str = ""
    gender: Gender | None = None
    sure: float = 1.0


class VocabularyFile(_Entry):
    """One language.

    ``qualifiers`` are words inside a tag that tell gender. ``describing`` are words of descriptions that stand for a tag: before its
    noun, and between the noun and where it is; ``own`` tells the writer's.
    """

    language: str
    head: Literal["first", "last"]
    doubtful: tuple[str, ...] = ()
    articles: tuple[str, ...] = ()
    joiners: tuple[str, ...] = ()
    index_words: tuple[str, ...] = ()
    qualifiers: dict[Gender, tuple[str, ...]] = {}
    services: str = ""  # with commas: YAML takes ten times as long to read a list
    glued: tuple[str, ...] = ()
    blanks: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    people: tuple[WordsEntry, ...]
    names: tuple[WordsEntry, ...]
    values: tuple[WordsEntry, ...]
    ids: dict[str, str] = {}
    titles: tuple[WordsEntry, ...] = ()
    cues: tuple[CueEntry, ...] = ()
    forms: tuple[CueEntry, ...] = ()
    describing: dict[Literal["adjectives", "places", "own"], tuple[str, ...]] = {}
    contacts: dict[str, str] = {}


@cache
def vocabulary_file(language: str) -> VocabularyFile:
    """Read the vocabulary file of *language*, one of ``LANGUAGES``; cached."""
    return load_data("piiloom.surrogates", f"vocabulary/{language}.yaml", VocabularyFile)


_POSSESSIVE: Final = re.compile(r"['’´`]s?\s*$", re.IGNORECASE)
_GLUED_ENDING: Final = re.compile(r"(?<=\w)\(\w{1,8}\)")  # "eiser(es)", "PROFESSOR(A)"
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z][a-z])|(?<=[a-z]{2})(?=[A-Z]{2})|(?<=[A-Z]{2})(?=[A-Z][a-z]{2})")
_TOKEN: Final = re.compile(r"\d+[a-z](?![a-z])|\d+|[^\W\d_]+")
_ROMAN: Final = frozenset("ii iii iv vi vii viii ix".split())


class FoldedTag(NamedTuple):
    """A tag's words in lower case without accents, the index at its end ("" if none), and whether a possessive 's ends it.

    ``dropped`` are the words before the index that only announce it ("no", "sub").
    """

    words: tuple[str, ...]
    index: str  # type: ignore[assignment]
    possessive: bool
    dropped: tuple[str, ...] = ()


@cache
def phrase_of(text: str) -> str:
    """Return a vocabulary entry in the normalized form used as lookup key: "ex-man" becomes "ex man"."""
    return " ".join(_tokens(text))


def _tokens(text: str) -> list[str]:
    if text.isascii() and text.islower() and text.replace(" ", "").isalpha():
        return text.split()  # what the rest would come to: most of a vocabulary is so
    spaced = _CAMEL.sub(" ", _GLUED_ENDING.sub("", re.sub(r"(?i)['’]s\b", "", text)))
    return _TOKEN.findall(unaccented(spaced.replace("_", " ")))


def fold_tag(text: str, index_words: frozenset[str]) -> FoldedTag:
    """Split *text* into words and index: "appellant sub 18 B" gives ("appellant",), "18b"; "NAME_1" gives ("name",), "1".

    The last token is an index if it is a number (leading zeros are dropped), a single letter, a number with a letter or a Roman
    numeral from II to IX. *index_words* such as "sub" or "no" are dropped before it.
    """
    bare = _POSSESSIVE.sub("", text)
    tokens = _tokens(bare)
    index = ""
    dropped: list[str] = []
    if len(tokens) > 1:
        last = tokens[-1]
        if len(last) == 1 and last.isalpha() and tokens[-2].isdigit() and len(tokens) > 2:
            index = tokens[-2] + last
            del tokens[-2:]
        elif (last[0].isdigit() and len(last) <= 9) or len(last) == 1 or last in _ROMAN:
            index = last.lstrip("0") or "0" if last.isdigit() else last
            del tokens[-1]
        while index and len(tokens) > 1 and tokens[-1] in index_words:
            dropped.insert(0, tokens.pop())
    return FoldedTag(tuple(tokens), index, len(bare) < len(text.rstrip()) and bare != text, tuple(dropped))


What = Literal["role", "name", "value", "service", "blank", "skip", "qualifier", "unread"]


class Word(NamedTuple):
    """The meaning of one phrase of one language.

    ``stem`` is the role that it names, ``owner`` the role of the person who has an id of this kind ("student" for "student id").
    ``sure`` is the confidence (0 to 1), ``party``: may also be an organization, ``lettered``: may follow a letter ("a-straat").
    ``beside``: what stands beside the tag may tell another kind. ``account``: of what else the tag names, ``service``: names a service,
    which a "service" does only beside other words. ``head_last``: in compounds of this language the last word determines
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
    account: bool = False
    service: bool = False
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
        sources = [vocabulary_file(language) for language in languages]
        for phrase, word in chain.from_iterable(map(_words_of, sources)):
            known = self.words.setdefault(phrase, word)
            if (known.what, known.kind) != (word.what, word.kind) and known.language != word.language:
                self.rivals.setdefault(phrase, word)
        self.ids = {role: kind for source in reversed(sources) for role, kind in source.ids.items()}
        self.articles = _phrases(source.articles for source in sources)
        self.adjectives = _phrases(source.describing.get("adjectives", ()) for source in sources)
        self.places = _phrases(source.describing.get("places", ()) for source in sources)
        self.own = _phrases(source.describing.get("own", ()) for source in sources)
        self.index_words = _phrases(source.index_words for source in sources)
        self.longest = max(phrase.count(" ") + 1 for phrase in self.words)
        named = [phrase for phrase, word in self.words.items() if word.service and " " not in phrase]
        self.doubtful = _phrases(source.doubtful for source in sources).union(named)
        account = Word("value", "username", service=True, language="en")
        glued = {end for source in sources for end in source.glued}
        self.words.update(dict.fromkeys((phrase + end for phrase in named for end in glued), account))  # "Instagramkonto"

    def get(self, phrase: str) -> Word | None:
        """Return the meaning of *phrase* (normalized by ``phrase_of``), or None.

        An unknown phrase that ends in -s is also looked up without it, as a plural of a language that makes them so.
        """
        found = self.words.get(phrase)
        if found is None and phrase.endswith("s") and len(phrase) > 3:
            single = self.words.get(phrase[:-1])
            # Italian CAP and CAPS are two words.
            if single is not None and single.what in {"role", "name", "value"} and single.language in {"en", "nl", "pt", "fr", "es"}:
                found = single._replace(plural=True)
        return found


def _phrases(listed: Iterable[tuple[str, ...]]) -> frozenset[str]:
    return frozenset(map(phrase_of, chain.from_iterable(listed)))


def _words_of(source: VocabularyFile) -> Iterator[tuple[str, Word]]:
    """Yield all phrases of one file, normalized, with their meanings; the caller keeps the first of duplicates."""
    for spellings, word in _meanings(source):
        for spelling in spellings:
            yield phrase_of(spelling), word


def _meanings(source: VocabularyFile) -> Iterator[tuple[tuple[str, ...], Word]]:
    word = partial(Word, head_last=source.head == "last", language=source.language)
    # Numbers of these kinds imply no role: anybody has one.
    owners = {kind: role for role, kind in reversed(source.ids.items()) if kind not in {"id_number", "employee_id"}}
    lists: tuple[tuple[What, tuple[WordsEntry, ...]], ...] = (("role", source.people), ("name", source.names), ("value", source.values))
    for what, one in ((what, one) for what, entries in lists for one in entries):
        stem = one.role or ("name" if what == "name" else "")
        same = one.same or ("document" if what == "role" or (what == "name" and one.role) else "mention")
        owner = owners.get(one.kind, "") if what == "value" else ""
        base = word(what, one.kind, stem, owner, one.form, same=same, sure=one.sure, party=one.party)
        base = base._replace(lettered=one.lettered, beside=one.beside, account=one.account, service=one.service)
        yield one.words, base
        yield one.female, base if one.weak else base._replace(gender="female")
        yield one.male, base if one.weak else base._replace(gender="male")
        gender: Gender | None = None if one.weak or one.words else "female" if one.female else "male"
        yield one.plural, base._replace(plural=True, gender=gender)
    yield tuple(filter(None, source.services.split(", "))), word("service", "username", service=True)
    yield source.blanks, word("blank", "generic", same="mention")
    yield source.unread, word("unread")
    for gender, words in source.qualifiers.items():
        yield words, word("qualifier", gender=gender)
    yield (*source.joiners, *source.articles), word("skip")


@cache
def vocabulary(languages: tuple[str, ...] = LANGUAGES) -> Vocabulary:
    """Return the vocabulary of *languages*; cached."""
    return Vocabulary(languages)
