"""The language of a corpus: given, or told by its commonest words. It ranks the vocabularies by which tags are read.

The words are not ``foundation.words.STOP_WORDS``, which leave out those that have content in another language; the head of
``data/function_words.yaml`` says more.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final, NamedTuple

from pydantic import BaseModel, ConfigDict

from piiloom.foundation.yaml_files import load_yaml
from piiloom.surrogates.placeholders.reading import Reader
from piiloom.surrogates.placeholders.vocabulary import vocabulary
from piiloom.surrogates.placeholders.vocabulary_files import LANGUAGES

ENGLISH: Final = "en"  # tools write English tags into texts of all languages
SAMPLE: Final = 200  # documents from whose beginnings the language is told
BEGINNING: Final = 2_000  # characters of each
_WORD: Final = re.compile(r"[^\W\d_]+")
_TOKENS: Final = re.compile(r"\{\w+\}|[^\w\s]")  # what a family has besides its words
_FEWEST: Final = 3  # fewer common words than this do not tell a document's language
_LEAST_SHARE: Final = 0.12  # common words among all words; texts of other languages stay below
_LEAD: Final = 1.25  # as many times more common words than in the next language
_SPOKEN: Final = 0.1  # a language of at least this share of the documents is one of the corpus


class _FunctionWords(BaseModel):
    model_config = ConfigDict(extra="forbid", defer_build=True)

    function_words: dict[str, tuple[str, ...]]


class Ranking(NamedTuple):
    """The vocabularies of a corpus, the most trusted first.

    ``home`` are those whose words need no support: the languages of the texts, and English. With a language that is not known it is
    empty: then all vocabularies count alike. ``told`` is the language that most texts are in, "" if they do not tell. ``unread``: the
    texts' owner named a language that no vocabulary has.
    """

    languages: tuple[str, ...] = LANGUAGES
    home: frozenset[str] = frozenset()
    told: str = ""
    unread: bool = False


@cache
def _shares() -> dict[str, tuple[tuple[str, float], ...]]:
    """Return what each common word counts for which languages."""
    listed = load_yaml(files("piiloom.surrogates") / "data" / "function_words.yaml", _FunctionWords).function_words
    spoken: dict[str, list[str]] = {}
    for language, words in listed.items():
        for word in words:
            spoken.setdefault(word, []).append(language)
    return {word: tuple((language, 1 / len(among)) for language in among) for word, among in spoken.items()}


@cache
def common_words(language: str) -> frozenset[str]:
    """Return the commonest words of *language*, or of all languages if it is "", in small letters."""
    return frozenset(word for word, spoken in _shares().items() if not language or language in dict(spoken))


@lru_cache(maxsize=8)
def language_of(text: str) -> str:
    """Return the language of the beginning of *text*, one of ``LANGUAGES``; "" if it does not tell."""
    counts: Counter[str] = Counter()
    words = _WORD.findall(text[:BEGINNING].lower())
    hits, shares = 0, _shares()
    for word in words:
        for language, share in shares.get(word, ()):
            counts[language] += share  # type: ignore[assignment]  # counters add up floats as well
        hits += word in shares
    if hits < max(_FEWEST, _LEAST_SHARE * len(words)):
        return ""
    (first, most), *others = counts.most_common(2)
    return first if not others or most >= _LEAD * others[0][1] else ""


def ranking_of(texts: Iterable[str], given: str = "") -> Ranking:
    """Rank the vocabularies for a corpus that begins with *texts*; *given* is its language as its owner says (ISO 639-1), or "".

    A given language leads, except English, which is what options say when nobody says anything: there the texts decide.
    """
    votes = Counter(filter(None, map(language_of, texts)))
    total = sum(votes.values())
    spoken = [language for language, count in sorted(votes.items(), key=lambda vote: (-vote[1], vote[0])) if count >= _SPOKEN * total]
    told = spoken[0] if spoken else ""
    if not spoken and given in {"", ENGLISH}:
        return Ranking()
    home = tuple(dict.fromkeys([*([given] if given in LANGUAGES and given != ENGLISH else []), *spoken, ENGLISH]))
    return Ranking(tuple(dict.fromkeys((*home, *LANGUAGES))), frozenset(home), told, given not in {"", *LANGUAGES})


def ranked_by_tags(ranking: Ranking, tags: Iterable[str]) -> Ranking:
    """Rank the languages that the texts are not in by how many of the *tags* (families that no home language reads) they read.

    A tool of a Spanish maker writes [NOMBRE] and [CIUDAD] into English texts, too; the two together tell that it is no French number.
    """
    foreign = [language for language in ranking.languages if language not in ranking.home]
    words = [_TOKENS.sub(" ", tag) for tag in tags]
    read = {language: sum(Reader(vocabulary((language, ENGLISH))).read(word) is not None for word in words) for language in foreign}
    ordered = sorted(foreign, key=lambda language: -read[language])  # the sort is stable
    return ranking._replace(languages=(*(language for language in ranking.languages if language in ranking.home), *ordered))
