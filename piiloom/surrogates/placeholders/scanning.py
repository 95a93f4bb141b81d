"""Scanning a text for candidate placeholders, with the languages of the corpus and letters after titles.

The grammars are compiled into regular expressions: one of signs, few of rare signs, and one of words.

The commonest words of a corpus determine its language, if none is given. It ranks the vocabularies by which tags are read. The words are
not ``foundation.words.STOP_WORDS``, which leave out those that have content in another language; see the head of
``data/function_words.yaml``.

Letters after a title or a role may be all that is left of a name ("Dr. X", "Herr A.", "Zeuge B."), or begin one.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from itertools import islice
from typing import Final, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict

from piiloom.foundation.errors import UsageError
from piiloom.foundation.words import any_of
from piiloom.foundation.yaml_files import load_data
from piiloom.pii_values.names.regions import Gender
from piiloom.surrogates.known_names import name_words
from piiloom.surrogates.placeholders.grammar import TITLED, WIDENERS, Grammar, compiled, grammars, may_be_wider
from piiloom.surrogates.placeholders.reading import Reader
from piiloom.surrogates.placeholders.vocabulary import LANGUAGES, vocabulary, vocabulary_file

ENGLISH: Final = "en"  # tools write English tags into texts of all languages
SAMPLE: Final = 200  # documents from whose beginnings the language is told
BEGINNING: Final = 2_000  # characters of each


class _FunctionWords(BaseModel):
    model_config = ConfigDict(extra="forbid", defer_build=True)

    function_words: dict[str, tuple[str, ...]]


class LanguageRanking(NamedTuple):
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
    listed = load_data("piiloom.surrogates", "function_words.yaml", _FunctionWords).function_words
    spoken: defaultdict[str, list[str]] = defaultdict(list)
    for language, word in ((language, word) for language, words in listed.items() for word in words):
        spoken[word].append(language)
    return {word: tuple((language, 1 / len(among)) for language in among) for word, among in spoken.items()}


@cache
def common_words(language: str) -> frozenset[str]:
    """Return the commonest words of *language*, or of all languages if it is "", in small letters."""
    return frozenset(word for word, spoken in _shares().items() if not language or language in dict(spoken))


@lru_cache(maxsize=8)
def language_told(text: str) -> str:
    """Return the language of the beginning of *text*, one of ``LANGUAGES``; "" if it does not tell."""
    counts: Counter[str] = Counter()
    words = re.findall(r"[^\W\d_]+", text[:BEGINNING].lower())
    hits, shares = 0, _shares()
    for word in words:
        for language, share in shares.get(word, ()):
            counts[language] += share  # type: ignore[assignment]  # counters add up floats as well
        hits += word in shares
    if hits < max(3, 0.12 * len(words)):  # texts of other languages stay below
        return ""
    (first, most), *others = counts.most_common(2)
    return first if not others or most >= 1.25 * others[0][1] else ""


def ranking_of(texts: Iterable[str], given: str = "") -> LanguageRanking:
    """Rank the vocabularies for a corpus that begins with *texts*; *given* is its language as its owner says (ISO 639-1), or "".

    A given language leads, except English, which is what options say when nobody says anything: there the texts decide.
    """
    votes = Counter(filter(None, map(language_told, texts)))
    total = sum(votes.values())
    # A language of at least a tenth of the documents is one of the corpus.
    spoken = [language for language, count in sorted(votes.items(), key=lambda vote: (-vote[1], vote[0])) if count >= 0.1 * total]
    told = spoken[0] if spoken else ""
    if not spoken and given in {"", ENGLISH}:
        return LanguageRanking()
    home = tuple(dict.fromkeys([*([given] if given in LANGUAGES and given != ENGLISH else []), *spoken, ENGLISH]))
    return LanguageRanking(tuple(dict.fromkeys((*home, *LANGUAGES))), frozenset(home), told, given not in {"", *LANGUAGES})


def ranked_by_tags(ranking: LanguageRanking, tags: Iterable[str]) -> LanguageRanking:
    """Rank the languages that the texts are not in by how many of the *tags* (families that no home language reads) they read.

    A tool of a Spanish maker writes [NOMBRE] and [CIUDAD] into English texts, too; the two together tell that it is no French number.
    """
    foreign = [language for language in ranking.languages if language not in ranking.home]
    words = [re.sub(r"\{\w+\}|[^\w\s]", " ", tag) for tag in tags]
    read = {language: sum(Reader(vocabulary((language, ENGLISH))).read(word) is not None for word in words) for language in foreign}
    ordered = sorted(foreign, key=lambda language: -read[language])  # the sort is stable
    return ranking._replace(languages=(*(language for language in ranking.languages if language in ranking.home), *ordered))


_UPPER: Final = "".join(filter(str.isupper, map(chr, range(0x250))))
# The word after a letter; or a bracket, which holds the family name: "M. [W]".
_NEXT: Final = re.compile(
    rf"(?P<dot>\.?)(?P<gap>\s{{0,3}}+)[\"“„«‘']?(?P<word>-?[{_UPPER}][\w’'-]*)|\.\s{{0,3}}(?:\[(?!sic\b|\.|…)|<[A-Z<]|{{)"
)
_LABEL: Final = re.compile(r"(?:_\d+)?:")
_NAMED: Final = re.compile(r"[A-ZÀ-ÖØ-Þ][^\W\d_]+ $")  # ends in a name
_LONGEST_NAME: Final = 60


@cache
def _family() -> str:
    """Return the pattern of a family name with particles: "de la Tour", "d’Este"."""
    return rf"(?i:(?:{any_of(name_words().letter_particles)})\b[\s’']*){{1,3}}[{_UPPER}]"


@cache
def _family_follows() -> str:
    """Return the pattern of the rest of a name after the dot of its initial: " de la Tour", " et B. Dupont"."""
    return rf"\s(?:{_family()}|(?:{any_of(name_words().letter_joiners)}) [A-Z]\.? ?[{_UPPER}]\w)"


@cache
def _initials() -> re.Pattern[str]:
    """Return the pattern of all that is said of a name: "Herr A. sagt", "Mr A.B. said".

    What follows tells that no family name does, and whose the last dot is.
    """
    inside = rf"(?!{_family_follows()})\s(?:[(a-zà-ÿ–—-]|<[a-z/]|\[(?:sic\b|\.|…))"
    following = rf"(?=\.{{1,2}}(?:[\"”’»!?]|\s*$|(?P<gap>\s+)(?=[{_UPPER}])|\s*\n))"
    return re.compile(rf"[A-Z](?:\.[ \u00a0\u202f-]?[A-Z](?=\.))*+(?:\.(?=[,;:)]|{inside})|{following})")


@cache
def further_letters() -> re.Pattern[str]:
    """Return the pattern of what joins a further letter to one after a title: "Dr. X and Y"."""
    return re.compile(rf"(?:, | (?:{any_of(name_words().letter_joiners)}) )([A-HJ-Z])(?!\w|\.\w)(?!-\w|[’'](?!s\b)\w)")


@cache
def _next_words(language: str) -> frozenset[str]:
    """Return the words, in small letters, that begin a sentence where a family name would stand; of all languages for ""."""
    listed = name_words().letter_beginnings
    words = [word for name, of_language in listed.items() if language in {"", name} for word in of_language]
    return common_words(language).union(words, name_words().letter_titles)


def _name_follows(text: str, end: int) -> bool:
    """Whether a name goes on at *end*, right after its initial: "B. Müller", "M. [W]"; no new sentence and no label."""
    found = _NEXT.match(text, end)
    if found is None:
        return re.match(rf"\.{_family_follows()}", text[end : end + _LONGEST_NAME]) is not None
    word = found["word"]
    if word is None:
        return True
    if found["gap"].count("\n") > 1 or _LABEL.match(text, found.end()):
        return False
    if not found["dot"]:
        return text[end - 1] != "X" and found["gap"] != "" and len(word) > 1
    language = language_told(text[:BEGINNING])
    if word.casefold() not in _next_words(language):
        return True
    # "B. De Vries"; German capitals tell nothing: "B. Der Richter".
    return language != "de" and re.match(_family(), text[found.start("word") :][:_LONGEST_NAME]) is not None


def end_of_initials(text: str, start: int) -> int:
    """Return where the initials at *start* end if they are all that is said of a name ("Herr A. sagt"), else 0."""
    found = _initials().match(text, start)
    if found is None or (found["gap"] is not None and _name_follows(text, found.end())):
        return 0
    return found.end()


def is_initial(title: str, head: str, letter: str) -> bool:
    """Whether *title*, a single letter at the end of *head*, is an initial or a degree that follows a name: "House M. D."."""
    if len(title.rstrip(".")) != 1:
        return False
    before = head[: len(head) - len(title)]
    return _NAMED.search(before) is not None or (letter == "D" and _NAMED.search(before.replace(",", "")) is not None)


def is_whole_name(text: str, start: int, *, form_of_address: bool) -> bool:
    """Whether the single letter at *start* is the whole name and not an initial or an article ("the doctor A few").

    No article follows a *form_of_address* ("Ms A").
    """
    letter, after = text[start], text[start + 1 : start + 3]
    if _name_follows(text, start + 1):
        return False
    if letter in "XYZ":
        return True
    if after == ". ":
        return False
    return letter != "A" or form_of_address or not after or after[0] in ",.;:?!)'’\n" or text[start - 2] == "."


LETTERS: Final = "letters"
NUMBERED: Final = "numbered"
ROLE_LETTER: Final = "role_letter"
INITIALS: Final = "initials"

_DOTS: Final = re.compile(r"(?:\.{3}|…)?")  # "M. X..."
_WORD_RUNS: Final = frozenset({"asterisks", "bars", "blank", "blocks", "squares"})  # runs of one sign for each word of what was there
_LONGEST_ROLE: Final = 24
# What stands before a letter and belongs to what it means, though only the letter is replaced: "Patient A", "L.-J. X".
_NAMED_BEFORE: Final = {
    ROLE_LETTER: re.compile(r"(?<!\w)[^\W\d_]{3,20} $"),
    **dict.fromkeys(("initials_x", "initial_x"), re.compile(r"(?<!\w)[A-Z]\.(?:[- ]?[A-Z]\.){0,3} $")),
}


T = TypeVar("T")


class TagCandidate(NamedTuple):
    """A possible placeholder. ``[start, end)`` is the span to replace; ``literal`` is its text, preceded by its title if it has one."""

    start: int
    end: int
    grammar: Grammar
    literal: str


# Building named tuples with ``tuple.__new__`` takes half the time of calling their class.
_candidate: Callable[[type[TagCandidate], tuple[object, ...]], TagCandidate] = tuple.__new__


class Title(NamedTuple):
    """The role and gender that a title implies, and the language that has it."""

    role: str
    gender: Gender | None
    language: str


@cache
def titles(languages: tuple[str, ...] = LANGUAGES) -> dict[str, Title]:
    """Return the titles of *languages* by spelling; where two languages share one, the first language wins."""
    listed = [(language, entry) for language in languages for entry in vocabulary_file(language).titles]
    spelt = [(word, Title(entry.role, entry.gender, language)) for language, entry in listed for word in entry.words]
    return {**dict(spelt), **dict(reversed(spelt))}  # in the order of the languages


class Scanner:
    """Finds candidates of the grammars *names* (None: all), with the titles of *languages*.

    Raises ``UsageError`` for an unknown grammar.
    """

    def __init__(self, names: tuple[str, ...] | None = None, languages: tuple[str, ...] = LANGUAGES) -> None:
        self.names = names
        self._first = languages[0]
        self._grammars = grammars()
        for name in names or ():
            if name not in self._grammars:
                raise UsageError(f"unknown grammar {name!r}", remedy=f"Known: {', '.join(self._grammars)}.")
        long = {word: title for word, title in titles().items() if len(word.rstrip(".")) > 1}  # elsewhere "M." and "D." are initials
        self.titles = {**long, **titles(languages)}
        self._signs, self._rarer, self._words = compiled(names, tuple(self.titles))

    def scan(self, text: str) -> Iterator[TagCandidate]:
        """Return candidates in text order, without overlaps: the one that starts first wins, then the longer one."""
        found = self._scan_signs(text, self._signs)
        for needs, pattern in self._rarer:
            if needs in text:
                found += self._scan_signs(text, pattern)
        words = list(_widened(text, self._scan_words(text, self._words))) if self._words else []
        if not found and not words:
            return iter(())  # most texts of many corpora
        found = [*_without_texts(_widened(text, found), words), *words]
        found.sort(key=lambda candidate: (candidate.start, -candidate.end))
        return _joined_runs(text, (candidate for candidate, _ in disjoint((one, None) for one in found)))

    def titles_unlike(self, other: Scanner) -> list[str]:
        """Return the titles with which this scanner may find something else than *other* does; without them in a text, it finds the same.

        Of a title that both know it matters whether it tells a gender.
        """
        mine, theirs = ({word: title.gender is None for word, title in one.titles.items()} for one in (self, other))
        return sorted({word for word, _ in mine.items() ^ theirs.items()})

    def _scan_signs(self, text: str, pattern: re.Pattern[str]) -> list[TagCandidate]:
        known = self._grammars
        return [_candidate(TagCandidate, (*m.span(), known[m.lastgroup], m[0])) for m in pattern.finditer(text) if m.lastgroup]

    def _scan_words(self, text: str, pattern: re.Pattern[str]) -> Iterator[TagCandidate]:
        reached = 0
        for match in pattern.finditer(text):
            name, start, end = match.lastgroup or "", match.start(), match.end()
            if start < reached:
                continue
            if name == TITLED:
                for candidate in self._titled(text, start, end):
                    reached = candidate.end
                    yield candidate
                continue
            if name == ROLE_LETTER:
                end = end_of_initials(text, start) or end * is_whole_name(text, start, form_of_address=True)
                end *= end - start <= 2 or text[:end].rstrip(".")[-1] not in "XYZ"  # "J. X" is found by its X
            elif name == LETTERS:
                reached = end = _repeated(text, start, end)
            literal = text[start:end]
            if name in _NAMED_BEFORE:
                before = _NAMED_BEFORE[name].search(text, max(0, start - _LONGEST_ROLE), start)
                if before is None or not literal:
                    continue
                literal = before.group() + literal
            yield TagCandidate(start, end, self._grammars[name], literal)

    def _is_strange(self, title: str, text: str) -> bool:
        """Whether *title* is a single letter that is a title in another language only ("D. R." in a Portuguese text)."""
        return len(title.rstrip(".")) == 1 and self.titles[title].language != (language_told(text[:BEGINNING]) or self._first)

    def _titled(self, text: str, start: int, end: int) -> Iterator[TagCandidate]:
        """Yield the letters after a title, and further single letters joined to a single one ("Dr. X and Y")."""
        single = end - start == 1
        initials = end_of_initials(text, start) if single else 0
        head = text[max(0, start - 24) : start].rstrip()
        title = max((title for title in self.titles if head.endswith(title)), key=len)
        if single and not initials and not is_whole_name(text, start, form_of_address=self.titles[title].gender is not None):
            return
        if single:
            end = _DOTS.match(text, end).end()  # type: ignore[union-attr]  # the pattern matches the empty text
        if text.startswith(".", end) and (self._is_strange(title, text) or is_initial(title, head, text[start])):
            return
        end = initials or end
        grammar = self._grammars[TITLED]
        yield TagCandidate(start, end, grammar, f"{title} {text[start:end]}")
        while single and text[end - 1] == text[start] and (more := further_letters().match(text, end)) is not None:
            start, end = more.span(1)
            yield TagCandidate(start, end, grammar, f"{title} {text[start:end]}")


def _widened(text: str, found: Iterable[TagCandidate]) -> Iterator[TagCandidate]:
    """Yield *found* with those whole that were found by a part."""
    for candidate in found:
        start, end, grammar, _ = candidate
        if not may_be_wider(text, start, end, grammar.name):
            yield candidate
        elif (whole := WIDENERS[grammar.name](text, start, end, grammar)) is not None:
            yield candidate if whole == (start, end, grammar) else TagCandidate(*whole, text[whole[0] : whole[1]])


def _without_texts(found: Iterable[TagCandidate], words: list[TagCandidate]) -> Iterator[TagCandidate]:
    """Yield those of *found* that are no mere text around one of *words*: "(account XXXX)", "[an aside about Dr. X]"."""
    at = 0
    for candidate in found:
        start, end = candidate.start, candidate.end
        while at < len(words) and words[at].start < start:
            at += 1
        if candidate.grammar.name == "round" or end - start > 50:
            inside = next((word for word in islice(words, at, None) if word.end > start), None)
            if inside is not None and inside.end < end and inside.grammar.name != NUMBERED:
                continue
        yield candidate


@cache
def scanner_of(names: tuple[str, ...] | None, languages: tuple[str, ...]) -> Scanner:
    """Return the scanner for these grammars and languages; cached."""
    return Scanner(names, languages)


def disjoint(found: Iterable[tuple[TagCandidate, T]]) -> Iterator[tuple[TagCandidate, T]]:
    """Yield those of *found*, candidates in text order, that do not overlap an earlier one."""
    reached = 0
    for candidate, other in found:
        if candidate.start >= reached:
            yield candidate, other
            reached = candidate.end


def _joined_runs(text: str, found: Iterable[TagCandidate]) -> Iterator[TagCandidate]:
    """Yield *found* with the runs that stand for the words of one name as one: "***** ****** Hospital", "Dr. ████ ██████"."""
    last: TagCandidate | None = None
    for candidate in found:
        run = last is not None and last.grammar is candidate.grammar and last.grammar.name in _WORD_RUNS
        if last is not None and run and candidate.start == last.end + 1 and text[last.end] == " ":
            last = TagCandidate(last.start, candidate.end, last.grammar, text[last.start : candidate.end])
            continue
        if last is not None:
            yield last
        last = candidate
    if last is not None:
        yield last


def _repeated(text: str, start: int, end: int) -> int:
    """Return the end of a letter group including its repetitions ("ABC ABC")."""
    again = f" {text[start:end]}"
    while text.startswith(again, end) and not text[end + len(again) : end + len(again) + 1].isalnum():
        end += len(again)
    return end
