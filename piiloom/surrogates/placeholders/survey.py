"""The survey of a corpus: tallies of its tags with a few examples, and the rules learnt from them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Final

from piiloom.foundation.repeated_ids import text_hash
from piiloom.surrogates.placeholders.finder import KeptScans
from piiloom.surrogates.placeholders.grammar import IN_INITIALS, TITLED
from piiloom.surrogates.placeholders.judging import DOTTED, PAIR, Judge
from piiloom.surrogates.placeholders.mapping import USE_FROM, Mapping, Noted, TagRule, foreign_cautions, whole_families
from piiloom.surrogates.placeholders.reading import MASK, Reader, TagVerdict
from piiloom.surrogates.placeholders.scanning import (
    ROLE_LETTER,
    SAMPLE,
    LanguageRanking,
    TagCandidate,
    ranked_by_tags,
    ranking_of,
    scanner_of,
)
from piiloom.surrogates.placeholders.surroundings import LETTER, LETTER_KINDS, TagSurroundings, cues
from piiloom.surrogates.placeholders.vocabulary import vocabulary

EXAMPLES: Final = 5


@dataclass(slots=True)
class TagTally:
    """The counts of one pattern in one document or in several.

    By kind of value, ``cues`` counts the documents and ``cued`` the places where the surrounding text suggests that kind. ``looked`` is
    the number of places examined. ``sure`` is the highest confidence seen.
    """

    verdict: TagVerdict
    grammar: str
    count: int = 0
    documents: int = 1
    sure: float = 0.0
    examples: list[str] = field(default_factory=list)
    cues: Counter[str] = field(default_factory=Counter)
    cued: Counter[str] = field(default_factory=Counter)
    looked: int = 0

    def absorb(self, later: TagTally) -> None:
        """Add the counts of *later* documents."""
        self.count += later.count
        self.documents += later.documents
        self.sure = max(self.sure, later.sure)
        self.looked += later.looked
        if len(self.examples) < EXAMPLES:
            self.examples = [*self.examples, *(e for e in later.examples if e not in self.examples)][:EXAMPLES]
        if later.cued:
            self.cues.update(later.cues)
            self.cued.update(later.cued)


class Tallies:
    """Tallies by pattern, limited to *most* patterns.

    If a corpus has more, the patterns with the smallest hashes are kept (bottom-k sampling). So the same ones remain, with exact
    counts, whatever the order of documents.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._limit = 1 << 64
        self._by_family: dict[str, TagTally] = {}

    def add(self, family: str, tally: TagTally) -> None:
        """Add the *tally* of a later document."""
        known = self._by_family.get(family)
        if known is not None:
            known.absorb(tally)
        elif self._limit == 1 << 64 or text_hash(family) < self._limit:
            self._by_family[family] = tally
            if len(self._by_family) > 2 * self._most:
                self.kept()

    def kept(self) -> dict[str, TagTally]:
        """Return the tallies by pattern after cutting them down to the limit."""
        if len(self._by_family) > self._most or self._limit < 1 << 64:
            hashed = {family: text_hash(family) for family in self._by_family}
            if len(hashed) > self._most:
                self._limit = min(self._limit, sorted(hashed.values())[self._most])
            self._by_family = {family: tally for family, tally in self._by_family.items() if hashed[family] < self._limit}
        return self._by_family


def excerpt(text: str, start: int, end: int) -> str:
    """Return ``text[start:end]`` with 30 characters of context on both sides, on one line."""
    first, last = max(0, start - 30), min(len(text), end + 30)
    return f"{'…' if first else ''}{' '.join(text[first:last].split())}{'…' if last < len(text) else ''}"


_OFTEN: Final = 3
_CUE_WEIGHT: Final = 0.4
_LOWER_WORD: Final = re.compile(r"\[[^\W\d_]{5,}(?: [^\W\d_]+){0,2}\]")
_NEIGHBOURS: Final = {"square": PAIR, DOTTED: TITLED}  # "[K]" beside "[B] [K]", "Jean X..." beside "M. X..."


def _supported(tallies: Iterable[TagTally]) -> frozenset[str]:
    """Return the languages, of those that the texts are not in, of which tags with at least two meanings were found.

    One word alone may be a chance: "@CAPS1" (a word in capitals) is an Italian postcode.
    """
    meanings = {tally.verdict.meaning for tally in tallies if tally.grammar != TITLED}
    told = Counter(language for language, _, _, _ in {(one.language, one.kind, one.role, one.form) for one in meanings})
    return frozenset(language for language, count in told.items() if language and count > 1)


def _by_count(noted: Iterable[Noted]) -> tuple[Noted, ...]:
    return tuple(sorted(noted, key=lambda entry: (-entry.count, entry.tag))[:500])


def _noted(tallies: dict[str, TagTally], why: str = "") -> list[Noted]:
    return [
        Noted(tag=family, count=tally.count, documents=tally.documents, why=why or tally.verdict.why, examples=tuple(tally.examples))
        for family, tally in tallies.items()
    ]


def _rule(family: str, tally: TagTally, *, titled: frozenset[str], supported: frozenset[str], lettered: bool) -> TagRule:
    meaning = tally.verdict.meaning
    confidence = round(_confidence(tally, titled=titled), 2)
    told = tally.cued[meaning.kind] and tally.grammar != TITLED  # a title is its own cue
    # Initials ("J. L. M.") where nobody is named by a single letter, or a word of a language that nothing else in the corpus is in.
    if (IN_INITIALS in family and not lettered) or (meaning.language and meaning.language not in supported and not told):
        confidence = min(confidence, 0.4)
    token = any(one in family for one in ("{index}", "{letter}", "{hash}"))
    return TagRule(
        tag=family,
        kind=_commonest(tally, meaning.kind) if meaning.role == LETTER else meaning.kind,
        role=meaning.role,
        index="" if token else meaning.index,
        same=meaning.same,
        form="" if meaning.role == MASK else meaning.form,  # a mask's form is its own text
        gender=meaning.gender,
        plural=meaning.plural,
        context=meaning.context,
        use=confidence >= USE_FROM,
        confidence=confidence,
        language=meaning.language,
        runner_up=meaning.runner_up,
        count=tally.count,
        documents=tally.documents,
        examples=tuple(tally.examples),
    )


def _commonest(tally: TagTally, kind: str) -> str:
    cues = {name: count for name, count in tally.cues.items() if name in LETTER_KINDS}  # "née [Z]" is no birth date
    most = max(cues.values(), default=0)
    return kind if not most or cues.get(kind) == most else min(name for name, count in cues.items() if count == most)


def _confidence(tally: TagTally, *, titled: frozenset[str]) -> float:
    """Return the confidence (at most 0.99) of form and words, raised by how often the surrounding text confirms the kind.

    For a letter in brackets the share of documents with a cue counts, because one clear place settles a document. For all other
    tags it is the share of places.
    """
    meaning = tally.verdict.meaning
    sure = tally.sure
    if meaning.role == LETTER:
        # Where people are named by titles and letters, a letter alone is more likely one of them.
        sure += _CUE_WEIGHT * min(1.0, sum(tally.cues.values()) / (tally.documents + 1)) + 0.15 * (_NEIGHBOURS.get(tally.grammar) in titled)
    elif tally.looked:
        told = sum(tally.cued.values()) if meaning.context == "mention" else tally.cued[meaning.kind]
        share = told / tally.looked
        sure += _CUE_WEIGHT * share
        if meaning.role == "letters":
            sure += 0.1 * (TITLED in titled)
        elif meaning.context == "mention" and sure < 0.85 and share < 0.5:
            sure = min(sure, USE_FROM - 0.01)  # most blanks have no cue beside them, so they are probably forms to fill in
        elif meaning.context != "mention" and tally.count >= _OFTEN:
            sure += 0.1
    if tally.documents >= _OFTEN and sure >= USE_FROM:
        sure += 0.03
    return min(0.99, sure)


_UNRANKED: Final = LanguageRanking()


class Survey:
    """Counts the patterns of texts. ``tallies`` holds them by status: known, unknown and left.

    What is scanned goes into *kept*, if it is given.
    """

    def __init__(self, ranking: LanguageRanking = _UNRANKED, kept: KeptScans | None = None) -> None:
        self.ranking = ranking
        self.documents = 0
        self.tallies = {"known": Tallies(20_000), "unknown": Tallies(3_000), "left": Tallies(3_000)}
        scanner = scanner_of(None, ranking.languages)
        self._scan = scanner.scan if kept is None else partial(kept.scan, scanner=scanner)
        self._judge = Judge(Reader(vocabulary(ranking.languages), ranking.home), scanner).judge
        self._cues = cues(ranking.languages)

    def add(self, text: str) -> None:
        """Count the patterns of one document."""
        self.documents += 1
        around = TagSurroundings(text)
        here: dict[tuple[str, str], TagTally] = {}
        for candidate in self._scan(text):
            verdict = self._judge(candidate)
            if verdict.status == "nothing":
                continue
            if verdict.status != "left" and around.is_real(candidate, verdict):
                verdict = verdict._replace(status="left")
            self._count(text, candidate, verdict, here)
        for (status, family), seen in here.items():
            seen.cues.update(set(seen.cued))
            self.tallies[status].add(family, seen)

    def _count(self, text: str, candidate: TagCandidate, verdict: TagVerdict, here: dict[tuple[str, str], TagTally]) -> None:
        status, family, meaning, _, sure, _, _ = verdict
        seen = here.get((status, family))
        if seen is None:
            seen = here[status, family] = TagTally(verdict._replace(original=""), candidate.grammar.name)
        seen.count += 1
        seen.sure = max(seen.sure, sure)
        if len(seen.examples) < EXAMPLES:
            seen.examples.append(excerpt(text, candidate.start, candidate.end))
        # Up to 20 places of one pattern are looked at in a document. Patterns as sure as 0.8 need no cues.
        if (sure < 0.8 or meaning.context == "mention" or meaning.language) and status == "known" and seen.looked < 20:
            seen.looked += 1
            cue = self._cues.around(text, candidate.start, candidate.end, untold=meaning.kind == "generic")
            if cue is not None and cue.sure >= 1:
                seen.cued[cue.kind] += 1

    def mapping(self) -> Mapping:
        """Return the mapping, with rules by descending count. Rules with a confidence below ``USE_FROM`` get ``use=False``."""
        known, unknown, left = (self.tallies[status].kept() for status in ("known", "unknown", "left"))
        ranking = self.ranking
        titled = frozenset(tally.grammar for tally in known.values()) & {TITLED, PAIR}
        supported = _supported(known.values())
        # Places that name people by single letters; initials may be those of a name that was never redacted.
        letters = sum(
            tally.count
            for family, tally in known.items()
            if (tally.grammar in {TITLED, ROLE_LETTER} and IN_INITIALS not in family) or tally.verdict.meaning.role == LETTER
        )
        found = [_rule(family, tally, titled=titled, supported=supported, lettered=letters >= _OFTEN) for family, tally in known.items()]
        rules = tuple(sorted(whole_families(found), key=lambda rule: (-rule.count, rule.tag)))
        # A lower-case word that is often in brackets is unknown. In a language that no vocabulary has, each word in brackets is listed.
        least = 1 if ranking.unread else 5
        often = {
            family: tally
            for family, tally in left.items()
            if tally.count >= least and tally.grammar == "square" and _LOWER_WORD.fullmatch(family)
        }
        real = {family: tally for family, tally in left.items() if family not in often}
        return Mapping(
            rules=rules,
            unknown=_by_count([*_noted(unknown), *_noted(often, "often in brackets")]),
            left_alone=_by_count(_noted(real)),
            languages=tuple(name for name in ranking.languages if not ranking.home or name in ranking.home or name in supported),
            cautions=foreign_cautions(rules),
        )


def survey_of(texts: Iterable[str], language: str = "", kept: KeptScans | None = None) -> Survey:
    """Survey *texts*; the first ``SAMPLE`` of them tell which languages rank first, with the *language* that their owner gives.

    What is scanned goes into *kept*, if it is given.
    """
    rest = iter(texts)
    sample: list[str] = []
    held = 0
    for text in islice(rest, SAMPLE):
        sample.append(text)
        held += len(text)
        if held > 2**22:  # code points of the first documents that are kept until the language is told
            break
    ranking = ranking_of(sample, language)
    survey = _surveyed(sample, ranking, kept)
    foreign = [family for family, tally in survey.tallies["known"].kept().items() if tally.verdict.meaning.language]
    again = ranked_by_tags(ranking, foreign) if foreign else ranking
    if again != ranking:
        survey = _surveyed(sample, again, kept)
    for text in rest:
        survey.add(text)
    return survey


def _surveyed(texts: Iterable[str], ranking: LanguageRanking, kept: KeptScans | None) -> Survey:
    survey = Survey(ranking, kept)
    for text in texts:
        survey.add(text)
    return survey


def auto_mapping(texts: Iterable[str], language: str = "") -> Mapping:
    """Survey *texts* and return the mapping; *language* (ISO 639-1) is theirs, if that is known."""
    return survey_of(texts, language).mapping()
