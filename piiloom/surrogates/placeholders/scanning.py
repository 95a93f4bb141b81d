"""Scan a text for candidate placeholders: the grammars compiled into two regular expressions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import islice
from typing import Final, NamedTuple

from piiloom.foundation.errors import UsageError
from piiloom.surrogates.mentions import Gender
from piiloom.surrogates.placeholders.corpus_languages import BEGINNING, language_of
from piiloom.surrogates.placeholders.grammar_files import Grammar, grammars
from piiloom.surrogates.placeholders.grammar_patterns import TITLED, compiled
from piiloom.surrogates.placeholders.titled_letters import end_of_initials, is_initial, joined, stands_alone
from piiloom.surrogates.placeholders.vocabulary_files import LANGUAGES, vocabulary_file
from piiloom.surrogates.placeholders.widening import WIDENED, may_be_wider, widened

LETTERS: Final = "letters"
NUMBERED: Final = "numbered"
ROLE_LETTER: Final = "role_letter"
INITIALS: Final = "initials"
_LONGEST_TITLE: Final = 24
_LONGEST_TAG: Final = 50  # characters of a tag with its signs; longer brackets hold a text

_DOTS: Final = re.compile(r"(?:\.{3}|…)?")  # "M. X..."
_WORD_RUNS: Final = frozenset({"asterisks", "bars", "blank", "blocks", "squares"})  # runs of one sign for each word of what was there
_LONGEST_ROLE: Final = 24
_ONE_INITIAL: Final = 2  # characters of "B."
# What stands before a letter and belongs to what it means, though only the letter is replaced: "Patient A", "L.-J. X".
_NAMED_BEFORE: Final = {
    ROLE_LETTER: re.compile(r"(?<!\w)[^\W\d_]{3,20} $"),
    **dict.fromkeys(("initials_x", "initial_x"), re.compile(r"(?<!\w)[A-Z]\.(?:[- ]?[A-Z]\.){0,3} $")),
}


class Candidate(NamedTuple):
    """A possible placeholder. ``[start, end)`` is the span to replace; ``literal`` is its text, preceded by its title if it has one."""

    start: int
    end: int
    grammar: Grammar
    literal: str


# Building named tuples with ``tuple.__new__`` takes half the time of calling their class.
_candidate: Callable[[type[Candidate], tuple[object, ...]], Candidate] = tuple.__new__


class Title(NamedTuple):
    """The role and gender that a title implies, and the language that has it."""

    role: str
    gender: Gender | None
    language: str


@cache
def titles(languages: tuple[str, ...] = LANGUAGES) -> dict[str, Title]:
    """Return the titles of *languages* by spelling; where two languages share one, the first language wins."""
    found: dict[str, Title] = {}
    for language in languages:
        for entry in vocabulary_file(language).titles:
            for word in entry.words:
                found.setdefault(word, Title(entry.role, entry.gender, language))
    return found


@cache
def _long_titles() -> dict[str, Title]:
    """Return the titles of all languages but those of one letter ("M.", "D."), which elsewhere are initials."""
    return {word: title for word, title in titles().items() if len(word.rstrip(".")) > 1}


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
        self._titles = {**_long_titles(), **titles(languages)}
        self._signs, self._rarer, self._words = compiled(names, tuple(self._titles))

    def scan(self, text: str) -> Iterator[Candidate]:
        """Return candidates in text order, without overlaps: the one that starts first wins, then the longer one."""
        found = self._scan_signs(text, self._signs)
        mixed = any(candidate.grammar.name in WIDENED for candidate in found)
        for needs, pattern in self._rarer:
            if needs in text and (rarer := self._scan_signs(text, pattern)):
                found += rarer
                mixed = True
        if mixed:
            found = list(_widened(text, found))
        words = list(_widened(text, self._scan_words(text, self._words))) if self._words else []
        if not words and not mixed:
            return iter(found)
        if words:
            found = [*_without_texts(found, words), *words]
        found.sort(key=_by_place)
        return _joined_runs(text, _disjoint(found)) if mixed else _disjoint(found)

    def has_title(self, word: str) -> bool:
        """Whether *word* is a known title."""
        return word in self._titles

    def title(self, word: str) -> Title:
        """Return what the title *word* implies; raises ``KeyError`` if it is not a known title."""
        return self._titles[word]

    def titles_unlike(self, other: Scanner) -> list[str]:
        """Return the titles with which this scanner may find something else than *other* does; without them in a text, it finds the same.

        Of a title that both know it matters whether it tells a gender.
        """
        mine, theirs = ({word: title.gender is None for word, title in one._titles.items()} for one in (self, other))  # noqa: SLF001
        return sorted({word for word, _ in mine.items() ^ theirs.items()})

    def _scan_signs(self, text: str, pattern: re.Pattern[str]) -> list[Candidate]:
        known = self._grammars
        return [_candidate(Candidate, (*m.span(), known[m.lastgroup], m[0])) for m in pattern.finditer(text) if m.lastgroup]

    def _scan_words(self, text: str, pattern: re.Pattern[str]) -> Iterator[Candidate]:
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
                end = end_of_initials(text, start) or end * stands_alone(text, start, form_of_address=True)
                end *= end - start <= _ONE_INITIAL or text[:end].rstrip(".")[-1] not in "XYZ"  # "J. X" is found by its X
            elif name == LETTERS:
                reached = end = _repeated(text, start, end)
            literal = text[start:end]
            if name in _NAMED_BEFORE:
                before = _NAMED_BEFORE[name].search(text, max(0, start - _LONGEST_ROLE), start)
                if before is None or not literal:
                    continue
                literal = before.group() + literal
            yield Candidate(start, end, self._grammars[name], literal)

    def _is_strange(self, title: str, text: str) -> bool:
        """Whether *title* is a single letter that is a title in another language only ("D. R." in a Portuguese text)."""
        return len(title.rstrip(".")) == 1 and self._titles[title].language != (language_of(text[:BEGINNING]) or self._first)

    def _titled(self, text: str, start: int, end: int) -> Iterator[Candidate]:
        """Yield the letters after a title, and further single letters joined to a single one ("Dr. X and Y")."""
        single = end - start == 1
        initials = end_of_initials(text, start) if single else 0
        head = text[max(0, start - _LONGEST_TITLE) : start].rstrip()
        title = max((title for title in self._titles if head.endswith(title)), key=len)
        if single and not initials and not stands_alone(text, start, form_of_address=self._titles[title].gender is not None):
            return
        if single:
            end = _DOTS.match(text, end).end()  # type: ignore[union-attr]  # the pattern matches the empty text
        if text.startswith(".", end) and (self._is_strange(title, text) or is_initial(title, head, text[start])):
            return
        end = initials or end
        grammar = self._grammars[TITLED]
        yield Candidate(start, end, grammar, f"{title} {text[start:end]}")
        while single and text[end - 1] == text[start] and (more := joined().match(text, end)) is not None:
            start, end = more.span(1)
            yield Candidate(start, end, grammar, f"{title} {text[start:end]}")


def _widened(text: str, found: Iterable[Candidate]) -> Iterator[Candidate]:
    """Yield *found* with those whole that were found by a part."""
    for candidate in found:
        start, end, grammar, _ = candidate
        if not may_be_wider(text, start, end, grammar.name):
            yield candidate
            continue
        whole = widened(text, start, end, grammar)
        if whole == (start, end, grammar):
            yield candidate
        elif whole is not None:
            start, end, grammar = whole
            yield Candidate(start, end, grammar, text[start:end])


def _without_texts(found: list[Candidate], words: list[Candidate]) -> Iterator[Candidate]:
    """Yield those of *found* that are no mere text around one of *words*: "(account XXXX)", "[an aside about Dr. X]"."""
    at = 0
    for candidate in found:
        start, end = candidate.start, candidate.end
        while at < len(words) and words[at].start < start:
            at += 1
        if candidate.grammar.name == "round" or end - start > _LONGEST_TAG:
            inside = next((word for word in islice(words, at, None) if word.end > start), None)
            if inside is not None and inside.end < end and inside.grammar.name != NUMBERED:
                continue
        yield candidate


@cache
def scanner_of(names: tuple[str, ...] | None, languages: tuple[str, ...]) -> Scanner:
    """Return the scanner for these grammars and languages; cached."""
    return Scanner(names, languages)


def _disjoint(found: list[Candidate]) -> Iterator[Candidate]:
    reached = 0
    for candidate in found:
        if candidate.start >= reached:
            yield candidate
            reached = candidate.end


def _joined_runs(text: str, found: Iterable[Candidate]) -> Iterator[Candidate]:
    """Yield *found* with the runs that stand for the words of one name as one: "***** ****** Hospital", "Dr. ████ ██████"."""
    last: Candidate | None = None
    for candidate in found:
        if last is not None and last.grammar is candidate.grammar and candidate.start == last.end + 1 and text[last.end] == " ":
            last = Candidate(last.start, candidate.end, last.grammar, text[last.start : candidate.end])
            continue
        if last is not None:
            yield last
            last = None
        if candidate.grammar.name in _WORD_RUNS:
            last = candidate
        else:
            yield candidate
    if last is not None:
        yield last


def _by_place(candidate: Candidate) -> tuple[int, int]:
    return candidate.start, -candidate.end


def _repeated(text: str, start: int, end: int) -> int:
    """Return the end of a letter group including its repetitions ("ABC ABC")."""
    again = f" {text[start:end]}"
    while text.startswith(again, end) and not text[end + len(again) : end + len(again) + 1].isalnum():
        end += len(again)
    return end
